//! The refusal of an apply that would change what others own, in the words of kube-apiserver
//! (`k8s.io/apimachinery/pkg/util/managedfields/internal/conflict.go`).

use std::{collections::BTreeSet, fmt::Write};

use serde_json::{Map, Value};

use super::paths::{Path, Step};
use crate::status::{Cause, Details, Status};

/// Gives the refusal; owners are named as they name themselves.
pub(super) fn refusal(disputes: &[(String, BTreeSet<Path>)]) -> Status {
    let mut causes = Vec::new();
    for (owner, paths) in disputes {
        causes.extend(paths.iter().map(|path| Cause::owned(owner, &shown(path))));
    }
    let mut message = match causes.as_slice() {
        [only] => {
            let (conflict, field) = (&only.message, &only.field);
            format!("Apply failed with 1 conflict: {conflict}: {field}")
        }
        many => format!("Apply failed with {} conflicts:", many.len()),
    };
    if causes.len() > 1 {
        for (at, (owner, paths)) in disputes.iter().enumerate() {
            // Writing to a text cannot fail.
            let gap = if at == 0 { " " } else { "\n" };
            let _ = write!(message, "{gap}conflicts with {owner}:");
            for path in paths {
                let _ = write!(message, "\n- {}", shown(path));
            }
        }
    }
    Status::new(409, "Conflict", message).with(Details {
        causes,
        ..Details::default()
    })
}

fn shown(path: &[Step]) -> String {
    let shown = path.iter().map(|step| match step {
        Step::Field(name) => format!(".{name}"),
        Step::Value(value) => format!("[={value}]"),
        Step::Key(keys) => {
            let keys: Map<String, Value> = serde_json::from_str(keys).unwrap_or_default();
            let keys: Vec<String> = keys
                .iter()
                .map(|(key, value)| format!("{key}={value}"))
                .collect();
            format!("[{}]", keys.join(","))
        }
    });
    shown.collect()
}
