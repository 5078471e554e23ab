//! Watches over HTTP: where they begin, what they tell, how they end.

use serde_json::json;

use super::{
    client::Client,
    fixtures::{PODS, pod, server, server_with},
};
use crate::{Binding, Options};

#[tokio::test]
async fn a_watch_resumes_behind_the_version_it_names() {
    let server = server();
    let client = Client::of(&server);
    let store = server.store();
    let seen = store.create(pod("a")).unwrap().resource_version();
    store.create(pod("b")).unwrap();
    store.delete("pods", "default", "a").unwrap();
    let mut watch = client
        .watch(&format!("{PODS}?watch=1&resourceVersion={seen}"))
        .await;
    assert_eq!(watch.told().await, "ADDED b");
    let deleted = watch.next().await.unwrap();
    assert_eq!(
        (&deleted["type"], &deleted["object"]["kind"]),
        (&json!("DELETED"), &json!("Pod"))
    );
    assert_eq!(
        deleted["object"]["metadata"]["resourceVersion"],
        store.resource_version().to_string()
    );
    store.create(pod("c")).unwrap();
    assert_eq!(watch.told().await, "ADDED c");
    server.shutdown().await;
    assert_eq!(watch.told().await, "end");
}

#[tokio::test]
async fn a_watch_from_a_version_that_is_no_longer_kept_gets_a_410_event_and_ends() {
    let server = server_with(Options {
        history: 2,
        ..Options::default()
    });
    let client = Client::of(&server);
    for name in ["a", "b", "c", "d"] {
        server.store().create(pod(name)).unwrap();
    }
    let mut watch = client
        .watch(&format!("{PODS}?watch=1&resourceVersion=2"))
        .await;
    let event = watch.next().await.unwrap();
    assert_eq!(event["type"], "ERROR");
    let status = &event["object"];
    assert_eq!(
        (&status["kind"], &status["code"], &status["reason"]),
        (&json!("Status"), &json!(410), &json!("Expired"))
    );
    assert!(
        status["message"]
            .as_str()
            .unwrap()
            .starts_with("too old resource version: 2 (")
    );
    assert_eq!(watch.told().await, "end");
    server.shutdown().await;
}

#[tokio::test]
async fn an_object_that_begins_or_ceases_to_match_is_added_or_deleted() {
    let server = server();
    let client = Client::of(&server);
    let store = server.store();
    let mut pending = client
        .watch("/api/v1/pods?watch=1&fieldSelector=spec.nodeName%3D")
        .await;
    let mut bound = client
        .watch("/api/v1/pods?watch=1&fieldSelector=spec.nodeName!%3D")
        .await;
    let mut labelled = client
        .watch("/api/v1/pods?watch=1&labelSelector=app%3Dx")
        .await;
    store.create(pod("a")).unwrap();
    assert_eq!(pending.told().await, "ADDED a");
    let binding = Binding {
        node: "n".into(),
        ..Binding::default()
    };
    store.bind("default", "a", &binding).unwrap();
    let left = pending.next().await.unwrap();
    assert_eq!(left["type"], "DELETED");
    assert!(left["object"]["spec"].get("nodeName").is_none());
    assert_eq!(
        left["object"]["metadata"]["resourceVersion"],
        store.resource_version().to_string()
    );
    assert_eq!(bound.told().await, "ADDED a");
    store
        .edit("pods", "default", "a", |it| {
            it["metadata"]["labels"]["app"] = json!("x");
        })
        .unwrap();
    assert_eq!(labelled.told().await, "ADDED a");
    assert_eq!(bound.told().await, "MODIFIED a");
    store
        .edit("pods", "default", "a", |it| {
            it["status"]["phase"] = json!("Running");
        })
        .unwrap();
    assert_eq!(labelled.told().await, "MODIFIED a");
    store
        .edit("pods", "default", "a", |it| {
            it["metadata"]["labels"]["app"] = json!("y");
        })
        .unwrap();
    assert_eq!(labelled.told().await, "DELETED a");
    store.delete("pods", "default", "a").unwrap();
    store.create(pod("z")).unwrap();
    assert_eq!(pending.told().await, "ADDED z");
    server.shutdown().await;
}

#[tokio::test]
async fn a_streaming_list_ends_its_initial_events_with_a_marked_bookmark() {
    let server = server();
    let client = Client::of(&server);
    server.store().create(pod("a")).unwrap();
    server.store().create(pod("b")).unwrap();
    let query =
        "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    let mut watch = client.watch(&format!("{PODS}?{query}")).await;
    assert_eq!(watch.told().await, "ADDED a");
    assert_eq!(watch.told().await, "ADDED b");
    let bookmark = watch.next().await.unwrap();
    assert_eq!(bookmark["type"], "BOOKMARK");
    let metadata = &bookmark["object"]["metadata"];
    assert_eq!(metadata["annotations"]["k8s.io/initial-events-end"], "true");
    assert_eq!(
        metadata["resourceVersion"],
        server.store().resource_version().to_string()
    );
    server.store().create(pod("c")).unwrap();
    assert_eq!(watch.told().await, "ADDED c");
    server.shutdown().await;
}

#[tokio::test]
async fn a_watch_tells_the_present_objects_unless_it_wants_none() {
    let server = server();
    let client = Client::of(&server);
    server.store().create(pod("a")).unwrap();
    for query in ["", "&resourceVersion=0"] {
        let mut watch = client.watch(&format!("{PODS}?watch=true{query}")).await;
        assert_eq!(watch.told().await, "ADDED a");
    }
    let none = "sendInitialEvents=false&resourceVersionMatch=NotOlderThan";
    let mut watch = client.watch(&format!("{PODS}?watch=1&{none}")).await;
    server.store().create(pod("b")).unwrap();
    assert_eq!(watch.told().await, "ADDED b");
    let refused = client
        .get(&format!("{PODS}?watch=1&sendInitialEvents=true"))
        .await;
    assert_eq!(
        (refused.code, &refused.body["reason"]),
        (422, &json!("Invalid"))
    );
    server.shutdown().await;
}

#[tokio::test]
async fn a_watch_of_a_namespace_tells_nothing_of_others() {
    let server = server();
    let client = Client::of(&server);
    let mut watch = client.watch(&format!("{PODS}?watch=1")).await;
    let mut other = pod("other");
    other["metadata"]["namespace"] = json!("kube-system");
    server.store().create(other).unwrap();
    server.store().create(pod("a")).unwrap();
    assert_eq!(watch.told().await, "ADDED a");
    server.shutdown().await;
}

#[tokio::test]
async fn a_watch_tells_all_changes_however_many_and_in_order() {
    let server = server();
    let client = Client::of(&server);
    let count = 2000;
    let mut watch = client.watch(&format!("{PODS}?watch=1")).await;
    for at in 0..count {
        server.store().create(pod(&format!("p{at:04}"))).unwrap();
    }
    let mut last = 0;
    for at in 0..count {
        let event = watch.next().await.unwrap();
        assert_eq!(event["object"]["metadata"]["name"], format!("p{at:04}"));
        let version = event["object"]["metadata"]["resourceVersion"]
            .as_str()
            .unwrap();
        let version: u64 = version.parse().unwrap();
        assert!(version > last);
        last = version;
    }
    server.shutdown().await;
}
