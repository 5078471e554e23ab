//! Two appliers and a plain writer, and what becomes of their fields.

use serde_json::json;

use super::*;
use crate::schema::types;

fn one(force: bool) -> Applier<'static> {
    Applier {
        manager: "one",
        force,
    }
}

fn two(force: bool) -> Applier<'static> {
    Applier {
        manager: "two",
        force,
    }
}

fn config(data: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": data})
}

fn map(live: &Value, data: &Value, applier: Applier<'_>) -> Result<Value, Status> {
    let of = types().named("ConfigMap").unwrap();
    apply(of, live, &config(data), applier)
}

#[test]
fn what_an_applier_leaves_out_goes_unless_another_owns_it() {
    let made = map(&json!({}), &json!({"a": "1", "b": "2"}), one(false)).unwrap();
    let shared = map(&made, &json!({"a": "1", "c": "3"}), two(false)).unwrap();
    assert_eq!(shared["data"], json!({"a": "1", "b": "2", "c": "3"}));
    let less = map(&shared, &json!({}), one(false)).unwrap();
    assert_eq!(less["data"], json!({"a": "1", "c": "3"}));
    let owners = less["metadata"]["managedFields"].as_array().unwrap();
    assert_eq!(owners[1]["manager"], "two");
    assert_eq!(
        owners[1]["fieldsV1"],
        json!({"f:data": {"f:a": {}, "f:c": {}}})
    );
}

#[test]
fn a_field_of_another_owner_is_changed_by_force_only() {
    let made = map(&json!({}), &json!({"a": "1", "b": "2"}), one(false)).unwrap();
    let refused = map(&made, &json!({"a": "9"}), two(false)).unwrap_err();
    assert_eq!(
        (refused.code, refused.message.as_str()),
        (
            409,
            "Apply failed with 1 conflict: conflict with \"one\": .data.a"
        )
    );
    let both = map(&made, &json!({"a": "9", "b": "9"}), two(false)).unwrap_err();
    assert_eq!(
        both.message,
        "Apply failed with 2 conflicts: conflicts with \"one\":\n- .data.a\n- .data.b"
    );
    let taken = map(&made, &json!({"a": "9"}), two(true)).unwrap();
    assert_eq!(taken["data"], json!({"a": "9", "b": "2"}));
    let again = map(&taken, &json!({"c": "3"}), one(false)).unwrap();
    assert_eq!(again["data"], json!({"a": "9", "c": "3"}));
}

#[test]
fn the_same_apply_again_changes_nothing() {
    let made = map(&json!({}), &json!({"a": "1"}), one(false)).unwrap();
    assert_eq!(map(&made, &json!({"a": "1"}), one(false)).unwrap(), made);
}

#[test]
fn what_was_there_before_the_first_apply_has_an_owner() {
    let refused = map(&config(&json!({"a": "1"})), &json!({"a": "9"}), one(false)).unwrap_err();
    assert_eq!(
        refused.message,
        "Apply failed with 1 conflict: conflict with \"before-first-apply\" using v1: .data.a"
    );
}

#[test]
fn a_plain_write_takes_what_it_changes() {
    let of = types().named("ConfigMap").unwrap();
    let made = map(&json!({}), &json!({"a": "1", "b": "2"}), one(false)).unwrap();
    let mut written = made.clone();
    written["data"] = json!({"a": "5"});
    track(of, &made, &mut written, "editor");
    let owners = written["metadata"]["managedFields"].as_array().unwrap();
    assert_eq!(owners.len(), 1);
    assert_eq!(
        (&owners[0]["manager"], &owners[0]["operation"]),
        (&json!("editor"), &json!("Update"))
    );
    let refused = map(&written, &json!({"a": "1"}), one(false)).unwrap_err();
    assert_eq!(
        refused.message,
        "Apply failed with 1 conflict: conflict with \"editor\" using v1: .data.a"
    );
    let mut plain = config(&json!({"a": "1"}));
    let before = plain.clone();
    track(of, &before, &mut plain, "editor");
    assert_eq!(plain, before);
}

#[test]
fn items_of_lists_are_owned_by_their_keys_and_sets_by_their_values() {
    let of = types().named("Pod").unwrap();
    let pod = |containers: Value, finalizers: Value| {
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "finalizers": finalizers},
            "spec": {"containers": containers, "tolerations": [{"key": "k"}]}})
    };
    let port = json!([{"containerPort": 80}]);
    let first = pod(
        json!([{"name": "a", "image": "i", "ports": port}]),
        json!(["x/a"]),
    );
    let made = apply(of, &json!({}), &first, one(false)).unwrap();
    let fields = &made["metadata"]["managedFields"][0]["fieldsV1"];
    assert_eq!(
        fields["f:spec"],
        json!({
            "f:containers": {"k:{\"name\":\"a\"}": {".": {}, "f:name": {}, "f:image": {},
                "f:ports": {"k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {".": {}, "f:containerPort": {}}}}},
            "f:tolerations": {},
        })
    );
    assert_eq!(
        fields["f:metadata"],
        json!({"f:finalizers": {"v:\"x/a\"": {}}})
    );
    let second = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "finalizers": ["x/b"]},
        "spec": {"containers": [{"name": "b", "image": "j"}]}});
    let both = apply(of, &made, &second, two(false)).unwrap();
    assert_eq!(both["metadata"]["finalizers"], json!(["x/a", "x/b"]));
    assert_eq!(both["spec"]["containers"].as_array().unwrap().len(), 2);
    let other = json!([{"name": "a", "image": "k"}]);
    let refused = apply(of, &both, &pod(other, json!([])), two(false)).unwrap_err();
    assert_eq!(
        refused.message,
        "Apply failed with 1 conflict: conflict with \"one\": .spec.containers[name=\"a\"].image"
    );
    let less = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}});
    let rest = apply(of, &both, &less, one(false)).unwrap();
    assert_eq!(
        rest["spec"],
        json!({"containers": [{"name": "b", "image": "j"}]})
    );
    assert_eq!(rest["metadata"]["finalizers"], json!(["x/b"]));
}
