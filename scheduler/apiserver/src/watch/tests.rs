//! Watches without a socket, on a clock that the test moves.

use std::time::Duration;

use serde_json::{Value, json};
use tokio_stream::StreamExt;
use tokio_util::sync::CancellationToken;

use super::{EventStream, Start, WatchRequest};
use crate::{
    clock,
    faults::Faults,
    resources::Resource,
    selector::Selection,
    store::{PodDeletion, Settings, Store},
    view::View,
};

/// What a watch needs: objects, and faults that may close it.
struct Bench {
    store: Store,
    faults: Faults,
}

fn bench(history: usize) -> Bench {
    let store = Store::new(&Settings {
        history,
        seed: 1,
        pod_deletion: PodDeletion::AtOnce,
        namespaces: Vec::new(),
    });
    let faults = Faults::default();
    Bench { store, faults }
}

fn watch(bench: &Bench, start: Start, bookmarks: bool) -> EventStream {
    let request = WatchRequest {
        view: View::of(Resource::named("configmaps").unwrap(), ""),
        namespace: None,
        selection: Selection::default(),
        start,
        bookmarks,
        bookmark_period: Duration::from_mins(1),
        timeout: Duration::from_secs(150),
    };
    EventStream::new(
        &bench.store,
        &bench.faults,
        &CancellationToken::new(),
        request,
    )
}

fn put(store: &Store, name: &str) {
    let object = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}});
    store.create(object).unwrap();
}

/// Gives the events of the next chunk.
async fn next(watch: &mut EventStream) -> Option<Vec<Value>> {
    let chunk = watch.next().await?.unwrap();
    let lines = chunk
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    Some(
        lines
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect(),
    )
}

#[tokio::test(start_paused = true)]
async fn a_quiet_watch_gets_a_bookmark_each_period_and_a_last_one_at_its_end() {
    let bench = bench(10);
    let store = &bench.store;
    let began = tokio::time::Instant::now();
    let mut watch = watch(&bench, Start::Now, true);
    let mut at = Vec::new();
    while let Some(events) = next(&mut watch).await {
        assert_eq!(events[0]["type"], "BOOKMARK");
        let version = &events[0]["object"]["metadata"]["resourceVersion"];
        assert_eq!(version, &store.resource_version().to_string());
        at.push(began.elapsed().as_secs());
    }
    assert_eq!(at, [60, 120, 150]);
}

#[tokio::test(start_paused = true)]
async fn a_watch_without_bookmarks_ends_at_its_time_and_says_nothing() {
    let bench = bench(10);
    let began = tokio::time::Instant::now();
    let mut watch = watch(&bench, Start::Now, false);
    assert!(next(&mut watch).await.is_none());
    assert_eq!(began.elapsed().as_secs(), 150);
}

#[tokio::test(start_paused = true)]
async fn changes_of_other_resources_move_the_bookmark() {
    let bench = bench(10);
    let store = &bench.store;
    let mut watch = watch(&bench, Start::Now, true);
    put(store, "a");
    assert_eq!(next(&mut watch).await.unwrap()[0]["type"], "ADDED");
    let lease =
        json!({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "l"}});
    let version = store.create(lease).unwrap().resource_version();
    let bookmark = next(&mut watch).await.unwrap().remove(0);
    assert_eq!(
        bookmark["object"]["metadata"]["resourceVersion"],
        version.to_string()
    );
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_falls_behind_the_history_is_told_so_and_ended() {
    let bench = bench(3);
    let store = &bench.store;
    let mut watch = watch(&bench, Start::Now, false);
    put(store, "a");
    assert_eq!(next(&mut watch).await.unwrap().len(), 1);
    for name in ["b", "c", "d", "e"] {
        put(store, name);
    }
    let events = next(&mut watch).await.unwrap();
    assert_eq!(
        (
            events.len(),
            &events[0]["type"],
            &events[0]["object"]["code"]
        ),
        (1, &json!("ERROR"), &json!(410))
    );
    assert!(next(&mut watch).await.is_none());
}

#[tokio::test(start_paused = true)]
async fn the_events_that_are_at_hand_come_in_one_chunk() {
    let bench = bench(1000);
    let store = &bench.store;
    let mut watch = watch(&bench, Start::Now, false);
    for at in 0..300 {
        put(store, &format!("c{at}"));
    }
    let mut events = 0;
    let mut chunks = 0;
    while events < 300 {
        events += next(&mut watch).await.unwrap().len();
        chunks += 1;
    }
    assert!(chunks <= 3, "{chunks} chunks");
}

#[test]
fn the_clock_writes_what_objects_carry() {
    let bench = bench(1);
    let store = &bench.store;
    put(store, "a");
    let object = store.get("configmaps", "default", "a").unwrap().value();
    let made: jiff::Timestamp = object["metadata"]["creationTimestamp"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap();
    assert!(made <= clock::now());
}
