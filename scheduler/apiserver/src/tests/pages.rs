//! Lists in pages: all pages of one list show one state.

use serde_json::json;

use super::{
    client::Client,
    fixtures::{PODS, names, pod, server, server_with},
};
use crate::Options;

#[tokio::test]
async fn pages_show_the_state_of_the_first_one_while_objects_come_and_go() {
    let server = server();
    let client = Client::of(&server);
    let store = server.store();
    for name in ["a", "c", "e", "g"] {
        store.create(pod(name)).unwrap();
    }
    let first = client.get(&format!("{PODS}?limit=2")).await.body;
    assert_eq!(names(&first), ["a", "c"]);
    assert_eq!(first["metadata"]["remainingItemCount"], 2);
    let token = first["metadata"]["continue"].as_str().unwrap();
    store.create(pod("d")).unwrap();
    store.delete("pods", "default", "g").unwrap();
    store
        .edit("pods", "default", "e", |it| {
            it["metadata"]["labels"]["app"] = json!("new");
        })
        .unwrap();
    let second = client
        .get(&format!("{PODS}?limit=2&continue={token}"))
        .await
        .body;
    assert_eq!(names(&second), ["e", "g"]);
    assert_eq!(second["items"][0]["metadata"]["labels"]["app"], "e");
    assert_eq!(
        second["metadata"],
        json!({"resourceVersion": first["metadata"]["resourceVersion"]})
    );
    assert_eq!(names(&client.get(PODS).await.body), ["a", "c", "d", "e"]);
    let exact = format!(
        "{PODS}?resourceVersionMatch=Exact&resourceVersion={}",
        first["metadata"]["resourceVersion"].as_str().unwrap()
    );
    assert_eq!(names(&client.get(&exact).await.body), ["a", "c", "e", "g"]);
    server.shutdown().await;
}

#[tokio::test]
async fn a_token_that_has_expired_comes_with_one_to_go_on_with() {
    let server = server_with(Options {
        history: 4,
        ..Options::default()
    });
    let client = Client::of(&server);
    let store = server.store();
    for name in ["a", "b", "c"] {
        store.create(pod(name)).unwrap();
    }
    let first = client.get(&format!("{PODS}?limit=1")).await.body;
    for round in 0..5 {
        store
            .edit("pods", "default", "b", |it| {
                it["metadata"]["labels"]["app"] = json!(format!("{round}"));
            })
            .unwrap();
    }
    let token = first["metadata"]["continue"].as_str().unwrap();
    let expired = client
        .get(&format!("{PODS}?limit=1&continue={token}"))
        .await;
    assert_eq!(
        (expired.code, &expired.body["reason"]),
        (410, &json!("Expired"))
    );
    let token = expired.body["metadata"]["continue"].as_str().unwrap();
    let rest = client.get(&format!("{PODS}?continue={token}")).await;
    assert_eq!(
        (rest.code, names(&rest.body)),
        (200, vec!["b".to_owned(), "c".to_owned()])
    );
    let exact = client
        .get(&format!(
            "{PODS}?resourceVersionMatch=Exact&resourceVersion=2"
        ))
        .await;
    assert_eq!(
        (exact.code, &exact.body["reason"]),
        (410, &json!("Expired"))
    );
    server.shutdown().await;
}

#[tokio::test]
async fn a_selected_list_in_pages_misses_nothing_and_counts_nothing() {
    let server = server();
    let client = Client::of(&server);
    for at in 0..20 {
        let mut pod = pod(&format!("p{at:02}"));
        pod["metadata"]["labels"]["odd"] = json!((at % 2).to_string());
        server.store().create(pod).unwrap();
    }
    let (mut seen, mut token) = (Vec::new(), String::new());
    loop {
        let page = client
            .get(&format!(
                "/api/v1/pods?labelSelector=odd%3D1&limit=3&continue={token}"
            ))
            .await
            .body;
        seen.extend(names(&page));
        assert!(page["metadata"].get("remainingItemCount").is_none());
        match page["metadata"]["continue"].as_str() {
            Some(next) => next.clone_into(&mut token),
            None => break,
        }
    }
    let expected: Vec<String> = (0..20)
        .filter(|at| at % 2 == 1)
        .map(|at| format!("p{at:02}"))
        .collect();
    assert_eq!(seen, expected);
    server.shutdown().await;
}
