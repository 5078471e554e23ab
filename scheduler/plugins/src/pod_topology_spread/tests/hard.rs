//! Hard constraints: which nodes keep the skew.

use plimsoll_framework::CycleState;
use plimsoll_framework::test_util::{Cluster, Trial, check_filter, cluster, pod};
use plimsoll_objects::TaintEffect;
use serde_json::{Value, json};

use super::super::{REASON, REASON_NO_LABEL, spec};
use super::{app, hard, host, soft, spread, with};

const DELETED: &str = "2026-01-01T00:00:00Z";

/// Node `n1` in zone `a` with as many pods of `web`, `n2` in zone `b` likewise.
fn two_zones(in_a: usize, in_b: usize) -> Cluster {
    let on = |node: &'static str, count| {
        (0..count).map(move |number| app(&format!("{node}-{number}"), "web").on(node))
    };
    let pods = on("n1", in_a).chain(on("n2", in_b));
    cluster([host("n1", "a"), host("n2", "b")]).pods(pods)
}

/// Who passes, of the nodes of `cluster`.
fn passing(cluster: &Cluster, constraint: Value) -> Vec<String> {
    let pod = spread(app("new", "web"), &[constraint]);
    let lines = check_filter(&spec(), &Value::Null, cluster, &pod);
    let rejected = format!("Unschedulable: {REASON}");
    let split = |line: &String| {
        line.split_once(": ")
            .map(|(n, v)| (n.to_owned(), v.to_owned()))
    };
    let lines = lines.iter().filter_map(split);
    let lines = lines.inspect(|(_, verdict)| assert!(verdict == "Pass" || *verdict == rejected));
    lines
        .filter(|(_, verdict)| verdict == "Pass")
        .map(|(name, _)| name)
        .collect()
}

#[test]
fn a_pod_without_hard_constraints_is_skipped() {
    let skipped = ["PreFilter: Skip"];
    for constraints in [vec![], vec![soft("zone", 1)]] {
        let pod = spread(app("new", "web"), &constraints);
        assert_eq!(
            check_filter(&spec(), &Value::Null, &two_zones(9, 0), &pod),
            skipped
        );
    }
    let odd = with(hard("zone", 1), json!({"whenUnsatisfiable": "Perhaps"}));
    let pod = spread(app("new", "web"), &[odd]);
    assert_eq!(
        check_filter(&spec(), &Value::Null, &two_zones(9, 0), &pod),
        skipped
    );
}

#[test]
fn the_pod_goes_where_the_skew_stays_within_its_bound() {
    let cases = [
        (two_zones(0, 0), 1, vec!["n1", "n2"]),
        (two_zones(1, 0), 1, vec!["n2"]),
        (two_zones(1, 0), 2, vec!["n1", "n2"]),
        (two_zones(3, 1), 2, vec!["n2"]),
        (two_zones(3, 1), 3, vec!["n1", "n2"]),
    ];
    for (cluster, max_skew, expected) in cases {
        assert_eq!(
            passing(&cluster, hard("zone", max_skew)),
            expected,
            "{max_skew}"
        );
    }
}

#[test]
fn a_pod_that_its_own_selector_leaves_out_does_not_add_to_the_skew() {
    let other = json!({"labelSelector": {"matchLabels": {"app": "db"}}});
    let cluster = two_zones(0, 0).pods([app("x", "db").on("n1")]);
    assert_eq!(
        passing(&cluster, with(hard("zone", 1), other)),
        ["n1", "n2"]
    );
}

#[test]
fn every_constraint_must_be_kept() {
    let cluster = cluster([host("n1", "a"), host("n2", "a"), host("n3", "b")])
        .pods([app("x", "web").on("n1"), app("y", "web").on("n3")]);
    let pod = spread(app("new", "web"), &[hard("zone", 1), hard(super::HOST, 1)]);
    assert_eq!(
        check_filter(&spec(), &Value::Null, &cluster, &pod),
        [
            format!("n1: Unschedulable: {REASON}"),
            "n2: Pass".to_owned(),
            format!("n3: Unschedulable: {REASON}"),
        ]
    );
}

#[test]
fn a_node_without_the_label_is_no_domain_and_can_never_do() {
    let bare = plimsoll_framework::test_util::node("n3");
    let cluster = cluster([host("n1", "a"), host("n2", "b"), bare])
        .pods([app("x", "web").on("n1"), app("y", "web").on("n3")]);
    let pod = spread(app("new", "web"), &[hard("zone", 1)]);
    assert_eq!(
        check_filter(&spec(), &Value::Null, &cluster, &pod),
        [
            format!("n1: Unschedulable: {REASON}"),
            "n2: Pass".to_owned(),
            format!("n3: UnschedulableAndUnresolvable: {REASON_NO_LABEL}"),
        ]
    );
}

#[test]
fn with_too_few_domains_the_emptiest_counts_as_empty() {
    let min = |count: i32| with(hard("zone", 1), json!({"minDomains": count}));
    assert_eq!(passing(&two_zones(1, 1), min(2)), ["n1", "n2"]);
    assert!(passing(&two_zones(1, 1), min(3)).is_empty());
    assert_eq!(passing(&two_zones(1, 0), min(3)), ["n2"]);
}

#[test]
fn nodes_that_affinity_rules_out_are_no_domains_unless_it_is_ignored() {
    let pinned = |policy: &str| {
        let constraint = with(hard("zone", 1), json!({"nodeAffinityPolicy": policy}));
        spread(app("new", "web"), &[constraint])
            .merge(json!({"spec": {"nodeSelector": {"zone": "a"}}}))
    };
    let cluster = two_zones(1, 0);
    let verdict = |policy: &str| check_filter(&spec(), &Value::Null, &cluster, &pinned(policy));
    // The only domain is the emptiest: its own count does not hold the pod back.
    assert_eq!(verdict("Honor"), ["n1: Pass", "n2: Pass"]);
    let rejected = format!("n1: Unschedulable: {REASON}");
    assert_eq!(verdict("Ignore"), [rejected, "n2: Pass".to_owned()]);
}

#[test]
fn nodes_with_taints_are_domains_unless_taints_are_honoured() {
    let tainted = |effect| host("n2", "b").taint("dedicated", "x", effect);
    let verdict = |effect, policy: &str| {
        let cluster = cluster([host("n1", "a"), tainted(effect)]).pods([app("x", "web").on("n1")]);
        passing(
            &cluster,
            with(hard("zone", 1), json!({"nodeTaintsPolicy": policy})),
        )
    };
    let cases = [
        (TaintEffect::NoSchedule, "Ignore", vec!["n2"]),
        (TaintEffect::NoSchedule, "Honor", vec!["n1", "n2"]),
        (TaintEffect::NoExecute, "Honor", vec!["n1", "n2"]),
        (TaintEffect::PreferNoSchedule, "Honor", vec!["n2"]),
    ];
    for (effect, policy, expected) in cases {
        assert_eq!(verdict(effect, policy), expected, "{effect:?} {policy}");
    }
}

#[test]
fn pods_of_other_namespaces_and_those_being_deleted_are_not_counted() {
    let cluster = two_zones(0, 0).pods([
        app("x", "web").namespace("other").on("n1"),
        app("y", "web").deleted(DELETED).on("n1"),
    ]);
    assert_eq!(passing(&cluster, hard("zone", 1)), ["n1", "n2"]);
}

#[test]
fn sch_a1_an_empty_selector_counts_no_pod_and_the_pod_itself() {
    let three = || two_zones(3, 0);
    let empty = with(hard("zone", 1), json!({"labelSelector": {}}));
    assert_eq!(passing(&three(), empty), ["n1", "n2"]);
    let absent = with(hard("zone", 1), json!({"labelSelector": null}));
    assert_eq!(passing(&three(), absent), ["n1", "n2"]);
    assert_eq!(passing(&three(), hard("zone", 1)), ["n2"]);
    // The pod itself is counted: with fewer domains than wanted and skew 0 it has no place.
    let none = json!({"labelSelector": {}, "maxSkew": 0});
    assert!(passing(&three(), with(hard("zone", 1), none)).is_empty());
}

#[test]
fn sch_a2_only_the_pods_of_the_new_version_are_counted_with_match_label_keys() {
    let hashed = |name: &str, hash: &str| app(name, "web").label("pod-template-hash", hash);
    let cluster = two_zones(0, 0).pods([
        hashed("old-1", "v1").on("n1"),
        hashed("old-2", "v1").deleted(DELETED).on("n2"),
        hashed("new-1", "v2").on("n2"),
    ]);
    let verdict = |constraint| {
        let pod = spread(hashed("new-2", "v2"), &[constraint]);
        check_filter(&spec(), &Value::Null, &cluster, &pod)
    };
    assert_eq!(verdict(hard("zone", 1)), ["n1: Pass", "n2: Pass"]);
    let keyed = with(
        hard("zone", 1),
        json!({"matchLabelKeys": ["pod-template-hash", "absent"]}),
    );
    let rejected = format!("n2: Unschedulable: {REASON}");
    assert_eq!(verdict(keyed), ["n1: Pass".to_owned(), rejected]);
}

#[test]
fn a_mistake_in_a_selector_fails_the_attempt() {
    let wrong = json!({"labelSelector": {"matchExpressions": [{"key": "app", "operator": "Gt"}]}});
    let pod = spread(app("new", "web"), &[with(hard("zone", 1), wrong)]);
    assert_eq!(
        check_filter(&spec(), &Value::Null, &two_zones(0, 0), &pod),
        ["PreFilter: Error: get constraints from pod: \
          obtaining pod's hard topology spread constraints: \
          \"Gt\" is not a valid label selector operator"]
    );
}

#[test]
fn a_dry_run_counts_what_it_takes_away_and_puts_back_and_leaves_the_cycle_alone() {
    let scene = two_zones(2, 1).scene(&spread(app("new", "web"), &[hard("zone", 1)]));
    let (cycle, trial) = (scene.cycle(), Trial::new(&spec(), &Value::Null));
    let hook = trial.hooks.pre_filter.as_deref().expect("it has one");
    let (n1, n2) = (scene.node("n1"), scene.node("n2"));
    let mut state = CycleState::new();
    hook.pre_filter(&cycle, &mut state).expect("it is ready");
    let passes =
        |state: &CycleState| [n1, n2].map(|node| trial.filter(&cycle, state, node).is_ok());
    assert_eq!(passes(&state), [false, true]);

    let mut dry = state.clone();
    let victims = &n1.pods;
    hook.remove_pod(&cycle, &mut dry, &victims[0], n1)
        .expect("no error");
    assert_eq!(passes(&dry), [true, true]);
    hook.remove_pod(&cycle, &mut dry, &victims[1], n1)
        .expect("no error");
    // Zone a is empty now: zone b, with 1, is too full.
    assert_eq!(passes(&dry), [true, false]);
    for victim in victims {
        hook.add_pod(&cycle, &mut dry, victim, n1)
            .expect("no error");
    }
    assert_eq!(passes(&dry), passes(&state));
    let stranger = app("x", "db").build();
    hook.add_pod(&cycle, &mut dry, &stranger, n2)
        .expect("no error");
    let elsewhere = app("y", "web").namespace("other").build();
    hook.add_pod(&cycle, &mut dry, &elsewhere, n2)
        .expect("no error");
    assert_eq!(passes(&dry), passes(&state));
}

#[test]
fn a_dry_run_counts_pods_being_deleted_and_matches_everything_with_an_empty_selector() {
    let deleting = app("x", "web").deleted(DELETED).on("n1");
    let cluster = two_zones(0, 0).pods([deleting]);
    let empty = with(hard("zone", 1), json!({"labelSelector": {}}));
    for constraint in [hard("zone", 1), empty] {
        let scene = cluster.scene(&spread(app("new", "web"), &[constraint]));
        let (cycle, trial) = (scene.cycle(), Trial::new(&spec(), &Value::Null));
        let hook = trial.hooks.pre_filter.as_deref().expect("it has one");
        let mut state = CycleState::new();
        hook.pre_filter(&cycle, &mut state).expect("it is ready");
        let (n1, n2) = (scene.node("n1"), scene.node("n2"));
        // Below 0, so that the other zone, with nothing but the new pod, is too full.
        hook.remove_pod(&cycle, &mut state, &n1.pods[0], n1)
            .expect("no error");
        assert!(trial.filter(&cycle, &state, n1).is_ok());
        assert!(trial.filter(&cycle, &state, n2).is_err());
    }
}

#[test]
fn a_thousand_constraints_are_judged() {
    let keys: Vec<String> = (0..1_000).map(|number| format!("key-{number}")).collect();
    let labelled = |name: &str| {
        let plain = plimsoll_framework::test_util::node(name);
        keys.iter().fold(plain, |node, key| node.label(key, name))
    };
    let cluster = cluster([labelled("n1"), labelled("n2")]).pods([app("x", "web").on("n1")]);
    let all: Vec<Value> = keys.iter().map(|key| hard(key, 1)).collect();
    let rejected = format!("n1: Unschedulable: {REASON}");
    let verdict = check_filter(
        &spec(),
        &Value::Null,
        &cluster,
        &spread(app("new", "web"), &all),
    );
    assert_eq!(verdict, [rejected, "n2: Pass".to_owned()]);
}

#[test]
fn a_pod_without_labels_is_judged_by_what_is_there() {
    let pod = spread(pod("new"), &[hard("zone", 1)]);
    let verdict = |cluster| check_filter(&spec(), &Value::Null, &cluster, &pod);
    assert_eq!(verdict(two_zones(1, 0)), ["n1: Pass", "n2: Pass"]);
    let rejected = format!("n1: Unschedulable: {REASON}");
    assert_eq!(verdict(two_zones(2, 0)), [rejected, "n2: Pass".to_owned()]);
}
