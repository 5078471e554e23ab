//! HTTP extenders beside the real kube-scheduler.
//!
//! One cluster, one file with two extenders: the first keeps nodes itself, the second is given
//! whole nodes. What kube-scheduler sends them is kept in `tests/fixtures/extender`.

mod recorded;
mod words;

use std::time::Duration;

use plimsoll_tests::controlplane::{Options, until};
use serde_json::{Value, json};

use self::recorded::{Recorded, hold_against, hold_bare_against};
use crate::rig::{Extender, NODES, PODS, Rig, Scheduler, Setup, node, pod};

const BOUND: Duration = Duration::from_secs(30);
const PRIORITIES: &str = "/apis/scheduling.k8s.io/v1/priorityclasses";

/// A file with both extenders. One worker, so that nodes are in their order.
fn file(scheduler: &str, extender: &Extender) -> String {
    let url = extender.url();
    let verbs = "filterVerb: filter, prioritizeVerb: prioritize, preemptVerb: preempt, \
                 weight: 100, httpTimeout: 1s";
    format!(
        "
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
parallelism: 1
profiles:
- schedulerName: {scheduler}
extenders:
- {{urlPrefix: '{url}/names', {verbs}, bindVerb: bind, nodeCacheCapable: true}}
- {{urlPrefix: '{url}/whole/', {verbs}}}
"
    )
}

/// A cluster in which every node is full of pods of no priority, but for a half CPU each.
fn furnish(rig: &Rig) -> anyhow::Result<()> {
    let api = rig.cluster.api();
    let class = json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
        "metadata": {"name": "high"}, "value": 1000});
    api.create(PRIORITIES, &class)?;
    for index in 0..4 {
        let name = format!("n{index}");
        api.create(NODES, &node(&name, "2"))?;
        let mut filler = pod("nobody", "1500m");
        filler["metadata"]["name"] = json!(format!("filler-{index}"));
        filler["spec"]["nodeName"] = json!(name);
        api.create(PODS, &filler)?;
    }
    Ok(())
}

/// A pod that the extender refuses one node and likes another for.
fn picky(scheduler: &str) -> Value {
    let mut pod = pod(scheduler, "500m");
    pod["metadata"] = json!({"name": "picky", "labels": {"app": "web"},
        "annotations": {"extender/refuse": "n1", "extender/best": "n2"}});
    pod
}

/// A pod that fits nowhere, for which the extender leaves one candidate of preemption.
fn urgent(scheduler: &str) -> Value {
    let mut pod = pod(scheduler, "1");
    pod["metadata"] = json!({"name": "urgent", "annotations": {"extender/victims": "n3"}});
    pod["spec"]["priorityClassName"] = json!("high");
    pod
}

/// Runs both pods through a scheduler; gives what its extender was asked, and about what.
fn play(rig: &Rig, extender: &Extender, scheduler: &str) -> anyhow::Result<Recorded> {
    let api = rig.cluster.api();
    let mut recorded = Recorded::new(api.get(NODES)?);
    let created = api.create(PODS, &picky(scheduler))?;
    recorded.pod("picky", created);
    until("picky is bound", BOUND, || is_on(rig, "picky", "n2"))?;
    recorded.bodies(extender, "picky", &["filter", "prioritize", "bind"]);
    recorded.victims(api.get(PODS)?);

    let created = api.create(PODS, &urgent(scheduler))?;
    recorded.pod("urgent", created);
    until("urgent is bound", BOUND, || is_on(rig, "urgent", "n3"))?;
    recorded.bodies(extender, "urgent", &["preempt"]);
    for kind in ["names", "whole"] {
        let asked = |verb: &str, pod: &str| extender.count(&format!("/{kind}/{verb}"), pod);
        assert_eq!(
            ["filter", "prioritize"].map(|verb| asked(verb, "picky")),
            [1, 1]
        );
        // It fits on the node that it was promised, and on no other: nothing to compare.
        assert_eq!(asked("prioritize", "urgent"), 0);
    }
    assert!(rig.pod("filler-3").is_err(), "the victim is still there");
    for spared in ["filler-0", "filler-1", "filler-2"] {
        assert!(rig.pod(spared).is_ok(), "{spared} is gone");
    }
    Ok(recorded)
}

fn is_on(rig: &Rig, pod: &str, node: &str) -> bool {
    rig.pod(pod)
        .is_ok_and(|pod| pod["spec"]["nodeName"] == node)
}

/// A cluster with kube-scheduler and its extender.
fn theirs() -> anyhow::Result<(Rig, Extender)> {
    let extender = Extender::start()?;
    let rig = Rig::start(&Options {
        kube_scheduler: Some(file("default-scheduler", &extender)),
        ..Options::default()
    })?;
    extender.bind_by(rig.cluster.api());
    furnish(&rig)?;
    Ok((rig, extender))
}

#[test]
fn kube_scheduler_asks_extenders_as_the_fixture_has_it() -> anyhow::Result<()> {
    let (rig, extender) = theirs()?;
    let recorded = play(&rig, &extender, "default-scheduler")?;
    hold_against("bodies", &recorded.settled())?;
    rig.close()
}

#[test]
fn kube_scheduler_tells_of_failing_extenders_as_the_fixture_has_it() -> anyhow::Result<()> {
    let (rig, extender) = theirs()?;
    let words = words::hear(&rig, &extender, "default-scheduler")?;
    hold_against("words", &words)?;
    rig.close()
}

/// A cluster with Plimsoll in kube-scheduler's place, under its name, with the same file.
fn ours() -> anyhow::Result<(Rig, Extender, Scheduler)> {
    let extender = Extender::start()?;
    let rig = Rig::start(&Options::default())?;
    extender.bind_by(rig.cluster.api());
    furnish(&rig)?;
    let profiles = file("default-scheduler", &extender);
    let scheduler = rig.scheduler(&Setup {
        profiles: format!("{profiles}leaderElection: {{leaderElect: false}}\n"),
        ..Setup::default()
    })?;
    Ok((rig, extender, scheduler))
}

#[test]
fn plimsoll_asks_extenders_what_kube_scheduler_asks() -> anyhow::Result<()> {
    let (rig, extender, scheduler) = ours()?;
    let recorded = play(&rig, &extender, "default-scheduler")?;
    hold_bare_against("bodies", &recorded.settled())?;
    for verb in ["filter", "prioritize", "bind", "preempt"] {
        let url = extender.url();
        let series = format!(
            "plimsoll_extender_requests_total{{extender=\"{url}/names\",verb=\"{verb}\",\
             outcome=\"ok\"}}"
        );
        assert!(scheduler.series(&series)? > 0.0, "{series}");
    }
    scheduler.stop()?;
    rig.close()
}

#[test]
fn plimsoll_tells_of_failing_extenders_what_kube_scheduler_tells() -> anyhow::Result<()> {
    let (rig, extender, scheduler) = ours()?;
    let mut words = words::hear(&rig, &extender, "default-scheduler")?;
    words::agree_where_ours_are_better(&mut words);
    hold_against("words", &words)?;
    scheduler.stop()?;
    rig.close()
}
