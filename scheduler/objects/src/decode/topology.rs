//! The wire's pod affinity and spread constraints -> values.

use serde::Deserialize;

use super::values::{Items, Text};
use super::{convert, wire};
use crate::intern::intern;
use crate::pod_affinity::{PodAffinity, PodAffinityTerm, TermList, WeightedPodAffinityTerm};

/// `podAffinity` or `podAntiAffinity`, as the wire has it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WirePodAffinity<'a> {
    #[serde(borrow, rename = "requiredDuringSchedulingIgnoredDuringExecution")]
    required: Items<WireTerm<'a>>,
    #[serde(borrow, rename = "preferredDuringSchedulingIgnoredDuringExecution")]
    preferred: Items<WireWeighted<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireWeighted<'a> {
    weight: Option<i32>,
    #[serde(borrow)]
    pod_affinity_term: Option<WireTerm<'a>>,
}

/// `matchLabelKeys` and `mismatchLabelKeys` are not read: the API server has merged them
/// into the selector.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireTerm<'a> {
    #[serde(borrow)]
    topology_key: Text<'a>,
    #[serde(borrow)]
    label_selector: Option<wire::LabelSelector<'a>>,
    #[serde(borrow)]
    namespaces: Items<Text<'a>>,
    #[serde(borrow)]
    namespace_selector: Option<wire::LabelSelector<'a>>,
}

/// Affinity to pods and against pods of a pod in `namespace`; `None` if it has no term.
pub(super) fn pod_affinity(
    affinity: Option<&WirePodAffinity<'_>>,
    anti: Option<&WirePodAffinity<'_>>,
    namespace: &str,
) -> Option<Box<PodAffinity>> {
    let required = |wire: Option<&WirePodAffinity<'_>>| {
        let terms = wire.map_or(&[][..], |wire| &wire.required.0);
        all(terms.iter().map(|wire| term(Some(wire), namespace)))
    };
    let preferred = |wire: Option<&WirePodAffinity<'_>>| {
        let terms = wire.map_or(&[][..], |wire| &wire.preferred.0);
        all(terms.iter().map(|wire| weighted(wire, namespace)))
    };
    let affinity = PodAffinity {
        required: required(affinity),
        required_anti: required(anti),
        preferred: preferred(affinity),
        preferred_anti: preferred(anti),
    };
    (!affinity.is_empty()).then(|| Box::new(affinity))
}

fn all<T>(terms: impl Iterator<Item = Result<T, Box<str>>>) -> TermList<T> {
    match terms.collect() {
        Ok(terms) => TermList::Parsed(terms),
        Err(mistake) => TermList::Mistaken(mistake),
    }
}

fn weighted(wire: &WireWeighted<'_>, namespace: &str) -> Result<WeightedPodAffinityTerm, Box<str>> {
    Ok(WeightedPodAffinityTerm {
        weight: wire.weight.unwrap_or(0),
        term: term(wire.pod_affinity_term.as_ref(), namespace)?,
    })
}

/// A term, or the mistake in it. One that is not there is one without any field.
fn term(wire: Option<&WireTerm<'_>>, namespace: &str) -> Result<PodAffinityTerm, Box<str>> {
    let empty = WireTerm::default();
    let wire = wire.unwrap_or(&empty);
    let mut namespaces: Vec<_> = wire
        .namespaces
        .0
        .iter()
        .map(|name| intern(&name.0))
        .collect();
    if namespaces.is_empty() && wire.namespace_selector.is_none() {
        namespaces.push(intern(namespace));
    }
    namespaces.sort_unstable();
    namespaces.dedup();
    let term = PodAffinityTerm {
        topology_key: intern(&wire.topology_key.0),
        selector: convert::label_selector(wire.label_selector.as_ref()),
        namespaces: namespaces.into(),
        namespace_selector: convert::label_selector(wire.namespace_selector.as_ref()),
    };
    match term.mistake() {
        Some(mistake) => Err(mistake.into()),
        None => Ok(term),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::decode_pod;
    use crate::pod_affinity::PodAffinity;

    const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
    const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

    fn affinity(affinity: &Value) -> Option<PodAffinity> {
        let pod = json!({
            "metadata": {"name": "a", "namespace": "shop"},
            "spec": {"nodeName": "n1", "affinity": affinity},
        });
        let pod = decode_pod(pod.to_string().as_bytes()).expect("a pod");
        let constraints = pod.spec.constraints?;
        constraints.pod_affinity.as_deref().cloned()
    }

    #[test]
    fn a_pod_without_terms_has_no_affinity_to_pods() {
        for empty in [
            json!(null),
            json!({"podAffinity": null, "podAntiAffinity": {}}),
            json!({"podAffinity": {REQUIRED: null, PREFERRED: []}}),
        ] {
            assert_eq!(affinity(&empty), None, "{empty}");
        }
    }

    #[test]
    fn the_namespace_is_the_pods_own_only_where_neither_names_nor_selector_are_written() {
        let cases = [
            (json!({}), vec!["shop"], true),
            (json!({"namespaces": []}), vec!["shop"], true),
            (json!({"namespaces": ["b", "a", "b"]}), vec!["a", "b"], true),
            (json!({"namespaceSelector": {}}), vec![], false),
            (
                json!({"namespaces": ["a"], "namespaceSelector": {}}),
                vec!["a"],
                false,
            ),
        ];
        for (term, names, nothing) in cases {
            let read = affinity(&json!({"podAntiAffinity": {REQUIRED: [term]}}));
            let read = read.expect("it has a term");
            let [term] = read.required_anti.terms() else {
                panic!("one term: {read:?}");
            };
            let found: Vec<&str> = term.namespaces.iter().map(|name| &**name).collect();
            assert_eq!(found, names);
            assert_eq!(term.namespace_selector.is_nothing(), nothing);
            assert!(term.selector.is_nothing());
        }
    }

    #[test]
    fn one_mistake_takes_the_terms_of_its_list_and_no_other() {
        let wrong = json!({"matchExpressions": [{"key": "app", "operator": "Gt"}]});
        let read = affinity(&json!({"podAffinity": {
            REQUIRED: [{"topologyKey": "zone"}, {"namespaceSelector": wrong}],
            PREFERRED: [{"weight": 3, "podAffinityTerm": {"topologyKey": "zone"}}, {}],
        }}))
        .expect("it has terms");
        assert!(read.required.terms().is_empty());
        assert_eq!(
            read.mistake().as_deref(),
            Some("requiredAffinityTerms: \"Gt\" is not a valid label selector operator")
        );
        let weights: Vec<i32> = read
            .preferred
            .terms()
            .iter()
            .map(|term| term.weight)
            .collect();
        assert_eq!(weights, [3, 0]);
    }
}
