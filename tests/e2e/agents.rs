//! Agents: the real one beside simulated ones, killed, frozen, and back.

use std::time::Duration;

use plimsoll_tests::controlplane::{Options, Process, Signal};

use crate::rig::{Recorder, Rig, Scheduler, Setup, pod};

const BOUND: Duration = Duration::from_mins(1);
/// Seconds of age at which a sample is no longer what a decision rests on.
const OLDEST: f64 = 2.0;
const AGE: &str = "plimsoll_decision_sample_age_seconds";
const REPORTING: &str = "plimsoll_load_nodes{state=\"reporting\"}";
const SILENT: &str = "plimsoll_load_nodes{state=\"silent\"}";

#[test]
fn pods_are_bound_where_load_says_by_samples_of_two_seconds_at_most() -> anyhow::Result<()> {
    let rig = Rig::start(&Options::default())?;
    rig.add_nodes(4, "8")?;
    let mut recorder = Recorder::start(rig.cluster.api())?;
    let scheduler = rig.scheduler(&Setup::default())?;
    // n0 is this machine, whatever it does; n1 is busy, n2 idle, n3 in between.
    let _real = rig.site.agent("n0", &scheduler)?;
    let loads = [("n1", 7500.0), ("n2", 200.0), ("n3", 5500.0)];
    let _agents = rig.site.simulate(&loads, &scheduler)?;
    scheduler.until_series(REPORTING, |nodes| nodes == 4.0)?;

    for round in 0..20 {
        let stem = format!("round-{round}-");
        rig.add_pods(&stem, &vec![pod("plimsoll", "50m"); 5])?;
        recorder.until_bound(&stem, 5, BOUND)?;
    }
    let on = |recorder: &mut Recorder, node: &str| {
        let pods = recorder
            .pods()
            .filter(|pod| pod.node.as_deref() == Some(node));
        pods.count()
    };
    let [busy, idle, between] = ["n1", "n2", "n3"].map(|node| on(&mut recorder, node));
    assert!(
        idle > between && idle > busy && busy == 0,
        "busy {busy}, idle {idle}, between {between}"
    );
    let p99 = scheduler.quantile(AGE, 0.99)?;
    println!("sample age at decision, p99: {p99:?} s over 100 decisions");
    assert!(p99.is_some_and(|age| age <= OLDEST), "{p99:?}");
    recorder.assert_sound();
    scheduler.stop()?;
    rig.close()
}

#[test]
fn an_agent_that_is_frozen_or_killed_goes_stale_and_catches_up() -> anyhow::Result<()> {
    let rig = Rig::start(&Options::default())?;
    rig.add_nodes(1, "8")?;
    let mut recorder = Recorder::start(rig.cluster.api())?;
    let scheduler = rig.scheduler(&Setup::default())?;
    let agent = rig.site.agent("n0", &scheduler)?;
    scheduler.until_series(REPORTING, |nodes| nodes == 1.0)?;

    agent.send(Signal::Freeze)?;
    until_stale(&scheduler)?;
    agent.send(Signal::Thaw)?;
    until_fresh(&rig, &scheduler, &mut recorder, "thawed")?;

    agent.end(Signal::Kill, BOUND)?;
    until_stale(&scheduler)?;
    let agent: Process = rig.site.agent("n0", &scheduler)?;
    until_fresh(&rig, &scheduler, &mut recorder, "again")?;
    agent.end(Signal::Terminate, BOUND)?;
    scheduler.stop()?;
    rig.close()
}

fn until_stale(scheduler: &Scheduler) -> anyhow::Result<()> {
    scheduler.until_series(SILENT, |nodes| nodes == 1.0)
}

/// The node reports again, and what is decided from now on rests on new samples only.
fn until_fresh(
    rig: &Rig,
    scheduler: &Scheduler,
    recorder: &mut Recorder,
    stem: &str,
) -> anyhow::Result<()> {
    scheduler.until_series(REPORTING, |nodes| nodes == 1.0)?;
    let old = older_decisions(scheduler)?;
    rig.add_pods(stem, &vec![pod("plimsoll", "50m"); 10])?;
    recorder.until_bound(stem, 10, BOUND)?;
    assert_eq!(older_decisions(scheduler)?, old, "{stem}: by an old sample");
    Ok(())
}

/// Decisions by samples that were older than they may be.
fn older_decisions(scheduler: &Scheduler) -> anyhow::Result<f64> {
    let all = scheduler.series(&format!("{AGE}_count"))?;
    let young = scheduler.series(&format!("{AGE}_bucket{{le=\"{OLDEST:.1}\"}}"))?;
    Ok(all - young)
}
