//! Disruption budgets: how many pods of a selector may be evicted.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::meta::{Labels, ObjectMeta};
use crate::selector::LabelSelector;

/// A `policy/v1.PodDisruptionBudget`.
#[derive(Debug, Clone, PartialEq)]
pub struct PodDisruptionBudget {
    /// Name and namespace.
    pub meta: ObjectMeta,
    /// `spec.selector`.
    pub selector: LabelSelector,
    /// `status.disruptionsAllowed`: 0 where the controller has not written it yet.
    pub disruptions_allowed: i32,
    /// Keys of `status.disruptedPods`: names of pods whose eviction is let through and not
    /// yet seen by the controller.
    pub disrupted: BTreeSet<Arc<str>>,
}

// === impl PodDisruptionBudget ===

impl PodDisruptionBudget {
    /// Whether pods of its namespace with these labels fall under the budget. A selector
    /// that is empty means no pod, and a pod without labels has no budget (kube-scheduler
    /// `FilterVictimsWithPDBViolation`).
    pub fn selects(&self, labels: &Labels) -> bool {
        !labels.is_empty() && !self.selector.is_empty() && self.selector.matches(labels)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use crate::decode::pod_disruption_budget;
    use crate::meta::Labels;

    /// Whether a budget with this selector is for pods with these labels.
    fn selects(selector: &Value, labels: &[(&str, &str)]) -> bool {
        let json = json!({"metadata": {"name": "b"}, "spec": {"selector": selector}});
        let budget = pod_disruption_budget(json.to_string().as_bytes()).expect("a budget");
        let pairs = labels.iter();
        let labels: Labels = pairs
            .map(|(key, value)| (Arc::from(*key), Arc::from(*value)))
            .collect();
        budget.selects(&labels)
    }

    #[test]
    fn a_budget_is_for_the_pods_of_its_selector() {
        let cases = [
            (json!({"matchLabels": {"app": "web"}}), true),
            (json!({"matchLabels": {"app": "db"}}), false),
            (json!({}), false),
            (Value::Null, false),
            (
                json!({"matchExpressions": [{"key": "app", "operator": "Near"}]}),
                false,
            ),
        ];
        for (selector, expected) in cases {
            let selected = selects(&selector, &[("app", "web")]);
            assert_eq!(selected, expected, "{selector}");
        }
    }

    #[test]
    fn a_pod_without_labels_has_no_budget() {
        let absent = json!({"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]});
        assert!(!selects(&absent, &[]));
        assert!(selects(&absent, &[("tier", "front")]));
    }
}
