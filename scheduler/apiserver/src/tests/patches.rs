//! PATCH over HTTP: the four kinds, and what each may touch.

use serde_json::json;

use super::{
    client::Client,
    fixtures::{PODS, pod, server},
};

#[tokio::test]
async fn the_status_part_changes_status_only_and_the_main_part_never_does() {
    let server = server();
    let client = Client::of(&server);
    server.store().create(pod("a")).unwrap();
    let patch = json!({
        "metadata": {"labels": {"app": "x"}},
        "status": {"nominatedNodeName": "n", "conditions": [{"type": "PodScheduled", "status": "False"}]},
    });
    let by_status = client
        .patch(
            "strategic-merge",
            &format!("{PODS}/a/status"),
            patch.clone(),
        )
        .await;
    assert_eq!(by_status.code, 200);
    assert_eq!(by_status.body["metadata"]["labels"]["app"], "a");
    assert_eq!(by_status.body["status"]["nominatedNodeName"], "n");
    assert_eq!(by_status.body["status"]["phase"], "Pending");
    let wanted = json!({"metadata": {"labels": {"app": "x"}}, "status": {"phase": "Running"}});
    let by_main = client.patch("merge", &format!("{PODS}/a"), wanted).await;
    assert_eq!(by_main.body["metadata"]["labels"]["app"], "x");
    assert_eq!(by_main.body["status"]["phase"], "Pending");
    server.shutdown().await;
}

#[tokio::test]
async fn a_condition_patch_merges_by_type_and_repeats_without_a_write() {
    let server = server();
    let client = Client::of(&server);
    server.store().create(pod("a")).unwrap();
    let path = format!("{PODS}/a/status");
    let patch = |kind: &str| json!({"status": {"conditions": [{"type": kind, "status": "False"}]}});
    client
        .patch("strategic-merge", &path, patch("PodScheduled"))
        .await;
    let both = client
        .patch("strategic-merge", &path, patch("Ready"))
        .await
        .body;
    assert_eq!(both["status"]["conditions"].as_array().unwrap().len(), 2);
    let again = client
        .patch("strategic-merge", &path, patch("Ready"))
        .await
        .body;
    assert_eq!(
        again["metadata"]["resourceVersion"],
        both["metadata"]["resourceVersion"]
    );
    server.shutdown().await;
}

#[tokio::test]
async fn a_patch_that_states_another_version_is_a_conflict_and_one_of_another_uid_invalid() {
    let server = server();
    let client = Client::of(&server);
    let made = server.store().create(pod("a")).unwrap();
    let path = format!("{PODS}/a");
    for (metadata, code) in [
        (json!({"resourceVersion": "1"}), 409),
        (json!({"uid": "another"}), 422),
        (json!({"uid": made.uid(), "labels": {"k": "v"}}), 200),
    ] {
        let answer = client
            .patch("merge", &path, json!({"metadata": metadata}))
            .await;
        assert_eq!(answer.code, code, "{metadata}");
    }
    server.shutdown().await;
}

#[tokio::test]
async fn a_json_patch_tests_and_sets() {
    let server = server();
    let client = Client::of(&server);
    server.store().create(pod("a")).unwrap();
    let path = format!("{PODS}/a");
    let patch = |expected: &str| {
        json!([
            {"op": "test", "path": "/metadata/labels/app", "value": expected},
            {"op": "replace", "path": "/metadata/labels/app", "value": "z"},
        ])
    };
    assert_eq!(client.patch("json", &path, patch("b")).await.code, 422);
    let patched = client.patch("json", &path, patch("a")).await;
    assert_eq!(
        (patched.code, &patched.body["metadata"]["labels"]["app"]),
        (200, &json!("z"))
    );
    server.shutdown().await;
}

#[tokio::test]
async fn an_apply_patch_makes_what_is_missing_and_merges_into_what_is_there() {
    let server = server();
    let client = Client::of(&server);
    let path = "/api/v1/namespaces/default/configmaps/c";
    let data = |key: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {key: "1"}});
    assert_eq!(client.patch("apply", path, data("a")).await.code, 422);
    let by = |manager: &str| format!("{path}?fieldManager={manager}");
    let made = client.patch("apply", &by("one"), data("a")).await;
    assert_eq!((made.code, &made.body["data"]), (201, &json!({"a": "1"})));
    let merged = client.patch("apply", &by("two"), data("b")).await;
    assert_eq!(
        (merged.code, &merged.body["data"]),
        (200, &json!({"a": "1", "b": "1"}))
    );
    let again = client.patch("apply", &by("two"), data("b")).await;
    assert_eq!(
        again.body["metadata"]["resourceVersion"],
        merged.body["metadata"]["resourceVersion"]
    );
    let less = client.patch("apply", &by("one"), data("c")).await;
    assert_eq!(less.body["data"], json!({"b": "1", "c": "1"}));
    // A plain write takes what it changes, and the next apply must not undo it.
    let written = json!({"data": {"c": "2"}});
    client.patch("merge", &by("hand"), written).await;
    let refused = client.patch("apply", &by("one"), data("c")).await;
    assert_eq!(
        (refused.code, &refused.body["message"]),
        (
            409,
            &json!("Apply failed with 1 conflict: conflict with \"hand\" using v1: .data.c")
        )
    );
    let forced = format!("{}&force=true", by("one"));
    let forced = client.patch("apply", &forced, data("c")).await;
    assert_eq!(forced.body["data"], json!({"b": "1", "c": "1"}));
    server.shutdown().await;
}

#[tokio::test]
async fn a_patch_cannot_move_a_bound_pod_or_nest_without_end() {
    let server = server();
    let client = Client::of(&server);
    server
        .store()
        .create(super::fixtures::running("a", "n1"))
        .unwrap();
    let moved = client
        .patch(
            "merge",
            &format!("{PODS}/a"),
            json!({"spec": {"nodeName": "n2"}}),
        )
        .await;
    assert_eq!(
        (moved.code, &moved.body["reason"]),
        (422, &json!("Invalid"))
    );
    let mut deep = json!(1);
    for _ in 0..110 {
        deep = json!({ "x": deep });
    }
    let nested = client
        .patch("merge", &format!("{PODS}/a"), json!({"spec": deep}))
        .await;
    assert_eq!(nested.code, 400);
    server.shutdown().await;
}

#[tokio::test]
async fn a_change_of_spec_counts_a_generation_and_a_change_of_labels_does_not() {
    let server = server();
    let client = Client::of(&server);
    let path = "/apis/apps/v1/namespaces/default/deployments";
    let made = client
        .post(path, json!({"metadata": {"name": "d"}, "spec": {"selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "m", "image": "i"}]}}}}))
        .await
        .body;
    assert_eq!(
        (&made["metadata"]["generation"], &made["spec"]["replicas"]),
        (&json!(1), &json!(1))
    );
    let path = format!("{path}/d");
    let labels = client
        .patch("merge", &path, json!({"metadata": {"labels": {"a": "b"}}}))
        .await
        .body;
    assert_eq!(labels["metadata"]["generation"], 1);
    let scaled = client
        .patch("merge", &path, json!({"spec": {"replicas": 3}}))
        .await
        .body;
    assert_eq!(scaled["metadata"]["generation"], 2);
    server.shutdown().await;
}
