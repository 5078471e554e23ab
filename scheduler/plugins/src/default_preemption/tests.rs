//! Whom a pod may put out, on which node, and what is said if that does not help.

mod model;
mod property;

use plimsoll_framework::test_util::{
    Cluster, NodeBuilder, PodBuilder, check_hint, check_post_filter, check_pre_enqueue, cluster,
    node, pod,
};
use plimsoll_framework::{Actions, Change, ClusterEvent, EventResource, Hint};
use serde_json::{Value, json};

use super::spec;

fn check(cluster: &Cluster, pod: &PodBuilder) -> String {
    check_post_filter(&spec(), &Value::Null, cluster, pod)
}

fn budget(name: &str, app: &str, allowed: i32) -> Value {
    json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": app}}},
        "status": {"disruptionsAllowed": allowed},
    })
}

/// A pod that a scheduler has put out and that is still there.
fn going(pod: PodBuilder) -> PodBuilder {
    let condition = json!({
        "type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler",
    });
    pod.deleted("2026-01-31T13:00:00Z")
        .merge(json!({"status": {"conditions": [condition]}}))
}

fn four_cpus() -> Cluster {
    cluster([node("n1").cpu("4")])
}

#[test]
fn the_fewest_and_least_important_pods_go() {
    let cluster = four_cpus().pods([
        pod("low").priority(1).cpu("1").on("n1"),
        pod("mid").priority(5).cpu("1").on("n1"),
        pod("small").priority(1).cpu("500m").on("n1"),
        pod("equal").priority(10).cpu("1").on("n1"),
    ]);
    let ten = |cpu| pod("p").priority(10).cpu(cpu);
    assert_eq!(
        check(&cluster, &ten("1")),
        "Nominate n1, evict [default/small]"
    );
    assert_eq!(
        check(&cluster, &ten("2")),
        "Nominate n1, evict [default/low, default/small]"
    );
    assert_eq!(
        check(&cluster, &ten("3")),
        "Nominate n1, evict [default/mid, default/low, default/small]"
    );
    assert_eq!(check(&cluster, &ten("3500m")), "Withdraw");
}

#[test]
fn a_pod_that_never_preempts_asks_for_nothing() {
    let cluster = four_cpus().pods([pod("low").cpu("4").on("n1")]);
    let meek = pod("p").priority(10).cpu("1").never_preempts();
    assert_eq!(
        check(&cluster, &meek),
        "Unschedulable: preemption: not eligible due to preemptionPolicy=Never."
    );
}

#[test]
fn a_pod_whose_victims_are_still_going_waits_for_them() {
    let waiting = "Unschedulable: preemption: not eligible due to a terminating pod on the \
                   nominated node.";
    let again = "Nominate n1, evict [default/v]";
    let v = || pod("v").cpu("4").on("n1");
    let p = || pod("p").priority(10).cpu("1");
    let cases = [
        (going(v()), p().nominated("n1"), waiting),
        // Nobody is waited for: not promised, promised elsewhere, not going, going for
        // another reason.
        (going(v()), p(), again),
        (going(v()), p().nominated("gone"), again),
        (v(), p().nominated("n1"), again),
        (
            v().deleted("2026-01-31T13:00:00Z"),
            p().nominated("n1"),
            again,
        ),
    ];
    for (victim, preemptor, answer) in cases {
        let cluster = four_cpus().pods([victim]);
        assert_eq!(check(&cluster, &preemptor), answer, "{}", preemptor.json());
    }
    // A pod of the same priority that goes is no victim of ours.
    let peer = going(v().priority(10));
    assert_eq!(
        check(&four_cpus().pods([peer]), &p().nominated("n1")),
        "Withdraw"
    );
}

#[test]
fn what_does_not_help_is_told_and_a_promise_is_taken_back() {
    let nodes = ["n1", "n2", "n3"].map(|name| node(name).cpu("2"));
    let cluster = cluster(nodes).pods([
        pod("high").priority(20).cpu("2").on("n1"),
        pod("half").priority(20).cpu("1").on("n2"),
        pod("low").cpu("1").on("n2"),
        pod("other").priority(20).cpu("2").on("n3"),
    ]);
    let preemptor = pod("p").priority(10).cpu("2").nominated("n1");
    let reasons = property::withdrawn(&cluster, &preemptor);
    assert_eq!(
        reasons,
        "preemption: 0/3 nodes are available: 1 Insufficient cpu, \
         2 No preemption victims found for incoming pod."
    );
}

#[test]
fn a_pod_over_its_budget_is_spared_if_another_will_do() {
    let cluster = four_cpus()
        .pods([
            pod("kept").label("app", "web").cpu("2").on("n1"),
            pod("taken").priority(5).cpu("2").on("n1"),
        ])
        .objects([budget("b", "web", 0)]);
    // The less important pod stays, for its budget's sake.
    let preemptor = pod("p").priority(10).cpu("2");
    assert_eq!(
        check(&cluster, &preemptor),
        "Nominate n1, evict [default/taken]"
    );
}

/// PRE-A1: a promise that can no longer be kept is taken back, so that smaller pods get in.
#[test]
fn pre_a1_a_promise_that_a_higher_pod_took_is_withdrawn() {
    let p0 = || pod("p0").priority(1).cpu("2").on("n1");
    let p1 = || pod("p1").priority(10).cpu("3");
    let p2 = || pod("p2").priority(100).cpu("1500m").on("n1");
    let first = check(&four_cpus().pods([p0()]), &p1());
    assert_eq!(first, "Nominate n1, evict [default/p0]");
    // p2 came while p0 was going.
    let both = four_cpus().pods([going(p0()), p2()]);
    let waits = check(&both, &p1().nominated("n1"));
    assert_eq!(
        waits,
        "Unschedulable: preemption: not eligible due to a terminating pod on the nominated node."
    );
    let after = four_cpus().pods([p2()]);
    assert_eq!(check(&after, &p1().nominated("n1")), "Withdraw");
}

/// PRE-A2: of two nodes with one overdrawn budget each, the one with the less important
/// victim is taken.
#[test]
fn pre_a2_of_equal_budget_violations_the_lower_highest_priority_decides() {
    let guarded = |pod: PodBuilder| pod.label("app", "web");
    let cluster = cluster([node("n1").cpu("4"), node("n2").cpu("4")])
        .pods([
            pod("v1").priority(100).cpu("2").on("n1"),
            guarded(pod("v2").priority(10).cpu("2").on("n1")),
            guarded(pod("v3").priority(50).cpu("4").on("n2")),
        ])
        .objects([budget("none-allowed", "web", 0)]);
    let preemptor = pod("p").priority(1000).cpu("4");
    assert_eq!(
        check(&cluster, &preemptor),
        "Nominate n2, evict [default/v3]"
    );
}

#[test]
fn of_equal_nodes_the_first_by_name_is_taken_and_all_are_named() {
    let nodes = ["n3", "n1", "n2"];
    let victims = [("n3", 1), ("n1", 1), ("n2", 2)];
    let cluster = cluster(nodes.map(node)).pods(victims.map(|(on, priority)| {
        let victim = pod(&format!("v-{on}")).priority(priority);
        victim.started("2026-01-31T12:00:00Z").cpu("4").on(on)
    }));
    let preemptor = pod("p").priority(10).cpu("1");
    assert_eq!(
        check(&cluster, &preemptor),
        "Nominate n1, evict [default/v-n1]"
    );
    let [tied, candidates] = property::names(&cluster, &preemptor, &Value::Null);
    assert_eq!(tied, ["n1", "n3"]);
    assert_eq!(candidates, ["n3", "n1", "n2"]);
}

#[test]
fn enough_candidates_are_enough_but_for_budgets() {
    let names: Vec<String> = (0..20).map(|index| format!("n{index:02}")).collect();
    let nodes: Vec<NodeBuilder> = names.iter().map(|name| node(name)).collect();
    let victims = names.iter().enumerate().map(|(index, on)| {
        let guarded = if index == 7 { "db" } else { "web" };
        let victim = pod(&format!("v-{on}")).label("app", guarded);
        victim.cpu("4").on(on)
    });
    let cluster = cluster(nodes).pods(victims);
    let preemptor = pod("p").priority(10).cpu("1");
    let candidates = |cluster: &Cluster, percentage, absolute| {
        let args = json!({
            "minCandidateNodesPercentage": percentage, "minCandidateNodesAbsolute": absolute,
        });
        let [_, candidates] = property::names(cluster, &preemptor, &args);
        candidates
    };
    assert_eq!(candidates(&cluster, 10, 100).len(), 20);
    assert_eq!(candidates(&cluster, 25, 1).len(), 5);
    assert_eq!(candidates(&cluster, 0, 3).len(), 3);
    assert_eq!(candidates(&cluster, 100, 0).len(), 20);
    // Only one node has no budget to overdraw: it is looked for to the end.
    let guarded = cluster.objects([budget("b", "web", 0)]);
    let looked_at = candidates(&guarded, 0, 3);
    assert!(looked_at.contains(&"n07".to_owned()), "{looked_at:?}");
    assert_eq!(
        check_post_filter(
            &spec(),
            &json!({"minCandidateNodesPercentage": 0, "minCandidateNodesAbsolute": 3}),
            &guarded,
            &preemptor
        ),
        "Nominate n07, evict [default/v-n07]"
    );
}

#[test]
fn no_pod_is_held_and_no_victims_end_wakes_one_by_itself() {
    let pass = check_pre_enqueue(&spec(), &Value::Null, &pod("p"));
    assert_eq!(pass, "Pass");
    let victim = pod("v").on("n1").build();
    let change = Change::Pod {
        old: Some(&victim),
        new: None,
    };
    let hint = |actions| {
        let event = ClusterEvent::new(EventResource::AssignedPod, actions);
        check_hint(&spec(), &Value::Null, &pod("p"), event, &change)
    };
    assert_eq!(hint(Actions::DELETE), Some(Hint::Skip));
    assert_eq!(hint(Actions::ADD), None);
}

#[test]
fn a_port_that_two_pods_hold_is_free_once_one_of_them_is_gone() {
    let taking = |name: &str, priority| pod(name).priority(priority).host_port(80).on("n1");
    // As nobody but a faulty node would have it: `high` holds the port still.
    let cluster = four_cpus().pods([taking("high", 50), taking("low", 1)]);
    let preemptor = pod("p").priority(10).host_port(80);
    let [tied, _] = property::names(&cluster, &preemptor, &Value::Null);
    assert_eq!(tied, ["n1"]);
}
