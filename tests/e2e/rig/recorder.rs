//! What really happened to pods: a watch that sees every change, and judges each.
//!
//! Takes the changes of all pods as the API server tells them, in order; gives who was bound
//! where and when, and every breach of what must always hold.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use plimsoll_tests::controlplane::{Api, Stopwatch, until};
use serde_json::Value;

use super::objects::{NODES, PODS};

/// Changes that have come and were not looked at.
const CHANGES: usize = 100_000;
/// Time between two tries to reach an API server that is away.
const AGAIN: Duration = Duration::from_millis(100);

/// A record of all pods, over restarts of the API server.
#[derive(Debug)]
pub(crate) struct Recorder {
    changes: Receiver<(Duration, Value)>,
    clock: Stopwatch,
    allocatable: BTreeMap<String, u64>,
    pods: BTreeMap<String, Life>,
    breaches: Vec<String>,
}

/// One pod, by its UID.
#[derive(Debug, Clone, Default)]
pub(crate) struct Life {
    pub(crate) name: String,
    pub(crate) node: Option<String>,
    /// By the recorder's clock.
    pub(crate) bound_at: Option<Duration>,
    pub(crate) is_gone: bool,
    millicores: u64,
}

// === impl Recorder ===

impl Recorder {
    /// Begins with the nodes that are there now, which must have whole CPUs.
    pub(crate) fn start(api: &Api) -> anyhow::Result<Self> {
        let nodes = api.get(NODES)?;
        let nodes = nodes["items"].as_array().cloned().unwrap_or_default();
        let allocatable = nodes.iter().map(|node| {
            let cpu = &node["status"]["allocatable"]["cpu"];
            (text(&node["metadata"]["name"]), millicores(cpu))
        });
        let clock = Stopwatch::start();
        let (sender, changes) = sync_channel(CHANGES);
        let api = api.clone();
        thread::spawn(move || record(&api, clock, &sender));
        Ok(Self {
            changes,
            clock,
            allocatable: allocatable.collect(),
            pods: BTreeMap::new(),
            breaches: Vec::new(),
        })
    }

    /// Now, by the recorder's clock.
    pub(crate) fn now(&self) -> Duration {
        self.clock.elapsed()
    }

    /// Every pod so far, oldest UID first.
    pub(crate) fn pods(&mut self) -> impl Iterator<Item = &Life> {
        self.look();
        self.pods.values()
    }

    /// Pods whose name begins like this and that have a node.
    pub(crate) fn bound(&mut self, stem: &str) -> usize {
        let pods = self.pods().filter(|pod| pod.name.starts_with(stem));
        pods.filter(|pod| pod.node.is_some()).count()
    }

    /// Waits until so many pods whose name begins like this have a node.
    pub(crate) fn until_bound(
        &mut self,
        stem: &str,
        count: usize,
        bound: Duration,
    ) -> anyhow::Result<()> {
        let what = format!("{count} pods {stem}* have a node");
        until(&what, bound, || self.bound(stem) >= count)
    }

    /// When the last of the pods whose name begins like this was bound.
    pub(crate) fn last_bound(&mut self, stem: &str) -> Option<Duration> {
        let pods = self.pods().filter(|pod| pod.name.starts_with(stem));
        pods.filter_map(|pod| pod.bound_at).max()
    }

    /// Holds what must always hold: no pod changes its node, none is on a node that is not
    /// there, and no node has requests over what it has.
    pub(crate) fn assert_sound(&mut self) {
        self.look();
        assert!(self.breaches.is_empty(), "{:#?}", self.breaches);
    }

    fn look(&mut self) {
        while let Ok((at, change)) = self.changes.try_recv() {
            self.take(at, &change);
        }
    }

    fn take(&mut self, at: Duration, change: &Value) {
        let pod = &change["object"];
        let uid = text(&pod["metadata"]["uid"]);
        let life = self.pods.entry(uid).or_default();
        life.name = text(&pod["metadata"]["name"]);
        life.is_gone = change["type"] == "DELETED" || is_terminal(pod);
        life.millicores = containers(pod);
        let node = pod["spec"]["nodeName"].as_str().map(str::to_owned);
        if life.node.is_some() && life.node != node {
            let (name, before) = (&life.name, &life.node);
            self.breaches
                .push(format!("{name} went from {before:?} to {node:?}"));
        }
        if life.node.is_none() && node.is_some() {
            life.bound_at = Some(at);
            life.node.clone_from(&node);
        }
        if let Some(node) = node {
            self.check(&node);
        }
    }

    fn check(&mut self, node: &str) {
        let Some(allocatable) = self.allocatable.get(node) else {
            self.breaches.push(format!("a pod is on {node}, no node"));
            return;
        };
        let pods = self.pods.values().filter(|pod| !pod.is_gone);
        let here = pods.filter(|pod| pod.node.as_deref() == Some(node));
        let requested: u64 = here.map(|pod| pod.millicores).sum();
        if requested > *allocatable {
            let breach = format!("{node} has {allocatable}m, and pods with {requested}m");
            self.breaches.push(breach);
        }
    }
}

/// Lists, watches, and begins again when the watch ends, until nobody listens.
fn record(api: &Api, clock: Stopwatch, sender: &SyncSender<(Duration, Value)>) {
    let mut known: BTreeMap<String, Value> = BTreeMap::new();
    loop {
        let Ok(list) = api.get(PODS) else {
            thread::sleep(AGAIN);
            continue;
        };
        let pods = list["items"].as_array().cloned().unwrap_or_default();
        let now: BTreeSet<String> = pods.iter().map(uid).collect();
        let gone: Vec<Value> = known
            .iter()
            .filter(|(uid, _)| !now.contains(*uid))
            .map(|(_, pod)| change("DELETED", pod))
            .collect();
        let listed = pods.iter().map(|pod| change("MODIFIED", pod));
        let version = text(&list["metadata"]["resourceVersion"]);
        let path = format!("{PODS}?watch=true&resourceVersion={version}");
        let watch = api.watch(&path).into_iter().flatten();
        for change in gone.into_iter().chain(listed).chain(watch) {
            match change["type"].as_str() {
                Some("DELETED") => drop(known.remove(&uid(&change["object"]))),
                Some("ADDED" | "MODIFIED") => {
                    known.insert(uid(&change["object"]), change["object"].clone());
                }
                _ => break,
            }
            if sender.send((clock.elapsed(), change)).is_err() {
                return;
            }
        }
    }
}

fn change(kind: &str, pod: &Value) -> Value {
    serde_json::json!({"type": kind, "object": pod})
}

fn uid(pod: &Value) -> String {
    text(&pod["metadata"]["uid"])
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn is_terminal(pod: &Value) -> bool {
    matches!(
        pod["status"]["phase"].as_str(),
        Some("Failed" | "Succeeded")
    )
}

fn containers(pod: &Value) -> u64 {
    let containers = pod["spec"]["containers"].as_array().into_iter().flatten();
    containers
        .map(|container| millicores(&container["resources"]["requests"]["cpu"]))
        .sum()
}

/// CPU as tests write it: `3` or `250m`.
fn millicores(cpu: &Value) -> u64 {
    let cpu = text(cpu);
    let (number, factor) = match cpu.strip_suffix('m') {
        Some(number) => (number, 1),
        None => (cpu.as_str(), 1000),
    };
    number.parse().map_or(0, |number: u64| number * factor)
}
