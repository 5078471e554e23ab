//! Resolves a pod's priority class into its priority, as the admission plugin Priority does
//! (`plugin/pkg/admission/priority`): schedulers read the number, not the name.

use serde_json::{Value, json};

use crate::{
    json,
    resources::Resource,
    status::Status,
    store::{Origin, State, Target},
};

/// The priority of a pod without a class in a cluster without a default class.
const DEFAULT_PRIORITY: i64 = 0;

/// Carries the priority over into an update that says nothing of it.
pub(super) fn keep(old: &Value, new: &mut Value) {
    let spec = json::section(new, "spec");
    for field in ["priority", "preemptionPolicy"] {
        if let Some(kept) = json::at(old, &["spec", field]) {
            json::set_default(spec, field, kept.clone());
        }
    }
}

/// Sets `spec.priority` and `spec.preemptionPolicy` of a new pod. A priority that the owner of the server
/// states stands; one that a client states must be that of the class.
pub(super) fn resolve(
    state: &State,
    pods: &'static Resource,
    pod: &mut Value,
    origin: Origin,
) -> Result<(), Status> {
    let Some(classes) = Resource::named("priorityclasses") else {
        return Ok(());
    };
    let name = json::text(pod, &["metadata", "name"])
        .unwrap_or("")
        .to_owned();
    let class = match json::text(pod, &["spec", "priorityClassName"]) {
        Some(class) => {
            let why = || format!("no PriorityClass with name {class} was found");
            let target = Target::new(classes, "", class);
            let found = state
                .get(target)
                .map_err(|_| Status::forbidden(pods, &name, &why()))?;
            Some(found.value())
        }
        None => state
            .collection(classes)
            .index
            .after(None, None)
            .map(|class| class.value())
            .find(|class| class["globalDefault"] == true),
    };
    let priority = class
        .as_ref()
        .and_then(|class| class["value"].as_i64())
        .unwrap_or(DEFAULT_PRIORITY);
    let stated = json::at(pod, &["spec", "priority"]).and_then(Value::as_i64);
    if let Some(stated) = stated.filter(|it| origin == Origin::Client && *it != priority) {
        let why = format!(
            "the integer value of priority ({stated}) must not be provided in pod spec; priority admission controller computed {priority} from the given PriorityClass name"
        );
        return Err(Status::forbidden(pods, &name, &why));
    }
    let spec = json::section(pod, "spec");
    json::set_default(spec, "priority", json!(priority));
    if let Some(class) = &class {
        json::set_default(spec, "priorityClassName", class["metadata"]["name"].clone());
        json::set_default(spec, "preemptionPolicy", class["preemptionPolicy"].clone());
    }
    json::set_default(spec, "preemptionPolicy", "PreemptLowerPriority");
    Ok(())
}
