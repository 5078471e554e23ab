//! Strategic merge patches as a table: target, patch, expected.

use serde_json::{Value, json};

use super::merge;
use crate::schema::{Type, types};

/// Gives a type that has the fields of a patch.
fn type_for(patch: &Value) -> &'static Type {
    let text = patch.to_string();
    let kind = if text.contains("\"port\"") {
        "Service"
    } else if text.contains("strategy") {
        "Deployment"
    } else {
        "Pod"
    };
    types().named(kind).unwrap()
}

fn check(target: Value, patch: &Value, expected: &Value) {
    let mut object = target;
    merge(Some(type_for(patch)), &mut object, patch).unwrap();
    assert_eq!(&object, expected, "{patch}");
}

#[test]
fn maps_merge_and_null_removes() {
    check(
        json!({"metadata": {"labels": {"a": "1", "b": "2"}}}),
        &json!({"metadata": {"labels": {"b": null, "c": "3"}}, "spec": {"x": null, "y": 1}}),
        &json!({"metadata": {"labels": {"a": "1", "c": "3"}}, "spec": {"y": 1}}),
    );
}

#[test]
fn conditions_merge_by_type() {
    check(
        json!({"status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "A", "status": "x"}]}}),
        &json!({"status": {"conditions": [{"type": "Ready", "status": "False", "reason": "r"}, {"type": "B"}]}}),
        &json!({"status": {"conditions": [
            {"type": "Ready", "status": "False", "reason": "r"}, {"type": "B"}, {"type": "A", "status": "x"},
        ]}}),
    );
}

#[test]
fn containers_env_and_ports_merge_by_their_keys() {
    check(
        json!({"spec": {"containers": [{"name": "a", "image": "1", "env": [{"name": "K", "value": "v"}],
            "ports": [{"containerPort": 80, "name": "web"}]}]}}),
        &json!({"spec": {"containers": [{"name": "a", "env": [{"name": "L", "value": "w"}],
            "ports": [{"containerPort": 80, "hostPort": 81}]}]}}),
        &json!({"spec": {"containers": [{"name": "a", "image": "1",
            "env": [{"name": "L", "value": "w"}, {"name": "K", "value": "v"}],
            "ports": [{"containerPort": 80, "name": "web", "hostPort": 81}]}]}}),
    );
    check(
        json!({"spec": {"ports": [{"port": 80, "name": "web"}]}}),
        &json!({"spec": {"ports": [{"port": 80, "nodePort": 3}]}}),
        &json!({"spec": {"ports": [{"port": 80, "name": "web", "nodePort": 3}]}}),
    );
}

#[test]
fn tolerations_and_taints_are_replaced_as_a_whole() {
    check(
        json!({"spec": {"tolerations": [{"key": "a"}], "taints": [{"key": "t"}]}}),
        &json!({"spec": {"tolerations": [{"key": "b"}], "taints": []}}),
        &json!({"spec": {"tolerations": [{"key": "b"}], "taints": []}}),
    );
}

#[test]
fn finalizers_are_a_set_and_owners_merge_by_uid() {
    check(
        json!({"metadata": {"finalizers": ["a", "b"], "ownerReferences": [{"uid": "1", "name": "x"}]}}),
        &json!({"metadata": {"finalizers": ["b", "c"], "$deleteFromPrimitiveList/finalizers": ["a"],
            "ownerReferences": [{"uid": "1", "controller": true}, {"uid": "2"}]}}),
        &json!({"metadata": {"finalizers": ["b", "c"],
            "ownerReferences": [{"uid": "1", "name": "x", "controller": true}, {"uid": "2"}]}}),
    );
}

#[test]
fn directives_delete_and_replace_items_lists_and_maps() {
    check(
        json!({"spec": {"volumes": [{"name": "a"}, {"name": "b"}]}}),
        &json!({"spec": {"volumes": [{"name": "a", "$patch": "delete"}, {"name": "z", "$patch": "delete"}]}}),
        &json!({"spec": {"volumes": [{"name": "b"}]}}),
    );
    check(
        json!({"spec": {"volumes": [{"name": "a"}, {"name": "b"}]}}),
        &json!({"spec": {"volumes": [{"$patch": "replace"}, {"name": "c"}]}}),
        &json!({"spec": {"volumes": [{"name": "c"}]}}),
    );
    check(
        json!({"spec": {"volumes": [{"name": "a", "emptyDir": {}}]}}),
        &json!({"spec": {"volumes": [{"name": "a", "$patch": "replace", "hostPath": {"path": "/"}}]}}),
        &json!({"spec": {"volumes": [{"name": "a", "hostPath": {"path": "/"}}]}}),
    );
    check(
        json!({"spec": {"a": 1}, "status": {"b": 1}}),
        &json!({"spec": {"$patch": "replace", "c": 2}, "status": {"$patch": "delete"}}),
        &json!({"spec": {"c": 2}, "status": {}}),
    );
}

#[test]
fn retained_keys_drop_their_neighbours() {
    check(
        json!({"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {}}}}),
        &json!({"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}),
        &json!({"spec": {"strategy": {"type": "Recreate"}}}),
    );
}

#[test]
fn an_element_order_sorts_what_it_names() {
    check(
        json!({"spec": {"containers": [{"name": "a"}, {"name": "x"}, {"name": "b"}]}}),
        &json!({"spec": {"$setElementOrder/containers": [{"name": "c"}, {"name": "b"}, {"name": "a"}],
            "containers": [{"name": "c"}]}}),
        &json!({"spec": {"containers": [{"name": "c"}, {"name": "b"}, {"name": "a"}, {"name": "x"}]}}),
    );
}

#[test]
fn a_patch_that_makes_no_sense_is_a_bad_request() {
    for (patch, code) in [
        (json!({"spec": {"$patch": "fly"}}), 400),
        (json!({"spec": {"containers": ["a"]}}), 400),
        (json!({"spec": {"containers": [{"image": "no name"}]}}), 500),
    ] {
        let refused = merge(Some(type_for(&patch)), &mut json!({}), &patch).unwrap_err();
        assert_eq!(refused.code, code, "{patch}");
    }
}
