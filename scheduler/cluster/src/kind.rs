//! The kinds that are watched: pods and nodes.
//!
//! Takes the JSON of one object, gives the slim value and the events that tell the engine
//! of it.

use std::borrow::Cow;
use std::sync::Arc;

use parking_lot::Mutex;
use plimsoll_core::Event;
use plimsoll_objects::{
    DecodeError, Node, ObjectKey, ObjectMeta, Pod, Uid, decode_node, decode_pod,
};
use serde::Deserialize;

use crate::annotations::Mistakes;
use crate::pending::Pending;
use crate::ready::Ready;
use crate::refused::Departures;

/// One kind of objects.
pub(crate) trait Kind: Send + Sync {
    /// Plural name, in paths, metrics and logs.
    const NAME: &'static str;
    /// Path of all objects of the kind, in all namespaces.
    const PATH: &'static str;
    /// Which of them are wanted.
    const FIELD_SELECTOR: Option<&'static str>;
    /// One object, decoded.
    type Object: Send + Sync;

    /// Decodes one object; what the kind keeps of it besides is noted.
    fn decode(&self, json: &[u8]) -> Result<Self::Object, DecodeError>;
    /// Name, uid and version of an object.
    fn meta(object: &Self::Object) -> &ObjectMeta;
    /// All objects, to replace what is known.
    fn listed(&self, objects: Vec<Arc<Self::Object>>) -> Event;
    /// An object was added or changed.
    fn set(&self, object: Arc<Self::Object>) -> Event;
    /// An object is gone, or has left the wanted ones; `json` is its state before that.
    fn gone(&self, head: &Head<'_>, json: &str) -> Event;
    /// The engine has been told of the first list.
    fn mark_listed(&self, ready: &Ready);
}

/// The least that is read of an object that need not, or cannot, be decoded as a whole.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Head<'a> {
    #[serde(borrow, default)]
    metadata: HeadMeta<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct HeadMeta<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    namespace: Cow<'a, str>,
    #[serde(borrow)]
    uid: Cow<'a, str>,
    #[serde(borrow)]
    resource_version: Cow<'a, str>,
    generation: Option<i64>,
}

/// All pods of all schedulers that have not ended.
pub(crate) struct Pods {
    pending: Arc<Pending>,
    departures: Departures,
}

/// All nodes.
#[derive(Debug, Default)]
pub(crate) struct Nodes {
    mistakes: Mutex<Mistakes>,
}

// === impl Head ===

impl<'a> Head<'a> {
    /// Reads the head of any object; `None` if there is no such head.
    pub(crate) fn of(json: &'a str) -> Option<Self> {
        serde_json::from_str(json).ok()
    }

    pub(crate) fn key(&self) -> ObjectKey {
        ObjectKey::new(&self.metadata.namespace, &self.metadata.name)
    }

    pub(crate) fn version(&self) -> &str {
        &self.metadata.resource_version
    }

    pub(crate) fn uid(&self) -> Uid {
        if self.metadata.uid.is_empty() {
            // As objects are decoded; the API server always gives one.
            return Uid(Arc::from(self.key().to_string()));
        }
        Uid(Arc::from(&*self.metadata.uid))
    }
}

// === impl Pods ===

impl Pods {
    /// Pods that tell `pending` of those that are not bound yet, and `departures` of those
    /// that leave.
    pub(crate) fn new(pending: Arc<Pending>, departures: Departures) -> Self {
        Self {
            pending,
            departures,
        }
    }
}

impl Kind for Pods {
    const NAME: &'static str = "pods";
    const PATH: &'static str = "/api/v1/pods";
    const FIELD_SELECTOR: Option<&'static str> =
        Some("status.phase!=Succeeded,status.phase!=Failed");
    type Object = Pod;

    fn decode(&self, json: &[u8]) -> Result<Pod, DecodeError> {
        let pod = decode_pod(json)?;
        if pod.spec.node_name.is_some() {
            self.pending.forget(pod.uid());
        } else {
            // Read a second time, for the few that wait: the engine has no use for it.
            let head = serde_json::from_slice::<Head<'_>>(json).unwrap_or_default();
            self.pending.note(&pod, head.metadata.generation);
        }
        Ok(pod)
    }

    fn meta(object: &Pod) -> &ObjectMeta {
        &object.meta
    }

    fn listed(&self, objects: Vec<Arc<Pod>>) -> Event {
        self.pending.keep_only(&objects);
        Event::PodsListed(objects)
    }

    fn set(&self, object: Arc<Pod>) -> Event {
        self.departures.shown(&object);
        Event::PodSet(object)
    }

    fn gone(&self, head: &Head<'_>, json: &str) -> Event {
        let (key, uid) = (head.key(), head.uid());
        self.pending.forget(&uid);
        self.departures.note(&key, &uid, json);
        Event::PodGone { key, uid }
    }

    fn mark_listed(&self, ready: &Ready) {
        ready.pods_listed();
    }
}

// === impl Nodes ===

impl Kind for Nodes {
    const NAME: &'static str = "nodes";
    const PATH: &'static str = "/api/v1/nodes";
    const FIELD_SELECTOR: Option<&'static str> = None;
    type Object = Node;

    fn decode(&self, json: &[u8]) -> Result<Node, DecodeError> {
        decode_node(json)
    }

    fn meta(object: &Node) -> &ObjectMeta {
        &object.meta
    }

    fn listed(&self, objects: Vec<Arc<Node>>) -> Event {
        self.mistakes.lock().listed(&objects);
        Event::NodesListed(objects)
    }

    fn set(&self, object: Arc<Node>) -> Event {
        self.mistakes.lock().look_at(&object);
        Event::NodeSet(object)
    }

    fn gone(&self, head: &Head<'_>, _: &str) -> Event {
        self.mistakes.lock().forget(&head.metadata.name);
        Event::NodeGone(Arc::from(&*head.metadata.name))
    }

    fn mark_listed(&self, ready: &Ready) {
        ready.nodes_listed();
    }
}
