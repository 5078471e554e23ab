//! Watches: resuming, waiting, what is left out.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_core::Event;
use serde_json::json;
use tokio::sync::mpsc::channel;
use tokio_util::sync::CancellationToken;

use super::super::{Watch, partners};
use super::{
    LIST, WATCH, bookmark, change, list, names, odd_pod, pod, pods, quiet, refused, run, run_pods,
};
use crate::cluster::TaskError;
use crate::kind::Nodes;
use crate::ready::Ready;
use crate::script::{Reply, Script, Then};

#[tokio::test(start_paused = true)]
async fn a_closed_watch_is_resumed_at_once_from_the_last_version() {
    let script = Script::default();
    script.on(LIST, list(&[], "10", ""));
    let first = [change("ADDED", &pod("a", "11")), bookmark("15")];
    script.on(WATCH, Reply::watch(&first, Then::Close));
    script.on(
        WATCH,
        Reply::watch(&[change("MODIFIED", &pod("a", "16"))], Then::Break),
    );
    script.on(WATCH, quiet());
    let mut run = run_pods(&script);
    run.listed().await;
    assert_eq!(&*run.set().await.meta.resource_version, "11");
    assert_eq!(&*run.set().await.meta.resource_version, "16");
    let watches = script.asked(WATCH, 3).await;
    assert!(
        watches[1].query.ends_with("resourceVersion=15"),
        "{}",
        watches[1].query
    );
    assert!(
        watches[2].query.ends_with("resourceVersion=16"),
        "{}",
        watches[2].query
    );
    assert_eq!(watches[1].at, watches[0].at);
    assert_eq!(script.seen_on(LIST).len(), 1);
    let closed = r#"plimsoll_cluster_watch_restarts_total{kind="pods",cause="closed"}"#;
    assert_eq!(run.count(closed).as_deref(), Some("1"));
}

#[tokio::test(start_paused = true)]
async fn an_object_that_is_not_understood_is_left_out_and_counted() {
    let script = Script::default();
    script.on(LIST, list(&[odd_pod("a", "1"), pod("b", "2")], "10", ""));
    let changes = [
        change("ADDED", &odd_pod("c", "11")),
        change("ADDED", &json!(7)),
    ];
    script.on(WATCH, Reply::watch(&changes, Then::Close));
    script.on(
        WATCH,
        Reply::watch(&[change("ADDED", &pod("d", "12"))], Then::Hang),
    );
    let mut run = run_pods(&script);
    assert_eq!(names(&run.listed().await), ["b"]);
    assert_eq!(&*run.set().await.key().name, "d");
    let counted = run.count(r#"plimsoll_cluster_undecodable_objects_total{kind="pods"}"#);
    assert_eq!(counted.as_deref(), Some("3"));
    let second = script.asked(WATCH, 2).await.remove(1);
    assert!(
        second.query.ends_with("resourceVersion=11"),
        "its version is passed all the same"
    );
}

#[tokio::test(start_paused = true)]
async fn a_failed_watch_waits_and_goes_on_from_the_same_version() {
    let script = Script::default();
    script.on(LIST, list(&[], "10", ""));
    script.on(WATCH, refused(500)).on(WATCH, Reply::Cut);
    script.on(
        WATCH,
        Reply::Answer(429, vec![("retry-after", "9")], String::new()),
    );
    script.on(WATCH, quiet());
    let mut run = run_pods(&script);
    run.listed().await;
    let watches = script.asked(WATCH, 4).await;
    assert!(
        watches
            .iter()
            .all(|watch| watch.query.ends_with("resourceVersion=10"))
    );
    assert!(watches[1].at - watches[0].at >= Duration::from_millis(100));
    assert!(watches[3].at - watches[2].at >= Duration::from_secs(9));
    assert_eq!(script.seen_on(LIST).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_version_that_is_refused_again_and_again_is_given_up() {
    let script = Script::default();
    script
        .on(LIST, list(&[], "10", ""))
        .on(LIST, list(&[], "20", ""));
    for code in [400, 504, 400, 422, 504] {
        script.on(WATCH, refused(code));
    }
    let mut run = run_pods(&script);
    run.listed().await;
    run.listed().await;
    let routes: Vec<String> = script.seen().into_iter().map(|seen| seen.route).collect();
    assert_eq!(routes[..7], [LIST, WATCH, WATCH, WATCH, WATCH, WATCH, LIST]);
}

#[tokio::test(start_paused = true)]
async fn a_silent_watch_is_left_after_its_time_and_a_margin() {
    let script = Script::default();
    script
        .on(LIST, list(&[], "10", ""))
        .on(WATCH, quiet())
        .on(WATCH, quiet());
    let mut run = run_pods(&script);
    run.listed().await;
    let watches = script.asked(WATCH, 2).await;
    let silent = (watches[1].at - watches[0].at).as_secs_f64();
    assert!((65.0..66.0).contains(&silent), "{silent} s");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_only_ever_closes_or_expires_is_not_asked_without_pause() {
    for ending in [Reply::watch(&[], Then::Close), refused(410)] {
        let script = Script::default();
        for _ in 0..20 {
            script
                .on(LIST, list(&[], "10", ""))
                .on(WATCH, ending.clone());
        }
        let _run = run_pods(&script);
        let watches = script.asked(WATCH, 12).await;
        assert_eq!(watches[1].at, watches[0].at, "the first end may be chance");
        let took = watches[11].at - watches[1].at;
        assert!(took >= Duration::from_secs(1), "ten more took {took:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_comes_back_after_a_long_outage_is_listed_within_seconds() {
    let script = Script::default();
    script.on(LIST, list(&[], "10", ""));
    for _ in 0..20 {
        script.on(WATCH, Reply::Cut);
    }
    script.on(WATCH, refused(410)).on(WATCH, quiet());
    script.on(LIST, list(&[], "20", ""));
    let mut run = run_pods(&script);
    run.listed().await;
    let watches = script.asked(WATCH, 21).await;
    let waits = watches.windows(2).map(|pair| pair[1].at - pair[0].at);
    assert!(waits.max() <= Some(Duration::from_secs(3)));
    run.listed().await;
    let lists = script.seen_on(LIST);
    assert_eq!(
        lists[1].at, watches[20].at,
        "the failures have been waited for"
    );
}

#[tokio::test(start_paused = true)]
async fn half_a_line_at_the_end_of_a_watch_is_no_change() {
    let script = Script::default();
    script.on(LIST, list(&[], "10", ""));
    let line = change("ADDED", &pod("a", "11")).to_string();
    let (half, _) = line.split_at(line.len() / 2);
    script.on(WATCH, Reply::Stream(vec![half.to_owned()], Then::Close));
    script.on(
        WATCH,
        Reply::Stream(
            vec![half.to_owned(), format!("{}\n", &line[half.len()..])],
            Then::Hang,
        ),
    );
    let mut run = run_pods(&script);
    run.listed().await;
    assert_eq!(&*run.set().await.key().name, "a");
    assert_eq!(
        run.count("plimsoll_cluster_undecodable_objects_total"),
        None
    );
}

#[tokio::test(start_paused = true)]
async fn a_deleted_pod_is_gone_with_its_uid_even_if_it_is_not_understood() {
    let script = Script::default();
    script.on(LIST, list(&[], "10", ""));
    script.on(
        WATCH,
        Reply::watch(&[change("DELETED", &odd_pod("a", "11"))], Then::Hang),
    );
    let mut run = run_pods(&script);
    run.listed().await;
    match run.next().await {
        Event::PodGone { key, uid } => assert_eq!((key.to_string(), &*uid.0), ("ns/a".into(), "a")),
        other => panic!("not gone: {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn nodes_are_listed_set_and_gone() {
    let node =
        |version: &str| json!({"metadata": {"name": "n1", "uid": "u", "resourceVersion": version}});
    let script = Script::default();
    script.on("GET /api/v1/nodes", list(&[node("1")], "10", ""));
    let changes = [
        change("MODIFIED", &node("11")),
        change("DELETED", &node("12")),
    ];
    script.on("WATCH /api/v1/nodes", Reply::watch(&changes, Then::Hang));
    let mut run = run(Nodes::default(), &script);
    assert!(matches!(run.next().await, Event::NodesListed(nodes) if nodes.len() == 1));
    assert!(matches!(run.next().await, Event::NodeSet(node) if &**node.name() == "n1"));
    assert!(matches!(run.next().await, Event::NodeGone(name) if &*name == "n1"));
}

#[tokio::test(start_paused = true)]
async fn without_an_engine_the_watch_ends_with_an_error() {
    let script = Script::default();
    script.on(LIST, list(&[], "10", ""));
    let (sender, receiver) = channel(1);
    drop(receiver);
    let watch = Watch::new(
        pods(Arc::default(), &script),
        script.api(),
        sender,
        Ready::default(),
        partners().0,
    );
    assert_eq!(
        watch.run(CancellationToken::new()).await,
        Err(TaskError::EngineGone)
    );
}

#[tokio::test(start_paused = true)]
async fn the_stop_signal_ends_a_watch_wherever_it_is() {
    let script = Script::default();
    let (sender, _receiver) = channel(1);
    let stop = CancellationToken::new();
    stop.cancel();
    let (partner, _) = partners();
    let watch = Watch::new(
        Nodes::default(),
        script.api(),
        sender,
        Ready::default(),
        partner,
    );
    assert_eq!(watch.run(stop).await, Ok(()));
}
