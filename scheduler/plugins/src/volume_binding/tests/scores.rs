//! Scores by the room that volumes leave.

use plimsoll_framework::test_util::{check_score, pod};
use serde_json::{Value, json};

use super::super::spec;
use super::storage;
use crate::volume_fixtures::{
    bound_claim, capacity, claim, csi_driver, local, volume, waiting_class, with_claims,
};

fn counted(near: &str, far: &str) -> [Value; 5] {
    [
        waiting_class("counted", "cap.example.com"),
        csi_driver("cap.example.com", &json!({"storageCapacity": true})),
        capacity("a", "counted", "a", near),
        capacity("b", "counted", "b", far),
        claim("c", "counted"),
    ]
}

#[test]
fn every_node_has_no_score_for_a_pod_with_nothing_to_bind() {
    let zero = ["n1: 0 -> 0", "n2: 0 -> 0"];
    assert_eq!(
        check_score(&spec(), &Value::Null, &storage(), &pod("a")),
        zero
    );
    let mut taken = volume("pv", "fast");
    taken["status"]["phase"] = "Bound".into();
    let cluster = storage().objects([
        taken,
        bound_claim("bound", "fast", "pv"),
        claim("made", "fast"),
    ]);
    let pod = with_claims("a", &["bound", "made"]);
    assert_eq!(check_score(&spec(), &Value::Null, &cluster, &pod), zero);
}

#[test]
fn the_node_with_the_most_room_left_is_the_best() {
    let cluster = storage().objects(counted("10Gi", "20Gi"));
    let pod = with_claims("a", &["c"]);
    let scores = check_score(&spec(), &Value::Null, &cluster, &pod);
    assert_eq!(scores, ["n1: 50 -> 50", "n2: 75 -> 75"]);
    let packing = json!({"shape": [
        {"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]});
    let scores = check_score(&spec(), &packing, &cluster, &pod);
    assert_eq!(scores, ["n1: 50 -> 50", "n2: 25 -> 25"]);
}

#[test]
fn claims_of_one_class_share_its_capacity_which_may_be_exceeded() {
    let cluster = storage()
        .objects(counted("9Gi", "20Gi"))
        .objects([claim("d", "counted")]);
    let scores = check_score(
        &spec(),
        &Value::Null,
        &cluster,
        &with_claims("a", &["c", "d"]),
    );
    assert_eq!(scores, ["n1: 0 -> 0", "n2: 50 -> 50"]);
}

#[test]
fn where_a_volume_is_taken_only_taken_ones_count_and_classes_have_one_weight() {
    let cluster = storage()
        .objects(counted("10Gi", "20Gi"))
        .objects([claim("l", "local"), claim("k", "other")])
        .objects([waiting_class("other", "kubernetes.io/no-provisioner")])
        .objects([
            local("v1", "8Gi", ("host", "n1")),
            local("v2", "20Gi", ("host", "n2")),
        ])
        .objects(["o1", "o2"].map(|name| {
            let mut volume = local(name, "5Gi", ("host", &format!("n{}", &name[1..])));
            volume["spec"]["storageClassName"] = "other".into();
            volume
        }));
    let scores = check_score(
        &spec(),
        &Value::Null,
        &cluster,
        &with_claims("a", &["c", "l"]),
    );
    assert_eq!(scores, ["n1: 38 -> 38", "n2: 75 -> 75"]);
    // 38 and 0, 75 and 0: halves are rounded up.
    let scores = check_score(
        &spec(),
        &Value::Null,
        &cluster,
        &with_claims("a", &["k", "l"]),
    );
    assert_eq!(scores, ["n1: 19 -> 19", "n2: 38 -> 38"]);
}

#[test]
fn a_capacity_object_without_capacity_counts_as_full() {
    let mut objects = counted("10Gi", "20Gi");
    objects[2]["maximumVolumeSize"] = "10Gi".into();
    objects[2]["capacity"] = Value::Null;
    let cluster = storage().objects(objects);
    let scores = check_score(&spec(), &Value::Null, &cluster, &with_claims("a", &["c"]));
    assert_eq!(scores, ["n1: 0 -> 0", "n2: 75 -> 75"]);
}

#[test]
fn huge_amounts_wrap_around_as_in_go_and_stay_in_range() {
    let mut objects = counted("9E", "9E");
    objects[4]["spec"]["resources"]["requests"]["storage"] = "8E".into();
    let cluster = storage().objects(objects);
    let lines = check_score(&spec(), &Value::Null, &cluster, &with_claims("a", &["c"]));
    assert_eq!(lines.len(), 2, "{lines:?}");
}
