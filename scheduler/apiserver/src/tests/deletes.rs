//! Deleting: answers, preconditions, finalizers, grace periods, namespaces, evictions.

use serde_json::{Value, json};

use super::{
    client::Client,
    fixtures::{PODS, names, pod, running, server, server_with},
};
use crate::{Options, PodDeletion, Store};

#[tokio::test]
async fn a_deleted_pod_is_answered_with_itself_and_a_lease_with_a_status() {
    let server = server();
    let client = Client::of(&server);
    server.store().create(running("a", "n")).unwrap();
    let gone = client.delete(&format!("{PODS}/a"), None).await;
    assert_eq!((gone.code, &gone.body["kind"]), (200, &json!("Pod")));
    assert_eq!(client.get(&format!("{PODS}/a")).await.code, 404);
    let lease =
        json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l"}});
    let uid = server.store().create(lease).unwrap().uid().to_owned();
    let gone = client
        .delete(
            "/apis/coordination.k8s.io/v1/namespaces/default/leases/l",
            None,
        )
        .await;
    assert_eq!(
        gone.body,
        json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success",
            "details": {"name": "l", "group": "coordination.k8s.io", "kind": "leases", "uid": uid},
        })
    );
    server.shutdown().await;
}

#[tokio::test]
async fn a_precondition_that_does_not_hold_stops_the_delete() {
    let server = server();
    let client = Client::of(&server);
    let uid = server.store().create(pod("a")).unwrap().uid().to_owned();
    let path = format!("{PODS}/a");
    let options = |preconditions: Value| Some(json!({"preconditions": preconditions}));
    let wrong = client.delete(&path, options(json!({"uid": "x"}))).await;
    assert_eq!(wrong.code, 409);
    let message = wrong.body["message"].as_str().unwrap();
    assert!(message.contains("the UID in the precondition (x) does not match the UID in record"));
    assert_eq!(
        client
            .delete(&path, options(json!({"resourceVersion": "1"})))
            .await
            .code,
        409
    );
    assert_eq!(
        client
            .delete(&path, options(json!({"uid": uid})))
            .await
            .code,
        200
    );
    server.shutdown().await;
}

#[tokio::test]
async fn a_finalizer_holds_an_object_until_it_is_taken_off() {
    let server = server();
    let client = Client::of(&server);
    let mut held = pod("a");
    held["metadata"]["finalizers"] = json!(["x/y"]);
    server.store().create(held).unwrap();
    let path = format!("{PODS}/a");
    let marked = client.delete(&path, None).await;
    assert!(marked.body["metadata"]["deletionTimestamp"].is_string());
    assert_eq!(client.get(&path).await.code, 200);
    let patch = json!({"metadata": {"finalizers": []}});
    assert_eq!(client.patch("merge", &path, patch).await.code, 200);
    assert_eq!(client.get(&path).await.code, 404);
    server.shutdown().await;
}

#[tokio::test]
async fn a_graceful_server_marks_bound_pods_and_removes_them_at_the_second_delete() {
    let server = server_with(Options {
        pod_deletion: PodDeletion::Graceful,
        ..Options::default()
    });
    let client = Client::of(&server);
    server.store().create(running("a", "n")).unwrap();
    server.store().create(pod("pending")).unwrap();
    client.delete(&format!("{PODS}/pending"), None).await;
    let marked = client
        .delete(&format!("{PODS}/a?gracePeriodSeconds=7"), None)
        .await;
    assert_eq!(marked.body["metadata"]["deletionGracePeriodSeconds"], 7);
    assert_eq!(names(&client.get(PODS).await.body), ["a"]);
    let options = json!({"gracePeriodSeconds": 0});
    assert_eq!(
        client
            .delete(&format!("{PODS}/a"), Some(options))
            .await
            .code,
        200
    );
    assert!(names(&client.get(PODS).await.body).is_empty());
    server.shutdown().await;
}

#[tokio::test]
async fn a_collection_delete_takes_only_what_its_selectors_find() {
    let server = server();
    let client = Client::of(&server);
    for name in ["a", "b", "c"] {
        server.store().create(pod(name)).unwrap();
    }
    let gone = client
        .delete(&format!("{PODS}?labelSelector=app+in+(a,c)"), None)
        .await;
    assert_eq!(
        (gone.code, names(&gone.body)),
        (200, vec!["a".to_owned(), "c".to_owned()])
    );
    assert_eq!(names(&client.get(PODS).await.body), ["b"]);
    server.shutdown().await;
}

#[tokio::test]
async fn a_namespace_goes_with_what_is_in_it_and_waits_for_what_is_held() {
    let server = server_with(Options {
        namespaces: vec!["team".into()],
        ..Options::default()
    });
    let client = Client::of(&server);
    let in_team = |name: &str| {
        let mut pod = pod(name);
        pod["metadata"]["namespace"] = json!("team");
        pod
    };
    let mut held = in_team("held");
    held["metadata"]["finalizers"] = json!(["x/y"]);
    server.store().create(in_team("free")).unwrap();
    server.store().create(held).unwrap();
    let leaving = client.delete("/api/v1/namespaces/team", None).await;
    assert_eq!(leaving.body["status"]["phase"], "Terminating");
    let pods = "/api/v1/namespaces/team/pods";
    assert_eq!(names(&client.get(pods).await.body), ["held"]);
    assert_eq!(client.post(pods, in_team("late")).await.code, 403);
    client
        .patch(
            "merge",
            &format!("{pods}/held"),
            json!({"metadata": {"finalizers": null}}),
        )
        .await;
    assert_eq!(client.get("/api/v1/namespaces/team").await.code, 404);
    server.shutdown().await;
}

fn budget(store: &Store, allowed: i64) {
    let budget = json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "a"}}},
        "status": {"observedGeneration": 1, "disruptionsAllowed": allowed, "desiredHealthy": 1, "currentHealthy": 1 + allowed},
    });
    store.create(budget).unwrap();
}

#[tokio::test]
async fn an_eviction_spends_the_budget_and_is_refused_without_one() {
    let server = server();
    let client = Client::of(&server);
    let store = server.store();
    budget(&store, 1);
    let evict = async |name: &str| {
        let body =
            json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}});
        client.post(&format!("{PODS}/{name}/eviction"), body).await
    };
    store.create(running("a", "n")).unwrap();
    assert_eq!(evict("a").await.code, 201);
    assert_eq!(store.count("pods", None).unwrap(), 0);
    store.create(running("a", "n")).unwrap();
    store.create(running("free", "n")).unwrap();
    let refused = evict("a").await;
    assert_eq!(
        (refused.code, &refused.body["reason"]),
        (429, &json!("TooManyRequests"))
    );
    assert_eq!(
        refused.body["details"]["causes"][0]["reason"],
        "DisruptionBudget"
    );
    assert_eq!(evict("free").await.code, 201);
    assert_eq!(evict("none").await.code, 404);
    server.shutdown().await;
}

#[tokio::test]
async fn an_eviction_waits_for_a_budget_that_was_not_looked_at_yet() {
    let server = server();
    let client = Client::of(&server);
    budget(&server.store(), 1);
    server
        .store()
        .edit("poddisruptionbudgets", "default", "b", |it| {
            it["metadata"]["generation"] = json!(2);
        })
        .unwrap();
    server.store().create(running("a", "n")).unwrap();
    let body = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "a"}});
    let refused = client.post(&format!("{PODS}/a/eviction"), body).await;
    assert_eq!(
        (refused.code, &refused.headers["retry-after"]),
        (429, &"10".parse().unwrap())
    );
    server.shutdown().await;
}

#[tokio::test]
async fn a_namespace_with_a_finalizer_outlives_what_is_in_it() {
    let server = server_with(Options {
        namespaces: vec!["team".into()],
        ..Options::default()
    });
    let client = Client::of(&server);
    let held = |it: &mut Value| it["metadata"]["finalizers"] = json!(["x/y"]);
    server.store().edit("namespaces", "", "team", held).unwrap();
    let mut inside = pod("a");
    inside["metadata"]["namespace"] = json!("team");
    inside["metadata"]["finalizers"] = json!(["x/y"]);
    server.store().create(inside).unwrap();
    let (path, free) = (
        "/api/v1/namespaces/team",
        json!({"metadata": {"finalizers": null}}),
    );
    client.delete(path, None).await;
    client
        .patch("merge", &format!("{path}/pods/a"), free.clone())
        .await;
    assert_eq!(
        client.get(path).await.body["status"]["phase"],
        "Terminating"
    );
    client.patch("merge", path, free).await;
    assert_eq!(client.get(path).await.code, 404);
    server.shutdown().await;
}
