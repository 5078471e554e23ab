//! The options, a live node on a clock that does not wait, and the text for people. What
//! the JSON says of recorded trees is in `agent/tests/cases.rs`.

use std::path::PathBuf;
use std::time::Duration;

use super::{Clock, Error, SampleInput, SampleOptions, run_sample};
use crate::sample::{BackEnd, HostRoot};

const SECOND: Duration = Duration::from_secs(1);

/// Time that passes by sleeping only.
#[derive(Default)]
struct Virtual(Duration);

impl Clock for Virtual {
    fn now(&mut self) -> Duration {
        self.0
    }

    fn sleep(&mut self, time: Duration) {
        self.0 += time;
    }
}

fn case(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../tests/fixtures/proc")
        .join(name)
}

fn run(input: SampleInput, json: bool) -> (Result<(), Error>, String) {
    let mut out = Vec::new();
    let options = SampleOptions {
        input,
        json,
        pods: false,
    };
    let result = run_sample(&options, &mut out, &mut Virtual::default());
    (result, String::from_utf8(out).unwrap())
}

fn recorded(name: &str, elapsed: Duration) -> SampleInput {
    SampleInput::Recorded {
        from: case(name).join("t0"),
        to: case(name).join("t1"),
        elapsed,
    }
}

#[test]
fn a_live_node_gives_one_line_per_sample() {
    let input = SampleInput::Live {
        sampler: BackEnd::Native,
        link_speed: None,
        root: HostRoot::below(&case("mem-a1").join("t0")),
        count: 12,
        interval: SECOND,
    };
    let (result, out) = run(input, true);
    result.unwrap();
    assert_eq!(out.lines().count(), 12);
    assert!(
        out.lines().all(|line| line.contains(r#""ratio":0.25,"#)),
        "{out}"
    );
}

#[test]
fn the_text_for_people_names_its_denominators() {
    let (result, out) = run(recorded("net-a1", 10 * SECOND), false);
    result.unwrap();
    assert!(
        out.contains("network  0.9 % of the links, 177.500 Mbit/s in, 100.000 out, of 20000.000"),
        "{out}"
    );
    assert!(out.contains("memory   - of MemTotal"), "{out}");
    let (_, out) = run(recorded("cpu-a1", 10 * SECOND), false);
    assert!(
        out.contains("cpu      55.0 % of 4 CPUs, 2200 millicores"),
        "{out}"
    );
    let (_, out) = run(recorded("cpu-a4-agent-in-lxc", 10 * SECOND), false);
    assert!(out.contains("untrusted: /proc/stat shows 32 CPUs"), "{out}");
    let (_, out) = run(recorded("net-a2-nothing", 10 * SECOND), false);
    assert!(out.contains("mount the host's /sys"), "{out}");
}

#[test]
fn a_tree_that_is_not_there_is_an_error() {
    let (result, out) = run(recorded("no-such-case", SECOND), true);
    assert!(matches!(result, Err(Error::NoFolder { .. })));
    assert_eq!(out, "");
}

#[test]
fn no_time_between_samples_is_an_error() {
    let (result, _) = run(recorded("cpu-a1", Duration::ZERO), true);
    assert!(matches!(result, Err(Error::NoTime)));
}

#[test]
fn sysinfo_measures_this_machine_and_says_so() {
    let input = SampleInput::Live {
        sampler: BackEnd::Sysinfo,
        link_speed: Some(125_000_000),
        root: HostRoot::default(),
        count: 1,
        interval: SECOND,
    };
    let (result, out) = run(input.clone(), true);
    result.unwrap();
    let found: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(found["cpu"]["source"], "sysinfo");
    assert_eq!(found["network"]["linkBytesPerSecond"], 125_000_000);
    for absent in [&found["cpu"]["steal"], &found["psi"]["cpu"], &found["pods"]] {
        assert!(absent.is_null(), "{out}");
    }
    let pods = SampleOptions {
        input,
        json: true,
        pods: true,
    };
    let result = run_sample(&pods, &mut Vec::new(), &mut Virtual::default());
    assert!(matches!(result, Err(Error::NoPods)));
}
