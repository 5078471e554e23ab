//! The plugins of this crate against recorded verdicts of kube-scheduler v1.37.2.
//!
//! Takes the files of `tests/fixtures/parity`: a case (objects, pending pods, args) and what
//! kube-scheduler's whole default profile said of each pod and node. Compares what concerns
//! a plugin of this crate: who holds the pod before the queue, which plugin rejects a node
//! with which code and reasons, and each plugin's column of scores, raw and normalised,
//! over the same feasible nodes.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use plimsoll_framework::test_util::Trial;
use plimsoll_framework::{
    Cycle, CycleState, NodeId, NodeInfo, Now, PodEstimate, Rejection, Snapshot,
};
use plimsoll_objects::{Pod, decode_node, decode_pod};
use serde_json::{Value, json};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/parity");

/// The order of Filter in the default profile of v1.37: a node's status names the first
/// plugin that rejects it, so only those before it are known to let it pass.
const FILTER_ORDER: [&str; 14] = [
    "NodeName",
    "NodeUnschedulable",
    "TaintToleration",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesFit",
    "VolumeRestrictions",
    "NodeVolumeLimits",
    "VolumeBinding",
    "VolumeZone",
    "PodTopologySpread",
    "InterPodAffinity",
    "DynamicResources",
    "NodeDeclaredFeatures",
];

/// What was compared, so that a file that says nothing is noticed.
#[derive(Debug, Default)]
struct Tally {
    gated: usize,
    rejections: usize,
    passes: usize,
    columns: usize,
    scores: usize,
    differences: Vec<String>,
}

/// One file: the plugins with its args, and its cluster.
struct Case {
    plugins: BTreeMap<&'static str, Trial>,
    snapshot: Snapshot,
}

#[test]
fn verdicts_and_scores_are_those_of_kube_scheduler() {
    let mut tally = Tally::default();
    let mut files = 0;
    for entry in fs::read_dir(FIXTURES).expect("the fixtures are there") {
        let path = entry.expect("a directory entry").path();
        let text = fs::read_to_string(&path).expect("a readable fixture");
        let golden: Value = serde_json::from_str(&text).expect("a fixture is JSON");
        let name = path
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned());
        compare_file(&name.unwrap_or_default(), &golden, &mut tally);
        files += 1;
    }
    let shown: Vec<&String> = tally.differences.iter().take(20).collect();
    assert!(
        shown.is_empty(),
        "{} differences, such as {shown:#?}",
        tally.differences.len()
    );
    // What the nine files hold, less a little for files that are made anew.
    assert!(files >= 9 && tally.gated >= 7, "{files} files, {tally:?}");
    assert!(
        tally.rejections >= 1_100 && tally.passes >= 9_000,
        "{tally:?}"
    );
    assert!(tally.columns >= 360 && tally.scores >= 4_000, "{tally:?}");
}

fn compare_file(file: &str, golden: &Value, tally: &mut Tally) {
    let case = Case::of(&golden["case"]);
    let pending = list(&golden["case"]["pending"]);
    let verdicts = list(&golden["verdict"]["pods"]);
    assert_eq!(pending.len(), verdicts.len(), "{file}: one verdict per pod");
    for (pod, verdict) in pending.iter().zip(verdicts) {
        let pod = pod_of(pod);
        let at = format!("{file} {}", pod.key());
        if verdict["skipped"] == json!(true) {
            continue;
        }
        if case.compare_gate(&at, &pod, verdict, tally) {
            case.compare_nodes(&at, &pod, verdict, tally);
            case.compare_scores(&at, &pod, verdict, tally);
        }
    }
}

// === impl Case ===

impl Case {
    fn of(case: &Value) -> Self {
        let specs = plimsoll_plugins::specs();
        let plugins = specs
            .iter()
            .map(|spec| (spec.name, Trial::new(spec, &args(case, spec.name))));
        Self {
            plugins: plugins.collect(),
            snapshot: snapshot_of(case),
        }
    }

    fn cycle<'a>(&'a self, pod: &'a Pod, estimate: &'a PodEstimate) -> Cycle<'a> {
        Cycle {
            pod,
            estimate,
            snapshot: &self.snapshot,
            now: self.snapshot.taken_at(),
        }
    }

    /// Compares who holds the pod; whether it is looked at.
    fn compare_gate(&self, at: &str, pod: &Pod, verdict: &Value, tally: &mut Tally) -> bool {
        let gates = &self.plugins["SchedulingGates"];
        let hook = gates.hooks.pre_enqueue.as_ref().expect("it holds pods");
        let ours = status(hook.pre_enqueue(pod).err().as_ref(), "SchedulingGates");
        let theirs = &verdict["preEnqueue"];
        let expected = if theirs["plugin"] == json!("SchedulingGates") {
            tally.gated += 1;
            theirs
        } else {
            &Value::Null
        };
        tally.compare(at, expected, &ours);
        theirs.is_null()
    }

    fn compare_nodes(&self, at: &str, pod: &Pod, verdict: &Value, tally: &mut Tally) {
        let Some(nodes) = verdict["nodes"].as_object() else {
            return;
        };
        let estimate = PodEstimate::default();
        let cycle = self.cycle(pod, &estimate);
        for info in self.snapshot.nodes() {
            let theirs = &nodes[&**info.name()];
            let rejector = theirs["plugin"].as_str();
            let passed = theirs["code"] == json!("Success");
            if !passed && rejector.is_none() {
                continue;
            }
            let at = format!("{at} on {}", info.name());
            for name in FILTER_ORDER
                .iter()
                .take_while(|name| Some(**name) != rejector)
            {
                if let Some(trial) = self.plugins.get(name) {
                    tally.passes += 1;
                    tally.compare(&at, &Value::Null, &filter(trial, name, &cycle, info));
                }
            }
            if let Some(trial) = rejector.and_then(|name| self.plugins.get(name)) {
                tally.rejections += 1;
                let name = rejector.unwrap_or_default();
                tally.compare(&at, theirs, &filter(trial, name, &cycle, info));
            }
        }
    }

    fn compare_scores(&self, at: &str, pod: &Pod, verdict: &Value, tally: &mut Tally) {
        let Some(nodes) = verdict["nodes"].as_object() else {
            return;
        };
        let feasible = self
            .snapshot
            .nodes()
            .filter(|info| !nodes[&**info.name()]["raw"].is_null());
        let feasible: Vec<&NodeInfo> = feasible.map(|info| &**info).collect();
        if feasible.is_empty() {
            return;
        }
        let ids: Vec<NodeId> = feasible.iter().map(|info| info.id).collect();
        let estimate = PodEstimate::default();
        let cycle = self.cycle(pod, &estimate);
        for (column, plugin) in list(&verdict["scorePlugins"]).iter().enumerate() {
            let name = plugin["name"].as_str().unwrap_or_default();
            let Some(trial) = self.plugins.get(name) else {
                continue;
            };
            let skipped = list(&verdict["skippedScore"]).contains(&json!(name));
            let ours = trial.scores(&cycle, &mut CycleState::new(), &ids);
            let rows = ours.expect("scoring does not fail");
            let at = format!("{at} by {name}");
            tally.columns += 1;
            tally.compare(&at, &json!(skipped), &json!(rows.is_none()));
            for (info, row) in feasible.iter().zip(rows.into_iter().flatten()) {
                let theirs = &nodes[&**info.name()];
                let expected = json!([theirs["raw"][column], theirs["norm"][column]]);
                tally.scores += 1;
                let at = format!("{at} on {}", info.name());
                tally.compare(&at, &expected, &json!([row.raw, row.normalised]));
            }
        }
    }
}

// === impl Tally ===

impl Tally {
    fn compare(&mut self, at: &str, expected: &Value, ours: &Value) {
        if expected != ours {
            self.differences
                .push(format!("{at}: expected {expected}, is {ours}"));
        }
    }
}

fn filter(trial: &Trial, name: &str, cycle: &Cycle<'_>, node: &NodeInfo) -> Value {
    let mut state = CycleState::new();
    let ready = trial.pre_filter(cycle, &mut state);
    let judged = ready.and_then(|_| trial.filter(cycle, &state, node));
    status(judged.err().as_ref(), name)
}

/// A rejection as the fixtures write it, reasons sorted; null for a pass.
fn status(rejection: Option<&Rejection>, plugin: &str) -> Value {
    let Some(rejection) = rejection else {
        return Value::Null;
    };
    let mut reasons: Vec<&str> = rejection.reasons.iter().map(AsRef::as_ref).collect();
    reasons.sort_unstable();
    json!({"code": rejection.code.as_str(), "plugin": plugin, "reasons": reasons})
}

fn args(case: &Value, plugin: &str) -> Value {
    let configs = list(&case["config"]["profiles"][0]["pluginConfig"]);
    let own = configs
        .iter()
        .find(|config| config["name"] == json!(plugin));
    own.map_or(Value::Null, |config| config["args"].clone())
}

fn snapshot_of(case: &Value) -> Snapshot {
    let objects = list(&case["objects"]);
    let of_kind = |kind: &'static str| {
        objects
            .iter()
            .filter(move |object| object["kind"] == json!(kind))
    };
    let nodes = of_kind("Node").map(|node| {
        let node = decode_node(node.to_string().as_bytes()).expect("a node of the fixtures");
        NodeInfo::new(NodeId(0), node.into())
    });
    let mut infos: Vec<NodeInfo> = nodes.collect();
    for pod in of_kind("Pod").map(pod_of) {
        let on = pod.spec.node_name.clone().filter(|_| !pod.is_terminal());
        if let Some(info) = infos
            .iter_mut()
            .find(|info| Some(info.name()) == on.as_ref())
        {
            info.add_pod(pod.into());
        }
    }
    Snapshot::of(infos, Vec::new(), Now::at(Duration::ZERO))
}

fn pod_of(pod: &Value) -> Pod {
    decode_pod(pod.to_string().as_bytes()).expect("a pod of the fixtures")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
