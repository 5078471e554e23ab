//! The cluster of a flow: an embedded API server, what is in it, and what was asked of it.

use std::fmt::Write;
use std::time::Duration;

use plimsoll_apiserver::{ApiServer, Faults, Options, Stats, Store, Verb};
use serde_json::Value;
use tokio::time::{sleep, timeout};

use super::scheduler::Scheduler;

/// Longest wait for anything: far beyond what any step takes on a busy machine.
pub const BOUND: Duration = Duration::from_secs(20);
/// Time between two looks.
pub(super) const LOOK: Duration = Duration::from_millis(10);

const PODS: &str = "pods";
const NAMESPACE: &str = "default";
const BINDING: &str = "pods/binding";

/// A cluster.
#[derive(Debug)]
pub struct Stage {
    server: ApiServer,
}

/// An event about a pod, as `kubectl describe` shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// `Normal` or `Warning`.
    pub kind: String,
    /// `Scheduled`, `FailedScheduling`.
    pub reason: String,
    /// The text.
    pub note: String,
    /// `reportingController`.
    pub by: String,
    /// How often it happened, as far as the API server was told.
    pub count: u64,
}

// === impl Stage ===

impl Stage {
    /// An empty cluster. To be called inside a tokio runtime.
    ///
    /// # Panics
    /// The loopback has no free port.
    pub fn open() -> Self {
        let server = ApiServer::start(Options::default()).expect("a free port on the loopback");
        Self { server }
    }

    /// Where the API server is.
    pub fn address(&self) -> String {
        format!("http://{}", self.server.address())
    }

    /// The objects.
    pub fn store(&self) -> Store {
        self.server.store()
    }

    /// What goes wrong on demand.
    pub fn faults(&self) -> Faults {
        self.server.faults()
    }

    /// What was asked of the API server.
    pub fn stats(&self) -> Stats {
        self.server.stats()
    }

    /// Creates an object, as another client would.
    ///
    /// # Panics
    /// The API server refuses it.
    pub fn add(&self, object: impl Into<Value>) {
        self.store()
            .create(object.into())
            .expect("the object is valid and new");
    }

    /// Deletes a pod at once.
    ///
    /// # Panics
    /// It is not there.
    pub fn delete_pod(&self, name: &str) {
        self.store()
            .delete(PODS, NAMESPACE, name)
            .expect("the pod is there");
    }

    /// Deletes a node.
    ///
    /// # Panics
    /// It is not there.
    pub fn delete_node(&self, name: &str) {
        self.store()
            .delete("nodes", "", name)
            .expect("the node is there");
    }

    /// A scheduler of these profiles, which knows the cluster already.
    pub async fn scheduler(&self, profiles: &str) -> Scheduler {
        let scheduler = Scheduler::start(&self.address(), profiles, "").await;
        scheduler.until_ready().await;
        scheduler
    }

    /// A pod; `null` if there is none.
    pub fn pod(&self, name: &str) -> Value {
        self.store()
            .get(PODS, NAMESPACE, name)
            .map_or(Value::Null, |pod| pod.value())
    }

    /// The node of a pod.
    pub fn node_of(&self, pod: &str) -> Option<String> {
        self.pod(pod)["spec"]["nodeName"]
            .as_str()
            .map(str::to_owned)
    }

    /// Pods with a node, and all pods.
    ///
    /// # Panics
    /// Never: pods are known.
    pub fn bound(&self) -> (usize, usize) {
        let pods = self.store().list(PODS, None).expect("pods are known");
        let bound = pods
            .iter()
            .filter(|pod| pod.value()["spec"]["nodeName"].is_string());
        (bound.count(), pods.len())
    }

    /// The condition `PodScheduled` of a pod; `null` if it has none.
    pub fn condition(&self, pod: &str) -> Value {
        let conditions = self.pod(pod)["status"]["conditions"].take();
        let mut conditions = conditions
            .as_array()
            .cloned()
            .unwrap_or_default()
            .into_iter();
        conditions
            .find(|condition| condition["type"] == "PodScheduled")
            .unwrap_or_default()
    }

    /// What was told about a pod, oldest first.
    ///
    /// # Panics
    /// Never: events are known.
    pub fn told(&self, pod: &str) -> Vec<Told> {
        let events = self.store().list("events", None).expect("events are known");
        let mut events: Vec<Value> = events
            .iter()
            .map(|event| event.value())
            .filter(|event| event["involvedObject"]["name"] == pod)
            .collect();
        events.sort_by_key(|event| event["eventTime"].to_string());
        events.iter().map(Told::of).collect()
    }

    /// Bindings that were made: the API server lets each life of a pod have one at most, so
    /// as many as pods that are bound means each exactly once.
    pub fn bindings_made(&self) -> u64 {
        self.answers(Verb::Create, BINDING, 201)
    }

    /// Bindings that were asked for and answered.
    pub fn bindings_tried(&self) -> u64 {
        self.stats().requests_of(Verb::Create, BINDING)
    }

    /// How often a verb on a resource was answered with this code.
    pub fn answers(&self, verb: Verb, resource: &str, code: u16) -> u64 {
        let all = self.stats().requests().into_iter();
        all.filter(|it| it.verb == verb && it.resource == resource && it.code == code)
            .map(|it| it.count)
            .sum()
    }

    /// Waits until something holds.
    ///
    /// # Panics
    /// It does not within [`BOUND`].
    pub async fn until(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let looking = async {
            while !holds() {
                sleep(LOOK).await;
            }
        };
        let in_time = timeout(BOUND, looking).await.is_ok();
        assert!(in_time, "not within {BOUND:?}: {what}\n{}", self.report());
    }

    /// Waits until a pod is bound, and gives its node.
    pub async fn until_bound(&self, pod: &str) -> String {
        let mut node = None;
        self.until(&format!("{pod} is bound"), || {
            node = self.node_of(pod);
            node.is_some()
        })
        .await;
        node.unwrap_or_default()
    }

    /// Waits until every pod is bound.
    pub async fn until_all_bound(&self) {
        self.until("every pod is bound", || {
            let (bound, all) = self.bound();
            bound == all
        })
        .await;
    }

    /// Waits until a pod was told about with this reason, and gives what was told last.
    pub async fn until_told(&self, pod: &str, reason: &str) -> Told {
        let mut found = None;
        self.until(&format!("{pod} is told {reason}"), || {
            found = self
                .told(pod)
                .into_iter()
                .rfind(|told| told.reason == reason);
            found.is_some()
        })
        .await;
        found.unwrap_or_else(|| Told::of(&Value::Null))
    }

    /// Ends the cluster.
    pub async fn close(self) {
        self.server.shutdown().await;
    }

    /// Everything that was asked, and the pods without a node.
    fn report(&self) -> String {
        let mut text = String::new();
        for it in self.stats().requests() {
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "{} {} {}: {}",
                it.verb, it.resource, it.code, it.count
            );
        }
        for pod in self.store().list(PODS, None).unwrap_or_default() {
            if pod.value()["spec"]["nodeName"].is_null() {
                let condition = self.condition(pod.name());
                let _ = writeln!(text, "{} has no node: {}", pod.name(), condition["message"]);
            }
        }
        text
    }
}

// === impl Told ===

impl Told {
    fn of(event: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Self {
            kind: text(&event["type"]),
            reason: text(&event["reason"]),
            note: text(&event["message"]),
            by: text(&event["reportingComponent"]),
            count: event["series"]["count"].as_u64().unwrap_or(1),
        }
    }
}
