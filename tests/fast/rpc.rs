//! The stream between agents and a scheduler under bad networks and restarts: cases RPC-A1 and
//! RPC-A2, a stalled connection, and certificates that change.
//!
//! Whole agents and the whole telemetry server over real loopback sockets, on a paused clock:
//! minutes pass in no time, and all waits are drawn from one seed.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed"
)]

mod authority;
mod relay;
mod rig;
mod tls;

use std::net::SocketAddr;
use std::time::Duration;

use plimsoll_agent::app::StreamOptions;
use tokio::time::{Instant, sleep};

use relay::Relay;
use rig::{Agents, Server, free_port};

/// Time between two samples of an agent.
const PERIOD: Duration = Duration::from_secs(1);
/// Agents of a fleet.
const FLEET: usize = 500;
/// Parts of the time in which they return: 20 agents in each on average, so that chance alone
/// fills none three times as full.
const BUCKETS: usize = 25;
/// Time between two samples of those: the test is about connections.
const FLEET_PERIOD: Duration = Duration::from_secs(10);

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[tokio::test(start_paused = true)]
async fn rpc_a1_a_half_open_connection_is_noticed_and_heals_to_exactly_one_stream() {
    fastrand::seed(1);
    let mut server = Server::start().await;
    let relay = Relay::between(free_port().await, server.address()).await;
    let mut agents = Agents::default();
    agents.start("a", relay.address());
    server.listen_for(seconds(60)).await;
    assert_eq!((relay.accepted(), server.streams()), (1, 1));
    assert!(server.newest_age("a") <= PERIOD);

    // No packet passes, in either direction, and nobody is told.
    let frozen = Instant::now();
    relay.freeze();
    server.listen_for(seconds(20)).await;
    assert!(server.newest_age("a") >= seconds(19), "the sample ages");
    assert_eq!(
        server.streams(),
        0,
        "the scheduler gave the stream up after 15 s"
    );
    server.listen_for(seconds(280)).await;
    assert!(server.newest_age("a") >= seconds(299));
    let noticed = relay.accepted_at()[1] - frozen;
    // Silent for 30 s, no answer for 10 s, and a wait of at most half a second.
    assert!(
        noticed <= Duration::from_millis(40_500 + 1_000),
        "{noticed:?}"
    );

    let before = server.taken();
    relay.thaw();
    server.listen_for(seconds(30)).await;
    assert!(server.newest_age("a") <= PERIOD, "samples are here again");
    assert_eq!(server.streams(), 1);
    assert_eq!(server.connections(), 1);
    let oldest = server.oldest_since(before);
    assert!(oldest <= 2 * PERIOD, "taken as old as {oldest:?}");
}

#[tokio::test(start_paused = true)]
async fn after_a_stall_of_eight_seconds_no_sample_older_than_two_periods_is_taken() {
    fastrand::seed(2);
    let mut server = Server::start().await;
    let relay = Relay::between(free_port().await, server.address()).await;
    let mut agents = Agents::default();
    agents.start("a", relay.address());
    server.listen_for(seconds(30)).await;
    relay.freeze();
    server.listen_for(seconds(8)).await;
    let before = server.taken();
    relay.thaw();
    server.listen_for(seconds(2)).await;
    assert!(server.newest_age("a") <= PERIOD);
    let oldest = server.oldest_since(before);
    assert!(oldest <= 2 * PERIOD, "taken as old as {oldest:?}");
    assert!(server.series("plimsoll_ingest_refused_total{what=\"report\",reason=\"late\"}") >= 5.0);
    assert_eq!(relay.accepted(), 1, "the connection lives");
}

/// Waits until the relay has taken a connection of each agent beyond the first `before`; says
/// how many came in the fullest twenty-fifth of that time, as a multiple of the mean.
async fn peak_of_return(server: &mut Server, relay: &Relay, before: usize) -> f64 {
    let start = Instant::now();
    while relay.accepted() < before + FLEET {
        assert!(start.elapsed() < seconds(60), "{} came", relay.accepted());
        server.listen_for(Duration::from_millis(100)).await;
    }
    let returns: Vec<f64> = relay.accepted_at()[before..]
        .iter()
        .map(|at| (*at - start).as_secs_f64())
        .collect();
    let last = returns.iter().copied().fold(0.0, f64::max);
    let mut buckets = [0_u32; BUCKETS];
    for at in &returns {
        buckets[((at / last * BUCKETS as f64) as usize).min(BUCKETS - 1)] += 1;
    }
    let mean = FLEET as f64 / BUCKETS as f64;
    f64::from(*buckets.iter().max().unwrap()) / mean
}

fn fleet(scheduler: SocketAddr) -> Agents {
    let mut agents = Agents::default();
    for number in 0..FLEET {
        let target = format!("http://{scheduler}").parse().unwrap();
        let name = format!("node-{number}");
        agents.start_with(StreamOptions::new(name, vec![target], FLEET_PERIOD));
    }
    agents
}

fn assert_all_are_fresh(server: &Server) {
    assert_eq!((server.streams(), server.nodes_heard()), (FLEET, FLEET));
    for number in 0..FLEET {
        let age = server.newest_age(&format!("node-{number}"));
        assert!(age <= 2 * FLEET_PERIOD, "node-{number}: {age:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn rpc_a2_agents_that_start_first_find_the_scheduler_and_return_spread_after_restarts() {
    fastrand::seed(3);
    let mut server = Server::start().await;
    let port = free_port().await;
    let agents = fleet(port);
    sleep(seconds(10)).await;
    assert_eq!(agents.running(), FLEET);

    let mut relay = Relay::between(port, server.address()).await;
    let peak = peak_of_return(&mut server, &relay, 0).await;
    assert!(peak < 3.0, "at first: {peak}");
    server.listen_for(seconds(12)).await;
    assert_all_are_fresh(&server);

    // Away for 10 s, soon after the start, when no back-off has been reset; then for 3 s and
    // for a moment, after a minute of health.
    for (healthy, away) in [(10, 10), (70, 3), (70, 0)] {
        server.listen_for(seconds(healthy)).await;
        relay.cut().await;
        if away > 0 {
            server.listen_for(seconds(away)).await;
        }
        relay = Relay::between(port, server.address()).await;
        let peak = peak_of_return(&mut server, &relay, 0).await;
        assert!(peak < 3.0, "away for {away} s: {peak}");
        server.listen_for(seconds(12)).await;
        assert_all_are_fresh(&server);
    }
}

#[tokio::test(start_paused = true)]
async fn a_scheduler_that_goes_in_good_order_is_returned_to_over_ten_seconds() {
    fastrand::seed(4);
    let mut server = Server::start().await;
    let relay = Relay::between(free_port().await, server.address()).await;
    let _agents = fleet(relay.address());
    server.until_streams(FLEET).await;
    server.listen_for(seconds(20)).await;
    let before = relay.accepted();
    server.restart().await;
    let start = Instant::now();
    let peak = peak_of_return(&mut server, &relay, before).await;
    assert!(peak < 3.0, "{peak}");
    let took = start.elapsed();
    assert!((seconds(5)..seconds(12)).contains(&took), "{took:?}");
}
