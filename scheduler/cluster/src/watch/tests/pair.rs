//! Both watches together: whatever order they come back in, no pod is told of before the
//! nodes are those of now.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_core::Event;
use serde_json::{Value, json};
use tokio::sync::mpsc::{Receiver, channel};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::super::{Watch, partners};
use super::{LIST, WATCH, change, list, pod, pods, quiet, refused, without_others};
use crate::cluster::TaskError;
use crate::kind::Nodes;
use crate::script::{Reply, Script, Then};

const NODE_LIST: &str = "GET /api/v1/nodes";
const NODE_WATCH: &str = "WATCH /api/v1/nodes";
/// Longer than any wait here, no time at all with a paused clock.
const LONG: Duration = Duration::from_secs(30);

struct Pair {
    events: Receiver<Event>,
    _tasks: JoinSet<Result<(), TaskError>>,
}

fn run(script: &Script) -> Pair {
    let (sender, events) = channel(64);
    let (leads, follows) = partners();
    let (api, ready) = (script.api(), without_others());
    let nodes = Watch::new(
        Nodes::default(),
        api.clone(),
        sender.clone(),
        ready.clone(),
        leads,
    );
    let pods = Watch::new(pods(Arc::default(), script), api, sender, ready, follows);
    let mut tasks = JoinSet::new();
    tasks.spawn(pods.run(CancellationToken::new()));
    tasks.spawn(nodes.run(CancellationToken::new()));
    Pair {
        events,
        _tasks: tasks,
    }
}

fn node(name: &str, version: &str) -> Value {
    json!({"metadata": {"name": name, "uid": name, "resourceVersion": version}})
}

/// A server that has one pod and one node, lists that are asked for once.
fn one_of_each() -> Script {
    let script = Script::default();
    script
        .on(NODE_LIST, list(&[node("n1", "1")], "10", ""))
        .on(LIST, list(&[pod("a", "2")], "10", ""));
    script
}

impl Pair {
    /// What the engine is told next, in short; `None` if it is told nothing.
    async fn next(&mut self) -> Option<String> {
        let event = timeout(LONG, self.events.recv()).await.ok()??;
        Some(match event {
            Event::NodesListed(nodes) => format!("{} nodes", nodes.len()),
            Event::PodsListed(pods) => format!("{} pods", pods.len()),
            Event::NodeSet(node) => format!("node {}", node.name()),
            Event::NodeGone(name) => format!("no {name}"),
            Event::PodSet(pod) => format!("pod {}", pod.key().name),
            other => format!("{other:?}"),
        })
    }

    async fn told(&mut self, n: usize) -> Vec<String> {
        let mut told = Vec::new();
        for _ in 0..n {
            told.extend(self.next().await);
        }
        told
    }
}

#[tokio::test(start_paused = true)]
async fn the_first_pods_come_after_the_first_nodes() {
    let script = Script::default();
    script
        .on(NODE_LIST, refused(403))
        .on(NODE_LIST, refused(403))
        .on(NODE_LIST, list(&[node("n1", "1")], "10", ""))
        .on(LIST, list(&[pod("a", "2")], "10", ""));
    let mut pair = run(&script);
    assert_eq!(pair.told(2).await, ["1 nodes", "1 pods"]);
}

/// Case WAT-A1: history is lost, and pods are listed while nodes are still forbidden.
#[tokio::test(start_paused = true)]
async fn pods_listed_anew_wait_for_nodes_whichever_notices_first() {
    for breaks_first in [WATCH, NODE_WATCH] {
        let script = one_of_each();
        for watch in [WATCH, NODE_WATCH] {
            let first = if watch == breaks_first {
                Reply::watch(&[], Then::Break)
            } else {
                quiet()
            };
            // A watch that is recalled before its answer asks once more.
            script
                .on(watch, first)
                .on(watch, refused(410))
                .on(watch, refused(410));
        }
        script.on(NODE_LIST, refused(403));
        for _ in 0..2 {
            script
                .on(LIST, list(&[pod("a", "2"), pod("b", "20")], "30", ""))
                .on(NODE_LIST, list(&[], "30", ""));
        }
        let mut pair = run(&script);
        assert_eq!(pair.told(2).await, ["1 nodes", "1 pods"]);
        let began = Instant::now();
        assert_eq!(pair.told(1).await, ["0 nodes"], "{breaks_first} first");
        let mut told = pair.next().await;
        if told.as_deref() == Some("0 nodes") {
            // Its own watch was recalled, and expired once more.
            told = pair.next().await;
        }
        assert_eq!(told.as_deref(), Some("2 pods"), "{breaks_first} first");
        assert!(began.elapsed().as_secs() < 5, "{:?}", began.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn news_of_pods_wait_for_a_watch_of_nodes_that_did_not_notice_the_loss() {
    let script = one_of_each();
    script.on(WATCH, Reply::watch(&[], Then::Break)).on(
        WATCH,
        Reply::watch(&[change("ADDED", &pod("b", "21"))], Then::Hang),
    );
    // Its connection is dead, and says nothing.
    script.on(NODE_WATCH, quiet()).on(
        NODE_WATCH,
        Reply::watch(&[change("DELETED", &node("n1", "20"))], Then::Hang),
    );
    let mut pair = run(&script);
    assert_eq!(pair.told(4).await, ["1 nodes", "1 pods", "no n1", "pod b"]);
    assert_eq!(script.seen_on(NODE_LIST).len(), 1, "resumed, not listed");
}

#[tokio::test(start_paused = true)]
async fn nodes_that_are_never_heard_from_hold_pods_for_seconds_only() {
    let script = one_of_each();
    script.on(WATCH, refused(410));
    script.on(LIST, list(&[pod("a", "2"), pod("b", "20")], "30", ""));
    let later = [
        change("ADDED", &pod("c", "31")),
        change("ADDED", &pod("d", "32")),
    ];
    script.on(WATCH, Reply::watch(&later, Then::Hang));
    // No answer to any further request for nodes.
    script.on(NODE_WATCH, quiet());
    let mut pair = run(&script);
    let began = Instant::now();
    assert_eq!(pair.told(3).await, ["1 nodes", "1 pods", "2 pods"]);
    assert_eq!(began.elapsed().as_secs(), 5);
    assert_eq!(pair.told(2).await, ["pod c", "pod d"]);
    assert_eq!(began.elapsed().as_secs(), 5, "held once for each loss");
}

#[tokio::test(start_paused = true)]
async fn one_break_of_both_begins_each_again_once() {
    let script = one_of_each();
    for watch in [WATCH, NODE_WATCH] {
        script
            .on(watch, Reply::watch(&[], Then::Break))
            .on(watch, quiet())
            .on(watch, quiet());
    }
    let mut pair = run(&script);
    assert_eq!(pair.told(2).await, ["1 nodes", "1 pods"]);
    let second = script.asked(WATCH, 2).await[1].at;
    let other = script.asked(NODE_WATCH, 2).await[1].at;
    let third = script.asked(WATCH, 3).await[2].at;
    assert!(second.max(other) + Duration::from_mins(1) < third);
}
