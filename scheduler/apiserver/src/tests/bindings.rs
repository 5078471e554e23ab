//! The rules of `pods/binding`.

use serde_json::{Value, json};

use super::{
    client::{Answer, Client},
    fixtures::{PODS, binding, pod, server},
};

async fn bind(client: &Client, name: &str, binding: Value) -> Answer {
    client
        .post(&format!("{PODS}/{name}/binding"), binding)
        .await
}

#[tokio::test]
async fn a_bound_pod_has_a_node_a_condition_and_no_nomination() {
    let server = server();
    let client = Client::of(&server);
    let mut pending = pod("a");
    pending["status"] = json!({
        "nominatedNodeName": "other",
        "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "lastTransitionTime": "2026-01-01T00:00:00Z"}],
    });
    server.store().create(pending).unwrap();
    let answer = bind(&client, "a", binding("a", "n1")).await;
    assert_eq!(answer.code, 201);
    assert_eq!(
        answer.body,
        json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201})
    );
    let bound = client.get(&format!("{PODS}/a")).await.body;
    assert_eq!(bound["spec"]["nodeName"], "n1");
    assert!(bound["status"].get("nominatedNodeName").is_none());
    let conditions = bound["status"]["conditions"].as_array().unwrap();
    assert_eq!(conditions.len(), 1);
    assert_eq!(conditions[0]["status"], "True");
    assert!(conditions[0].get("reason").is_none());
    assert!(
        conditions[0]["lastTransitionTime"]
            .as_str()
            .unwrap()
            .ends_with('Z')
    );
    server.shutdown().await;
}

#[tokio::test]
async fn a_pod_is_bound_once_and_the_refusal_names_its_node() {
    let server = server();
    let client = Client::of(&server);
    server.store().create(pod("a")).unwrap();
    assert_eq!(bind(&client, "a", binding("a", "n1")).await.code, 201);
    let version = server.store().resource_version();
    let again = bind(&client, "a", binding("a", "n2")).await;
    assert_eq!(
        (again.code, &again.body["reason"]),
        (409, &json!("Conflict"))
    );
    assert_eq!(
        again.body["message"],
        "Operation cannot be fulfilled on pods/binding \"a\": pod a is already assigned to node \"n1\""
    );
    assert_eq!(
        again.body["details"],
        json!({"name": "a", "kind": "pods/binding"})
    );
    assert_eq!(server.store().resource_version(), version);
    server.shutdown().await;
}

#[tokio::test]
async fn a_binding_made_for_another_pod_of_the_same_name_is_a_conflict() {
    let server = server();
    let client = Client::of(&server);
    let uid = server.store().create(pod("a")).unwrap().uid().to_owned();
    let mut wrong = binding("a", "n1");
    wrong["metadata"]["uid"] = json!("another");
    let answer = bind(&client, "a", wrong).await;
    assert_eq!(
        (answer.code, &answer.body["reason"]),
        (409, &json!("Conflict"))
    );
    let message = answer.body["message"].as_str().unwrap();
    assert!(
        message.starts_with("Operation cannot be fulfilled on pods \"a\": "),
        "{message}"
    );
    let end =
        format!("Precondition failed: UID in precondition: another, UID in object meta: {uid}");
    assert!(message.ends_with(&end), "{message}");
    let mut right = binding("a", "n1");
    right["metadata"]["uid"] = json!(uid);
    assert_eq!(bind(&client, "a", right).await.code, 201);
    server.shutdown().await;
}

#[tokio::test]
async fn what_cannot_be_bound_is_refused_with_its_reason() {
    let server = server();
    let client = Client::of(&server);
    let store = server.store();
    let mut gated = pod("gated");
    gated["spec"]["schedulingGates"] = json!([{"name": "g"}]);
    let gated = store.create(gated).unwrap().value();
    assert_eq!(
        gated["status"]["conditions"][0]["reason"],
        "SchedulingGated"
    );
    let mut leaving = pod("leaving");
    leaving["metadata"]["finalizers"] = json!(["x/y"]);
    store.create(leaving).unwrap();
    store.delete("pods", "default", "leaving").unwrap();
    store.create(pod("a")).unwrap();
    let no_target = json!({"metadata": {"name": "a"}});
    for (name, body, code, message) in [
        (
            "gated",
            binding("gated", "n"),
            409,
            "pod gated has non-empty .spec.schedulingGates",
        ),
        (
            "leaving",
            binding("leaving", "n"),
            409,
            "pod leaving is being deleted, cannot be assigned to a host",
        ),
        ("none", binding("none", "n"), 404, "pods \"none\" not found"),
        (
            "a",
            binding("b", "n"),
            400,
            "name in URL does not match name in Binding object",
        ),
        ("a", no_target, 422, "target.name: Required value"),
        (
            "a",
            json!({"kind": "Pod"}),
            400,
            "does not match the expected kind (Binding)",
        ),
    ] {
        let answer = bind(&client, name, body).await;
        let got = answer.body["message"].as_str().unwrap();
        assert!(
            answer.code == code && got.ends_with(message),
            "{name}: {} {got}",
            answer.code
        );
    }
    server.shutdown().await;
}
