//! Requests that no client sends: whatever comes, the server answers it, never with an
//! internal error, and goes on.

use std::fmt::Write as _;

use http::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{
    client::Client,
    fixtures::{PODS, binding, pod, running, server},
};
use crate::identity::Identity;

const PATHS: [&str; 16] = [
    PODS,
    "/api/v1/namespaces/default/pods/a",
    "/api/v1/namespaces/default/pods/a/status",
    "/api/v1/namespaces/default/pods/a/binding",
    "/api/v1/namespaces/default/pods/a/eviction",
    "/api/v1/namespaces/default/pods/%2e%2e",
    "/api/v1/namespaces/default/pods/%ff%00",
    "/api/v1/namespaces//pods",
    "/api/v1/pods",
    "/api/v1/nodes/n",
    "/api/v1/nodes",
    "/api/v1/namespaces/default",
    "/apis/coordination.k8s.io/v1/namespaces/default/leases/l",
    "/openapi/v3/api/v1",
    "/apis//",
    "//api/v1/pods",
];
const QUERIES: [&str; 24] = [
    "",
    "limit=1",
    "limit=-9223372036854775808",
    "limit=9223372036854775807",
    "limit=99999999999999999999",
    "continue=p1/18446744073709551615/18446744073709551615//",
    "continue=p1/-/-//%00",
    "limit=1&continue=p1/1/0/~/~",
    "continue=%ff",
    "resourceVersion=18446744073709551615",
    "resourceVersion=-1",
    "resourceVersion=1&resourceVersionMatch=Exact&limit=1",
    "watch=true&timeoutSeconds=1&resourceVersion=18446744073709551615",
    "watch=1&timeoutSeconds=99999999999999999999",
    "labelSelector=a%20in%20(",
    "labelSelector=%21%21a",
    "labelSelector=a%3D%3D%3Db%2C%2C",
    "labelSelector=a%20notin%20()%2Cb",
    "fieldSelector=spec.nodeName%3D%5C",
    "fieldSelector=%5C%2C%3D%21",
    "fieldSelector=status.phase%21%3D",
    "dryRun=None",
    "%=%&&=",
    "gracePeriodSeconds=-1&propagationPolicy=x&fieldManager=%00",
];
/// Enough to meet each path with each method; six thousand found nothing more.
const ROUNDS: usize = 300;
const TYPES: [&str; 7] = [
    "application/json",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
    "text/html",
    "",
];

/// Draws bodies: known objects with some of their values replaced by odd ones.
struct Draw(Identity);

impl Draw {
    fn below(&mut self, count: usize) -> usize {
        (self.0.next() % count as u64) as usize
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    fn odd(&mut self) -> Value {
        let deep = (0..100).fold(json!(1), |inner, _| json!({ "a": inner }));
        let all = [
            Value::Null,
            json!(-1),
            json!(1e308),
            json!(u64::MAX),
            json!(i64::MIN),
            json!(""),
            json!("\u{0}/%\u{feff}"),
            json!("x".repeat(10_000)),
            json!([]),
            json!([null, 1, "a", {}, [[]]]),
            json!({}),
            json!({"$patch": "delete", "": null, "name": {}}),
            json!([{"$patch": "replace"}, {"name": null}, {"op": "copy", "from": "", "path": "/a"}]),
            json!(true),
            json!("9999-99-99T99:99:99Z"),
            deep,
        ];
        let at = self.below(all.len());
        all[at].clone()
    }

    fn spoil(&mut self, value: &mut Value) {
        if self.below(6) == 0 {
            *value = self.odd();
            return;
        }
        match value {
            Value::Object(fields) => fields.values_mut().for_each(|it| self.spoil(it)),
            Value::Array(items) => items.iter_mut().for_each(|it| self.spoil(it)),
            _ => {}
        }
    }

    fn body(&mut self) -> Value {
        let full = json!({
            "metadata": {"name": "a", "namespace": "default", "uid": "u", "resourceVersion": "1",
                "labels": {"a": "b"}, "annotations": {"c": "d"}, "finalizers": ["f/g"],
                "deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 3,
                "ownerReferences": [{"kind": "K", "name": "n", "uid": "u", "controller": true}],
                "generateName": "a-", "creationTimestamp": null, "managedFields": []},
            "spec": {"nodeName": "n", "priority": 1, "priorityClassName": "p",
                "tolerations": [{"key": "k", "tolerationSeconds": 1}],
                "schedulingGates": [{"name": "g"}],
                "containers": [{"name": "c", "image": "i:1", "resources": {
                    "requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "-1"}}}]},
            "status": {"phase": "Running", "conditions": [{"type": "PodScheduled", "status": "False"}]},
            "preconditions": {"uid": "u"}, "gracePeriodSeconds": 1,
            "deleteOptions": {"preconditions": {"resourceVersion": "1"}},
            "$setElementOrder/conditions": [{"type": "x"}],
        });
        let patch = json!([{"op": "replace", "path": "/spec", "value": 1},
            {"op": "move", "from": "/metadata", "path": "/metadata/a"},
            {"op": "add", "path": "/spec/containers/-", "value": {}},
            {"op": "remove", "path": "/spec/containers/18446744073709551615"}]);
        let all = [pod("a"), running("a", "n"), binding("a", "n"), full, patch];
        let mut body = all[self.below(all.len())].clone();
        self.spoil(&mut body);
        body
    }
}

#[tokio::test]
async fn every_request_however_odd_is_answered_without_an_internal_error() {
    let server = server();
    let client = Client::of(&server);
    let mut draw = Draw(Identity::new(11));
    let methods = [
        Method::GET,
        Method::POST,
        Method::PUT,
        Method::PATCH,
        Method::DELETE,
        Method::from_bytes(b"BREW").unwrap(),
    ];
    for round in 0..ROUNDS {
        if round % 16 == 0 {
            // Some may be there already, as a spoiled one or a whole one.
            drop(server.store().create(pod("a")));
            let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}});
            drop(server.store().create(node));
        }
        let method = methods[draw.below(methods.len())].clone();
        let (path, media_type) = (draw.of(&PATHS), draw.of(&TYPES));
        let query = if draw.below(3) == 0 {
            draw.of(&QUERIES)
        } else {
            ""
        };
        // A watch that begins is an answer without an end.
        let query = if query.starts_with("watch=1") && method == Method::GET {
            "watch=x&timeoutSeconds=1&resourceVersion=x"
        } else {
            query
        };
        let body = (method != Method::GET).then(|| draw.body());
        let mut what = format!("{method} {path}?{query} as {media_type}");
        let _ = write!(what, ": {body:?}");
        let answer = client
            .try_send(method, &format!("{path}?{query}"), media_type, body)
            .await;
        // Two mistakes of the client are a 500 without a reason, as with kube-apiserver.
        let failed = answer.map(|answer| answer.code == 500 && answer.body["reason"].is_string());
        assert_eq!(failed.as_ref().ok(), Some(&false), "{what}");
    }
    server.shutdown().await;
}

#[tokio::test]
async fn bytes_that_are_no_request_end_their_connection_and_no_other() {
    let server = server();
    for bytes in [
        &b"\x00\xff\xfe garbage\r\n\r\n"[..],
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST /api/v1/nodes HTTP/1.1\r\nhost: a\r\ncontent-length: -1\r\n\r\n{}",
        b"POST /api/v1/nodes HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"POST /api/v1/nodes HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\nconnection: close\r\n\r\n{\"a\"",
        b"POST /api/v1/nodes HTTP/1.1\r\nhost: a\r\ncontent-length: 4\r\nconnection: close\r\n\r\n\xff\xfe[[",
        b"GET /api/v1/nodes HTTP/1.1\r\nhost: \xff\r\nconnection: close\r\naccept: \x80\r\n\r\n",
    ] {
        let mut stream = TcpStream::connect(server.address()).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut said = Vec::new();
        // A server that has unread bytes may reset the connection: that is an end, too.
        drop(stream.read_to_end(&mut said).await);
        let said = String::from_utf8_lossy(&said);
        assert!(!said.contains(" 500 "), "{bytes:?}: {said}");
    }
    assert_eq!(Client::of(&server).get("/readyz").await.code, 200);
    server.shutdown().await;
}
