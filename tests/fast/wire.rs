//! The bytes of the wire, as released: today's agent says exactly these, and today's messages
//! read them. A change here breaks agents and schedulers that are one version apart.

use std::collections::VecDeque;
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_agent::report::{
    Identity, Moment, PodName, Reading, Sending, hello, history, pod_report, report,
};
use plimsoll_agent::usage::{Machine, NodeUsage, PodTable, PodUsage, Resource, UsageFigure};
use plimsoll_kernel::Kernel;
use plimsoll_proto::telemetry::v1::agent_message::Body;
use plimsoll_proto::telemetry::v1::{AgentMessage, PodReport};
use plimsoll_tests::project_root;
use prost::Message;

const MINUTE: Duration = Duration::from_mins(1);
const TAU: Kernel = Kernel::Ewma {
    tau: Duration::from_secs(10),
};

fn figure(resource: Resource, kernel: Kernel, value: f64) -> UsageFigure {
    UsageFigure {
        resource,
        kernel,
        value,
        window_age: MINUTE,
        samples: 60,
    }
}

fn reading() -> Reading {
    let peak = Kernel::Quantile {
        q: 0.95,
        width: MINUTE,
    };
    let figures = vec![
        figure(Resource::Cpu, TAU, 1234.5),
        figure(Resource::Cpu, peak, 2000.25),
        figure(Resource::Memory, Kernel::Instant, 8_589_934_592.0),
        figure(Resource::Rx, TAU, 125e6),
        figure(Resource::Tx, TAU, 0.0),
        figure(Resource::PsiCpu, Kernel::Box { width: MINUTE }, 0.125),
    ];
    let usage = NodeUsage {
        taken_at: 10 * MINUTE,
        figures,
        steal: Some(0.25),
        untrusted: None,
        link_bytes_per_second: Some(1_250_000_000),
    };
    Reading {
        sequence: 600,
        usage,
        pods: PodTable::default(),
    }
}

fn pods() -> Vec<PodReport> {
    let pod = |uid: &str, ended| PodUsage {
        uid: Arc::from(uid),
        taken_at: 9 * MINUTE,
        age: 5 * MINUTE,
        figures: vec![
            figure(Resource::Cpu, TAU, 250.0),
            figure(Resource::Memory, Kernel::Instant, 67_108_864.0),
        ],
        ended,
    };
    let name = |index, is_said| PodName { index, is_said };
    let new = pod("0b1f3f3c-9d1e-4d0b-8a57-0c8a3a1d2f10", false);
    let behind = Duration::from_secs(4);
    vec![
        pod_report(&new, name(1, false), behind),
        pod_report(&new, name(1, true), behind),
        pod_report(
            &pod("d0b18a570c8a3a1d2f109d1e0b1f3f3c", true),
            name(0, false),
            Duration::ZERO,
        ),
    ]
}

fn messages() -> Vec<(&'static str, Body)> {
    let identity = Identity {
        node_name: "node-1".to_owned(),
        start_id: 0x0123_4567_89ab_cdef,
        period: Duration::from_secs(1),
    };
    let machine = Machine {
        cpus: Some(8),
        memory_bytes: Some(34_359_738_368),
        link_bytes_per_second: None,
    };
    let mut hello = hello(&identity, machine);
    // The one value that every release changes.
    "0.1.0".clone_into(&mut hello.agent_version);
    let sending = Sending {
        at: 10 * MINUTE + Duration::from_millis(3),
        link_bytes_per_second: None,
    };
    let moment = |seconds, memory| Moment {
        at: Duration::from_secs(seconds),
        cpu: Some(500.0),
        memory,
        rx: Some(1e6),
        tx: None,
    };
    let past = VecDeque::from([moment(580, None), moment(590, Some(4_294_967_296.0))]);
    vec![
        ("hello", Body::Hello(hello)),
        (
            "report",
            Body::Report(report(&reading(), sending, Vec::new())),
        ),
        (
            "report-pods",
            Body::Report(report(&reading(), sending, pods())),
        ),
        ("history", Body::History(history(&past, 10 * MINUTE))),
    ]
}

#[test]
fn the_agent_says_what_it_said_in_the_last_release_and_that_is_read() {
    for (name, body) in messages() {
        let message = AgentMessage { body: Some(body) };
        let path = project_root().join(format!("tests/fixtures/wire/{name}.bin"));
        let released = fs::read(path).unwrap();
        assert_eq!(message.encode_to_vec(), released, "{name}");
        assert_eq!(AgentMessage::decode(&*released).unwrap(), message, "{name}");
    }
}
