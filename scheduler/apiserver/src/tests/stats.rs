//! Counting what clients do.

use serde_json::json;

use super::{
    client::Client,
    fixtures::{PODS, binding, pod, server},
};
use crate::{RequestCount, Verb, WriteCount};

#[tokio::test]
async fn requests_and_writes_are_counted_by_verb_resource_code_and_agent() {
    let server = server();
    let client = Client::of(&server);
    client.get(PODS).await;
    client.post(PODS, pod("a")).await;
    client
        .post(&format!("{PODS}/a/binding"), binding("a", "n"))
        .await;
    client
        .post(&format!("{PODS}/a/binding"), binding("a", "n"))
        .await;
    client
        .patch("merge", &format!("{PODS}/a/status"), json!({}))
        .await;
    server.store().create(pod("in-process")).unwrap();
    let request = |verb, resource: &str, code| RequestCount {
        verb,
        resource: resource.into(),
        code,
        count: 1,
    };
    let mut expected = vec![
        request(Verb::List, "pods", 200),
        request(Verb::Create, "pods", 201),
        request(Verb::Create, "pods/binding", 201),
        request(Verb::Create, "pods/binding", 409),
        request(Verb::Patch, "pods/status", 200),
    ];
    expected.sort();
    assert_eq!(server.stats().requests(), expected);
    let write = |verb, resource: &str, count| WriteCount {
        user_agent: "test".into(),
        verb,
        resource: resource.into(),
        count,
    };
    assert_eq!(
        server.stats().writes(),
        [
            write(Verb::Create, "pods", 1),
            write(Verb::Create, "pods/binding", 2),
            write(Verb::Patch, "pods/status", 1),
        ]
    );
    assert_eq!(server.stats().writes_by("test"), 4);
    assert_eq!(server.stats().writes_of("nodes"), 0);
    server.shutdown().await;
}
