//! The plugin as the engine runs it.

mod args;
mod wake;

use plimsoll_framework::test_util::{
    Cluster, PodBuilder, Trial, check_filter, check_score, cluster, node, pod,
};
use plimsoll_framework::{CycleState, NodeId, PreFilterOutcome};
use serde_json::{Value, json};

use super::spec;

/// Two nodes with disks, one without.
fn disks() -> Cluster {
    cluster([
        node("n1").label("disk", "ssd").label("slots", "4"),
        node("n2").label("disk", "hdd").label("slots", "9"),
        node("n3"),
    ])
}

fn expression(key: &str, operator: &str, values: &[&str]) -> Value {
    json!({"key": key, "operator": operator, "values": values})
}

fn term(key: &str, operator: &str, values: &[&str]) -> Value {
    json!({"matchExpressions": [expression(key, operator, values)]})
}

fn named(names: &[&str]) -> Value {
    json!({"matchFields": [expression("metadata.name", "In", names)]})
}

fn added(required: &Value) -> Value {
    let terms = json!({"nodeSelectorTerms": [required]});
    json!({"addedAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}})
}

/// Which nodes pass.
fn passing(args: &Value, pod: &PodBuilder) -> Vec<String> {
    let verdicts = check_filter(&spec(), args, &disks(), pod).into_iter();
    verdicts
        .filter_map(|text| text.strip_suffix(": Pass").map(str::to_owned))
        .collect()
}

#[test]
fn a_pod_without_wishes_is_not_judged() {
    let skip = ["PreFilter: Skip"];
    assert_eq!(
        check_filter(&spec(), &Value::Null, &disks(), &pod("a")),
        skip
    );
    let prefers = pod("a").prefers_node(5, term("disk", "Exists", &[]));
    assert_eq!(
        check_filter(&spec(), &Value::Null, &disks(), &prefers),
        skip
    );
}

#[test]
fn selector_and_terms_must_both_match_and_one_term_is_enough() {
    let ssd = || pod("a").node_selector("disk", "ssd");
    let cases = [
        (ssd(), vec!["n1"]),
        (ssd().node_selector("slots", "9"), vec![]),
        (
            pod("a").requires_node(term("slots", "Gt", &["4"])),
            vec!["n2"],
        ),
        (
            pod("a")
                .requires_node(term("disk", "In", &["ssd"]))
                .requires_node(term("disk", "DoesNotExist", &[])),
            vec!["n1", "n3"],
        ),
        (ssd().requires_node(term("slots", "Gt", &["4"])), vec![]),
        (pod("a").requires_node(json!({})), vec![]),
        (
            // A term that cannot be parsed matches nothing, and the others still do.
            pod("a")
                .requires_node(term("slots", "Gt", &["-5"]))
                .requires_node(term("disk", "In", &["hdd"])),
            vec!["n2"],
        ),
    ];
    for (pod, expected) in cases {
        assert_eq!(passing(&Value::Null, &pod), expected, "{}", pod.json());
    }
    let verdicts = check_filter(&spec(), &Value::Null, &disks(), &ssd());
    assert_eq!(
        verdicts[2],
        "n3: UnschedulableAndUnresolvable: node(s) didn't match Pod's node affinity/selector"
    );
}

#[test]
fn required_without_any_term_matches_nothing() {
    let mut json = pod("a").json().clone();
    json["spec"]["affinity"]["nodeAffinity"] =
        json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}});
    let scene = disks().scene(&pod("a"));
    let decoded = plimsoll_objects::decode_pod(json.to_string().as_bytes()).expect("a pod");
    let mut cycle = scene.cycle();
    cycle.pod = &decoded;
    let trial = Trial::new(&spec(), &Value::Null);
    let outcome = trial.pre_filter(&cycle, &mut CycleState::new());
    assert_eq!(outcome, Ok(PreFilterOutcome::Ready));
    let verdict = trial.filter(&cycle, &CycleState::new(), scene.node("n1"));
    assert!(verdict.is_err());
}

#[test]
fn what_the_scheduler_adds_is_judged_first_and_for_every_pod() {
    let args = added(&term("disk", "Exists", &[]));
    let verdicts = check_filter(
        &spec(),
        &args,
        &disks(),
        &pod("a").node_selector("disk", "ssd"),
    );
    assert_eq!(
        verdicts,
        [
            "n1: Pass",
            "n2: UnschedulableAndUnresolvable: node(s) didn't match Pod's node affinity/selector",
            "n3: UnschedulableAndUnresolvable: node(s) didn't match scheduler-enforced node affinity",
        ]
    );
    assert_eq!(passing(&args, &pod("a")), ["n1", "n2"]);
}

fn named_nodes(pod: &PodBuilder) -> Result<PreFilterOutcome, String> {
    let scene = disks().scene(pod);
    let trial = Trial::new(&spec(), &Value::Null);
    let outcome = trial.pre_filter(&scene.cycle(), &mut CycleState::new());
    outcome.map_err(|rejection| rejection.message())
}

#[test]
fn names_narrow_the_nodes_before_any_is_looked_at() {
    let nodes = |ids: &[u32]| {
        Ok(PreFilterOutcome::Named {
            nodes: ids.iter().map(|id| NodeId(*id)).collect(),
            absent: [].into(),
        })
    };
    let all = Ok(PreFilterOutcome::Ready);
    let two = json!({"matchFields": [
        expression("metadata.name", "In", &["n1", "n2"]),
        expression("metadata.name", "In", &["n2", "n3"]),
    ]});
    let conflict = json!({"matchFields": [
        expression("metadata.name", "In", &["n1"]),
        expression("metadata.name", "In", &["n2"]),
    ]});
    let asks = |terms: &[&Value]| {
        let terms = terms.iter();
        terms.fold(pod("a"), |pod, term| pod.requires_node((*term).clone()))
    };
    assert_eq!(named_nodes(&asks(&[&named(&["n2"])])), nodes(&[1]));
    assert_eq!(named_nodes(&asks(&[&two, &named(&["n1"])])), nodes(&[0, 1]));
    // A term that names none leaves every node.
    assert_eq!(
        named_nodes(&asks(&[&named(&["n2"]), &term("disk", "Exists", &[])])),
        all
    );
    let excluded = json!({"matchFields": [expression("metadata.name", "NotIn", &["n1"])]});
    assert_eq!(named_nodes(&asks(&[&excluded])), all);
    assert_eq!(passing(&Value::Null, &asks(&[&excluded])), ["n2", "n3"]);
    assert_eq!(
        named_nodes(&asks(&[&conflict])),
        Err("pod affinity terms conflict".to_owned())
    );
    // Contradictions count only if every term has one.
    assert_eq!(
        named_nodes(&asks(&[&conflict, &named(&["n3"])])),
        nodes(&[2])
    );
}

#[test]
fn a_name_that_no_node_has_leaves_no_node_and_is_no_contradiction() {
    let gone = pod("a").requires_node(named(&["gone"]));
    let absent = PreFilterOutcome::Named {
        nodes: [].into(),
        absent: ["gone".into()].into(),
    };
    assert_eq!(named_nodes(&gone), Ok(absent));
    assert_eq!(passing(&Value::Null, &gone), [""; 0]);
}

#[test]
fn preferences_add_up_and_the_best_node_gets_all() {
    let plain = pod("b");
    let pod = pod("a")
        .prefers_node(10, term("disk", "In", &["ssd"]))
        .prefers_node(5, term("disk", "Exists", &[]))
        .prefers_node(7, json!({}))
        .prefers_node(0, term("slots", "Gt", &["-5"]));
    assert_eq!(
        check_score(&spec(), &Value::Null, &disks(), &pod),
        ["n1: 15 -> 100", "n2: 5 -> 33", "n3: 0 -> 0"]
    );
    let args = json!({"addedAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 15, "preference": term("slots", "Gt", &["5"])},
    ]}});
    assert_eq!(
        check_score(&spec(), &args, &disks(), &pod),
        ["n1: 15 -> 75", "n2: 20 -> 100", "n3: 0 -> 0"]
    );
    assert_eq!(
        check_score(&spec(), &args, &disks(), &plain),
        ["n1: 0 -> 0", "n2: 15 -> 100", "n3: 0 -> 0"]
    );
}

#[test]
fn without_preferences_nothing_is_scored() {
    let skip = ["PreScore: Skip"];
    assert_eq!(
        check_score(&spec(), &Value::Null, &disks(), &pod("a")),
        skip
    );
    // An empty list is not the same as none.
    let mut json = pod("a").json().clone();
    json["spec"]["affinity"]["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"] =
        json!([]);
    let decoded = plimsoll_objects::decode_pod(json.to_string().as_bytes()).expect("a pod");
    let scene = disks().scene(&pod("a"));
    let mut cycle = scene.cycle();
    cycle.pod = &decoded;
    let trial = Trial::new(&spec(), &Value::Null);
    let scores = trial.scores(&cycle, &mut CycleState::new(), &[NodeId(0)]);
    assert!(scores.is_ok_and(|rows| rows.is_some()));
}

#[test]
fn a_preference_that_cannot_be_parsed_fails_the_attempt_with_every_mistake() {
    let one = pod("a")
        .prefers_node(1, term("disk", "Exists", &[]))
        .prefers_node(1, term("slots", "Gt", &["x"]));
    let number = "[1].matchExpressions[0].values[0]: Invalid value: \"x\": for 'Gt', 'Lt' \
                  operators, the value must be an integer";
    assert_eq!(
        check_score(&spec(), &Value::Null, &disks(), &one),
        [format!("Error: {number}")]
    );
    let two = one.prefers_node(1, term("disk", "Exists", &["ssd"]));
    let list = "[2].matchExpressions[0].values: Invalid value: [\"ssd\"]: values set must be \
                empty for exists and does not exist";
    assert_eq!(
        check_score(&spec(), &Value::Null, &disks(), &two),
        [format!("Error: [{number}, {list}]")]
    );
}
