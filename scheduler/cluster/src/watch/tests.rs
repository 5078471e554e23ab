//! Lists and watches against a scripted server.

mod lists;
mod others;
mod pace;
mod pair;
mod streams;

use std::sync::Arc;

use plimsoll_core::Event;
use plimsoll_objects::{ObjectKind, Pod};
use serde_json::{Value, json};
use tokio::sync::mpsc::{Receiver, channel};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{Watch, partners};
use crate::call::Api;
use crate::cluster::TaskError;
use crate::kind::{Kind, Pods};
use crate::metrics::Metrics;
use crate::pending::Pending;
use crate::ready::Ready;
use crate::refused::departures;
use crate::script::{Reply, Script, Then};

const LIST: &str = "GET /api/v1/pods";
const WATCH: &str = "WATCH /api/v1/pods";

struct Run {
    events: Receiver<Event>,
    metrics: Metrics,
    ready: Ready,
    _task: JoinSet<Result<(), TaskError>>,
}

fn run<K: Kind + 'static>(kind: K, script: &Script) -> Run {
    let (sender, events) = channel(64);
    let (metrics, ready) = (Metrics::default(), without_others());
    let api = Api::new(script.client(), metrics.clone());
    let mut task = JoinSet::new();
    // A leader: it waits for nobody.
    let (partner, _) = partners();
    let watch = Watch::new(kind, api, sender, ready.clone(), partner);
    task.spawn(watch.run(CancellationToken::new()));
    Run {
        events,
        metrics,
        ready,
        _task: task,
    }
}

/// As if all other kinds had been listed: pods wait for nothing.
fn without_others() -> Ready {
    let ready = Ready::default();
    for kind in ObjectKind::ALL {
        ready.others_listed(kind);
    }
    ready
}

fn run_pods(script: &Script) -> Run {
    run(pods(Arc::default(), script), script)
}

fn pods(pending: Arc<Pending>, script: &Script) -> Pods {
    let (departures, _) = departures(script.api());
    Pods::new(pending, departures, Arc::default())
}

fn pod(name: &str, version: &str) -> Value {
    json!({
        "metadata": {"name": name, "namespace": "ns", "uid": name, "resourceVersion": version},
        "spec": {"containers": []},
    })
}

/// A pod whose request is no quantity.
fn odd_pod(name: &str, version: &str) -> Value {
    let mut pod = pod(name, version);
    let requests = json!({"requests": {"cpu": "much"}});
    pod["spec"]["containers"] = json!([{"name": "c", "resources": requests}]);
    pod
}

fn list(items: &[Value], version: &str, next: &str) -> Reply {
    Reply::ok(&json!({
        "metadata": {"resourceVersion": version, "continue": next},
        "items": items,
    }))
}

fn change(what: &str, object: &Value) -> Value {
    json!({"type": what, "object": object})
}

fn bookmark(version: &str) -> Value {
    change(
        "BOOKMARK",
        &json!({"kind": "Pod", "metadata": {"resourceVersion": version}}),
    )
}

fn quiet() -> Reply {
    Reply::watch(&[], Then::Hang)
}

fn refused(code: u16) -> Reply {
    Reply::status(code, "no")
}

impl Run {
    async fn next(&mut self) -> Event {
        self.events.recv().await.expect("the watch runs on")
    }

    async fn listed(&mut self) -> Vec<Arc<Pod>> {
        match self.next().await {
            Event::PodsListed(pods) => pods,
            other => panic!("not a list: {other:?}"),
        }
    }

    async fn set(&mut self) -> Arc<Pod> {
        match self.next().await {
            Event::PodSet(pod) => pod,
            other => panic!("not a pod: {other:?}"),
        }
    }

    fn count(&self, series: &str) -> Option<String> {
        self.metrics.value(series)
    }
}

fn names(pods: &[Arc<Pod>]) -> Vec<&str> {
    pods.iter().map(|pod| &*pod.key().name).collect()
}
