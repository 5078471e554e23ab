//! The plugins of this crate against recorded verdicts of kube-scheduler v1.37.2.
//!
//! Takes the files of `tests/fixtures/parity`: a case (objects, pending pods, args) and what
//! kube-scheduler's whole default profile said of each pod and node. Compares what concerns
//! a plugin of this crate: who holds the pod before the queue, what each says before any
//! node is looked at, which plugin rejects a node with which code and reasons, and each
//! plugin's column of scores, raw and normalised, over the same feasible nodes.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use plimsoll_framework::test_util::Trial;
use plimsoll_framework::{
    Cycle, CycleState, NodeId, NodeInfo, Now, PodEstimate, PreFilterOutcome, Rejection, Snapshot,
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
    narrowed: usize,
    stopped: usize,
    failed: usize,
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
    // What the files hold, less a little for files that are made anew.
    assert!(files >= 18 && tally.gated >= 7, "{files} files, {tally:?}");
    assert!(
        tally.narrowed >= 3 && tally.stopped >= 2 && tally.failed >= 1,
        "{tally:?}"
    );
    assert!(
        tally.rejections >= 1_700 && tally.passes >= 28_000,
        "{tally:?}"
    );
    assert!(
        tally.columns >= 1_000 && tally.scores >= 13_000,
        "{tally:?}"
    );
}

fn compare_file(file: &str, golden: &Value, tally: &mut Tally) {
    let case = Case::of(&golden["case"]);
    let pending = list(&golden["case"]["pending"]);
    let verdicts = list(&golden["verdict"]["pods"]);
    assert_eq!(pending.len(), verdicts.len(), "{file}: one verdict per pod");
    for (pod, verdict) in pending.iter().zip(verdicts) {
        let pod = pod_of(pod);
        let at = format!("{file} {}", pod.key());
        if !verdict["skipped"].is_null() {
            continue;
        }
        if case.compare_gate(&at, &pod, verdict, tally) {
            case.compare_pre_filters(&at, &pod, &verdict["preFilter"], tally);
            case.compare_nodes(&at, &pod, verdict, tally);
            case.compare_failure(&at, &pod, verdict, tally);
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

    /// Compares every `PreFilter` up to the one that ended the point, where one did.
    fn compare_pre_filters(&self, at: &str, pod: &Pod, theirs: &Value, tally: &mut Tally) {
        let estimate = PodEstimate::default();
        let cycle = self.cycle(pod, &estimate);
        let ends = theirs["code"] != json!("Unschedulable");
        let ended_by = theirs["plugin"].as_str().filter(|_| ends);
        for name in FILTER_ORDER {
            if let Some(trial) = self.plugins.get(name)
                && trial.hooks.pre_filter.is_some()
            {
                let said = list(&theirs["plugins"]);
                let said = said.iter().find(|entry| entry["plugin"] == json!(name));
                let skipped = list(&theirs["skipped"]).contains(&json!(name));
                let expected = match said {
                    Some(said) if said["code"] == json!("Success") => {
                        json!({"nodes": self.existing(&said["nodeNames"])})
                    }
                    Some(said) => said.clone(),
                    None => json!({"skip": skipped}),
                };
                let outcome = trial.pre_filter(&cycle, &mut CycleState::new());
                tally.narrowed += usize::from(expected.get("nodes").is_some());
                tally.stopped += usize::from(expected.get("code").is_some());
                let ours = match outcome {
                    Ok(PreFilterOutcome::Ready) => json!({"skip": false}),
                    Ok(PreFilterOutcome::Skip) => json!({"skip": true}),
                    Ok(PreFilterOutcome::Nodes(nodes)) => json!({"nodes": self.names(nodes)}),
                    Err(rejection) => status(Some(&rejection), name),
                };
                tally.compare(&format!("{at} before nodes, by {name}"), &expected, &ours);
            }
            if Some(name) == ended_by {
                break;
            }
        }
    }

    /// Those of the names that nodes have, in the order of the nodes.
    fn existing(&self, names: &Value) -> Vec<String> {
        let nodes = self.snapshot.nodes();
        let named = nodes.filter(|info| list(names).contains(&json!(**info.name())));
        named.map(|info| info.name().to_string()).collect()
    }

    fn names(&self, ids: impl IntoIterator<Item = NodeId>) -> Vec<String> {
        let infos = ids.into_iter().filter_map(|id| self.snapshot.get(id));
        infos.map(|info| info.name().to_string()).collect()
    }

    /// Compares the text of an attempt that failed in `PreScore`.
    fn compare_failure(&self, at: &str, pod: &Pod, verdict: &Value, tally: &mut Tally) {
        let text = verdict["error"].as_str().unwrap_or_default();
        let Some((name, text)) = text
            .strip_prefix("running PreScore plugin \"")
            .and_then(|rest| rest.split_once("\": "))
        else {
            return;
        };
        let estimate = PodEstimate::default();
        let cycle = self.cycle(pod, &estimate);
        let hook = self.plugins.get(name);
        let hook = hook.and_then(|trial| trial.hooks.pre_score.as_ref());
        let answer = hook.map(|hook| hook.pre_score(&cycle, &mut CycleState::new(), &[]));
        let ours = answer.and_then(Result::err).map(|error| error.message());
        tally.failed += 1;
        tally.compare(at, &json!(text), &json!(ours));
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
