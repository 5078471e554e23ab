//! What fits, what does not, and whether preemption could help.

use plimsoll_framework::test_util::{PodBuilder, check_filter, cluster, node, pod};
use serde_json::{Value, json};

use crate::node_resources_fit::spec;

const GPU: &str = "example.com/gpu";

/// A node of 4 cpus, 16 GiB, 10 GiB of storage, 2 GPUs and 3 pods, with two pods that take
/// 3 cpus, 12 GiB, 8 GiB of storage and 1 GPU.
fn verdict_with(args: &Value, pod: &PodBuilder) -> String {
    let node = node("n1")
        .resource("ephemeral-storage", "10Gi")
        .resource(GPU, "2")
        .pods(3);
    let placed = [
        self::pod("p1").cpu("2").memory("8Gi").on("n1"),
        self::pod("p2")
            .cpu("1")
            .memory("4Gi")
            .request("ephemeral-storage", "8Gi")
            .request(GPU, "1")
            .on("n1"),
    ];
    check_filter(&spec(), args, &cluster([node]).pods(placed), pod).join("; ")
}

fn verdict(pod: &PodBuilder) -> String {
    verdict_with(&Value::Null, pod)
}

#[test]
fn what_is_free_may_be_requested_to_the_last_unit() {
    for fits in [
        pod("a"),
        pod("a")
            .cpu("1")
            .memory("4Gi")
            .request("ephemeral-storage", "2Gi")
            .request(GPU, "1"),
        pod("a").request(GPU, "0").request("example.com/none", "0"),
    ] {
        assert_eq!(verdict(&fits), "n1: Pass", "{}", fits.json());
    }
}

#[test]
fn each_resource_that_falls_short_is_named() {
    let cases = [
        (pod("a").cpu("1001m"), "Insufficient cpu"),
        (pod("a").memory("4097Mi"), "Insufficient memory"),
        (
            pod("a").request("ephemeral-storage", "3Gi"),
            "Insufficient ephemeral-storage",
        ),
        (pod("a").request(GPU, "2"), "Insufficient example.com/gpu"),
        (
            pod("a").cpu("2").memory("5Gi").request(GPU, "2"),
            "Insufficient cpu, Insufficient memory, Insufficient example.com/gpu",
        ),
    ];
    for (pod, reasons) in cases {
        assert_eq!(
            verdict(&pod),
            format!("n1: Unschedulable: {reasons}"),
            "{}",
            pod.json()
        );
    }
}

#[test]
fn preemption_cannot_help_if_the_empty_node_is_too_small() {
    let cases = [
        (pod("a").cpu("4"), "Unschedulable: Insufficient cpu"),
        (
            pod("a").cpu("4001m"),
            "UnschedulableAndUnresolvable: Insufficient cpu",
        ),
        (
            pod("a").request(GPU, "3"),
            "UnschedulableAndUnresolvable: Insufficient example.com/gpu",
        ),
        (
            pod("a").request("example.com/none", "1"),
            "UnschedulableAndUnresolvable: Insufficient example.com/none",
        ),
        // One that can never fit beside one that could.
        (
            pod("a").cpu("2").memory("17Gi"),
            "UnschedulableAndUnresolvable: Insufficient cpu, Insufficient memory",
        ),
    ];
    for (pod, verdict) in cases {
        assert_eq!(
            self::verdict(&pod),
            format!("n1: {verdict}"),
            "{}",
            pod.json()
        );
    }
}

#[test]
fn a_full_node_takes_no_pod_even_one_that_asks_for_nothing() {
    let full = cluster([node("n1").pods(1)]).pods([pod("p").on("n1")]);
    let verdicts = |pod| check_filter(&spec(), &Value::Null, &full, &pod);
    assert_eq!(verdicts(pod("a")), ["n1: Unschedulable: Too many pods"]);
    assert_eq!(
        verdicts(pod("a").cpu("5")),
        ["n1: UnschedulableAndUnresolvable: Too many pods, Insufficient cpu"]
    );
}

#[test]
fn a_node_that_says_nothing_of_pods_takes_none() {
    let none = cluster([node("n1").pods(0)]);
    let verdicts = check_filter(&spec(), &Value::Null, &none, &pod("a"));
    assert_eq!(verdicts, ["n1: Unschedulable: Too many pods"]);
}

#[test]
fn a_node_that_carries_more_than_it_has_rejects_only_what_is_asked_for() {
    let over = cluster([node("n1")]).pods([pod("p").cpu("9").on("n1")]);
    let verdicts = |pod| check_filter(&spec(), &Value::Null, &over, &pod);
    assert_eq!(verdicts(pod("a").memory("1Gi")), ["n1: Pass"]);
    assert_eq!(
        verdicts(pod("a").cpu("1m")),
        ["n1: Unschedulable: Insufficient cpu"]
    );
}

#[test]
fn ignored_resources_and_groups_are_not_looked_at() {
    let asks = pod("a").request(GPU, "9").request("b.com/x", "9");
    let cases = [
        (json!({"ignoredResources": [GPU]}), "Insufficient b.com/x"),
        (
            json!({"ignoredResourceGroups": ["b.com"]}),
            "Insufficient example.com/gpu",
        ),
        (
            json!({"ignoredResources": ["cpu", "b.com"]}),
            "Insufficient b.com/x, Insufficient example.com/gpu",
        ),
    ];
    for (args, reasons) in cases {
        let expected = format!("n1: UnschedulableAndUnresolvable: {reasons}");
        assert_eq!(verdict_with(&args, &asks), expected, "{args}");
    }
    let all = json!({"ignoredResources": [GPU], "ignoredResourceGroups": ["b.com"]});
    assert_eq!(verdict_with(&all, &asks), "n1: Pass");
}

#[test]
fn only_extended_resources_can_be_ignored() {
    let args = json!({"ignoredResources": ["cpu", "hugepages-2Mi"]});
    assert_eq!(
        verdict_with(&args, &pod("a").cpu("2").request("hugepages-2Mi", "2Mi")),
        "n1: UnschedulableAndUnresolvable: Insufficient cpu, Insufficient hugepages-2Mi"
    );
}

#[test]
fn requests_at_the_level_of_the_pod_count() {
    assert_eq!(
        verdict(&pod("a").cpu("100m").pod_level("cpu", "1")),
        "n1: Pass"
    );
    assert_eq!(
        verdict(&pod("a").cpu("100m").pod_level("cpu", "1500m")),
        "n1: Unschedulable: Insufficient cpu"
    );
}

/// SCH-A4: what a sidecar adds depends on which init containers run beside it.
#[test]
fn sch_a4_a_sidecar_before_a_large_init_container_runs_beside_it() {
    let asks = |init: [Value; 2]| {
        let container = json!({"name": "main", "resources": {"requests": {"cpu": "1"}}});
        pod("a").merge(json!({"spec": {"initContainers": init, "containers": [container]}}))
    };
    let sidecar = || {
        json!({
            "name": "s", "restartPolicy": "Always", "resources": {"requests": {"cpu": "250m"}},
        })
    };
    let large = || json!({"name": "i", "resources": {"requests": {"cpu": "1500m"}}});
    let (one, two) = (asks([sidecar(), large()]), asks([large(), sidecar()]));
    let check = |cpu: &str, pod: &PodBuilder| {
        let cluster = cluster([node("n1").cpu(cpu)]);
        check_filter(&spec(), &Value::Null, &cluster, pod).remove(0)
    };
    let short = "n1: UnschedulableAndUnresolvable: Insufficient cpu";
    assert_eq!(check("1600m", &one), short);
    assert_eq!(check("1749m", &one), short);
    assert_eq!(check("1750m", &one), "n1: Pass");
    assert_eq!(check("1499m", &two), short);
    assert_eq!(check("1500m", &two), "n1: Pass");
    // The node counts them in the same way.
    let placed = cluster([node("n1")]).pods([one.on("n1"), two.uid("b").on("n1")]);
    let used = placed
        .snapshot()
        .nodes()
        .map(|node| node.requested.cpu)
        .sum::<i64>();
    assert_eq!(used, 1750 + 1500);
}
