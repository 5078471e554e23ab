//! The plugin as the engine runs it.

mod wake;

use plimsoll_framework::test_util::{Cluster, PodBuilder, check_filter, cluster, node, pod};
use serde_json::{Value, json};

use super::{REASON, spec};
use crate::volume_fixtures::{
    attachment, bound_claim, claim, csi_driver, csi_node, volume, waiting_class, with_claims,
    with_volumes,
};

const DRIVER: &str = "csi.example.com";

fn verdicts(cluster: &Cluster, pod: &PodBuilder) -> Vec<String> {
    check_filter(&spec(), &Value::Null, cluster, pod)
}

fn full(name: &str) -> String {
    format!("{name}: Unschedulable: {REASON}")
}

/// `n1` has a pod with one volume of the driver and a limit, `n2` has no `CSINode`.
fn limited(limit: i32) -> Cluster {
    cluster([node("n1"), node("n2")])
        .pods([with_claims("p", &["c1"]).on("n1")])
        .objects([
            csi_node("n1", &[(DRIVER, Some(limit))]),
            waiting_class("fast", DRIVER),
        ])
        .objects((1..4).map(|n| volume(&format!("v{n}"), "fast")))
        .objects((1..4).map(|n| bound_claim(&format!("c{n}"), "fast", &format!("v{n}"))))
}

#[test]
fn a_pod_without_volumes_that_are_attached_is_not_judged() {
    let skip = ["PreFilter: Skip"];
    assert_eq!(verdicts(&limited(1), &pod("a")), skip);
    let iscsi = with_volumes("a", &json!([{"name": "v", "iscsi": {"iqn": "i"}}]));
    assert_eq!(verdicts(&limited(1), &iscsi), skip);
}

#[test]
fn more_volumes_than_the_limit_reject_the_node() {
    let two = with_claims("a", &["c2", "c3"]);
    assert_eq!(verdicts(&limited(2), &two), [&*full("n1"), "n2: Pass"]);
    assert_eq!(verdicts(&limited(3), &two), ["n1: Pass", "n2: Pass"]);
    let one = with_claims("a", &["c2"]);
    assert_eq!(verdicts(&limited(0), &one), [&*full("n1"), "n2: Pass"]);
}

#[test]
fn one_volume_of_several_pods_counts_once() {
    let shared = with_claims("a", &["c1", "c1", "c2"]);
    assert_eq!(verdicts(&limited(2), &shared), ["n1: Pass", "n2: Pass"]);
    let same = with_claims("a", &["c1"]);
    assert_eq!(verdicts(&limited(0), &same), ["n1: Pass", "n2: Pass"]);
}

#[test]
fn attachments_count_unless_a_pod_of_the_node_uses_the_volume() {
    let attached = |volumes: &[&str]| {
        let attachments = volumes.iter().map(|name| attachment(name, "n1", name));
        limited(2).objects(attachments.collect::<Vec<_>>())
    };
    let one = with_claims("a", &["c2"]);
    assert_eq!(verdicts(&attached(&["v1"]), &one), ["n1: Pass", "n2: Pass"]);
    assert_eq!(
        verdicts(&attached(&["v3"]), &one),
        [&*full("n1"), "n2: Pass"]
    );
    assert_eq!(
        verdicts(&attached(&["gone"]), &one),
        ["n1: Pass", "n2: Pass"]
    );
    // As in kube-scheduler the pod's own volume counts twice while no pod there uses it.
    assert_eq!(
        verdicts(&attached(&["v2"]), &one),
        [&*full("n1"), "n2: Pass"]
    );
}

#[test]
fn a_volume_that_is_still_to_be_made_counts_for_the_driver_of_its_class() {
    let open = [
        claim("open", "fast"),
        claim("classless", ""),
        claim("lost", "gone"),
    ];
    let cluster = limited(1).objects(open);
    assert_eq!(
        verdicts(&cluster, &with_claims("a", &["open"])),
        [&*full("n1"), "n2: Pass"]
    );
    let uncounted = with_claims("a", &["classless", "lost"]);
    assert_eq!(verdicts(&cluster, &uncounted), ["n1: Pass", "n2: Pass"]);
}

#[test]
fn a_driver_that_pods_need_must_be_on_the_node() {
    let needed = csi_driver(DRIVER, &json!({"preventPodSchedulingIfMissing": true}));
    let text = format!("n2: Unschedulable: {DRIVER} CSI driver is not installed on the node");
    let one = with_claims("a", &["c2"]);
    let cluster = limited(9).objects([needed]);
    assert_eq!(verdicts(&cluster, &one), ["n1: Pass", &text]);
    let optional = csi_driver(DRIVER, &json!({}));
    let cluster = limited(9).objects([optional]);
    assert_eq!(verdicts(&cluster, &one), ["n1: Pass", "n2: Pass"]);
}

#[test]
fn a_claim_that_is_missing_or_not_the_pods_is_an_error_of_the_pod_only() {
    let gone = "n1: UnschedulableAndUnresolvable: looking up PVC default/gone: \
                persistentvolumeclaim \"gone\" not found";
    assert_eq!(verdicts(&limited(9), &with_claims("a", &["gone"]))[0], gone);
    let placed = limited(1).pods([with_claims("q", &["gone"]).on("n1")]);
    assert_eq!(verdicts(&placed, &with_claims("a", &["c1"]))[0], "n1: Pass");
}

#[test]
fn the_claim_of_an_ephemeral_volume_must_be_the_pods() {
    let ephemeral = |name: &str| with_volumes(name, &json!([{"name": "v", "ephemeral": {}}]));
    let not_owner = |pod: &str| {
        format!(
            "n1: Error: PVC default/{pod}-v was not created for pod default/{pod} (pod is not owner)"
        )
    };
    let mut owned = bound_claim("a-v", "fast", "v2");
    let cluster = limited(1).objects([owned.clone(), claim("q-v", "fast")]);
    assert_eq!(verdicts(&cluster, &ephemeral("a"))[0], not_owner("a"));
    owned["metadata"]["ownerReferences"] = json!([{"kind": "Pod", "name": "a", "uid": pod("a").build().uid().0.as_ref(), "controller": true}]);
    let cluster = cluster.objects([owned]);
    assert_eq!(
        verdicts(&cluster, &ephemeral("a")),
        [&*full("n1"), "n2: Pass"]
    );
    // kube-scheduler fails on such a pod of the node, too, as soon as it counts.
    let placed = cluster.pods([ephemeral("q").on("n1")]);
    assert_eq!(
        verdicts(&placed, &with_claims("a", &["c2"]))[0],
        not_owner("q")
    );
}

#[test]
fn disks_of_plugins_that_were_moved_count_where_there_is_a_csi_node() {
    let disks = with_volumes(
        "a",
        &json!([
            {"name": "v", "gcePersistentDisk": {"pdName": "d"}},
            {"name": "w", "azureFile": {"shareName": "s"}},
        ]),
    );
    let cluster = |limit| {
        cluster([node("n1"), node("n2")])
            .objects([csi_node("n1", &[("pd.csi.storage.gke.io", Some(limit))])])
    };
    assert_eq!(verdicts(&cluster(0), &disks), [&*full("n1"), "n2: Pass"]);
    assert_eq!(verdicts(&cluster(1), &disks), ["n1: Pass", "n2: Pass"]);
    let odd = with_volumes(
        "a",
        &json!([{"name": "v", "azureDisk": {"diskURI": "/d", "kind": "Dedicated"}}]),
    );
    let text = "n1: Error: converting volume(v) from inline to csi: \
                kind(Dedicated) is not supported in csi migration";
    assert_eq!(verdicts(&cluster(0), &odd), [text, "n2: Pass"]);
}

#[test]
fn a_bound_disk_and_a_class_of_a_moved_plugin_count_for_the_new_driver() {
    let mut disk = volume("pv", "old");
    disk["spec"]["csi"] = Value::Null;
    disk["spec"]["awsElasticBlockStore"] = json!({"volumeID": "vol-1"});
    let cluster = cluster([node("n1"), node("n2")]).objects([
        disk,
        bound_claim("bound", "old", "pv"),
        claim("open", "old"),
        claim("shares", "files"),
        waiting_class("old", "kubernetes.io/aws-ebs"),
        waiting_class("files", "kubernetes.io/azure-file"),
        csi_node(
            "n1",
            &[
                ("ebs.csi.aws.com", Some(0)),
                ("file.csi.azure.com", Some(0)),
            ],
        ),
    ]);
    for name in ["bound", "open"] {
        let lines = verdicts(&cluster, &with_claims("a", &[name]));
        assert_eq!(lines, [&*full("n1"), "n2: Pass"], "{name}");
    }
    let lines = verdicts(&cluster, &with_claims("a", &["shares"]));
    assert_eq!(lines, ["n1: Pass", "n2: Pass"]);
}
