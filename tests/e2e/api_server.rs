//! An API server that goes away, closes watches, forgets history, or cannot be reached.

use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use anyhow::Context;
use plimsoll_tests::controlplane::{Options, Program, Signal};

use crate::rig::{PODS, Recorder, Relay, Rig, Scheduler, Setup, node, node_path, pod};

/// How long the API server is away.
const AWAY: Duration = Duration::from_secs(20);
/// Within this after the API server's return, pods that come are bound.
const BACK_AT_WORK: Duration = Duration::from_secs(5);
/// What anything may take.
const BOUND: Duration = Duration::from_secs(30);
/// A watch is renewed each 60 s, so a connection that died without a word is given up a
/// little later.
const SILENCE: Duration = Duration::from_secs(100);

#[test]
fn an_api_server_killed_and_away_for_twenty_seconds_is_worked_with_again_within_five()
-> anyhow::Result<()> {
    let mut rig = Rig::start(&Options::default())?;
    rig.add_nodes(2, "8")?;
    let mut recorder = Recorder::start(rig.cluster.api())?;
    let scheduler = rig.scheduler(&Setup::default())?;
    rig.add_pods("before", &vec![pod("plimsoll", "100m"); 20])?;
    recorder.until_bound("before", 20, BOUND)?;

    scheduler.has_asked_within_its_rights()?;
    rig.cluster.kill(Program::ApiServer)?;
    thread::sleep(AWAY);
    rig.cluster.start_program(Program::ApiServer)?;
    let back = recorder.now();
    rig.add_pods("after", &vec![pod("plimsoll", "100m"); 20])?;
    recorder.until_bound("after", 20, BOUND)?;
    let last = recorder.last_bound("after").context("none is bound")?;
    let took = last.saturating_sub(back);
    assert!(took <= BACK_AT_WORK, "the last pod waited {took:?}");
    recorder.assert_sound();
    scheduler.stop_after_restart()?;
    rig.close()
}

#[test]
fn a_watch_that_is_cut_off_goes_on_where_it_was() -> anyhow::Result<()> {
    let rig = Rig::start(&Options::default())?;
    rig.add_nodes(2, "8")?;
    let mut recorder = Recorder::start(rig.cluster.api())?;
    let relay = Relay::start(address(&rig)?)?;
    let scheduler = rig.scheduler_via(&relay)?;
    let relists = relists(&scheduler)?;
    for round in 0..5 {
        relay.sever();
        let cut = recorder.now();
        let stem = format!("round-{round}");
        rig.add_pods(&stem, &vec![pod("plimsoll", "100m"); 5])?;
        recorder.until_bound(&stem, 5, BOUND)?;
        let last = recorder.last_bound(&stem).context("none is bound")?;
        let took = last.saturating_sub(cut);
        assert!(took <= BACK_AT_WORK, "round {round}: it took {took:?}");
    }
    assert_eq!(
        self::relists(&scheduler)?,
        relists,
        "nothing was missed, so nothing is listed again"
    );
    recorder.assert_sound();
    scheduler.stop()?;
    rig.close()
}

#[test]
fn a_history_that_is_gone_is_made_up_for_by_a_new_list() -> anyhow::Result<()> {
    let mut rig = Rig::start(&Options::default())?;
    rig.add_nodes(2, "2")?;
    let scheduler = rig.scheduler(&Setup::default())?;
    rig.add_pods("full", &vec![pod("plimsoll", "2"); 2])?;
    let both = "scheduler_cache_size{type=\"pods\"}";
    scheduler.until_series(both, |pods| pods == 2.0)?;

    scheduler.has_asked_within_its_rights()?;
    // It stands still while a pod and a node go and a node comes. A new process of the API
    // server knows nothing of the time before it.
    scheduler.process()?.send(Signal::Freeze)?;
    let api = rig.cluster.api();
    api.delete(&format!("{PODS}/full-0"))?;
    api.delete(&node_path("n0"))?;
    api.delete(&format!("{PODS}/full-1"))?;
    api.create("/api/v1/nodes", &node("n2", "2"))?;
    rig.cluster.kill(Program::ApiServer)?;
    rig.cluster.start_program(Program::ApiServer)?;
    let mut recorder = Recorder::start(rig.cluster.api())?;
    scheduler.process()?.send(Signal::Thaw)?;
    rig.add_pods("after", &vec![pod("plimsoll", "2"); 2])?;
    recorder.until_bound("after", 2, BOUND)?;
    recorder.assert_sound();
    assert!(relists(&scheduler)? >= 1.0, "it has listed again");
    scheduler.stop_after_restart()?;
    rig.close()
}

/// WAT-A1.
#[test]
fn wat_a1_a_node_deleted_behind_a_dead_connection_is_given_no_pod() -> anyhow::Result<()> {
    let mut rig = Rig::start(&Options::default())?;
    rig.add_nodes(2, "8")?;
    let relay = Relay::start(address(&rig)?)?;
    let scheduler = rig.scheduler_via(&relay)?;
    let loads = [("n0", 7000.0), ("n1", 100.0)];
    let _agents = rig.site.simulate(&loads, &scheduler)?;
    scheduler.until_series("plimsoll_ingest_nodes", |nodes| nodes == 2.0)?;

    // n1, which is the best, goes while no packet passes; the API server that comes back has
    // forgotten the change.
    relay.cut();
    rig.cluster.api().delete(&node_path("n1"))?;
    scheduler.has_asked_within_its_rights()?;
    rig.cluster.kill(Program::ApiServer)?;
    rig.cluster.start_program(Program::ApiServer)?;
    let mut recorder = Recorder::start(rig.cluster.api())?;
    relay.heal();
    rig.add_pods("web", &vec![pod("plimsoll", "100m"); 20])?;
    recorder.until_bound("web", 20, SILENCE)?;
    let ghosts = recorder
        .pods()
        .filter(|pod| pod.node.as_deref() != Some("n0"));
    assert_eq!(ghosts.count(), 0, "pods on the ghost");
    recorder.assert_sound();

    // Its agent goes on, and raises nobody from the dead.
    let unknown = "plimsoll_load_samples_total{outcome=\"unknown_node\"}";
    let before = scheduler.series(unknown)?;
    scheduler.until_series(unknown, |count| count > before + 1.0)?;
    assert_eq!(
        scheduler.series("scheduler_cache_size{type=\"nodes\"}")?,
        1.0
    );
    scheduler.stop_after_restart()?;
    rig.close()
}

fn address(rig: &Rig) -> anyhow::Result<SocketAddr> {
    let server = rig.cluster.server();
    Ok(server.trim_start_matches("https://").parse()?)
}

/// Lists of nodes and pods after the first.
fn relists(scheduler: &Scheduler) -> anyhow::Result<f64> {
    let count = |kind| {
        scheduler.series(&format!(
            "plimsoll_cluster_relists_total{{kind=\"{kind}\"}}"
        ))
    };
    Ok(count("nodes")? + count("pods")?)
}
