//! Volumes that are to be made.

use serde_json::{Value, json};

use super::{FULL, NO_VOLUME, ZONE, rejected, storage, verdicts};
use crate::volume_fixtures::{capacity, claim, csi_driver, waiting_class, with_claims};

/// Two zones of which `a` has 4 GiB left and `b` 20 GiB.
fn counted() -> [Value; 4] {
    [
        waiting_class("counted", "cap.example.com"),
        csi_driver("cap.example.com", &json!({"storageCapacity": true})),
        capacity("a", "counted", "a", "4Gi"),
        capacity("b", "counted", "b", "20Gi"),
    ]
}

#[test]
fn a_class_makes_volumes_on_every_node_that_it_allows() {
    let mut zonal = waiting_class("zonal", "csi.example.com");
    zonal["allowedTopologies"] =
        json!([{"matchLabelExpressions": [{"key": ZONE, "values": ["b", "c"]}]}]);
    let cluster = storage().objects([zonal, claim("c", "fast"), claim("z", "zonal")]);
    assert_eq!(
        verdicts(&cluster, &with_claims("a", &["c"])),
        ["n1: Pass", "n2: Pass"]
    );
    let lines = verdicts(&cluster, &with_claims("a", &["c", "z"]));
    assert_eq!(lines, [rejected("n1", NO_VOLUME), "n2: Pass".to_owned()]);
}

#[test]
fn a_driver_that_keeps_count_must_have_room_for_the_claim() {
    let cluster = storage()
        .objects(counted())
        .objects([claim("c", "counted")]);
    let lines = verdicts(&cluster, &with_claims("a", &["c"]));
    assert_eq!(lines, [rejected("n1", FULL), "n2: Pass".to_owned()]);
    let mut largest = capacity("b", "counted", "b", "20Gi");
    largest["maximumVolumeSize"] = "4Gi".into();
    let lines = verdicts(&cluster.objects([largest]), &with_claims("a", &["c"]));
    assert_eq!(lines, ["n1", "n2"].map(|name| rejected(name, FULL)));
}

#[test]
fn capacity_counts_only_for_drivers_that_say_so_and_claims_that_ask_for_some() {
    let careless = csi_driver("cap.example.com", &json!({"storageCapacity": false}));
    let mut free = claim("free", "counted");
    free["spec"]["resources"] = Value::Null;
    let cluster = storage()
        .objects(counted())
        .objects([claim("c", "counted"), free]);
    assert_eq!(
        verdicts(&cluster, &with_claims("a", &["free"])),
        ["n1: Pass", "n2: Pass"]
    );
    let cluster = cluster.objects([careless]);
    assert_eq!(
        verdicts(&cluster, &with_claims("a", &["c"])),
        ["n1: Pass", "n2: Pass"]
    );
}

#[test]
fn a_capacity_without_topology_is_nowhere_and_one_of_an_empty_topology_everywhere() {
    let mut nowhere = capacity("x", "counted", "a", "1Ti");
    nowhere["nodeTopology"] = Value::Null;
    let cluster = storage()
        .objects(counted())
        .objects([claim("c", "counted")]);
    let with_nowhere = cluster.clone().objects([nowhere.clone()]);
    assert_eq!(
        verdicts(&with_nowhere, &with_claims("a", &["c"]))[0],
        rejected("n1", FULL)
    );
    nowhere["nodeTopology"] = json!({});
    let everywhere = cluster.clone().objects([nowhere.clone()]);
    assert_eq!(
        verdicts(&everywhere, &with_claims("a", &["c"]))[0],
        "n1: Pass"
    );
    nowhere["nodeTopology"] = json!({"matchExpressions": [{"key": "a", "operator": "Near"}]});
    let mistaken = cluster.objects([nowhere]);
    assert_eq!(
        verdicts(&mistaken, &with_claims("a", &["c"]))[0],
        rejected("n1", FULL)
    );
}

#[test]
fn a_claim_with_a_chosen_node_has_that_node_only() {
    let mut chosen = claim("c", "fast");
    chosen["metadata"]["annotations"]["volume.kubernetes.io/selected-node"] = "n2".into();
    let cluster = storage().objects([chosen]);
    let lines = verdicts(&cluster, &with_claims("a", &["c"]));
    assert_eq!(lines, [rejected("n1", NO_VOLUME), "n2: Pass".to_owned()]);
}
