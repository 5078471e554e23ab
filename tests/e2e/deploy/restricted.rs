//! The programs that are shipped, under the restrictions that the chart puts on them: an
//! unprivileged user, no capabilities, a read-only root, the host's `/sys` read-only.

use std::fs;

use anyhow::{Context, ensure};
use plimsoll_tests::controlplane::until;
use serde_json::Value;

use super::container::Container;
use super::installation::{BOUND, Installation, NODE};

const AGENT_PORT: u16 = 9464;
const ADMIN_PORT: u16 = 10259;

#[test]
fn an_agent_in_a_network_of_its_own_measures_the_host_and_writes_nothing() -> anyhow::Result<()> {
    let installation = Installation::new()?;
    let agent = installation.lonely_agent(None)?;
    let figure = |page: &str, name: &str| {
        page.lines()
            .any(|line| line.starts_with(&format!("plimsoll_agent_node_{name}")))
    };
    let names = [
        "cpu_cores",
        "memory_bytes",
        "receive_bytes_per_second",
        "transmit_bytes_per_second",
    ];
    let mut page = String::new();
    let measured = until("it measures the host", BOUND, || {
        page = agent.page(AGENT_PORT, "/metrics").unwrap_or_default();
        names.iter().all(|name| figure(&page, name))
    });
    measured.with_context(|| format!("{page}\n{}", agent.log()))?;
    assert!(page.contains("plimsoll_agent_node_untrusted 0"), "{page}");
    assert!(
        page.contains("plimsoll_agent_stream_connected 0"),
        "there is no network"
    );
    is_confined(&agent)
}

#[test]
fn an_agent_that_only_samples_shows_the_hosts_links_and_cgroups() -> anyhow::Result<()> {
    let installation = Installation::new()?;
    let arguments = ["sample", "--sys=/host/sys", "--count=3", "--json"];
    let mut agent = installation.lonely_agent(Some(&arguments))?;
    until("it ends", BOUND, || !agent.is_running())?;
    let said = agent.log();
    let samples = said.lines().filter(|line| line.starts_with('{'));
    let samples: Vec<Value> = samples
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()?;
    ensure!(samples.len() == 3, "{said}");
    let text = samples[2].to_string();
    for link in physical_links()? {
        assert!(
            text.contains(&format!("\"{link}\"")),
            "{link} is not in {text}"
        );
    }
    Ok(())
}

#[test]
fn scheduler_and_agent_of_the_chart_bind_a_pod_by_load_over_tls() -> anyhow::Result<()> {
    let installation = Installation::new()?;
    installation.add_node()?;
    let scheduler = installation.scheduler()?;
    let agent = installation.agent()?;
    let page = |container: &Container, port| container.page(port, "/metrics").unwrap_or_default();
    let streams = until("the agent streams", BOUND, || {
        page(&scheduler, ADMIN_PORT).contains("plimsoll_load_samples_total{outcome=\"taken\"} ")
            && page(&agent, AGENT_PORT).contains("plimsoll_agent_stream_connected 1")
    });
    streams.with_context(|| format!("{}\n{}", scheduler.log(), agent.log()))?;
    installation.add_pod("web")?;
    let bound = until("the pod is bound", BOUND, || {
        installation.node_of("web").as_deref() == Some(NODE)
    });
    bound.with_context(|| scheduler.log())?;
    let handshakes = "plimsoll_ingest_tls_handshakes_total{outcome=\"ok\"} ";
    let scheduler_page = page(&scheduler, ADMIN_PORT);
    assert!(scheduler_page.contains(handshakes), "{scheduler_page}");
    let forbidden = "code=\"403\"";
    assert!(!scheduler_page.contains(forbidden), "{scheduler_page}");
    is_confined(&scheduler)?;
    is_confined(&agent)
}

/// Looks at the process from outside: what it is, what it may, what it has open.
fn is_confined(container: &Container) -> anyhow::Result<()> {
    let id = container.program().context("it does not run")?;
    let status = fs::read_to_string(format!("/proc/{id}/status"))?;
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_default()
            .split_whitespace()
            .collect::<Vec<_>>()
    };
    let nobody = "65534";
    assert_eq!(field("Uid:"), [nobody; 4], "{status}");
    assert_eq!(field("Gid:"), [nobody; 4], "{status}");
    for set in ["CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"] {
        assert_eq!(field(set), ["0000000000000000"], "{set}");
    }
    assert_eq!(field("NoNewPrivs:"), ["1"]);
    for mount in fs::read_to_string(format!("/proc/{id}/mountinfo"))?.lines() {
        // Fields 5 and 6 are the place and its own options; what lies below the host's /sys
        // keeps the host's options, as under a kubelet.
        let fields: Vec<_> = mount.split(' ').collect();
        let (place, options) = (fields[4], fields[5]);
        let is_device = place.starts_with("/dev/") || place == "/proc";
        let is_below_host = place.starts_with("/host/sys/");
        let is_read_only = options.split(',').any(|option| option == "ro");
        assert!(is_read_only || is_device || is_below_host, "{mount}");
    }
    for entry in fs::read_dir(format!("/proc/{id}/fd"))? {
        let entry = entry?;
        // The first three are the log, as a runtime gives it.
        let number = entry.file_name().to_string_lossy().parse::<u32>()?;
        let Ok(target) = fs::read_link(entry.path()) else {
            continue;
        };
        let info = fs::read_to_string(format!("/proc/{id}/fdinfo/{number}")).unwrap_or_default();
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
        let flags = u32::from_str_radix(flags.unwrap_or("0").trim(), 8)?;
        let may_write = flags & 0b11 != 0;
        let is_file = target.starts_with("/") && !target.starts_with("/dev/");
        assert!(
            number <= 2 || !is_file || !may_write,
            "{} can be written",
            target.display()
        );
    }
    Ok(())
}

/// Names of this machine's physical links.
fn physical_links() -> anyhow::Result<Vec<String>> {
    let mut links = Vec::new();
    for entry in fs::read_dir("/sys/class/net")? {
        let entry = entry?;
        if entry.path().join("device").exists() {
            links.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    Ok(links)
}
