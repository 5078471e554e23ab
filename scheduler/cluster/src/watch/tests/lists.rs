//! Whole lists: pages, expiry, what is shared.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_objects::Uid;
use serde_json::json;

use super::{LIST, WATCH, change, list, names, pod, pods, refused, run, run_pods};
use crate::pending::Pending;
use crate::script::{Reply, Script, Then};

#[tokio::test(start_paused = true)]
async fn pages_are_joined_and_watched_from_their_version() {
    let script = Script::default();
    script.on(LIST, list(&[pod("a", "1")], "10", "more&more"));
    script.on(LIST, list(&[pod("b", "2")], "10", ""));
    let mut run = run_pods(&script);
    assert_eq!(names(&run.listed().await), ["a", "b"]);
    let watch = script.asked(WATCH, 1).await.remove(0);
    assert!(!run.ready.is_ready(), "pods are only half of it");
    let pages = script.seen_on(LIST);
    let selector = "fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed";
    for page in &pages {
        assert!(
            page.query.contains(selector) && page.query.contains("limit=500"),
            "{}",
            page.query
        );
    }
    assert!(!pages[0].query.contains("continue="));
    assert!(
        pages[1].query.contains("continue=more%26more"),
        "{}",
        pages[1].query
    );
    for part in [
        "resourceVersion=10",
        "timeoutSeconds=60",
        "allowWatchBookmarks=true",
        selector,
    ] {
        assert!(watch.query.contains(part), "{part} in {}", watch.query);
    }
}

#[tokio::test(start_paused = true)]
async fn an_expired_version_lists_again_and_the_engine_never_sees_nothing() {
    let gone = change(
        "ERROR",
        &json!({"kind": "Status", "code": 410, "message": "too old"}),
    );
    for expired in [refused(410), Reply::watch(&[gone], Then::Close)] {
        let script = Script::default();
        script.on(LIST, list(&[pod("a", "1"), pod("b", "2")], "10", ""));
        script.on(WATCH, expired);
        script.on(LIST, list(&[pod("b", "2"), pod("c", "20")], "30", ""));
        let mut run = run_pods(&script);
        let first = run.listed().await;
        let second = run.listed().await;
        assert_eq!(names(&second), ["b", "c"]);
        assert!(
            Arc::ptr_eq(&first[1], &second[0]),
            "what has not changed is shared"
        );
        assert_eq!(
            run.count(r#"plimsoll_cluster_relists_total{kind="pods"}"#)
                .as_deref(),
            Some("1")
        );
        let watch = script.asked(WATCH, 2).await.remove(1);
        assert!(
            watch.query.ends_with("resourceVersion=30"),
            "{}",
            watch.query
        );
    }
}

#[tokio::test(start_paused = true)]
async fn an_object_that_changed_or_was_let_go_is_decoded_anew() {
    let script = Script::default();
    script.on(LIST, list(&[pod("a", "1"), pod("b", "2")], "10", ""));
    script.on(WATCH, refused(410));
    script.on(LIST, list(&[pod("a", "9"), pod("b", "2")], "30", ""));
    let mut run = run_pods(&script);
    let kept = run.listed().await.swap_remove(0);
    let second = run.listed().await;
    assert_eq!(names(&second), ["a", "b"]);
    assert_eq!(
        (
            &*kept.meta.resource_version,
            &*second[0].meta.resource_version
        ),
        ("1", "9")
    );
}

#[tokio::test(start_paused = true)]
async fn a_list_that_expires_half_way_is_begun_anew_with_larger_pages() {
    let script = Script::default();
    script
        .on(LIST, list(&[pod("a", "1")], "10", "t1"))
        .on(LIST, refused(410));
    script
        .on(LIST, list(&[pod("a", "1")], "20", "t2"))
        .on(LIST, refused(410));
    script.on(LIST, list(&[pod("a", "1"), pod("b", "25")], "30", ""));
    let mut run = run_pods(&script);
    assert_eq!(names(&run.listed().await), ["a", "b"]);
    let pages = script.seen_on(LIST);
    assert!(pages[2].query.contains("limit=5000") && !pages[2].query.contains("continue="));
    assert!(!pages[4].query.contains("limit=") && !pages[4].query.contains("continue="));
}

#[tokio::test(start_paused = true)]
async fn a_list_whose_pages_never_end_is_given_up() {
    let script = Script::default();
    for _ in 0..3 {
        script.on(LIST, list(&[pod("a", "1")], "10", "again"));
    }
    script.on(LIST, list(&[pod("b", "2")], "10", ""));
    let mut run = run_pods(&script);
    // The second page leads to itself, so the list is begun anew; page three leads on.
    assert_eq!(names(&run.listed().await), ["a", "b"]);
    assert!(!script.seen_on(LIST)[2].query.contains("continue="));
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_is_not_listed_any_more_does_not_wait_any_more() {
    let script = Script::default();
    script.on(LIST, list(&[pod("a", "1"), pod("b", "2")], "10", ""));
    let pending = Arc::<Pending>::default();
    let mut run = run(pods(Arc::clone(&pending), &script), &script);
    let _held = run.listed().await;
    let told = |name: &str| {
        pending.told(&Uid(Arc::from(name)));
        pending.get(&Uid(Arc::from(name))).told_false
    };
    assert!(told("a") && told("b"));
    script.on(WATCH, refused(410));
    script.on(LIST, list(&[pod("b", "2")], "30", ""));
    run.listed().await;
    assert!(!told("a") && told("b"));
}

#[tokio::test(start_paused = true)]
async fn a_failed_list_is_tried_again_after_the_time_the_server_asks_for() {
    let script = Script::default();
    script.on(
        LIST,
        Reply::Answer(429, vec![("retry-after", "7")], String::new()),
    );
    script
        .on(LIST, Reply::Cut)
        .on(LIST, Reply::ok(&json!("no list")));
    script.on(LIST, list(&[pod("a", "1")], "10", ""));
    let mut run = run_pods(&script);
    assert_eq!(names(&run.listed().await), ["a"]);
    let lists = script.seen_on(LIST);
    assert!(lists[1].at - lists[0].at >= Duration::from_secs(7));
}
