//! The fields that a field selector may name, kind by kind, as kube-apiserver supports them.

use serde_json::Value;

use crate::json;

/// A selectable field: the label in a selector and where its value stands in the object.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) label: &'static str,
    path: &'static [&'static str],
    /// The value where the object says nothing.
    absent: &'static str,
}

impl Field {
    /// Reads the field's value as a selector compares it.
    pub(crate) fn read(&self, object: &Value) -> Box<str> {
        match json::at(object, self.path) {
            Some(Value::String(text)) => text.as_str().into(),
            Some(Value::Bool(flag)) => flag.to_string().into(),
            Some(Value::Number(number)) => number.to_string().into(),
            _ => self.absent.into(),
        }
    }
}

pub(super) const POD: &[Field] = &[
    text("spec.nodeName", &["spec", "nodeName"]),
    text("spec.restartPolicy", &["spec", "restartPolicy"]),
    text("spec.schedulerName", &["spec", "schedulerName"]),
    text("spec.serviceAccountName", &["spec", "serviceAccountName"]),
    flag("spec.hostNetwork", &["spec", "hostNetwork"]),
    text("status.phase", &["status", "phase"]),
    text("status.podIP", &["status", "podIP"]),
    text("status.nominatedNodeName", &["status", "nominatedNodeName"]),
];

pub(super) const NODE: &[Field] = &[flag("spec.unschedulable", &["spec", "unschedulable"])];

pub(super) const PHASE: &[Field] = &[text("status.phase", &["status", "phase"])];

pub(super) const EVENT: &[Field] = &[
    text("involvedObject.kind", &["involvedObject", "kind"]),
    text("involvedObject.namespace", &["involvedObject", "namespace"]),
    text("involvedObject.name", &["involvedObject", "name"]),
    text("involvedObject.uid", &["involvedObject", "uid"]),
    text(
        "involvedObject.apiVersion",
        &["involvedObject", "apiVersion"],
    ),
    text(
        "involvedObject.resourceVersion",
        &["involvedObject", "resourceVersion"],
    ),
    text("involvedObject.fieldPath", &["involvedObject", "fieldPath"]),
    text("reason", &["reason"]),
    text("reportingComponent", &["reportingComponent"]),
    text("source", &["source", "component"]),
    text("type", &["type"]),
];

const fn text(label: &'static str, path: &'static [&'static str]) -> Field {
    Field {
        label,
        path,
        absent: "",
    }
}

const fn flag(label: &'static str, path: &'static [&'static str]) -> Field {
    Field {
        label,
        path,
        absent: "false",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_flag_that_is_not_set_reads_false_and_a_text_reads_empty() {
        let object = json!({"spec": {"schedulerName": "plimsoll"}});
        let read: Vec<_> = POD.iter().map(|field| field.read(&object)).collect();
        assert_eq!(&*read[0], "");
        assert_eq!(&*read[2], "plimsoll");
        assert_eq!(&*read[4], "false");
        assert_eq!(
            &*NODE[0].read(&json!({"spec": {"unschedulable": true}})),
            "true"
        );
    }
}
