//! Gives every pod the tolerations of the admission plugin `DefaultTolerationSeconds`: it stays for five
//! minutes on a node that is not ready or not reachable.

use serde_json::{Map, Value, json};

use crate::json;

/// How long a pod stays on such a node, in seconds, as kube-apiserver.
const STAY_S: i64 = 300;

const TAINTS: [&str; 2] = [
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
];

/// Adds the two tolerations to a pod's spec where it says nothing about those taints.
pub(super) fn fill(spec: &mut Map<String, Value>) {
    let list = spec.entry("tolerations").or_insert(Value::Null);
    if list.is_null() {
        *list = json!([]);
    }
    let Some(list) = list.as_array_mut() else {
        return;
    };
    for taint in TAINTS {
        if !list.iter().any(|it| speaks_of(it, taint)) {
            list.push(json!({
                "key": taint,
                "operator": "Exists",
                "effect": "NoExecute",
                "tolerationSeconds": STAY_S,
            }));
        }
    }
}

fn speaks_of(toleration: &Value, taint: &str) -> bool {
    let key = json::text(toleration, &["key"]);
    let effect = json::text(toleration, &["effect"]);
    key.is_none_or(|key| key == taint) && effect.is_none_or(|effect| effect == "NoExecute")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_gets_only_the_tolerations_it_lacks() {
        let count = |tolerations: Value| {
            let mut spec = Map::new();
            spec.insert("tolerations".to_owned(), tolerations);
            fill(&mut spec);
            spec["tolerations"].as_array().unwrap().len()
        };
        assert_eq!(count(Value::Null), 2);
        assert_eq!(count(json!([{"operator": "Exists"}])), 1);
        assert_eq!(
            count(json!([{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}])),
            3
        );
        assert_eq!(
            count(json!([{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}])),
            2
        );
    }
}
