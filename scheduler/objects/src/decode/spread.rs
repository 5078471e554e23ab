//! The wire's spread constraints -> values.

use serde::Deserialize;

use super::values::{Items, Text};
use super::{convert, wire};
use crate::intern::intern;
use crate::spread::{DEFAULT_MIN_DOMAINS, SpreadConstraint, WhenUnsatisfiable};

/// An entry of `topologySpreadConstraints`, as the wire has it.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct WireSpread<'a> {
    max_skew: Option<i32>,
    #[serde(borrow)]
    topology_key: Text<'a>,
    #[serde(borrow)]
    when_unsatisfiable: Text<'a>,
    #[serde(borrow)]
    label_selector: Option<wire::LabelSelector<'a>>,
    min_domains: Option<i32>,
    #[serde(borrow)]
    node_affinity_policy: Option<Text<'a>>,
    #[serde(borrow)]
    node_taints_policy: Option<Text<'a>>,
    #[serde(borrow)]
    match_label_keys: Items<Text<'a>>,
}

/// The constraints of a pod.
pub(super) fn spread(wire: &[WireSpread<'_>]) -> Box<[SpreadConstraint]> {
    wire.iter().map(constraint).collect()
}

fn constraint(wire: &WireSpread<'_>) -> SpreadConstraint {
    let policy = |text: &Option<Text<'_>>, default| {
        SpreadConstraint::honors(text.as_ref().map(|text| &*text.0), default)
    };
    let keys = wire.match_label_keys.0.iter();
    SpreadConstraint {
        max_skew: wire.max_skew.unwrap_or(0),
        topology_key: intern(&wire.topology_key.0),
        when_unsatisfiable: WhenUnsatisfiable::of(&wire.when_unsatisfiable.0),
        selector: convert::label_selector(wire.label_selector.as_ref()),
        match_label_keys: keys.map(|key| intern(&key.0)).collect(),
        min_domains: wire.min_domains.unwrap_or(DEFAULT_MIN_DOMAINS),
        honors_affinity: policy(&wire.node_affinity_policy, true),
        honors_taints: policy(&wire.node_taints_policy, false),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::decode_pod;
    use crate::spread::{SpreadConstraint, WhenUnsatisfiable};

    fn spread(constraints: &Value) -> Vec<SpreadConstraint> {
        let pod = json!({
            "metadata": {"name": "a"}, "spec": {"topologySpreadConstraints": constraints},
        });
        let pod = decode_pod(pod.to_string().as_bytes()).expect("a pod");
        let constraints = pod.spec.constraints.as_deref();
        constraints.map_or(Vec::new(), |all| all.spread.to_vec())
    }

    #[test]
    fn a_constraint_is_read_whole() {
        let read = spread(&json!([{
            "maxSkew": 2, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {}, "minDomains": 3, "matchLabelKeys": ["app", "hash"],
            "nodeAffinityPolicy": "Ignore", "nodeTaintsPolicy": "Honor",
        }]));
        let [one] = &read[..] else {
            panic!("one constraint: {read:?}");
        };
        assert_eq!((one.max_skew, &*one.topology_key), (2, "zone"));
        let soft = Some(WhenUnsatisfiable::ScheduleAnyway);
        assert_eq!((one.when_unsatisfiable, one.min_domains), (soft, 3));
        assert!(one.selector.is_empty() && one.honors_taints && !one.honors_affinity);
        let keys: Vec<&str> = one.match_label_keys.iter().map(|key| &**key).collect();
        assert_eq!(keys, ["app", "hash"]);
    }

    #[test]
    fn what_is_absent_has_the_defaults_of_the_api() {
        let hard = json!({"whenUnsatisfiable": "DoNotSchedule", "minDomains": null});
        let read = spread(&json!([hard, null, {"whenUnsatisfiable": "Perhaps"}]));
        assert_eq!(read.len(), 3);
        assert_eq!(
            read[0].when_unsatisfiable,
            Some(WhenUnsatisfiable::DoNotSchedule)
        );
        for one in &read {
            assert!(one.selector.is_nothing() && one.honors_affinity && !one.honors_taints);
            assert_eq!((one.max_skew, one.min_domains), (0, 1));
        }
        assert_eq!(read[1].when_unsatisfiable, None);
        assert_eq!(read[2].when_unsatisfiable, None);
    }

    #[test]
    fn a_pod_without_constraints_has_none() {
        for none in [json!(null), json!([])] {
            assert_eq!(spread(&none), []);
        }
    }
}
