//! Rules and dashboard in a real Prometheus: the rules pass their unit tests, and every query
//! of the dashboard gives data while scheduler and agent of the chart are at work.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, ensure};
use plimsoll_tests::controlplane::{Process, free_port, new_folder, until};
use plimsoll_tests::project_root;
use serde_json::Value;

use super::installation::{BOUND, Installation};

/// In place of Grafana's `$__rate_interval`: four scrapes and more.
const RATE_INTERVAL: &str = "10s";
const MISSING: &str = "Prometheus is missing: install Debian's package prometheus (.ci/run does)";

#[test]
fn the_alert_rules_are_valid_and_pass_their_unit_tests() -> anyhow::Result<()> {
    let rules = project_root().join("deploy/prometheus/rules.yaml");
    let tests = project_root().join("deploy/prometheus/tests.yaml");
    for (arguments, path) in [(["check", "rules"], &rules), (["test", "rules"], &tests)] {
        let output = promtool(&arguments, path)?;
        ensure!(output.status.success(), "{}", words(&output));
    }
    // An alert without a test is one that may never ring.
    let tests = fs::read_to_string(tests)?;
    let rules: Value = serde_saphyr::from_str(&fs::read_to_string(rules)?)?;
    for group in list(&rules["groups"]) {
        for rule in list(&group["rules"]) {
            let alert = rule["alert"].as_str().context("a rule is an alert")?;
            let rings = format!("alertname: {alert}\n");
            let mut places = tests.split(&rings).skip(1);
            let is_tested = places.any(|test| {
                let test = test.split("alertname:").next().unwrap_or_default();
                test.contains("exp_labels")
            });
            assert!(is_tested, "no test in which {alert} rings");
        }
    }
    Ok(())
}

#[test]
fn every_panel_shows_data_while_the_chart_is_at_work() -> anyhow::Result<()> {
    let installation = Installation::new()?;
    installation.add_node()?;
    let scheduler = installation.scheduler()?;
    let agent = installation.agent()?;
    let server = Server::start()?;
    let mut pods = 0;
    let mut open = queries()?;
    let shown = until("every panel shows data", BOUND * 2, || {
        // Something to see: pods that are bound, one that fits nowhere.
        pods += 1;
        let added = installation.add_pod(&format!("web-{pods}"));
        open.retain(|(_, query)| !server.shows(query).unwrap_or(false));
        added.is_ok() && open.is_empty()
    });
    shown.with_context(|| {
        format!(
            "without data: {open:#?}\n{}\n{}",
            scheduler.log(),
            agent.log()
        )
    })?;
    server.rules_are_healthy()
}

/// Every query of the dashboard with its panel, variables replaced as Grafana would.
fn queries() -> anyhow::Result<Vec<(String, String)>> {
    let path = project_root().join("deploy/grafana/plimsoll.json");
    let dashboard: Value = serde_json::from_str(&fs::read_to_string(path)?)?;
    let mut queries = Vec::new();
    for panel in list(&dashboard["panels"]) {
        for target in list(&panel["targets"]) {
            let title = panel["title"].as_str().context("a panel has a title")?;
            let query = target["expr"].as_str().context("a target is a query")?;
            let query = query.replace("$__rate_interval", RATE_INTERVAL);
            let query = ["$job", "$instance", "$agents"]
                .iter()
                .fold(query, |query, variable| query.replace(variable, ".+"));
            ensure!(
                !query.contains('$'),
                "{title}: a variable that nobody knows: {query}"
            );
            queries.push((title.to_owned(), query));
        }
    }
    ensure!(!queries.is_empty(), "the dashboard has no panels");
    Ok(queries)
}

/// A Prometheus that scrapes scheduler and agent on this machine each second.
struct Server {
    url: String,
    folder: PathBuf,
    _process: Process,
}

// === impl Server ===

impl Server {
    fn start() -> anyhow::Result<Self> {
        let folder = new_folder("prometheus")?;
        let rules = project_root()
            .canonicalize()?
            .join("deploy/prometheus/rules.yaml");
        let port = free_port()?;
        let config = format!(
            "global: {{scrape_interval: 1s, evaluation_interval: 1s}}\n\
             rule_files: ['{}']\n\
             scrape_configs:\n\
             - {{job_name: scheduler, static_configs: [{{targets: ['127.0.0.1:10259']}}]}}\n\
             - {{job_name: agent, static_configs: [{{targets: ['127.0.0.1:9464']}}]}}\n\
             - {{job_name: itself, static_configs: [{{targets: ['127.0.0.1:{port}']}}]}}\n",
            rules.display()
        );
        let path = folder.join("prometheus.yaml");
        fs::write(&path, config)?;
        let mut command = Command::new("prometheus");
        command.arg(format!("--config.file={}", path.display()));
        command.arg(format!(
            "--storage.tsdb.path={}",
            folder.join("data").display()
        ));
        command.arg(format!("--web.listen-address=127.0.0.1:{port}"));
        let process = Process::start(command, &folder.join("log")).context(MISSING)?;
        let url = format!("http://127.0.0.1:{port}");
        let server = Self {
            url,
            folder,
            _process: process,
        };
        until("Prometheus answers", BOUND, || {
            server.shows("vector(1)").unwrap_or(false)
        })?;
        Ok(server)
    }

    /// Whether a query gives a number that is one.
    fn shows(&self, query: &str) -> anyhow::Result<bool> {
        let mut command = Command::new("promtool");
        command.args(["query", "-o", "json", "instant", &self.url, query]);
        let output = command.output().context(MISSING)?;
        ensure!(output.status.success(), "{query}: {}", words(&output));
        let answer: Value = serde_json::from_slice(&output.stdout)?;
        let mut values = list(&answer).map(|series| &series["value"][1]);
        Ok(values.any(|value| value.as_str().is_some_and(|text| text != "NaN")))
    }

    /// No rule fails to be evaluated.
    fn rules_are_healthy(&self) -> anyhow::Result<()> {
        let evaluated = "sum(prometheus_rule_evaluations_total) > 0";
        until("rules are evaluated", BOUND, || {
            self.shows(evaluated).unwrap_or(false)
        })?;
        let failed = "sum(prometheus_rule_evaluation_failures_total) > 0";
        ensure!(!self.shows(failed)?, "a rule cannot be evaluated");
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            drop(fs::remove_dir_all(&self.folder));
        }
    }
}

fn promtool(arguments: &[&str], path: &Path) -> anyhow::Result<Output> {
    let mut command = Command::new("promtool");
    command.args(arguments).arg(path);
    command.output().context(MISSING)
}

fn words(output: &Output) -> String {
    let both = [&*output.stdout, &*output.stderr].concat();
    String::from_utf8_lossy(&both).into_owned()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
