//! What the scheduler shows of itself on a real API server: cache and queue by SIGUSR2 and by
//! HTTP, the configuration by HTTP.

use std::time::Duration;

use plimsoll_tests::controlplane::{Options, Signal, until};
use serde_json::Value;

use crate::rig::{Recorder, Rig, Setup, pod};

const BOUND: Duration = Duration::from_secs(30);

#[test]
fn a_dump_shows_what_runs_where_and_what_waits_for_whom() -> anyhow::Result<()> {
    let rig = Rig::start(&Options::default())?;
    rig.add_nodes(2, "4")?;
    let mut recorder = Recorder::start(rig.cluster.api())?;
    let scheduler = rig.scheduler(&Setup::default())?;
    rig.add_pods("web", &vec![pod("plimsoll", "500m"); 2])?;
    recorder.until_bound("web", 2, BOUND)?;
    rig.add_pods("huge", &[pod("plimsoll", "64")])?;
    until("the pod that fits nowhere is told so", BOUND, || {
        rig.event("huge-0", "FailedScheduling")
            .is_ok_and(|event| event.is_some())
    })?;

    scheduler.process()?.send(Signal::Dump)?;
    let mut log = String::new();
    until("the dump is in the log", BOUND, || {
        log = scheduler.log().unwrap_or_default();
        log.contains("dump of scheduling queue")
    })?;
    assert!(log.contains("cache and API server agree"), "{log}");
    let page = scheduler.page("/debug/dump")?;
    assert_eq!(page.code, 200);
    let uid = |name: &str| -> anyhow::Result<String> {
        let pod = rig.pod(name)?;
        Ok(pod["metadata"]["uid"]
            .as_str()
            .unwrap_or_default()
            .to_owned())
    };
    let (web, huge) = (uid("web-0")?, uid("huge-0")?);
    for text in [&log, &page.text] {
        for words in [
            "Node name: n0",
            "Node name: n1",
            &format!("name: web-0, namespace: default, uid: {web}"),
            &format!("name: huge-0, namespace: default, uid: {huge}"),
            "because of: [NodeResourcesFit]",
        ] {
            assert!(text.contains(words), "{words} is not in {text}");
        }
    }
    assert!(
        page.text.contains("Cache and API server agree"),
        "{}",
        page.text
    );
    scheduler.stop()?;
    rig.close()
}

#[test]
fn the_configuration_that_is_shown_starts_a_scheduler_that_shows_the_same() -> anyhow::Result<()> {
    let rig = Rig::start(&Options::default())?;
    let shown = |setup: &Setup| -> anyhow::Result<Value> {
        let scheduler = rig.scheduler(setup)?;
        let page = scheduler.page("/configz")?;
        assert_eq!(page.code, 200);
        scheduler.stop()?;
        Ok(serde_json::from_str(&page.text)?)
    };
    let first = shown(&Setup::default())?;
    let file = &first["componentconfig"];
    assert_eq!(file["kind"], "KubeSchedulerConfiguration");
    assert_eq!(file["profiles"][0]["schedulerName"], "plimsoll");
    let second = shown(&Setup {
        name: "again".to_owned(),
        profiles: file.to_string(),
    })?;
    assert_eq!(second, first);
    rig.close()
}
