//! Evicting pods under their disruption budgets, as `pods/eviction` of kube-apiserver does
//! (`pkg/registry/core/pod/storage/eviction.go`).
//!
//! Differs: no controller keeps the budgets' status; it is what clients or the owner wrote last.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{DeleteRequest, Object, Origin, Part, State, Target, Write, index::Key};
use crate::{
    clock, json,
    resources::Resource,
    selector::LabelSelector,
    status::{Cause, Details, Status},
};

/// How long a client waits for a budget's controller to catch up, in seconds, as kube-apiserver says.
const UNPROCESSED_RETRY_S: u32 = 10;

/// The refusal that every exhausted budget gives.
const REFUSAL: &str = "Cannot evict pod as it would violate the pod's disruption budget.";

impl State {
    /// Deletes a pod if its disruption budget allows it.
    pub(crate) fn evict(&mut self, key: Key<'_>, request: &DeleteRequest) -> Result<(), Status> {
        let pods = Resource::named("pods").ok_or_else(Status::no_such_resource)?;
        let target = Target {
            resource: pods,
            key,
        };
        let pod = Arc::clone(self.get(target)?);
        if !ignores_budgets(&pod.value()) {
            let mut budgets = self.budgets(&pod)?;
            let budget = budgets.pop();
            if !budgets.is_empty() {
                let message = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
                return Err(Status::new(500, "InternalError", message));
            }
            if let Some(budget) = budget {
                self.spend(&budget, key.1, request.dry_run)?;
            }
        }
        self.delete(target, request)?;
        Ok(())
    }

    fn budgets(&self, pod: &Object) -> Result<Vec<Arc<Object>>, Status> {
        let resource =
            Resource::named("poddisruptionbudgets").ok_or_else(Status::no_such_resource)?;
        if !pod.has_labels() {
            return Ok(Vec::new());
        }
        let all = self
            .collection(resource)
            .index
            .after(Some(pod.namespace()), None);
        let covers = |budget: &&Arc<Object>| {
            let value = budget.value();
            json::at(&value, &["spec", "selector"])
                .and_then(LabelSelector::from_object)
                .is_some_and(|selector| selector.matches(|key| pod.label(key)))
        };
        Ok(all.filter(covers).map(Arc::clone).collect())
    }

    /// Takes one disruption from a budget.
    fn spend(&mut self, budget: &Object, pod: &str, dry_run: bool) -> Result<(), Status> {
        let resource =
            Resource::named("poddisruptionbudgets").ok_or_else(Status::no_such_resource)?;
        let mut value = budget.value();
        let allowed = check_budget(resource, budget.name(), &value)?;
        let status = json::section(&mut value, "status");
        status.insert("disruptionsAllowed".to_owned(), json!(allowed - 1));
        json::child(status, "disruptedPods").insert(pod.to_owned(), clock::stamp(clock::now()));
        let target = Target::new(resource, budget.namespace(), budget.name());
        let write = Write {
            dry_run,
            ..Write::by(Origin::Owner, Part::Status)
        };
        self.update(target, write, |_| Ok(value))?;
        Ok(())
    }
}

fn ignores_budgets(pod: &Value) -> bool {
    json::text(pod, &["metadata", "deletionTimestamp"]).is_some()
        || matches!(
            json::text(pod, &["status", "phase"]),
            Some("Succeeded" | "Failed" | "Pending")
        )
}

/// Gives how many disruptions a budget allows, at least one, or its refusal.
fn check_budget(resource: &Resource, name: &str, budget: &Value) -> Result<i64, Status> {
    let number = |path: &[&str]| json::at(budget, path).and_then(Value::as_i64).unwrap_or(0);
    if number(&["status", "observedGeneration"]) < number(&["metadata", "generation"]) {
        let message =
            format!("The disruption budget {name} is still being processed by the server.");
        return Err(refuse(message, Some(UNPROCESSED_RETRY_S)));
    }
    let allowed = number(&["status", "disruptionsAllowed"]);
    if allowed < 0 {
        return Err(Status::forbidden(
            resource,
            name,
            "pdb disruptions allowed is negative",
        ));
    }
    if allowed > 0 {
        return Ok(allowed);
    }
    let (desired, healthy) = (
        number(&["status", "desiredHealthy"]),
        number(&["status", "currentHealthy"]),
    );
    let message = if healthy <= desired {
        format!(
            "The disruption budget {name} needs {desired} healthy pods and has {healthy} currently"
        )
    } else {
        format!("The disruption budget {name} does not allow evicting pods currently")
    };
    Err(refuse(message, None))
}

fn refuse(message: String, retry_after_s: Option<u32>) -> Status {
    Status::new(429, "TooManyRequests", REFUSAL).with(Details {
        causes: vec![Cause {
            reason: "DisruptionBudget",
            message,
            field: String::new(),
        }],
        retry_after_s,
        ..Details::default()
    })
}
