//! The checks on a plugin that serves every point they know and answers by its args.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use plimsoll_objects::{Object, Pod, Uid};
use serde_json::{Value, json};

use crate::test_util::{
    check_bind, check_filter, check_permit, check_pre_bind, check_pre_enqueue, check_queue_sort,
    check_reserve, check_score, cluster, node, pod, queued,
};
use crate::{
    Args, Bind, BindOutcome, Catalog, Cycle, CycleState, Depends, Effect, Entity, Filter,
    FilterOutcome, Hooks, NodeId, NodeInfo, ObjectWrite, Permit, PermitOutcome, PermitRequest,
    PluginSpec, Point, PreBind, PreBindOutcome, PreBindStep, PreEnqueue, PreFilter,
    PreFilterOutcome, PreScore, PreScoreOutcome, QueueSort, Rejection, Release, Reserve, Score,
};

/// Answers as its args say: `{"point": "word"}`.
struct Scripted {
    script: BTreeMap<String, String>,
}

fn spec() -> PluginSpec {
    PluginSpec {
        name: "Scripted",
        points: &[
            Point::PreEnqueue,
            Point::QueueSort,
            Point::PreFilter,
            Point::Filter,
            Point::PreScore,
            Point::Score,
            Point::Reserve,
            Point::Permit,
            Point::PreBind,
            Point::Bind,
        ],
        depends: Depends::Anything,
        decode_args: |args, _, _| {
            let script: BTreeMap<String, String> =
                serde_json::from_value(args.clone()).unwrap_or_default();
            Args::new(script, args.clone())
        },
        build: |args| {
            let script = args.get().cloned().unwrap_or_default();
            let plugin = Arc::new(Scripted { script });
            Hooks::default()
                .with_pre_enqueue(&plugin)
                .with_queue_sort(&plugin)
                .with_pre_filter(&plugin)
                .with_filter(&plugin)
                .with_pre_score(&plugin)
                .with_score(&plugin)
                .with_reserve(&plugin)
                .with_permit(&plugin)
                .with_pre_bind(&plugin)
                .with_bind(&plugin)
        },
    }
}

impl Scripted {
    /// The word for a point; a word `no` is a rejection.
    fn says(&self, point: &str) -> Result<&str, Rejection> {
        match self.script.get(point).map_or("", String::as_str) {
            "no" => Err(Rejection::unschedulable("told so").with_detail("by the script")),
            word => Ok(word),
        }
    }
}

impl PreEnqueue for Scripted {
    fn pre_enqueue(&self, _pod: &Pod, _catalog: &Catalog) -> Result<(), Rejection> {
        self.says("preEnqueue").map(|_| ())
    }
}

impl QueueSort for Scripted {
    fn compare(&self, a: &Entity, b: &Entity) -> Ordering {
        b.priority().cmp(&a.priority())
    }
}

impl PreFilter for Scripted {
    fn pre_filter(
        &self,
        _cycle: &Cycle<'_>,
        state: &mut CycleState,
    ) -> Result<PreFilterOutcome, Rejection> {
        state.insert(String::from("prepared"));
        Ok(match self.says("preFilter")? {
            "skip" => PreFilterOutcome::Skip,
            "first" => PreFilterOutcome::Nodes(BTreeSet::from([NodeId(0)])),
            _ => PreFilterOutcome::Ready,
        })
    }
}

impl Filter for Scripted {
    fn filter(
        &self,
        _cycle: &Cycle<'_>,
        state: &CycleState,
        node: &NodeInfo,
    ) -> Result<FilterOutcome, Rejection> {
        assert!(state.get::<String>().is_some(), "PreFilter ran first");
        match self.says("filter")? {
            "soft" if node.id == NodeId(1) => Ok(FilterOutcome::Soft {
                excess: 0.0625,
                reason: "over the line".into(),
                detail: Some("0.91 of 0.85".into()),
            }),
            _ => Ok(FilterOutcome::Pass),
        }
    }
}

impl PreScore for Scripted {
    fn pre_score(
        &self,
        _cycle: &Cycle<'_>,
        _state: &mut CycleState,
        _feasible: &[NodeId],
    ) -> Result<PreScoreOutcome, Rejection> {
        let skips = self.says("preScore")? == "skip";
        Ok(if skips {
            PreScoreOutcome::Skip
        } else {
            PreScoreOutcome::Ready
        })
    }
}

impl Score for Scripted {
    fn score(
        &self,
        _cycle: &Cycle<'_>,
        _state: &CycleState,
        node: &NodeInfo,
    ) -> Result<i64, Rejection> {
        let far = self.says("score")? == "far";
        Ok(i64::from(node.id.0) + if far { 100 } else { 0 })
    }
}

impl Reserve for Scripted {
    fn reserve(
        &self,
        _cycle: &Cycle<'_>,
        _state: &mut CycleState,
        _node: &NodeInfo,
    ) -> Result<Vec<Object>, Rejection> {
        self.says("reserve").map(|_| Vec::new())
    }

    fn unreserve(&self, _pod: &Pod, _state: &mut CycleState, _node: &str) -> Vec<ObjectWrite> {
        Vec::new()
    }
}

impl Permit for Scripted {
    fn permit(
        &self,
        request: &PermitRequest<'_>,
        _state: &mut CycleState,
    ) -> Result<PermitOutcome, Rejection> {
        let release = |waiting: &crate::WaitingPod| {
            let uid: Uid = waiting.pod.uid().clone();
            match &*waiting.node {
                "n1" => Release::Allow(uid),
                _ => Release::Reject(uid, "too late".into()),
            }
        };
        Ok(match self.says("permit")? {
            "wait" => PermitOutcome::Wait {
                timeout: Duration::from_secs(30),
            },
            _ => PermitOutcome::Allow {
                release: request.waiting.iter().map(release).collect(),
            },
        })
    }
}

impl PreBind for Scripted {
    fn pre_bind(
        &self,
        step: &PreBindStep<'_>,
        _state: &mut CycleState,
    ) -> Result<PreBindOutcome, Rejection> {
        let deadline = step.now.mono + Duration::from_secs(5);
        self.says("preBind").map(|_| match step.attempt {
            0 => PreBindOutcome::Do(vec![Effect::AnnotatePod(BTreeMap::new())]),
            1 => PreBindOutcome::WaitUntil {
                events: Vec::new(),
                deadline,
            },
            _ => PreBindOutcome::Done,
        })
    }
}

impl Bind for Scripted {
    fn bind(&self, _pod: &Pod, _state: &CycleState, _node: &str) -> Result<BindOutcome, Rejection> {
        Ok(match self.says("bind")? {
            "skip" => BindOutcome::Skip,
            "do" => BindOutcome::Do(Vec::new()),
            _ => BindOutcome::Binding,
        })
    }
}

const REJECTED: &str = "Unschedulable: told so (by the script)";

#[test]
fn filters_are_told_apart_by_text() {
    let nodes = cluster([node("n1"), node("n2")]);
    let cases = [
        (json!({}), vec!["n1: Pass", "n2: Pass"]),
        (json!({"preFilter": "skip"}), vec!["PreFilter: Skip"]),
        (
            json!({"preFilter": "no"}),
            vec!["PreFilter: Unschedulable: told so (by the script)"],
        ),
        (
            json!({"preFilter": "first"}),
            vec!["n1: Pass", "n2: not among PreFilter's nodes"],
        ),
        (
            json!({"filter": "soft"}),
            vec!["n1: Pass", "n2: Soft 0.062: over the line (0.91 of 0.85)"],
        ),
        (
            json!({"filter": "no"}),
            vec![
                "n1: Unschedulable: told so (by the script)",
                "n2: Unschedulable: told so (by the script)",
            ],
        ),
    ];
    for (args, lines) in cases {
        assert_eq!(
            check_filter(&spec(), &args, &nodes, &pod("a")),
            lines,
            "{args}"
        );
    }
}

#[test]
fn scores_are_over_the_nodes_that_pass() {
    let nodes = cluster([node("n1"), node("n2")]);
    let cases = [
        (json!({}), vec!["n1: 0 -> 0", "n2: 1 -> 1"]),
        (json!({"preFilter": "first"}), vec!["n1: 0 -> 0"]),
        (json!({"filter": "no"}), vec![]),
        (
            json!({"preFilter": "skip", "filter": "no"}),
            vec!["n1: 0 -> 0", "n2: 1 -> 1"],
        ),
        (json!({"preScore": "skip"}), vec!["PreScore: Skip"]),
        (json!({"preScore": "no"}), vec![REJECTED]),
        (json!({"score": "no"}), vec![REJECTED]),
        (
            json!({"score": "far"}),
            vec!["Error: plugin Scripted gives the score 101 after normalizing"],
        ),
    ];
    for (args, lines) in cases {
        assert_eq!(
            check_score(&spec(), &args, &nodes, &pod("a")),
            lines,
            "{args}"
        );
    }
}

#[test]
fn the_queue_side_is_told_in_words_and_order() {
    assert_eq!(check_pre_enqueue(&spec(), &Value::Null, &pod("a")), "Pass");
    assert_eq!(
        check_pre_enqueue(&spec(), &json!({"preEnqueue": "no"}), &pod("a")),
        REJECTED
    );
    let entities = [
        queued(&pod("a"), 1),
        queued(&pod("b").priority(5), 2),
        queued(&pod("c"), 0),
    ];
    assert_eq!(
        check_queue_sort(&spec(), &Value::Null, &entities),
        ["b", "a", "c"]
    );
}

#[test]
fn the_binding_side_is_told_step_by_step() {
    let waiting = [pod("w1").on("n1"), pod("w2").on("n2")];
    let nodes = cluster([node("n1"), node("n2")]).waiting(waiting);
    let (spec, none, asks) = (spec(), Value::Null, pod("a"));
    assert_eq!(check_reserve(&spec, &none, &nodes, &asks, "n1"), "Reserved");
    assert_eq!(
        check_reserve(&spec, &json!({"reserve": "no"}), &nodes, &asks, "n1"),
        REJECTED
    );
    assert_eq!(
        check_permit(&spec, &none, &nodes, &asks, "n1"),
        "Allow, release default/w1: Allow, release default/w2: Reject too late"
    );
    assert_eq!(
        check_permit(&spec, &json!({"permit": "wait"}), &nodes, &asks, "n1"),
        "Wait 30s"
    );
    assert_eq!(
        check_permit(&spec, &json!({"permit": "no"}), &nodes, &asks, "n1"),
        REJECTED
    );
    assert_eq!(
        check_pre_bind(&spec, &none, &nodes, &asks, "n1"),
        ["Do [AnnotatePod({})]", "WaitUntil 5s", "Done"]
    );
    assert_eq!(
        check_pre_bind(&spec, &json!({"preBind": "no"}), &nodes, &asks, "n1"),
        [REJECTED]
    );
    assert_eq!(check_bind(&spec, &none, &asks, "n1"), "Binding");
    assert_eq!(
        check_bind(&spec, &json!({"bind": "skip"}), &asks, "n1"),
        "Skip"
    );
    assert_eq!(
        check_bind(&spec, &json!({"bind": "do"}), &asks, "n1"),
        "Do []"
    );
}
