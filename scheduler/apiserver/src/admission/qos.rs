//! The quality-of-service class of a pod (`pkg/apis/core/helper/qos/qos.go`).

use serde_json::Value;

use crate::{json, quantity::Quantity};

/// The resources that decide the class.
const JUDGED: [&str; 2] = ["cpu", "memory"];

/// Gives `Guaranteed`, `Burstable` or `BestEffort`.
pub(super) fn class(pod: &Value) -> &'static str {
    let containers: Vec<&Value> = ["containers", "initContainers"]
        .into_iter()
        .flat_map(|list| json::list(pod, &["spec", list]))
        .collect();
    let amounts = |part| {
        containers
            .iter()
            .flat_map(move |container| JUDGED.map(|resource| amount(container, part, resource)))
    };
    if amounts("requests")
        .chain(amounts("limits"))
        .flatten()
        .next()
        .is_none()
    {
        return "BestEffort";
    }
    let equal =
        |(request, limit): (Option<i128>, Option<i128>)| limit.is_some() && request == limit;
    if amounts("requests").zip(amounts("limits")).all(equal) {
        "Guaranteed"
    } else {
        "Burstable"
    }
}

/// Reads an amount; zero, like an unreadable one, counts as not stated.
fn amount(container: &Value, part: &str, resource: &str) -> Option<i128> {
    let text = match json::at(container, &["resources", part, resource])? {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let nanos = Quantity::parse(&text)?.nanos();
    (nanos > 0).then_some(nanos)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_class_follows_requests_and_limits() {
        let both = json!({"cpu": "1", "memory": "1Gi"});
        let cases = [
            (json!([{}]), "BestEffort"),
            (
                json!([{"resources": {"requests": {"cpu": "0"}}}]),
                "BestEffort",
            ),
            (
                json!([{"resources": {"requests": {"nvidia.com/gpu": 1}}}]),
                "BestEffort",
            ),
            (
                json!([{"resources": {"requests": {"cpu": "1"}}}]),
                "Burstable",
            ),
            (
                json!([{"resources": {"requests": both, "limits": both}}]),
                "Guaranteed",
            ),
            (
                json!([{"resources": {"requests": {"cpu": "1000m", "memory": "1024Mi"}, "limits": both}}]),
                "Guaranteed",
            ),
            (
                json!([{"resources": {"requests": both, "limits": both}}, {}]),
                "Burstable",
            ),
            (
                json!([{"resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "1"}}}]),
                "Burstable",
            ),
        ];
        for (containers, expected) in cases {
            let pod = json!({"spec": {"containers": containers}});
            assert_eq!(class(&pod), expected, "{pod}");
        }
    }
}
