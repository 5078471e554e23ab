//! The other kinds: told of as objects, and no matter if a server does not serve them.

use std::time::Duration;

use plimsoll_core::Event;
use plimsoll_objects::ObjectKind;
use serde_json::json;

use super::{change, list, refused, run};
use crate::kind::Others;
use crate::script::{Reply, Script, Then};

const CLASSES: &str = "/apis/resource.k8s.io/v1/deviceclasses";

#[tokio::test(start_paused = true)]
async fn objects_are_listed_set_and_gone() {
    let class = |name: &str, version: &str| json!({"metadata": {"name": name, "uid": name, "resourceVersion": version}});
    let script = Script::default();
    script.on(
        &format!("GET {CLASSES}"),
        list(&[class("gpu", "1")], "10", ""),
    );
    let changes = [
        change("ADDED", &class("nic", "11")),
        change("DELETED", &class("gpu", "12")),
    ];
    script.on(
        &format!("WATCH {CLASSES}"),
        Reply::watch(&changes, Then::Hang),
    );
    let mut run = run(Others(ObjectKind::DeviceClass), &script);
    match run.next().await {
        Event::ObjectsListed { kind, objects } => {
            assert_eq!((kind, objects.len()), (ObjectKind::DeviceClass, 1));
        }
        other => panic!("not a list: {other:?}"),
    }
    assert!(matches!(run.next().await, Event::ObjectSet(class) if &*class.key().name == "nic"));
    assert!(matches!(run.next().await, Event::ObjectGone { key, .. } if &*key.name == "gpu"));
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_is_not_served_has_no_objects_and_is_looked_for_again() {
    let script = Script::default();
    let route = format!("GET {CLASSES}");
    script
        .on(&route, refused(404))
        .on(&route, refused(404))
        .on(&route, list(&[], "10", ""));
    let mut run = run(Others(ObjectKind::DeviceClass), &script);
    for _ in 0..2 {
        let event = run.next().await;
        assert!(
            matches!(&event, Event::ObjectsListed { objects, .. } if objects.is_empty()),
            "{event:?}"
        );
    }
    let asked = script.asked(&route, 3).await;
    assert!(asked[2].at - asked[0].at >= Duration::from_mins(2));
    assert!(asked[2].at - asked[0].at < Duration::from_mins(3));
}
