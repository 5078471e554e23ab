//! A change of the cluster with its objects, as the queue hands it to hints.

use std::sync::Arc;

use plimsoll_framework::{Actions, Change, ClusterEvent, EventResource, NodeLoad};
use plimsoll_objects::{Node, Object, Pod, Uid};

use super::item::Queued;

/// One change, and whom it concerns.
#[derive(Debug, Clone)]
pub(crate) struct Happening {
    pub(crate) event: ClusterEvent,
    pub(crate) objects: Objects,
    pub(crate) scope: Scope,
}

/// The objects behind a change.
#[derive(Debug, Clone)]
pub(crate) enum Objects {
    None,
    Node {
        old: Option<Arc<Node>>,
        new: Option<Arc<Node>>,
    },
    Pod {
        old: Option<Arc<Pod>>,
        new: Option<Arc<Pod>>,
    },
    Other {
        old: Option<Object>,
        new: Option<Object>,
    },
    /// Nodes whose load fell: one happening for all of one look.
    Loads(Arc<[Fallen]>),
}

/// A node whose load fell, or is known again.
#[derive(Debug, Clone)]
pub(crate) struct Fallen {
    pub(crate) node: Arc<Node>,
    pub(crate) load: NodeLoad,
}

/// Which entities a change may wake.
#[derive(Debug, Clone)]
pub(crate) enum Scope {
    All,
    /// Only the entity of this pod.
    Only(Uid),
    /// All but the entity of this pod.
    Except(Uid),
    /// Entities of at most this priority.
    AtMost(i32),
}

// === impl Happening ===

impl Happening {
    /// Load fell.
    pub(crate) const LOAD_FELL: ClusterEvent =
        ClusterEvent::new(EventResource::Node, Actions::UPDATE_LOAD);

    /// The load of these nodes fell.
    pub(crate) fn load(fallen: Arc<[Fallen]>) -> Self {
        Self {
            event: Self::LOAD_FELL,
            objects: Objects::Loads(fallen),
            scope: Scope::All,
        }
    }

    /// No node is judged by its load any more: a hint that looks at rows would not know.
    pub(crate) fn load_unjudged() -> Self {
        Self {
            event: Self::LOAD_FELL,
            objects: Objects::None,
            scope: Scope::All,
        }
    }

    pub(crate) fn node(actions: Actions, old: Option<&Arc<Node>>, new: Option<&Arc<Node>>) -> Self {
        let objects = Objects::Node {
            old: old.map(Arc::clone),
            new: new.map(Arc::clone),
        };
        let event = ClusterEvent::new(EventResource::Node, actions);
        Self {
            event,
            objects,
            scope: Scope::All,
        }
    }

    /// A change of a pod that has a node.
    pub(crate) fn assigned(
        actions: Actions,
        old: Option<&Arc<Pod>>,
        new: Option<&Arc<Pod>>,
    ) -> Self {
        let objects = Objects::Pod {
            old: old.map(Arc::clone),
            new: new.map(Arc::clone),
        };
        let event = ClusterEvent::new(EventResource::AssignedPod, actions);
        Self {
            event,
            objects,
            scope: Scope::All,
        }
    }

    /// A change of a pod that waits, for itself.
    pub(crate) fn target(actions: Actions, old: Option<&Arc<Pod>>, new: &Arc<Pod>) -> Self {
        let objects = Objects::Pod {
            old: old.map(Arc::clone),
            new: Some(Arc::clone(new)),
        };
        let event = ClusterEvent::new(EventResource::TargetPod, actions);
        Self {
            event,
            objects,
            scope: Scope::Only(new.uid().clone()),
        }
    }

    /// A change of an object that is neither pod nor node.
    pub(crate) fn object(
        resource: EventResource,
        actions: Actions,
        old: Option<Object>,
        new: Option<Object>,
    ) -> Self {
        Self {
            event: ClusterEvent::new(resource, actions),
            objects: Objects::Other { old, new },
            scope: Scope::All,
        }
    }

    /// Something that wakes everybody in scope, whatever they wait for.
    pub(crate) fn wildcard() -> Self {
        let event = ClusterEvent::new(EventResource::Any, Actions::ALL);
        Self {
            event,
            objects: Objects::None,
            scope: Scope::All,
        }
    }

    pub(crate) fn within(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    pub(super) fn is_wildcard(&self) -> bool {
        self.event.resource == EventResource::Any
    }

    pub(super) fn concerns(&self, item: &Queued) -> bool {
        match &self.scope {
            Scope::All => true,
            Scope::Only(uid) => item.holds(uid),
            Scope::Except(uid) => !item.holds(uid),
            Scope::AtMost(priority) => item.entity.priority() <= *priority,
        }
    }

    /// What a hint is asked about: one change, or one per node whose load fell.
    pub(super) fn changes(&self) -> impl Iterator<Item = Change<'_>> {
        let (one, fallen): (_, &[Fallen]) = match &self.objects {
            Objects::None => (Some(Change::None), &[]),
            Objects::Node { old, new } => {
                let (old, new) = (old.as_deref(), new.as_deref());
                (Some(Change::Node { old, new }), &[])
            }
            Objects::Pod { old, new } => {
                let (old, new) = (old.as_deref(), new.as_deref());
                (Some(Change::Pod { old, new }), &[])
            }
            Objects::Other { old, new } => {
                let (old, new) = (old.as_ref(), new.as_ref());
                (Some(Change::Object { old, new }), &[])
            }
            Objects::Loads(fallen) => (None, fallen),
        };
        let loads = fallen.iter().map(|fallen| Change::Load {
            node: &fallen.node,
            load: &fallen.load,
        });
        one.into_iter().chain(loads)
    }
}
