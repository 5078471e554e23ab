//! Dashboard and alert rules ask for what is exported: every metric they name has a `# TYPE`
//! line on the real page of a scheduler or an agent.

mod pages;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use plimsoll_tests::project_root;
use serde_json::Value;

use crate::operations::anchor;

/// Names that begin so are metrics; other words of a query are functions, labels, keywords.
const PREFIXES: [&str; 4] = ["plimsoll_", "scheduler_", "process_", "leader_election_"];

/// Sample names that a page gives: each family under its name and the suffixes of its type.
fn exported(page: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let types = page.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    for line in types {
        let (name, kind) = line.split_once(' ').expect("a name and its type");
        let suffixes: &[&str] = match kind {
            "counter" => &["_total"],
            "histogram" => &["_bucket", "_sum", "_count"],
            "gauge" => &[""],
            "info" => &["_info"],
            other => panic!("{name}: a type of its own, {other}"),
        };
        names.extend(suffixes.iter().map(|suffix| format!("{name}{suffix}")));
    }
    names
}

/// The metrics that a query names. Text in quotes and in the label lists of `by` and `on` has
/// no prefix of a metric.
fn asked(query: &str) -> BTreeSet<String> {
    let outside_quotes = query.split('"').step_by(2);
    let words = outside_quotes.flat_map(|part| {
        part.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))
    });
    let is_metric = |word: &&str| PREFIXES.iter().any(|prefix| word.starts_with(prefix));
    words.filter(is_metric).map(str::to_owned).collect()
}

fn read(path: &str) -> String {
    fs::read_to_string(project_root().join(path)).unwrap_or_else(|_| panic!("{path} is there"))
}

/// Every query of the dashboard with its panel.
fn panels() -> Vec<(String, String)> {
    let dashboard = read("deploy/grafana/plimsoll.json");
    let dashboard: Value = serde_json::from_str(&dashboard).expect("the dashboard is JSON");
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let mut queries = Vec::new();
    for panel in dashboard["panels"].as_array().expect("panels") {
        for target in panel["targets"].as_array().into_iter().flatten() {
            queries.push((text(&panel["title"]), text(&target["expr"])));
        }
    }
    for variable in dashboard["templating"]["list"]
        .as_array()
        .expect("variables")
    {
        if variable["type"] == "query" {
            queries.push((text(&variable["label"]), text(&variable["query"]["query"])));
        }
    }
    queries
}

/// Every expression of the rules with its alert.
fn rules() -> Vec<(String, String)> {
    let rules = read("deploy/prometheus/rules.yaml");
    let rules: Value = serde_saphyr::from_str(&rules).expect("the rules are YAML");
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let groups = rules["groups"].as_array().expect("groups");
    let rules = groups.iter().flat_map(|group| {
        let rules = group["rules"].as_array().expect("rules");
        rules.iter()
    });
    rules
        .map(|rule| (text(&rule["alert"]), text(&rule["expr"])))
        .collect()
}

#[test]
fn the_words_of_a_query_that_are_metrics_are_found() {
    let query = r#"sum by (le) (rate(plimsoll_a_bucket{x=~"plimsoll_b|c"}[5m])) / scheduler_d > 1"#;
    let found = asked(query);
    let found: Vec<_> = found.iter().map(String::as_str).collect();
    assert_eq!(found, ["plimsoll_a_bucket", "scheduler_d"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn flow_every_metric_of_dashboard_and_rules_is_exported() -> anyhow::Result<()> {
    let mut known = exported(&pages::of_scheduler().await?);
    known.extend(exported(&pages::of_agent().await?));
    let mut missing = BTreeMap::<String, Vec<String>>::new();
    for (place, query) in panels().into_iter().chain(rules()) {
        let names = asked(&query);
        assert!(!names.is_empty(), "{place}: no metric in {query}");
        for name in names.difference(&known) {
            missing.entry(name.clone()).or_default().push(place.clone());
        }
    }
    assert!(missing.is_empty(), "not exported: {missing:#?}");
    // Pages name them whole, or by the beginning that a search takes.
    for page in ["docs/operations.md", "docs/install.md"] {
        for name in asked(&read(page)) {
            let is_known = known.iter().any(|known| known.starts_with(&name));
            assert!(is_known, "{page}: {name} is not exported");
        }
    }
    Ok(())
}

#[test]
fn every_alert_says_what_is_wrong_and_where_the_mend_stands() {
    let operations = read("docs/operations.md");
    let anchors: BTreeSet<String> = operations
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .map(anchor)
        .collect();
    let rules = read("deploy/prometheus/rules.yaml");
    let rules: Value = serde_saphyr::from_str(&rules).expect("the rules are YAML");
    for group in rules["groups"].as_array().expect("groups") {
        for rule in group["rules"].as_array().expect("rules") {
            let alert = rule["alert"].as_str().expect("a name");
            let severity = rule["labels"]["severity"].as_str().expect("a severity");
            assert!(
                ["critical", "warning", "info"].contains(&severity),
                "{alert}"
            );
            assert!(rule["annotations"]["summary"].is_string(), "{alert}");
            let runbook = rule["annotations"]["runbook"].as_str().expect("a runbook");
            let place = runbook.strip_prefix("docs/operations.md#");
            let place = place.unwrap_or_else(|| panic!("{alert}: {runbook}"));
            assert!(anchors.contains(place), "{alert}: no section for {runbook}");
        }
    }
}
