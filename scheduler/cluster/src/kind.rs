//! The kinds that are watched: pods, nodes, and the others that plugins look at.
//!
//! Takes the JSON of one object, gives the slim value and the events that tell the engine
//! of it.

mod others;

use std::borrow::Cow;
use std::sync::Arc;

use parking_lot::Mutex;
use plimsoll_core::Event;
use plimsoll_objects::{
    DecodeError, Node, ObjectKey, ObjectMeta, Pod, Uid, decode_node, decode_pod,
};
use serde::Deserialize;

pub(crate) use self::others::Others;

use crate::annotations::Mistakes;
use crate::consult::Originals;
use crate::pending::Pending;
use crate::ready::Ready;
use crate::refused::Departures;

/// One kind of objects.
pub(crate) trait Kind: Send + Sync {
    /// One object, decoded.
    type Object: Send + Sync;

    /// Whether there are API servers that do not serve the kind: as good as no objects.
    fn may_be_unserved(&self) -> bool {
        false
    }
    /// Waits for what the engine is to be told before this kind.
    fn comes_after(&self, ready: &Ready) -> impl Future<Output = ()> + Send {
        let _: &Ready = ready;
        std::future::ready(())
    }
    /// Plural name, in paths, metrics and logs.
    fn name(&self) -> &'static str;
    /// Path of all objects of the kind, in all namespaces.
    fn path(&self) -> &'static str;
    /// Which of them are wanted.
    fn field_selector(&self) -> Option<&'static str> {
        None
    }
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
    originals: Arc<Originals>,
}

/// All nodes.
#[derive(Debug, Default)]
pub(crate) struct Nodes {
    mistakes: Mutex<Mistakes>,
    originals: Arc<Originals>,
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
    /// Pods that tell `pending` of those that are not bound yet, `departures` of those that
    /// leave, and `originals` of all.
    pub(crate) fn new(
        pending: Arc<Pending>,
        departures: Departures,
        originals: Arc<Originals>,
    ) -> Self {
        Self {
            pending,
            departures,
            originals,
        }
    }
}

impl Kind for Pods {
    type Object = Pod;

    fn name(&self) -> &'static str {
        "pods"
    }

    fn path(&self) -> &'static str {
        "/api/v1/pods"
    }

    fn field_selector(&self) -> Option<&'static str> {
        Some("status.phase!=Succeeded,status.phase!=Failed")
    }

    fn decode(&self, json: &[u8]) -> Result<Pod, DecodeError> {
        let pod = decode_pod(json)?;
        self.originals.note_pod(&pod, json);
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
        self.originals.keep_only_pods(&objects);
        Event::PodsListed(objects)
    }

    fn set(&self, object: Arc<Pod>) -> Event {
        self.departures.shown(&object);
        Event::PodSet(object)
    }

    fn gone(&self, head: &Head<'_>, json: &str) -> Event {
        let (key, uid) = (head.key(), head.uid());
        self.pending.forget(&uid);
        self.originals.forget_pod(&uid);
        self.departures.note(&key, &uid, json);
        Event::PodGone { key, uid }
    }

    async fn comes_after(&self, ready: &Ready) {
        ready.others().await;
    }

    fn mark_listed(&self, ready: &Ready) {
        ready.pods_listed();
    }
}

// === impl Nodes ===

impl Nodes {
    /// Nodes that tell `originals` of all.
    pub(crate) fn new(originals: Arc<Originals>) -> Self {
        Self {
            originals,
            ..Self::default()
        }
    }
}

impl Kind for Nodes {
    type Object = Node;

    fn name(&self) -> &'static str {
        "nodes"
    }

    fn path(&self) -> &'static str {
        "/api/v1/nodes"
    }

    fn decode(&self, json: &[u8]) -> Result<Node, DecodeError> {
        let node = decode_node(json)?;
        self.originals.note_node(&node, json);
        Ok(node)
    }

    fn meta(object: &Node) -> &ObjectMeta {
        &object.meta
    }

    fn listed(&self, objects: Vec<Arc<Node>>) -> Event {
        self.mistakes.lock().listed(&objects);
        self.originals.keep_only_nodes(&objects);
        Event::NodesListed(objects)
    }

    fn set(&self, object: Arc<Node>) -> Event {
        self.mistakes.lock().look_at(&object);
        Event::NodeSet(object)
    }

    fn gone(&self, head: &Head<'_>, _: &str) -> Event {
        self.mistakes.lock().forget(&head.metadata.name);
        self.originals.forget_node(&head.metadata.name);
        Event::NodeGone(Arc::from(&*head.metadata.name))
    }

    fn mark_listed(&self, ready: &Ready) {
        ready.nodes_listed();
    }
}
