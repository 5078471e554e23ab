//! The agent as a process on this machine's real `/proc` and `/sys`.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed"
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::time::Duration;

use tokio::time::Instant;

/// Time that the process has to end after a signal.
const ENDS_WITHIN: Duration = Duration::from_secs(1);

/// A running agent; killed if the test fails.
struct Agent {
    child: Child,
    log: BufReader<ChildStderr>,
    address: SocketAddr,
}

impl Drop for Agent {
    fn drop(&mut self) {
        // It may have ended already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn agent(flags: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_plimsoll-agent"));
    command
        .args(flags)
        .env_remove("NODE_NAME")
        .env_remove("PLIMSOLL_SCHEDULERS");
    command
}

/// Starts an agent whose scheduler is not there, and waits for its word that it is up.
fn started() -> Agent {
    let mut child = agent(&[
        "--node-name=a",
        "--scheduler=http://127.0.0.1:1",
        "--insecure-plaintext",
        "--listen=127.0.0.1:0",
        "--log-format=json",
    ])
    .stderr(Stdio::piped())
    .spawn()
    .unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("agent is up") {
        line.clear();
        assert!(
            log.read_line(&mut line).unwrap() > 0,
            "the agent ended without being up"
        );
    }
    let (_, rest) = line.split_once("\"listen\":\"").unwrap();
    let address = rest.split('"').next().unwrap().parse().unwrap();
    Agent {
        child,
        log,
        address,
    }
}

impl Agent {
    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(self.address).unwrap();
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Sends a signal by the process' id and waits for the end.
    fn end_by(mut self, signal: &str) -> (ExitStatus, Duration) {
        let id = self.child.id().to_string();
        let before = Instant::now();
        assert!(
            Command::new("kill")
                .args(["-s", signal, &id])
                .status()
                .unwrap()
                .success()
        );
        let status = self.child.wait().unwrap();
        let took = before.elapsed();
        let mut rest = String::new();
        self.log.read_to_string(&mut rest).unwrap();
        assert!(rest.contains(&format!("SIG{signal}")), "{rest}");
        (status, took)
    }
}

#[test]
fn sigterm_and_sigint_end_the_agent_within_a_second() {
    for signal in ["TERM", "INT"] {
        let (status, took) = started().end_by(signal);
        assert!(status.success(), "{signal}: {status}");
        assert!(took < ENDS_WITHIN, "{signal}: {took:?}");
    }
}

#[test]
fn metrics_and_health_are_served() {
    let agent = started();
    assert!(agent.get("/healthz").starts_with("HTTP/1.1 200"));
    let metrics = agent.get("/metrics");
    for name in [
        "samples_total",
        "process_resident_memory_bytes",
        "stream_connected 0",
    ] {
        assert!(
            metrics.contains(&format!("\nplimsoll_agent_{name}")),
            "{name}: {metrics}"
        );
    }
}

#[test]
fn an_address_that_is_taken_ends_the_agent_with_the_reason() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = format!("--listen={}", taken.local_addr().unwrap());
    let flags = [
        "--node-name=a",
        "--scheduler=http://127.0.0.1:1",
        "--insecure-plaintext",
    ];
    let output = agent(&[&flags[..], &[&listen]].concat()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let words = String::from_utf8(output.stderr).unwrap();
    assert!(
        words.contains("cannot listen on") && words.contains("in use"),
        "{words}"
    );
}

#[test]
fn wrong_usage_is_exit_code_2() {
    let output = agent(&["--node-name=a", "--scheduler=http://127.0.0.1:1"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("--insecure-plaintext")
    );
}

#[test]
fn a_sample_of_this_machine_is_one_json_object() {
    let flags = ["sample", "--json", "--interval=50ms"];
    let output = agent(&flags).env("NODE_NAME", "a").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().count(), 1);
    let sample: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(sample["memory"]["usedBytes"].is_u64(), "{text}");
}

#[test]
fn a_folder_that_is_not_there_is_warned_of_and_the_rest_is_measured() {
    let flags = ["sample", "--json", "--interval=10ms", "--proc=/no/proc"];
    let output = agent(&flags).output().unwrap();
    let warning = String::from_utf8(output.stderr).unwrap();
    assert!(warning.contains("/no/proc is not a folder"), "{warning}");
    assert!(output.status.success());
    assert!(output.stdout.starts_with(b"{"), "{warning}");
}
