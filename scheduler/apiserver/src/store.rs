//! The state of the cluster: objects by resource, one revision for all, and the rules of writing them.
//!
//! One lock guards it; a write takes it once, does no work that grows with the number of objects, and
//! wakes the watches of its resource. The routes and the owner of the server write through the same
//! rules, save that the owner may set status and identity freely.

mod binding;
mod collection;
mod delete;
mod eviction;
mod history;
mod index;
mod object;
mod page;
mod state;
mod write;

use std::sync::Arc;

use parking_lot::RwLock;
use serde_json::Value;

pub use binding::Binding;
pub use delete::PodDeletion;
pub use object::Object;

pub(crate) use delete::DeleteRequest;
pub(crate) use history::{Change, TooOld};
pub(crate) use object::with_type;
pub(crate) use page::{Page, PageQuery};
pub(crate) use state::{Settings, State, Target};
pub(crate) use write::{Origin, Part, Write};

use crate::{json, resources::Resource, selector::Selection, status::Status};

/// A handle on the objects of a running server; clones share them.
///
/// Resources are named by plural, with the group where the plural alone is not clear: `pods`, `leases`,
/// `events.events.k8s.io`. Writes appear in watches as those of any client, but in no statistics: those
/// count HTTP requests.
#[derive(Debug, Clone)]
pub struct Store {
    state: Arc<RwLock<State>>,
}

impl Store {
    pub(crate) fn new(settings: &Settings) -> Self {
        let state = Arc::new(RwLock::new(State::new(settings)));
        Self { state }
    }

    /// Makes an object. Its `apiVersion` and `kind` say of which resource; a missing namespace is
    /// `default`; defaults are filled in, and status, uid and creation time are kept where given.
    ///
    /// # Errors
    /// The `Status` a client would get: invalid, already there, namespace missing.
    pub fn create(&self, object: Value) -> Result<Arc<Object>, Status> {
        let (resource, object) = recognise(object)?;
        let write = Write::by(Origin::Owner, Part::Whole);
        self.state.write().create(resource, object, write)
    }

    /// Replaces an object, status included. A `resourceVersion` in it must be the present one.
    ///
    /// # Errors
    /// The `Status` a client would get: not found, conflict, invalid.
    pub fn update(&self, object: Value) -> Result<Arc<Object>, Status> {
        let (resource, object) = recognise(object)?;
        let key = |name| {
            json::text(&object, &["metadata", name])
                .unwrap_or("")
                .to_owned()
        };
        let (namespace, name) = (key("namespace"), key("name"));
        let target = Target::new(resource, &namespace, &name);
        let write = Write::by(Origin::Owner, Part::Whole);
        self.state.write().update(target, write, |_| Ok(object))
    }

    /// Changes an object in place, status included.
    ///
    /// # Errors
    /// The `Status` a client would get: not found, invalid.
    pub fn edit(
        &self,
        resource: &str,
        namespace: &str,
        name: &str,
        change: impl FnOnce(&mut Value),
    ) -> Result<Arc<Object>, Status> {
        let target = Target::new(known(resource)?, namespace, name);
        let write = Write::by(Origin::Owner, Part::Whole);
        self.state.write().update(target, write, |current| {
            let mut object = current.clone();
            change(&mut object);
            Ok(object)
        })
    }

    /// Deletes an object as a client would with no grace period, and gives its last state.
    ///
    /// # Errors
    /// Not found.
    pub fn delete(
        &self,
        resource: &str,
        namespace: &str,
        name: &str,
    ) -> Result<Arc<Object>, Status> {
        let target = Target::new(known(resource)?, namespace, name);
        let request = DeleteRequest {
            grace_s: Some(0),
            ..DeleteRequest::default()
        };
        Ok(self.state.write().delete(target, &request)?.object)
    }

    /// Gives an object; the namespace is empty for resources of the cluster.
    ///
    /// # Errors
    /// Not found.
    pub fn get(&self, resource: &str, namespace: &str, name: &str) -> Result<Arc<Object>, Status> {
        let target = Target::new(known(resource)?, namespace, name);
        self.state.read().get(target).map(Arc::clone)
    }

    /// Gives the objects of a namespace, or of all, by namespace and name.
    ///
    /// # Errors
    /// The resource is unknown.
    pub fn list(
        &self,
        resource: &str,
        namespace: Option<&str>,
    ) -> Result<Vec<Arc<Object>>, Status> {
        let state = self.state.read();
        let index = &state.collection(known(resource)?).index;
        Ok(index.after(namespace, None).map(Arc::clone).collect())
    }

    /// Counts the objects of a namespace, or of all.
    ///
    /// # Errors
    /// The resource is unknown.
    pub fn count(&self, resource: &str, namespace: Option<&str>) -> Result<usize, Status> {
        Ok(self
            .state
            .read()
            .collection(known(resource)?)
            .index
            .len(namespace))
    }

    /// Gives the present revision: the resource version of the newest write.
    pub fn resource_version(&self) -> u64 {
        self.state.read().revision()
    }

    /// Binds a pod to a node as `pods/binding` does.
    ///
    /// # Errors
    /// The `Status` a client would get: not found, conflict.
    pub fn bind(&self, namespace: &str, pod: &str, binding: &Binding) -> Result<(), Status> {
        self.state.write().bind((namespace, pod), binding, false)
    }

    pub(crate) fn read<T>(&self, look: impl FnOnce(&State) -> T) -> T {
        look(&self.state.read())
    }

    pub(crate) fn write<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.state.write())
    }

    /// Gives the matching objects of the present and the revision they show.
    pub(crate) fn select(
        &self,
        resource: &'static Resource,
        namespace: Option<&str>,
        selection: &Selection,
    ) -> (Vec<Arc<Object>>, u64) {
        let state = self.state.read();
        let objects = state.collection(resource).index.after(namespace, None);
        let matching = objects.filter(|object| selection.matches(object));
        (matching.map(Arc::clone).collect(), state.revision())
    }
}

fn known(resource: &str) -> Result<&'static Resource, Status> {
    Resource::named(resource).ok_or_else(Status::no_such_resource)
}

/// Finds the resource of an object, and gives it a namespace where it needs one.
fn recognise(mut object: Value) -> Result<(&'static Resource, Value), Status> {
    let text = |key| json::text(&object, &[key]).unwrap_or("");
    let resource =
        Resource::of(text("apiVersion"), text("kind")).ok_or_else(Status::no_such_resource)?;
    if resource.namespaced {
        json::set_default(
            json::section(&mut object, "metadata"),
            "namespace",
            "default",
        );
    }
    Ok((resource, object))
}
