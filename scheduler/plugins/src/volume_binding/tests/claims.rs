//! Claims that can be used, and those that end the attempt; volumes that claims have.

use plimsoll_framework::test_util::pod;
use serde_json::{Value, json};

use super::{AFFINITY, NO_VOLUME, rejected, storage, verdicts};
use crate::volume_fixtures::{
    bound_claim, claim, csi_node, local, volume, waiting_class, with_claims, with_volumes,
};

#[test]
fn a_pod_without_claims_is_not_judged() {
    let skip = ["PreFilter: Skip"];
    assert_eq!(verdicts(&storage(), &pod("a")), skip);
    let disk = with_volumes(
        "a",
        &json!([{"name": "v", "gcePersistentDisk": {"pdName": "d"}}]),
    );
    assert_eq!(verdicts(&storage(), &disk), skip);
}

#[test]
fn a_claim_that_cannot_be_used_ends_the_attempt() {
    let mut lost = bound_claim("c", "fast", "pv");
    lost["status"]["phase"] = "Lost".into();
    let mut deleted = claim("c", "fast");
    deleted["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
    let mut prebound = claim("c", "fast");
    prebound["spec"]["volumeName"] = "pv".into();
    let unbound = "pod has unbound immediate PersistentVolumeClaims";
    let cases = [
        (claim("d", "fast"), "persistentvolumeclaim \"c\" not found"),
        (
            lost,
            "persistentvolumeclaim \"c\" bound to non-existent persistentvolume \"pv\"",
        ),
        (deleted, "persistentvolumeclaim \"c\" is being deleted"),
        (prebound, unbound),
        (claim("c", "gone"), unbound),
        (claim("c", ""), unbound),
    ];
    for (claim, text) in cases {
        let cluster = storage().objects([claim]);
        let expected = format!("PreFilter: UnschedulableAndUnresolvable: {text}");
        assert_eq!(verdicts(&cluster, &with_claims("a", &["c"])), [expected]);
    }
}

#[test]
fn the_claim_of_an_ephemeral_volume_is_made_for_the_pod() {
    let ephemeral = with_volumes("a", &json!([{"name": "v", "ephemeral": {}}]));
    let expected = |text: &str| [format!("PreFilter: UnschedulableAndUnresolvable: {text}")];
    let waits =
        "waiting for ephemeral volume controller to create the persistentvolumeclaim \"a-v\"";
    assert_eq!(verdicts(&storage(), &ephemeral), expected(waits));
    let mut made = claim("a-v", "fast");
    let foreign = "PVC default/a-v was not created for pod default/a (pod is not owner)";
    let cluster = storage().objects([made.clone()]);
    assert_eq!(verdicts(&cluster, &ephemeral), expected(foreign));
    made["metadata"]["ownerReferences"] = json!([{"kind": "Pod", "name": "a", "uid": &*ephemeral.build().uid().0, "controller": true}]);
    let cluster = storage().objects([made]);
    assert_eq!(verdicts(&cluster, &ephemeral), ["n1: Pass", "n2: Pass"]);
}

#[test]
fn a_class_that_does_not_say_when_it_binds_is_an_error() {
    let mut class = waiting_class("odd", "p");
    class["volumeBindingMode"] = Value::Null;
    let cluster = storage().objects([class, claim("c", "odd")]);
    let expected = "PreFilter: Error: VolumeBindingMode not set for StorageClass \"odd\"";
    assert_eq!(verdicts(&cluster, &with_claims("a", &["c"])), [expected]);
}

#[test]
fn a_node_must_reach_the_volumes_that_claims_have() {
    let cluster = storage().objects([
        local("pv", "1Gi", ("host", "n2")),
        bound_claim("c", "local", "pv"),
        bound_claim("orphan", "local", "gone"),
        claim("open", "local"),
    ]);
    let lines = verdicts(&cluster, &with_claims("a", &["c"]));
    assert_eq!(lines, [rejected("n1", AFFINITY), "n2: Pass".to_owned()]);
    let both = with_claims("a", &["c", "open"]);
    let reasons = format!("{AFFINITY}, {NO_VOLUME}");
    assert_eq!(
        verdicts(&cluster, &both),
        [rejected("n1", &reasons), rejected("n2", NO_VOLUME)]
    );
    let gone = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";
    let orphan = with_claims("a", &["orphan", "open"]);
    let reasons = format!("{NO_VOLUME}, {gone}");
    assert_eq!(
        verdicts(&cluster, &orphan),
        ["n1", "n2"].map(|n| rejected(n, &reasons))
    );
}

#[test]
fn a_disk_of_a_moved_plugin_is_where_its_driver_says_on_nodes_that_take_it_so() {
    let mut disk = volume("pv", "fast");
    disk["spec"]["csi"] = Value::Null;
    disk["spec"]["gcePersistentDisk"] = json!({"pdName": "d"});
    disk["metadata"]["labels"]["topology.kubernetes.io/zone"] = "a".into();
    let migrated = |name: &str| {
        let mut csi_node = csi_node(name, &[]);
        csi_node["metadata"]["annotations"] =
            json!({"storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/gce-pd"});
        csi_node
    };
    let cluster = storage().objects([disk, bound_claim("c", "fast", "pv"), migrated("n1")]);
    let lines = verdicts(&cluster, &with_claims("a", &["c"]));
    assert_eq!(lines, [rejected("n1", AFFINITY), "n2: Pass".to_owned()]);
}

#[test]
fn a_disk_that_cannot_be_translated_is_an_error() {
    let mut disk = volume("pv", "fast");
    disk["spec"]["csi"] = Value::Null;
    disk["spec"]["azureDisk"] = json!({"diskURI": "/d", "kind": "Dedicated"});
    let mut csi_node = csi_node("n1", &[]);
    csi_node["metadata"]["annotations"] =
        json!({"storage.alpha.kubernetes.io/migrated-plugins": "kubernetes.io/azure-disk"});
    let cluster = storage().objects([disk, bound_claim("c", "fast", "pv"), csi_node]);
    let text =
        "n1: Error: could not translate pv: kind(Dedicated) is not supported in csi migration";
    assert_eq!(
        verdicts(&cluster, &with_claims("a", &["c"])),
        [text, "n2: Pass"]
    );
}
