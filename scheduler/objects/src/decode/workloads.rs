//! JSON of the API server -> what owns pods.

use serde::Deserialize;

use super::{DecodeError, convert, parse, wire};
use crate::object::ObjectKind;
use crate::workload::{Workload, WorkloadSelector};

/// Namespace of an object that names none.
const DEFAULT_NAMESPACE: &str = "default";

/// A service or a replication controller.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireByLabels<'a> {
    #[serde(borrow)]
    metadata: Option<wire::Metadata<'a>>,
    #[serde(borrow)]
    spec: Option<SpecByLabels<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SpecByLabels<'a> {
    #[serde(borrow)]
    selector: Option<wire::Texts<'a>>,
}

/// A replica set or a stateful set.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireBySelector<'a> {
    #[serde(borrow)]
    metadata: Option<wire::Metadata<'a>>,
    #[serde(borrow)]
    spec: Option<SpecBySelector<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SpecBySelector<'a> {
    #[serde(borrow)]
    selector: Option<wire::LabelSelector<'a>>,
}

/// Decodes a service, replication controller, replica set or stateful set.
///
/// # Errors
/// The first mistake in the object, with its path.
pub(crate) fn workload(kind: ObjectKind, json: &[u8]) -> Result<Workload, DecodeError> {
    if matches!(
        kind,
        ObjectKind::Service | ObjectKind::ReplicationController
    ) {
        by_labels(json)
    } else {
        by_selector(json)
    }
}

fn by_labels(json: &[u8]) -> Result<Workload, DecodeError> {
    let wire: WireByLabels<'_> = parse(json)?;
    let labels = wire.spec.and_then(|spec| spec.selector);
    Ok(Workload {
        meta: convert::meta(wire.metadata.as_ref(), DEFAULT_NAMESPACE)?,
        selector: WorkloadSelector::Labels(labels.map(|labels| convert::labels(&labels))),
    })
}

fn by_selector(json: &[u8]) -> Result<Workload, DecodeError> {
    let wire: WireBySelector<'_> = parse(json)?;
    let selector = wire.spec.and_then(|spec| spec.selector);
    Ok(Workload {
        meta: convert::meta(wire.metadata.as_ref(), DEFAULT_NAMESPACE)?,
        selector: WorkloadSelector::Selector(convert::label_selector(selector.as_ref())),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::workload;
    use crate::meta::Labels;
    use crate::object::ObjectKind;
    use crate::workload::WorkloadSelector;

    fn selector(kind: ObjectKind, spec: &Value) -> WorkloadSelector {
        let json = json!({"metadata": {"name": "w"}, "spec": spec});
        let workload = workload(kind, json.to_string().as_bytes()).expect("an object");
        assert_eq!(workload.meta.key.to_string(), "default/w");
        workload.selector
    }

    #[test]
    fn a_service_without_a_selector_and_one_with_an_empty_one_differ() {
        for kind in [ObjectKind::Service, ObjectKind::ReplicationController] {
            for absent in [json!(null), json!({}), json!({"selector": null})] {
                assert_eq!(selector(kind, &absent), WorkloadSelector::Labels(None));
            }
            let empty = selector(kind, &json!({"selector": {}}));
            assert_eq!(empty, WorkloadSelector::Labels(Some(Labels::default())));
            let labels = selector(kind, &json!({"selector": {"app": "web"}}));
            let WorkloadSelector::Labels(Some(labels)) = labels else {
                panic!("labels: {labels:?}");
            };
            assert_eq!(&*labels["app"], "web");
        }
    }

    #[test]
    fn a_replica_set_has_a_label_selector() {
        for kind in [ObjectKind::ReplicaSet, ObjectKind::StatefulSet] {
            let of = |spec: &Value| match selector(kind, spec) {
                WorkloadSelector::Selector(selector) => selector,
                WorkloadSelector::Labels(labels) => panic!("a selector: {labels:?}"),
            };
            assert!(of(&json!({})).is_nothing());
            assert!(of(&json!({"selector": {}})).is_empty());
            let selector = of(&json!({"selector": {"matchLabels": {"app": "web"}}}));
            let web = Labels::from([("app".into(), "web".into())]);
            assert!(selector.matches(&web) && !selector.matches(&Labels::default()));
        }
    }
}
