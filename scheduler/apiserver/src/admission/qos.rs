//! The quality-of-service class of a pod (`pkg/apis/core/helper/qos/qos.go`).

use serde_json::Value;

use crate::json;

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
    let equal = |(request, limit): (Option<f64>, Option<f64>)| limit.is_some() && request == limit;
    if amounts("requests").zip(amounts("limits")).all(equal) {
        "Guaranteed"
    } else {
        "Burstable"
    }
}

/// Reads an amount; zero, like an unreadable one, counts as not stated.
fn amount(container: &Value, part: &str, resource: &str) -> Option<f64> {
    let amount = match json::at(container, &["resources", part, resource])? {
        Value::String(text) => quantity(text)?,
        other => other.as_f64()?,
    };
    (amount > 0.0).then_some(amount)
}

/// Reads a quantity such as `500m`, `1Gi`, `1e3`.
fn quantity(text: &str) -> Option<f64> {
    const SUFFIXES: [(&str, f64); 15] = [
        ("Ki", 1024.0),
        ("Mi", 1_048_576.0),
        ("Gi", 1_073_741_824.0),
        ("Ti", 1_099_511_627_776.0),
        ("Pi", 1_125_899_906_842_624.0),
        ("Ei", 1_152_921_504_606_846_976.0),
        ("n", 1e-9),
        ("u", 1e-6),
        ("m", 1e-3),
        ("k", 1e3),
        ("M", 1e6),
        ("G", 1e9),
        ("T", 1e12),
        ("P", 1e15),
        ("E", 1e18),
    ];
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    SUFFIXES.iter().find_map(|(suffix, factor)| {
        let number: f64 = text.strip_suffix(suffix)?.parse().ok()?;
        Some(number * factor)
    })
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
