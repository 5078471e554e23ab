//! Creating and updating objects: the order of the steps that kube-apiserver's generic registry takes
//! (`k8s.io/apiserver/pkg/registry/generic/registry/store.go`).

use std::sync::Arc;

use serde_json::Value;

use super::{Object, State, Target, delete::is_marked};
use crate::{
    admission::{self, Arrival},
    clock, json,
    resources::Resource,
    status::Status,
};

/// How often a generated name is drawn again when an object of that name exists, as kube-apiserver.
const NAME_DRAWS: usize = 8;

/// How much of a `generateName` is kept, so that the name stays a DNS label, as kube-apiserver.
const NAME_START_LETTERS: usize = 58;

/// Who writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A client, over HTTP: what only the server may set is set by the server.
    Client,
    /// The owner of the server, in process: what is given is kept.
    Owner,
}

/// Which part of an object an update may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// All but status, where status has an address of its own.
    Main,
    /// Status only.
    Status,
    /// Everything.
    Whole,
}

/// How to write.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Write {
    pub(crate) origin: Origin,
    pub(crate) part: Part,
    /// Answer as if, change nothing.
    pub(crate) dry_run: bool,
    /// Whether the object brings the owners of its fields; otherwise they stay as they are.
    pub(crate) owned: bool,
}

impl Write {
    pub(crate) const fn by(origin: Origin, part: Part) -> Self {
        Self {
            origin,
            part,
            dry_run: false,
            owned: false,
        }
    }
}

impl State {
    /// Makes an object given in the form of `resource`.
    pub(crate) fn create(
        &mut self,
        resource: &'static Resource,
        mut value: Value,
        write: Write,
    ) -> Result<Arc<Object>, Status> {
        let stored = resource.stored();
        admission::check_shape(resource, &mut value)?;
        if let Some(alias) = resource.alias {
            alias.store(&mut value);
        }
        self.draw_name(stored, &mut value);
        let arrival = Arrival {
            uid: self.identity.uid(),
            now: clock::now(),
            origin: write.origin,
            owned: write.owned,
        };
        admission::create(self, stored, &mut value, arrival)?;
        let (namespace, name) = key_of(&value);
        let target = Target::new(stored, namespace, name);
        if let Ok(present) = self.get(target) {
            let mut status = Status::already_exists(resource, name);
            if is_marked(&present.value()) {
                status.message.insert_str(0, "object is being deleted: ");
            }
            return Err(status);
        }
        if write.dry_run {
            return Ok(Arc::new(Object::new(stored, value, self.revision())));
        }
        Ok(self.commit(stored, value))
    }

    /// Changes an object: `edit` takes its present state in the form of the target's resource and gives
    /// the wanted one. A write that changes nothing leaves the object's version as it is.
    pub(crate) fn update(
        &mut self,
        target: Target<'_>,
        write: Write,
        edit: impl FnOnce(&Value) -> Result<Value, Status>,
    ) -> Result<Arc<Object>, Status> {
        let current = Arc::clone(self.get(target)?);
        let mut old = current.value_as(target.resource);
        let mut new = edit(&old)?;
        admission::check_shape(target.resource, &mut new)?;
        if let Some(alias) = target.resource.alias {
            alias.store(&mut new);
            old = current.value();
        }
        let stored = target.resource.stored();
        admission::update(stored, &old, &mut new, write)?;
        if new == old {
            return Ok(current);
        }
        if write.dry_run {
            return Ok(Arc::new(Object::new(
                stored,
                new,
                current.resource_version(),
            )));
        }
        if self.is_free(target, &new) {
            return self.finish(Target {
                resource: stored,
                ..target
            });
        }
        Ok(self.commit(stored, new))
    }

    /// Draws the name of an object that only states how its name begins.
    fn draw_name(&mut self, stored: &'static Resource, value: &mut Value) {
        if json::text(value, &["metadata", "name"]).is_some() {
            return;
        }
        let Some(start) = json::text(value, &["metadata", "generateName"]) else {
            return;
        };
        let start: String = start.chars().take(NAME_START_LETTERS).collect();
        for _ in 0..NAME_DRAWS {
            let name = format!("{start}{}", self.identity.name_end());
            let (namespace, _) = key_of(value);
            let taken = self.get(Target::new(stored, namespace, &name)).is_ok();
            json::section(value, "metadata").insert("name".to_owned(), name.into());
            if !taken {
                return;
            }
        }
    }
}

fn key_of(value: &Value) -> (&str, &str) {
    let text = |key| json::text(value, &["metadata", key]).unwrap_or("");
    (text("namespace"), text("name"))
}
