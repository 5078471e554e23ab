//! The words of the dump: those of kube-scheduler's `dumper.go`, with what holds a pod back.

use std::fmt::Write;

use plimsoll_framework::NodeInfo;
use plimsoll_objects::Pod;

use super::Dump;

impl Dump {
    /// All nodes with their pods, an empty line between two.
    pub fn nodes_text(&self) -> String {
        nodes(self)
    }

    /// How many pods are in each part of the queue.
    pub fn summary_text(&self) -> String {
        summary(self)
    }

    /// All pods of the queue with what they wait for, one a line.
    pub fn pods_text(&self) -> String {
        pods(self)
    }
}

fn nodes(dump: &Dump) -> String {
    let known = dump.nodes.iter().map(|info| node(info, dump));
    let unknown = dump.orphans.iter().map(|(name, pods)| {
        let mut text = format!("Node name: {name}\nDeleted: true\n");
        list(&mut text, "Scheduled", pods.iter().map(|pod| &**pod));
        text
    });
    known.chain(unknown).collect::<Vec<_>>().join("\n")
}

fn node(info: &NodeInfo, dump: &Dump) -> String {
    let mut text = format!(
        "Node name: {}\nDeleted: false\nRequested Resources: {:?}\nAllocatable Resources: {:?}\n",
        info.name(),
        info.requested,
        info.node.status.allocatable
    );
    list(&mut text, "Scheduled", info.pods.iter().map(|pod| &**pod));
    if let Some(nominated) = dump.nominated.get(info.name()) {
        list(&mut text, "Nominated", nominated.iter().map(|pod| &**pod));
    }
    text
}

fn summary(dump: &Dump) -> String {
    let count = |queue| {
        let waiting = dump.waiting.iter();
        waiting.filter(|waiting| waiting.queue == queue).count()
    };
    format!(
        "activeQ:{}; backoffQ:{}; unschedulablePods:{}; gated:{}; out:{}",
        count("active"),
        count("backoff"),
        count("unschedulable"),
        count("gated"),
        dump.out.len()
    )
}

fn pods(dump: &Dump) -> String {
    let mut text = String::new();
    for waiting in &dump.waiting {
        let because = waiting.because_of.join(" ");
        let (line, queue) = (pod(&waiting.pod), waiting.queue);
        let attempts = waiting.attempts;
        // Writing to a `String` does not fail.
        let _: std::fmt::Result = writeln!(
            text,
            "{line}, queue: {queue}, attempts: {attempts}, because of: [{because}]"
        );
    }
    text
}

fn list<'a>(text: &mut String, what: &str, pods: impl ExactSizeIterator<Item = &'a Pod>) {
    let _: std::fmt::Result = writeln!(text, "{what} Pods(number: {}):", pods.len());
    for one in pods {
        let _: std::fmt::Result = writeln!(text, "{}", pod(one));
    }
}

fn pod(pod: &Pod) -> String {
    let key = pod.key();
    let nominated = pod.status.nominated_node.as_deref().unwrap_or_default();
    format!(
        "name: {}, namespace: {}, uid: {}, phase: {:?}, nominated node: {nominated}",
        key.name,
        key.namespace,
        pod.uid().0,
        pod.status.phase
    )
}
