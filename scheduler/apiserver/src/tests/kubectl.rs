//! What kubectl needs beside reads and writes of objects: protobuf bodies, warnings, scales, questions
//! about itself, and the order in which a watch sees a pod go.

use serde_json::json;

use super::{
    client::Client,
    fixtures::{PODS, pod, running, server, server_with},
};
use crate::{Options, PodDeletion};

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/default/deployments";

#[tokio::test]
async fn a_namespace_is_made_from_a_protobuf_body() {
    let server = server();
    let client = Client::of(&server);
    // kubectl create namespace team: the envelope, its kind, and metadata.name.
    let body = b"k8s\0\x0a\x0f\x0a\x02v1\x12\x09Namespace\x12\x08\x0a\x06\x0a\x04team\x1a\0\x22\0";
    let made = client
        .post_bytes("/api/v1/namespaces", PROTOBUF, body.to_vec())
        .await;
    assert_eq!(
        (made.code, &made.body["metadata"]["name"]),
        (201, &json!("team"))
    );
    assert_eq!(made.body["spec"]["finalizers"], json!(["kubernetes"]));
    let broken = client
        .post_bytes("/api/v1/namespaces", PROTOBUF, b"k8s\0\xff".to_vec())
        .await;
    assert_eq!(
        (broken.code, &broken.body["reason"]),
        (415, &json!("UnsupportedMediaType"))
    );
    let other = client
        .post_bytes("/api/v1/nodes", PROTOBUF, body.to_vec())
        .await;
    assert_eq!(
        (other.code, &other.body["reason"]),
        (400, &json!("BadRequest"))
    );
    server.shutdown().await;
}

#[tokio::test]
async fn unknown_fields_are_refused_told_or_dropped_as_the_client_wants() {
    let server = server();
    let client = Client::of(&server);
    let mut odd = pod("a");
    odd["spec"]["colour"] = json!("red");
    let strict = client
        .post(&format!("{PODS}?fieldValidation=Strict"), odd.clone())
        .await;
    assert_eq!(strict.code, 400);
    let told = client
        .post(&format!("{PODS}?dryRun=All"), odd.clone())
        .await;
    assert_eq!(
        told.headers["warning"],
        "299 - \"unknown field \\\"spec.colour\\\"\""
    );
    let silent = client
        .post(&format!("{PODS}?fieldValidation=Ignore"), odd)
        .await;
    assert_eq!(silent.code, 201);
    assert!(silent.headers.get("warning").is_none());
    assert!(silent.body["spec"].get("colour").is_none());
    let patch = json!({"spec": {"shape": 1}});
    let path = format!("{PODS}/a?fieldValidation=Strict");
    let refused = client.patch("merge", &path, patch).await;
    assert_eq!(
        (refused.code, refused.body["message"].as_str().unwrap()),
        (
            422,
            " \"\" is invalid: patch: Invalid value: \"map[spec:map[shape:1]]\": strict decoding error: unknown field \"spec.shape\""
        )
    );
    server.shutdown().await;
}

#[tokio::test]
async fn a_workload_is_scaled_by_patch_and_by_put() {
    let server = server();
    let client = Client::of(&server);
    let containers = json!([{"name": "m", "image": "i"}]);
    let template = json!({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": containers}});
    let spec = json!({"selector": {"matchLabels": {"a": "b"}}, "template": template});
    let made = client
        .post(
            DEPLOYMENTS,
            json!({"metadata": {"name": "d"}, "spec": spec}),
        )
        .await;
    assert_eq!(made.code, 201, "{}", made.body);
    let path = format!("{DEPLOYMENTS}/d/scale");
    let scale = client.get(&path).await.body;
    assert_eq!(
        (&scale["kind"], &scale["spec"]),
        (&json!("Scale"), &json!({"replicas": 1}))
    );
    assert_eq!(scale["status"], json!({"replicas": 0, "selector": "a=b"}));
    let patch = json!({"spec": {"replicas": 5}});
    let patched = client.patch("merge", &path, patch).await;
    assert_eq!(
        (patched.code, &patched.body["spec"]["replicas"]),
        (200, &json!(5))
    );
    let deployment = client.get(&format!("{DEPLOYMENTS}/d")).await.body;
    assert_eq!(deployment["spec"]["replicas"], 5);
    assert_eq!(deployment["metadata"]["generation"], 2);
    let stale = client.put(&path, scale).await;
    assert_eq!(
        (stale.code, &stale.body["reason"]),
        (409, &json!("Conflict"))
    );
    let negative = client
        .patch("merge", &path, json!({"spec": {"replicas": -1}}))
        .await;
    assert_eq!(negative.code, 422);
    server.shutdown().await;
}

#[tokio::test]
async fn everyone_may_do_everything_and_is_told_so() {
    let server = server();
    let client = Client::of(&server);
    let may = client
        .post(
            "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
            json!({"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}}),
        )
        .await;
    assert_eq!(
        (may.code, &may.body["status"]["allowed"]),
        (201, &json!(true))
    );
    assert_eq!(may.body["spec"]["resourceAttributes"]["verb"], "get");
    let path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    let who = client.post(path, json!({})).await.body;
    assert_eq!(who["status"]["userInfo"]["groups"][0], "system:masters");
    assert_eq!(client.get(path).await.code, 405);
    let listed = client.get("/apis/authorization.k8s.io/v1").await.body;
    assert_eq!(listed["resources"][0]["verbs"], json!(["create"]));
    server.shutdown().await;
}

#[tokio::test]
async fn a_watch_sees_a_pod_going_before_it_is_gone() {
    let server = server_with(Options {
        pod_deletion: PodDeletion::Graceful,
        ..Options::default()
    });
    let client = Client::of(&server);
    server.store().create(pod("waits")).unwrap();
    server.store().create(running("runs", "n")).unwrap();
    let mut watch = client
        .watch(&format!(
            "{PODS}?watch=1&resourceVersion={}",
            server.store().resource_version()
        ))
        .await;
    let force = json!({"gracePeriodSeconds": 0});
    client.delete(&format!("{PODS}/waits"), None).await;
    client.delete(&format!("{PODS}/runs"), None).await;
    client.delete(&format!("{PODS}/runs"), Some(force)).await;
    let mut told = Vec::new();
    for _ in 0..5 {
        told.push(watch.told().await);
    }
    assert_eq!(
        told,
        [
            "MODIFIED waits",
            "DELETED waits",
            "MODIFIED runs",
            "MODIFIED runs",
            "DELETED runs"
        ]
    );
    server.shutdown().await;
}

#[tokio::test]
async fn the_namespaces_of_every_cluster_stay_and_others_are_said_to_be_going() {
    let server = server();
    let client = Client::of(&server);
    for name in ["default", "kube-system", "kube-public"] {
        let kept = client
            .delete(&format!("/api/v1/namespaces/{name}"), None)
            .await;
        assert_eq!(
            (kept.code, &kept.body["reason"]),
            (403, &json!("Forbidden")),
            "{name}"
        );
    }
    let held = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "c", "finalizers": ["example.org/hold"]}});
    server.store().create(held.clone()).unwrap();
    client
        .delete("/api/v1/namespaces/default/configmaps/c", None)
        .await;
    let again = client
        .post("/api/v1/namespaces/default/configmaps", held)
        .await;
    assert_eq!(
        again.body["message"],
        "object is being deleted: configmaps \"c\" already exists"
    );
    server.shutdown().await;
}
