//! Deleting objects: preconditions, grace periods, finalizers, and namespaces with what is in them.
//!
//! Differs: nothing deletes the dependents of an object (there is no garbage collector), and a namespace
//! is emptied at once instead of by a controller.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Object, State, Target};
use crate::{clock, json, resources::Resource, status::Status};

/// The grace period of a pod that states none, in seconds, as kube-apiserver.
const DEFAULT_GRACE_S: i64 = 30;

/// The namespaces that no one may delete (the admission plugin `NamespaceLifecycle`).
const LASTING_NAMESPACES: [&str; 3] = ["default", "kube-system", "kube-public"];

/// What becomes of a bound pod that is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PodDeletion {
    /// It is removed at once: there is no kubelet that would confirm its end.
    #[default]
    AtOnce,
    /// It is marked as terminating, as in a real cluster, until a delete with a grace period of 0.
    Graceful,
}

/// What a delete asks for.
#[derive(Debug, Clone, Default)]
pub(crate) struct DeleteRequest {
    pub(crate) uid: Option<String>,
    pub(crate) resource_version: Option<String>,
    pub(crate) grace_s: Option<i64>,
    pub(crate) dry_run: bool,
}

/// What became of the object.
#[derive(Debug)]
pub(crate) struct Deleted {
    pub(crate) object: Arc<Object>,
    /// Whether it is gone, or only marked.
    pub(crate) gone: bool,
}

impl State {
    /// Deletes an object, or marks it where a grace period or a finalizer holds it.
    pub(crate) fn delete(
        &mut self,
        target: Target<'_>,
        request: &DeleteRequest,
    ) -> Result<Deleted, Status> {
        let current = Arc::clone(self.get(target)?);
        if is_namespace(target.resource) && LASTING_NAMESPACES.contains(&target.key.1) {
            let why = "this namespace may not be deleted";
            return Err(Status::forbidden(target.resource, target.key.1, why));
        }
        check_preconditions(target, &current, request)?;
        let mut value = current.value();
        let grace_s = self.grace_s(target.resource, &value, request);
        let marked = mark(&mut value, clock::now(), grace_s);
        if is_namespace(target.resource) {
            json::section(&mut value, "status").insert("phase".to_owned(), "Terminating".into());
        }
        if request.dry_run {
            let gone = self.is_free(target, &value);
            return Ok(Deleted {
                object: current,
                gone,
            });
        }
        if is_namespace(target.resource) {
            self.empty_namespace(target.key.1)?;
        }
        if self.is_free(target, &value) {
            // Watches see that a pod is going before they see that it is gone, as in a real cluster.
            if marked && is_pod(target.resource) && self.pod_deletion == PodDeletion::Graceful {
                self.commit(target.resource.stored(), value);
            }
            return Ok(Deleted {
                object: self.finish(target)?,
                gone: true,
            });
        }
        let object = if marked {
            self.commit(target.resource.stored(), value)
        } else {
            current
        };
        Ok(Deleted {
            object,
            gone: false,
        })
    }

    /// Tells whether nothing holds an object that is being deleted: no grace period, no finalizer, and in
    /// a namespace no objects.
    pub(super) fn is_free(&self, target: Target<'_>, value: &Value) -> bool {
        let grace = json::at(value, &["metadata", "deletionGracePeriodSeconds"]);
        is_marked(value)
            && grace.and_then(Value::as_i64).unwrap_or(0) == 0
            && json::list(value, &["metadata", "finalizers"]).is_empty()
            && !(is_namespace(target.resource) && self.has_content(target.key.1))
    }

    /// Removes an object, and its namespace with it where that only waited for it.
    pub(super) fn finish(&mut self, target: Target<'_>) -> Result<Arc<Object>, Status> {
        let last = self.erase(target)?;
        if let Some(namespaces) =
            Resource::named("namespaces").filter(|_| target.resource.namespaced)
        {
            let home = Target::new(namespaces, "", target.key.0);
            if self
                .get(home)
                .is_ok_and(|it| self.is_free(home, &it.value()))
            {
                self.erase(home)?;
            }
        }
        Ok(last)
    }

    fn grace_s(&self, resource: &Resource, value: &Value, request: &DeleteRequest) -> i64 {
        let runs = json::text(value, &["spec", "nodeName"]).is_some()
            && !matches!(
                json::text(value, &["status", "phase"]),
                Some("Succeeded" | "Failed")
            );
        let graceful = is_pod(resource) && self.pod_deletion == PodDeletion::Graceful;
        if !graceful || !runs {
            return 0;
        }
        let own =
            json::at(value, &["spec", "terminationGracePeriodSeconds"]).and_then(Value::as_i64);
        match request.grace_s.or(own).unwrap_or(DEFAULT_GRACE_S) {
            negative if negative < 0 => 1,
            seconds => seconds,
        }
    }

    fn empty_namespace(&mut self, namespace: &str) -> Result<(), Status> {
        let request = DeleteRequest {
            grace_s: Some(0),
            ..DeleteRequest::default()
        };
        for resource in namespaced() {
            let objects = self.collection(resource).index.after(Some(namespace), None);
            let names: Vec<String> = objects.map(|it| it.name().to_owned()).collect();
            for name in names {
                self.delete(Target::new(resource, namespace, &name), &request)?;
            }
        }
        Ok(())
    }

    fn has_content(&self, namespace: &str) -> bool {
        namespaced().any(|it| self.collection(it).index.len(Some(namespace)) > 0)
    }
}

fn namespaced() -> impl Iterator<Item = &'static Resource> {
    Resource::all()
        .iter()
        .filter(|it| it.namespaced && it.alias.is_none())
}

fn is_pod(resource: &Resource) -> bool {
    resource.kind == "Pod"
}

fn is_namespace(resource: &Resource) -> bool {
    resource.kind == "Namespace"
}

/// Tells whether an object is being deleted.
pub(super) fn is_marked(value: &Value) -> bool {
    json::text(value, &["metadata", "deletionTimestamp"]).is_some()
}

/// Marks an object as being deleted; a mark is only ever moved to an earlier time. Tells whether it was.
fn mark(value: &mut Value, now: Timestamp, grace_s: i64) -> bool {
    let before =
        json::at(value, &["metadata", "deletionGracePeriodSeconds"]).and_then(Value::as_i64);
    if is_marked(value) && before.is_none_or(|before| before <= grace_s) {
        return false;
    }
    let metadata = json::section(value, "metadata");
    let end = clock::stamp(clock::later(now, grace_s));
    metadata.insert("deletionTimestamp".to_owned(), end);
    metadata.insert("deletionGracePeriodSeconds".to_owned(), json!(grace_s));
    true
}

/// Refuses where the object is not the one that was meant (`registry/rest/delete.go`).
fn check_preconditions(
    target: Target<'_>,
    current: &Object,
    request: &DeleteRequest,
) -> Result<(), Status> {
    let version = current.resource_version().to_string();
    let checks = [
        (
            "UID",
            &request.uid,
            current.uid(),
            "deleted and then recreated",
        ),
        (
            "ResourceVersion",
            &request.resource_version,
            &version,
            "modified",
        ),
    ];
    for (what, wanted, found, cause) in checks {
        if let Some(wanted) = wanted
            && wanted != found
        {
            let why = format!(
                "the {what} in the precondition ({wanted}) does not match the {what} in record ({found}). The object might have been {cause}"
            );
            return Err(target.conflict(&why));
        }
    }
    Ok(())
}
