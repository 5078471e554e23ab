//! Faults as a client meets them.

use http::Method;
use serde_json::json;

use super::{
    client::Client,
    fixtures::{PODS, binding, pod, server},
};
use crate::{Fault, Rule, Verb};

#[tokio::test]
async fn a_fault_answers_in_place_of_the_server() {
    let server = server();
    let client = Client::of(&server);
    let faults = server.faults();
    faults.add(
        Rule::new(Fault::internal_error())
            .verb(Verb::Create)
            .resource("pods")
            .times(1),
    );
    faults.add(
        Rule::new(Fault::too_many_requests(3))
            .verb(Verb::List)
            .resource("pods")
            .times(1),
    );
    faults.add(
        Rule::new(Fault::expired())
            .verb(Verb::List)
            .resource("nodes")
            .times(1),
    );
    assert_eq!(client.post(PODS, pod("a")).await.code, 500);
    assert_eq!(server.store().count("pods", None).unwrap(), 0);
    assert_eq!(client.post(PODS, pod("a")).await.code, 201);
    let throttled = client.get(PODS).await;
    assert_eq!(
        (throttled.code, &throttled.headers["retry-after"]),
        (429, &"3".parse().unwrap())
    );
    assert_eq!(client.get("/api/v1/nodes").await.body["reason"], "Expired");
    assert_eq!(client.get(PODS).await.code, 200);
    server.shutdown().await;
}

#[tokio::test]
async fn a_lost_answer_is_a_write_that_happened() {
    let server = server();
    let client = Client::of(&server);
    server.store().create(pod("a")).unwrap();
    server
        .faults()
        .add(Rule::new(Fault::LoseAnswer).resource("pods/binding").nth(1));
    let path = format!("{PODS}/a/binding");
    let lost = client
        .try_send(
            Method::POST,
            &path,
            "application/json",
            Some(binding("a", "n")),
        )
        .await;
    assert!(lost.is_err());
    let bound = server.store().get("pods", "default", "a").unwrap().value();
    assert_eq!(bound["spec"]["nodeName"], "n");
    assert_eq!(client.post(&path, binding("a", "n")).await.code, 409);
    server.shutdown().await;
}

#[tokio::test]
async fn a_hanging_request_goes_on_when_its_fault_is_removed() {
    let server = server();
    let client = Client::of(&server);
    let faults = server.faults();
    let id = faults.add(Rule::new(Fault::Hang).verb(Verb::Create).resource("pods"));
    let release = async {
        faults.struck(id, 1).await;
        assert_eq!(server.store().count("pods", None).unwrap(), 0);
        faults.remove(id);
    };
    let (answer, ()) = tokio::join!(client.post(PODS, pod("a")), release);
    assert_eq!(answer.code, 201);
    server.shutdown().await;
}

#[tokio::test]
async fn closed_watches_end_and_others_go_on() {
    let server = server();
    let client = Client::of(&server);
    let mut pods = client.watch(&format!("{PODS}?watch=1")).await;
    let mut nodes = client.watch("/api/v1/nodes?watch=1").await;
    server.faults().close_watches(Some("pods"));
    assert_eq!(pods.told().await, "end");
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}});
    server.store().create(node).unwrap();
    assert_eq!(nodes.told().await, "ADDED n");
    let mut again = client.watch(&format!("{PODS}?watch=1")).await;
    server.store().create(pod("a")).unwrap();
    assert_eq!(again.told().await, "ADDED a");
    server.shutdown().await;
}

#[tokio::test]
async fn a_shutdown_releases_what_hangs() {
    let server = server();
    let client = Client::of(&server);
    let faults = server.faults();
    let id = faults.add(Rule::new(Fault::Hang));
    let stop = async {
        faults.struck(id, 1).await;
        server.shutdown().await;
    };
    let (answer, ()) = tokio::join!(client.get(PODS), stop);
    assert_eq!(answer.code, 200);
}
