//! Streams over TLS, and certificates that change while the scheduler runs.

use std::fs;
use std::net::SocketAddr;

use plimsoll_agent::app::StreamOptions;
use plimsoll_agent::stream::TlsOptions;
use plimsoll_ingest::tls::{Certificate, Door};

use super::authority::{Authority, Folder};
use super::rig::{Agents, Server};
use super::{PERIOD, seconds};

fn over_tls(node: &str, scheduler: SocketAddr, tls: TlsOptions) -> StreamOptions {
    let target = format!("https://{scheduler}").parse().unwrap();
    StreamOptions {
        tls: Some(tls),
        ..StreamOptions::new(node, vec![target], PERIOD)
    }
}

async fn server_of(folder: &Folder) -> Server {
    let certificate = Certificate::load(folder.files()).unwrap();
    Server::behind(Door::Tls(certificate)).await
}

fn handshakes(server: &Server, outcome: &str) -> f64 {
    let name = "plimsoll_ingest_tls_handshakes_total";
    server.series(&format!("{name}{{outcome=\"{outcome}\"}}"))
}

fn reloads(server: &Server, outcome: &str) -> f64 {
    let name = "plimsoll_ingest_tls_reloads_total";
    server.series(&format!("{name}{{outcome=\"{outcome}\"}}"))
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_knows_the_authority_streams_and_others_do_not() {
    let folder = Folder::new("known");
    let (authority, other) = (
        Authority::new(&folder, "ca"),
        Authority::new(&folder, "other"),
    );
    authority.issue(&folder);
    let mut server = server_of(&folder).await;
    let mut agents = Agents::default();
    agents.start_with(over_tls("known", server.address(), authority.options()));
    agents.start_with(over_tls("unknown", server.address(), other.options()));
    // One that speaks no TLS at all.
    agents.start("plain", server.address());
    server.listen_for(seconds(30)).await;
    assert_eq!((server.streams(), server.nodes_heard()), (1, 1));
    assert!(server.newest_age("known") <= PERIOD);
    assert_eq!(handshakes(&server, "ok"), 1.0);
    assert!(handshakes(&server, "failed") >= 2.0);
    let not_after = "plimsoll_ingest_tls_certificate_not_after_timestamp_seconds";
    assert!(server.series(not_after) > 1.7e9);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_begins_no_handshake_is_let_go_after_five_seconds() {
    let folder = Folder::new("mute");
    Authority::new(&folder, "ca").issue(&folder);
    let mut server = server_of(&folder).await;
    let _mute = tokio::net::TcpStream::connect(server.address())
        .await
        .unwrap();
    server.listen_for(seconds(4)).await;
    assert_eq!(server.connections(), 1);
    server.listen_for(seconds(2)).await;
    assert_eq!(server.connections(), 0);
    assert_eq!(handshakes(&server, "timeout"), 1.0);
}

#[tokio::test(start_paused = true)]
async fn a_renewed_certificate_is_served_to_new_streams_and_the_old_ones_live_on() {
    let folder = Folder::new("renewed");
    let (old, new) = (
        Authority::new(&folder, "old"),
        Authority::new(&folder, "new"),
    );
    old.issue(&folder);
    let mut server = server_of(&folder).await;
    let mut agents = Agents::default();
    agents.start_with(over_tls("first", server.address(), old.options()));
    server.listen_for(seconds(5)).await;

    // In mid-renewal the pair does not match: the old one is served on.
    let key = fs::read(folder.files().key).unwrap();
    new.issue(&folder);
    let new_key = fs::read(folder.files().key).unwrap();
    fs::write(folder.files().key, key).unwrap();
    server.listen_for(seconds(31)).await;
    assert_eq!(
        (reloads(&server, "failed"), reloads(&server, "ok")),
        (1.0, 0.0)
    );
    agents.start_with(over_tls("second", server.address(), old.options()));
    server.listen_for(seconds(5)).await;
    assert_eq!(server.streams(), 2);

    fs::write(folder.files().key, new_key).unwrap();
    server.listen_for(seconds(31)).await;
    assert_eq!(reloads(&server, "ok"), 1.0);
    agents.start_with(over_tls("late", server.address(), old.options()));
    agents.start_with(over_tls("third", server.address(), new.options()));
    server.listen_for(seconds(10)).await;
    assert_eq!(
        server.streams(),
        3,
        "all but the late one, which knows the old authority"
    );
    for node in ["first", "second", "third"] {
        assert!(server.newest_age(node) <= PERIOD, "{node}");
    }
    assert_eq!(server.nodes_heard(), 3);
}

#[tokio::test(start_paused = true)]
async fn an_agent_takes_a_new_authority_at_its_next_attempt() {
    let folder = Folder::new("authority");
    let (old, new) = (
        Authority::new(&folder, "old"),
        Authority::new(&folder, "new"),
    );
    new.issue(&folder);
    let mut server = server_of(&folder).await;
    let mut agents = Agents::default();
    agents.start_with(over_tls("a", server.address(), old.options()));
    server.listen_for(seconds(30)).await;
    assert_eq!(server.streams(), 0);
    fs::copy(new.options().ca, old.options().ca).unwrap();
    server.listen_for(seconds(15)).await;
    assert_eq!(server.streams(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_scheduler_that_just_came_sees_the_last_minutes_of_a_node() {
    let folder = Folder::new("history");
    let authority = Authority::new(&folder, "ca");
    authority.issue(&folder);
    let away = super::free_port().await;
    let mut server = server_of(&folder).await;
    let mut agents = Agents::default();
    agents.start_with(over_tls("a", away, authority.options()));
    server.listen_for(seconds(400)).await;
    let _relay = super::Relay::between(away, server.address()).await;
    server.listen_for(seconds(15)).await;
    let points = server.history("a");
    assert!((30..=32).contains(&points.len()), "{}", points.len());
    assert!(
        points
            .iter()
            .all(|point| point.cpu.is_some_and(|cpu| (cpu - 1000.0).abs() < 1.0))
    );
    let ages: Vec<_> = points.iter().map(|point| point.age.as_secs()).collect();
    assert!((280..=325).contains(&ages[0]), "{ages:?}");
    assert!(ages.is_sorted_by(|older, newer| older > newer), "{ages:?}");
}
