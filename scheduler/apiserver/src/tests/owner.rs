//! The owner of a server: writing in process, starting, and the cluster's own objects.

use serde_json::json;

use super::fixtures::{pod, running, server, server_with};
use crate::{ApiServer, Error, Options};

#[tokio::test]
async fn the_owner_may_set_what_a_client_may_not() {
    let server = server();
    let store = server.store();
    let mut wanted = running("a", "n");
    wanted["metadata"]["uid"] = json!("mine");
    wanted["spec"]["priority"] = json!(7);
    let made = store.create(wanted).unwrap().value();
    assert_eq!(
        (&made["metadata"]["uid"], &made["status"]["phase"]),
        (&json!("mine"), &json!("Running"))
    );
    assert_eq!(made["spec"]["priority"], 7);
    let mut changed = made.clone();
    changed["status"]["phase"] = json!("Failed");
    assert_eq!(
        store.update(changed).unwrap().value()["status"]["phase"],
        "Failed"
    );
    assert_eq!(store.update(made).unwrap_err().code, 409);
    server.shutdown().await;
}

#[tokio::test]
async fn the_owner_is_refused_as_a_client_would_be() {
    let server = server();
    let store = server.store();
    assert_eq!(
        store.create(json!({"kind": "Thing"})).unwrap_err().code,
        404
    );
    let mut lost = pod("a");
    lost["metadata"]["namespace"] = json!("none");
    assert_eq!(
        store.create(lost).unwrap_err().message,
        "namespaces \"none\" not found"
    );
    assert_eq!(store.get("things", "", "a").unwrap_err().code, 404);
    assert_eq!(
        store.delete("pods", "default", "a").unwrap_err().reason,
        "NotFound"
    );
    server.shutdown().await;
}

#[tokio::test]
async fn a_priority_class_gives_its_pods_their_priority() {
    let server = server();
    let store = server.store();
    let mut critical = pod("a");
    critical["spec"]["priorityClassName"] = json!("system-node-critical");
    let critical = store.create(critical).unwrap().value();
    assert_eq!(critical["spec"]["priority"], 2_000_001_000);
    let class = json!({
        "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "usual"},
        "value": 5, "globalDefault": true, "preemptionPolicy": "Never",
    });
    store.create(class).unwrap();
    let usual = store.create(pod("b")).unwrap().value();
    assert_eq!(
        (
            &usual["spec"]["priority"],
            &usual["spec"]["preemptionPolicy"]
        ),
        (&json!(5), &json!("Never"))
    );
    let mut unknown = pod("c");
    unknown["spec"]["priorityClassName"] = json!("none");
    let refused = store.create(unknown).unwrap_err();
    assert_eq!(
        (refused.code, refused.message.as_str()),
        (
            403,
            "pods \"c\" is forbidden: no PriorityClass with name none was found"
        )
    );
    server.shutdown().await;
}

#[tokio::test]
async fn a_cluster_begins_with_its_namespaces_and_those_asked_for() {
    let server = server_with(Options {
        namespaces: vec!["team".into()],
        ..Options::default()
    });
    let list = server.store().list("namespaces", None).unwrap();
    let names: Vec<&str> = list.iter().map(|it| it.name()).collect();
    assert_eq!(
        names,
        [
            "default",
            "kube-node-lease",
            "kube-public",
            "kube-system",
            "team"
        ]
    );
    assert_eq!(list[4].label("kubernetes.io/metadata.name"), Some("team"));
    assert_eq!(list[4].value()["status"]["phase"], "Active");
    server.shutdown().await;
}

#[tokio::test]
async fn a_taken_port_is_an_error_that_names_it() {
    let server = server();
    let port = server.address().port();
    let error = ApiServer::start(Options {
        port,
        ..Options::default()
    })
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("cannot listen on 127.0.0.1:{port}")
    );
    assert!(
        server
            .kubeconfig()
            .contains(&format!("http://127.0.0.1:{port}"))
    );
    server.shutdown().await;
}

#[test]
fn a_server_without_a_runtime_is_an_error() {
    assert!(matches!(
        ApiServer::start(Options::default()),
        Err(Error::NoRuntime)
    ));
}

#[tokio::test]
async fn one_seed_gives_one_run() {
    let (one, two) = (server(), server());
    let uid = |server: &ApiServer| server.store().create(pod("a")).unwrap().uid().to_owned();
    assert_eq!(uid(&one), uid(&two));
    one.shutdown().await;
    two.shutdown().await;
}
