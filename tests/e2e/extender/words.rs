//! What a scheduler says of a pod while its extender fails in one way or another.

use plimsoll_tests::controlplane::until;
use serde_json::{Map, Value, json};

use super::BOUND;
use crate::rig::{Conduct, Extender, PODS, Rig, pod, pod_path};

/// A way to fail: its name, the verb, what that does, and the CPU of the pod.
type Case = (&'static str, &'static str, Conduct, &'static str);

fn cases() -> Vec<Case> {
    let say = |text: &str| Conduct::Say(text.to_owned());
    let filter = [
        ("filter-500", Conduct::Fail(500)),
        ("filter-201", Conduct::Fail(201)),
        ("filter-hangs", Conduct::Hang),
        ("filter-closes", Conduct::Close),
        ("filter-error", say(r#"{"Error": "out of order"}"#)),
        ("filter-nothing", say("{}")),
        ("filter-empty", say("")),
        ("filter-no-json", say("nonsense")),
        ("filter-wrong-type", say(r#"{"NodeNames": "n1"}"#)),
        ("filter-unknown-node", say(r#"{"NodeNames": ["n9"]}"#)),
        (
            "filter-percent",
            say(r#"{"NodeNames": [], "FailedNodes": {"n0": "93 % is over", "n1": "full"}}"#),
        ),
        (
            "filter-unresolvable",
            say(
                r#"{"NodeNames": [], "FailedNodes": {"n0": "a", "n1": "a", "n2": "b"},
                    "FailedAndUnresolvableNodes": {"n0": "c", "n3": "d"}}"#,
            ),
        ),
    ];
    let mut cases: Vec<Case> = filter
        .into_iter()
        .map(|(name, conduct)| (name, "filter", conduct, "100m"))
        .collect();
    cases.extend([
        ("prioritize-500", "prioritize", Conduct::Fail(500), "100m"),
        ("prioritize-no-json", "prioritize", say("{}"), "100m"),
        ("bind-500", "bind", Conduct::Fail(500), "100m"),
        (
            "bind-error",
            "bind",
            say(r#"{"Error": "no hands"}"#),
            "100m",
        ),
        ("preempt-500", "preempt", Conduct::Fail(500), "1"),
        ("preempt-nobody", "preempt", say("{}"), "1"),
        (
            "preempt-unknown-node",
            "preempt",
            say(r#"{"NodeNameToMetaVictims": {"n9": {"Pods": [{"UID": "x"}]}}}"#),
            "1",
        ),
        (
            "preempt-unknown-pod",
            "preempt",
            say(r#"{"NodeNameToMetaVictims": {"n1": {"Pods": [{"UID": "x"}]}}}"#),
            "1",
        ),
        (
            "preempt-no-victims",
            "preempt",
            say(r#"{"NodeNameToMetaVictims": {"n1": {"Pods": []}}}"#),
            "1",
        ),
    ]);
    cases
}

/// What each side says of an answer that cannot be read: Go's JSON reader, and ours.
const UNREADABLE: [(&str, &str, &str); 3] = [
    (
        "filter-empty",
        "EOF",
        "the answer cannot be read: the body is empty",
    ),
    (
        "filter-no-json",
        "invalid character 'o' in literal null (expecting 'u')",
        "the answer cannot be read: the body is not JSON: expected ident at line 1 column 2",
    ),
    (
        "filter-wrong-type",
        "json: cannot unmarshal string into Go struct field ExtenderFilterResult.NodeNames of \
         type []string",
        "the answer cannot be read: NodeNames: expected a list",
    ),
];

/// Puts kube-scheduler's words in place of those that are ours by choice.
pub(super) fn agree_where_ours_are_better(heard: &mut Value) {
    for (case, theirs, ours) in UNREADABLE {
        assert_eq!(heard[case]["message"], ours, "{case}");
        heard[case]["message"] = json!(theirs);
    }
}

/// Gives a pod to the scheduler in every case; by case, its condition `PodScheduled`.
pub(super) fn hear(rig: &Rig, extender: &Extender, scheduler: &str) -> anyhow::Result<Value> {
    let api = rig.cluster.api();
    let mut heard = Map::new();
    for (name, verb, conduct, cpu) in cases() {
        let mut pod = pod(scheduler, cpu);
        pod["metadata"]["name"] = json!(name);
        if verb == "preempt" {
            pod["spec"]["priorityClassName"] = json!("high");
        }
        extender.conduct(verb, conduct);
        api.create(PODS, &pod)?;
        let mut condition = Value::Null;
        until(&format!("{scheduler} judges {name}"), BOUND, || {
            condition = rig.condition(name).unwrap_or_default();
            !condition.is_null()
        })?;
        api.delete(&pod_path(name))?;
        extender.conduct(verb, Conduct::Honest);
        let text = |field: &str| condition[field].as_str().unwrap_or_default();
        let message = text("message").replace(&extender.url(), "http://EXTENDER");
        heard.insert(
            name.to_owned(),
            json!({"status": text("status"), "reason": text("reason"), "message": message}),
        );
    }
    Ok(Value::Object(heard))
}
