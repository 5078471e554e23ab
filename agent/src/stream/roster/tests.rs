//! Streams follow the addresses of a name. Played on a paused clock, with a scheduler at each
//! address that takes connections and says nothing.

use std::collections::VecDeque;

use parking::Board;
use tokio::time::{advance, sleep};

use super::*;
use crate::clock::Clock;
use crate::metrics::Metrics;
use crate::report::Identity;
use crate::stream::{Keepalive, Resolver};
use crate::usage::Machine;

/// What the resolver answers, changed by a test.
mod parking {
    use std::io;
    use std::net::SocketAddr;

    use tokio::sync::watch;

    pub(super) type Answer = Result<Vec<SocketAddr>, io::ErrorKind>;

    #[derive(Clone)]
    pub(super) struct Board(pub(super) watch::Sender<Answer>);

    impl Board {
        pub(super) fn say(&self, answer: Answer) {
            drop(self.0.send_replace(answer));
        }
    }
}

fn address(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

struct Rig {
    board: Board,
    roster: Roster,
}

fn named(answer: parking::Answer) -> Rig {
    let board = Board(watch::Sender::new(answer));
    let asked = board.clone();
    let resolver = Resolver::new(move |host, port| {
        assert_eq!((&*host, port), ("plimsoll", 7443));
        let answer = asked.0.borrow().clone();
        async move { answer.map_err(io::Error::from) }
    });
    let line = Line {
        identity: Identity {
            node_name: "a".to_owned(),
            start_id: 1,
            period: Duration::from_secs(1),
        },
        machine: watch::Sender::new(Machine::default()).subscribe(),
        period: watch::Sender::new(Duration::from_secs(1)).subscribe(),
        feed: watch::Sender::new(None).subscribe(),
        past: watch::Sender::new(VecDeque::new()).subscribe(),
        tls: None,
        keepalive: Keepalive::default(),
        resolver,
        clock: Clock::start(),
        metrics: Metrics::new(),
    };
    let target = "http://plimsoll".parse().unwrap();
    Rig {
        board,
        roster: Roster::new(target, line),
    }
}

impl Rig {
    /// One question to the resolver, and what follows from the answer.
    fn ask(&mut self) -> Vec<SocketAddr> {
        if let Ok(addresses) = self.board.0.borrow().clone() {
            let chosen = self.roster.choose(&addresses);
            self.roster.seat(&chosen);
        }
        self.wanted()
    }

    /// The addresses with a stream that is to stay.
    fn wanted(&self) -> Vec<SocketAddr> {
        let live = self.roster.live.iter();
        live.filter(|(_, stay)| stay.borrow().leaving_since.is_none())
            .map(|(address, _)| *address)
            .collect()
    }

    fn say(&self, addresses: &[&str]) {
        let addresses = addresses.iter().map(|text| address(text)).collect();
        self.board.say(Ok(addresses));
    }
}

#[tokio::test(start_paused = true)]
async fn each_address_has_a_stream_and_a_sixth_has_none() {
    let all: Vec<_> = (1..=7).map(|n| address(&format!("10.0.0.{n}:1"))).collect();
    let mut rig = named(Ok(all.clone()));
    assert_eq!(rig.ask(), all[..5]);
    // The first comes back from the resolver last: those in use stay.
    let mut turned = all[2..].to_vec();
    turned.extend(&all[..2]);
    rig.board.say(Ok(turned));
    assert_eq!(rig.ask(), all[..5]);
}

#[tokio::test(start_paused = true)]
async fn an_address_that_comes_back_in_time_keeps_its_stream() {
    let mut rig = named(Ok(vec![address("10.0.0.1:1"), address("10.0.0.2:1")]));
    rig.ask();
    rig.say(&["10.0.0.2:1"]);
    assert_eq!(rig.ask(), [address("10.0.0.2:1")]);
    assert_eq!(rig.roster.live.len(), 2, "the stream is still there");
    rig.say(&["10.0.0.1:1", "10.0.0.2:1"]);
    assert_eq!(rig.ask().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn of_two_kinds_of_addresses_one_is_spoken_to_until_it_does_not_answer() {
    let (old, new) = (address("10.0.0.1:1"), address("[fd00::1]:1"));
    let mut rig = named(Ok(vec![new, old]));
    assert_eq!(rig.ask(), [new]);
    assert_eq!(rig.ask(), [new]);
    rig.roster.losses = true;
    assert_eq!(rig.ask(), [old]);
    rig.roster.live[&old].send_modify(|stay| stay.answers = true);
    rig.roster.losses = true;
    assert_eq!(rig.ask(), [old], "what answers is kept");
    rig.say(&["[fd00::1]:1"]);
    assert_eq!(rig.ask(), [new], "the only kind there is");
}

/// Loopback addresses where nobody listens: each stream fails at once and tries again.
#[tokio::test(start_paused = true)]
async fn a_stream_that_fails_after_its_address_left_is_not_tried_again() {
    let Rig { board, roster } = named(Ok(vec![address("127.0.0.1:1"), address("127.0.0.2:1")]));
    let metrics = roster.line.metrics.clone();
    let follow = async {
        sleep(Duration::from_mins(1)).await;
        assert_eq!(metrics.streams_now(), 2);
        board.say(Ok(vec![address("127.0.0.2:1")]));
        sleep(Duration::from_mins(1)).await;
        assert_eq!(metrics.streams_now(), 1);
        board.say(Err(io::ErrorKind::TimedOut));
        sleep(Duration::from_mins(5)).await;
        assert_eq!(
            metrics.streams_now(),
            1,
            "a resolver that fails changes nothing"
        );
        board.say(Ok(Vec::new()));
        sleep(Duration::from_mins(5)).await;
        assert_eq!(metrics.streams_now(), 1, "nor one that knows of none");
    };
    tokio::select! {
        () = roster.run() => {}
        () = follow => {}
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_well_is_closed_a_minute_after_its_address_left() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let silent = listener.local_addr().unwrap();
    let mut rig = named(Ok(vec![silent, address("127.0.0.2:1")]));
    rig.ask();
    rig.say(&["127.0.0.2:1"]);
    rig.ask();
    // As if it were connected: nothing ends it but its leaving.
    advance(Duration::from_secs(59)).await;
    assert!(rig.roster.live.contains_key(&silent));
    advance(Duration::from_secs(2)).await;
    while let Some(ended) = rig.roster.keepers.join_next().await {
        rig.roster.end(ended);
        if !rig.roster.live.contains_key(&silent) {
            break;
        }
    }
    assert!(rig.roster.remembered.contains_key(&silent));
}

/// An answer of the resolver may take seconds; meanwhile a stream may have ended for good.
#[tokio::test(start_paused = true)]
async fn an_address_that_comes_back_as_its_stream_ends_gets_a_new_one_at_once() {
    let both = [address("127.0.0.1:1"), address("127.0.0.2:1")];
    let mut rig = named(Ok(both.to_vec()));
    rig.ask();
    rig.say(&["127.0.0.2:1"]);
    rig.ask();
    // The stream fails, and nobody had the time to notice.
    sleep(Duration::from_mins(2)).await;
    rig.say(&["127.0.0.1:1", "127.0.0.2:1"]);
    assert_eq!(rig.ask(), both);
    sleep(Duration::from_millis(1)).await;
    while let Some(ended) = rig.roster.keepers.try_join_next() {
        rig.roster.end(ended);
    }
    assert_eq!(rig.wanted(), both, "both are kept");
}

#[tokio::test(start_paused = true)]
async fn a_name_with_two_kinds_of_addresses_that_are_all_dead_is_not_hammered() {
    let Rig { roster, .. } = named(Ok(vec![address("[::1]:1"), address("127.0.0.1:1")]));
    let metrics = roster.line.metrics.clone();
    let registry = metrics.registry(watch::Sender::new(None).subscribe());
    tokio::select! {
        () = roster.run() => {}
        () = sleep(Duration::from_mins(5)) => {}
    }
    let mut text = String::new();
    prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
    let failed = "plimsoll_agent_reconnects_total{reason=\"connect\"} ";
    let attempts = text.lines().find_map(|line| line.strip_prefix(failed));
    let attempts: u32 = attempts.unwrap().parse().unwrap();
    // Each address each 7.5 s on average, were both tried all the time.
    assert!((20..=90).contains(&attempts), "{attempts}");
}
