//! Requests and answers as a table, and the shapes that clients rely on.

use http::Method;
use serde_json::json;

use super::{
    client::Client,
    fixtures::{PODS, names, pod, server},
};

/// Method and path | body | code and reason; `~` is the pods of the namespace `default`, `%` its leases.
const CASES: &str = r#"
GET ~/a                                 |                                     | 200
GET ~/a/status                          |                                     | 200
GET ~/b                                 |                                     | 404 NotFound
GET /api/v1/things                      |                                     | 404 NotFound
GET /apis/none/v1/things                |                                     | 404 NotFound
GET ~?fieldSelector=spec.foo%3D1        |                                     | 400 BadRequest
GET ~?labelSelector=a+b                 |                                     | 400 BadRequest
GET ~?resourceVersion=999               |                                     | 504 Timeout
GET ~?resourceVersion=x                 |                                     | 400 BadRequest
GET ~?continue=x                        |                                     | 400 BadRequest
HEAD ~/a                                |                                     | 405
POST ~                                  | {"kind": "Pod", "metadata": {"name": "b"}} | 422 Invalid
POST ~                                  | {}                                  | 422 Invalid
POST ~                                  | []                                  | 400 BadRequest
POST ~                                  | {"kind": "Node"}                    | 400 BadRequest
POST ~                                  | {"apiVersion": "v2"}                | 400 BadRequest
POST ~                                  | {"spec": 1}                         | 400 BadRequest
POST ~                                  | {"metadata": {"namespace": "other"}} | 400 BadRequest
POST ~                                  | {"metadata": {"name": "a", "resourceVersion": "1"}} | 400 BadRequest
POST /api/v1/pods                       | {}                                  | 405 MethodNotAllowed
POST /api/v1/namespaces/none/configmaps | {"metadata": {"name": "b"}}         | 404 NotFound
POST /api/v1/nodes                      | {"metadata": {"name": "n"}}         | 201
POST /api/v1/nodes                      | {"metadata": {"name": "n"}}         | 409 AlreadyExists
POST /api/v1/nodes                      | {"metadata": {"name": "n_1"}}       | 422 Invalid
PUT ~                                   | {}                                  | 405 MethodNotAllowed
PUT ~/b                                 | {}                                  | 404 NotFound
PUT ~/a                                 | {"metadata": {"name": "b"}}         | 400 BadRequest
PUT %/l                                 | {"spec": {"holderIdentity": "x"}}   | 201
PUT %/l                                 | {"spec": {"holderIdentity": "y"}}   | 422 Invalid
PATCH ~/a                               | {}                                  | 415 UnsupportedMediaType
DELETE ~/b                              |                                     | 404 NotFound
DELETE ~/a/status                       |                                     | 405 MethodNotAllowed
"#;

#[tokio::test]
async fn each_request_is_answered_with_the_code_and_reason_of_kube_apiserver() {
    let server = server();
    let client = Client::of(&server);
    server.store().create(pod("a")).unwrap();
    let leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases/";
    for case in CASES.lines().filter(|line| !line.is_empty()) {
        let [request, body, expected] = case.split('|').collect::<Vec<_>>()[..] else {
            panic!("no case: {case}");
        };
        let (method, path) = request.trim().split_once(' ').unwrap();
        let path = path.replace('~', PODS).replace("%/", leases);
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let body = Some(body.trim()).filter(|body| !body.is_empty());
        let body = body.map(|body| serde_json::from_str(body).unwrap());
        let answer = client.send(method, &path, "application/json", body).await;
        let reason = answer.body["reason"].as_str().unwrap_or("");
        let got = format!("{} {reason}", answer.code);
        assert_eq!(got.trim(), expected.trim(), "{case}\n{}", answer.body);
    }
    server.shutdown().await;
}

#[tokio::test]
async fn a_created_pod_has_an_identity_and_the_defaults_a_scheduler_reads() {
    let server = server();
    let client = Client::of(&server);
    let mut wanted = pod("a");
    wanted["status"] = json!({"phase": "Running"});
    wanted["metadata"]["uid"] = json!("mine");
    let made = client.post(PODS, wanted).await;
    assert_eq!(made.code, 201);
    assert_eq!(made.headers["content-type"], "application/json");
    let pod = made.body;
    assert_eq!(
        (&pod["kind"], &pod["apiVersion"]),
        (&json!("Pod"), &json!("v1"))
    );
    assert_eq!(pod["spec"]["schedulerName"], "default-scheduler");
    assert_eq!(pod["spec"]["priority"], 0);
    assert_eq!(
        pod["status"],
        json!({"phase": "Pending", "qosClass": "BestEffort"})
    );
    assert_eq!(pod["metadata"]["uid"].as_str().unwrap().len(), 36);
    assert_eq!(pod["metadata"]["generation"], 1);
    assert!(
        pod["metadata"]["creationTimestamp"]
            .as_str()
            .unwrap()
            .ends_with('Z')
    );
    let version: u64 = pod["metadata"]["resourceVersion"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    assert_eq!(version, server.store().resource_version());
    assert_eq!(client.get(&format!("{PODS}/a")).await.body, pod);
    server.shutdown().await;
}

#[tokio::test]
async fn generated_names_differ() {
    let server = server();
    let client = Client::of(&server);
    for _ in 0..3 {
        let mut wanted = pod("");
        wanted["metadata"] = json!({"generateName": "job-"});
        assert_eq!(client.post(PODS, wanted).await.code, 201);
    }
    let list = client.get(PODS).await.body;
    assert_eq!(names(&list).len(), 3);
    assert!(
        names(&list)
            .iter()
            .all(|it| it.starts_with("job-") && it.len() == 9)
    );
    server.shutdown().await;
}

#[tokio::test]
async fn a_list_has_the_shape_of_kube_apiserver() {
    let server = server();
    let client = Client::of(&server);
    server.store().create(pod("a")).unwrap();
    let list = client.get(PODS).await.body;
    assert_eq!(
        (&list["kind"], &list["apiVersion"]),
        (&json!("PodList"), &json!("v1"))
    );
    assert_eq!(
        list["metadata"],
        json!({"resourceVersion": server.store().resource_version().to_string()})
    );
    assert!(list["items"][0].get("kind").is_none());
    assert_eq!(list["items"][0]["metadata"]["name"], "a");
    let leases = client.get("/apis/coordination.k8s.io/v1/leases").await.body;
    assert_eq!(leases["kind"], "LeaseList");
    assert_eq!(leases["items"], json!([]));
    server.shutdown().await;
}

#[tokio::test]
async fn selectors_narrow_a_list() {
    let server = server();
    let client = Client::of(&server);
    for name in ["a", "b", "c"] {
        server.store().create(pod(name)).unwrap();
    }
    server
        .store()
        .bind(
            "default",
            "b",
            &crate::Binding {
                node: "n".into(),
                ..Default::default()
            },
        )
        .unwrap();
    for (query, expected) in [
        ("labelSelector=app+in+(a,b)", vec!["a", "b"]),
        ("labelSelector=app!%3Da", vec!["b", "c"]),
        ("fieldSelector=spec.nodeName%3D", vec!["a", "c"]),
        ("fieldSelector=spec.nodeName!%3D", vec!["b"]),
        (
            "fieldSelector=metadata.name%3Dc,status.phase%3DPending",
            vec!["c"],
        ),
        (
            "fieldSelector=spec.nodeName%3D&labelSelector=app%3Da",
            vec!["a"],
        ),
    ] {
        let list = client.get(&format!("/api/v1/pods?{query}")).await.body;
        assert_eq!(names(&list), expected, "{query}");
    }
    server.shutdown().await;
}

#[tokio::test]
async fn an_update_from_an_old_version_is_a_conflict_and_one_without_change_is_no_write() {
    let server = server();
    let client = Client::of(&server);
    let first = client.post(PODS, pod("a")).await.body;
    let path = format!("{PODS}/a");
    let same = client.put(&path, first.clone()).await;
    assert_eq!((same.code, &same.body), (200, &first));
    let mut second = first.clone();
    second["metadata"]["labels"]["app"] = json!("x");
    assert_eq!(client.put(&path, second).await.code, 200);
    let mut third = first;
    third["metadata"]["labels"]["app"] = json!("y");
    let late = client.put(&path, third).await;
    assert_eq!((late.code, &late.body["reason"]), (409, &json!("Conflict")));
    assert_eq!(
        late.body["message"],
        "Operation cannot be fulfilled on pods \"a\": the object has been modified; please apply your changes to the latest version and try again"
    );
    server.shutdown().await;
}

#[tokio::test]
async fn a_dry_run_answers_as_if_and_changes_nothing() {
    let server = server();
    let client = Client::of(&server);
    let before = server.store().resource_version();
    assert_eq!(
        client
            .post(&format!("{PODS}?dryRun=All"), pod("a"))
            .await
            .code,
        201
    );
    assert_eq!(client.get(&format!("{PODS}/a")).await.code, 404);
    assert_eq!(server.store().resource_version(), before);
    server.shutdown().await;
}

#[tokio::test]
async fn an_event_of_one_api_is_seen_in_the_other() {
    let server = server();
    let client = Client::of(&server);
    let new = "/apis/events.k8s.io/v1/namespaces/default/events";
    let event = json!({
        "apiVersion": "events.k8s.io/v1", "kind": "Event", "metadata": {"name": "e"},
        "regarding": {"kind": "Pod", "name": "a"}, "note": "hello", "reason": "Scheduled",
        "reportingController": "plimsoll",
    });
    let made = client.post(new, event).await;
    assert_eq!((made.code, &made.body["note"]), (201, &json!("hello")));
    let core = client.get("/api/v1/namespaces/default/events/e").await.body;
    assert_eq!(
        (&core["apiVersion"], &core["message"]),
        (&json!("v1"), &json!("hello"))
    );
    assert_eq!(core["involvedObject"]["name"], "a");
    let patch = json!({"series": {"count": 2}, "note": "again"});
    let patched = client.patch("merge", &format!("{new}/e"), patch).await.body;
    assert_eq!(
        (&patched["note"], &patched["series"]["count"]),
        (&json!("again"), &json!(2))
    );
    let list = client
        .get(&format!("{new}?fieldSelector=regarding.name%3Da"))
        .await
        .body;
    assert_eq!(
        (names(&list), &list["items"][0]["note"]),
        (vec!["e".to_owned()], &json!("again"))
    );
    server.shutdown().await;
}

#[tokio::test]
async fn kubectl_gets_tables_of_lists_and_objects() {
    let server = server();
    let client = Client::of(&server);
    server.store().create(pod("a")).unwrap();
    let accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
    for path in [PODS.to_owned(), format!("{PODS}/a")] {
        let table = client.get_as(&path, accept).await.body;
        assert_eq!(table["kind"], "Table");
        assert_eq!(table["columnDefinitions"][0]["name"], "Name");
        assert_eq!(table["rows"][0]["cells"][0], "a");
        assert_eq!(table["rows"][0]["object"]["metadata"]["name"], "a");
    }
    server.shutdown().await;
}

#[tokio::test]
async fn an_update_that_leaves_defaults_out_is_completed_like_a_new_object() {
    let server = server();
    let client = Client::of(&server);
    let before = client.post(PODS, pod("a")).await.body;
    let after = client.put(&format!("{PODS}/a"), pod("a")).await;
    assert_eq!((after.code, &after.body), (200, &before));
    server.shutdown().await;
}
