//! Whole files with the plugins of this build: as kube-scheduler sees them, and as a person
//! does.

mod cases;
mod odd;
mod parity;

use std::fs;
use std::path::{Path, PathBuf};

use super::findings::{Findings, Outcome};
use super::text;

/// Where the files are.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/config")
}

/// What is said about an example.
fn example(name: &str) -> Findings {
    let path = folder().join("examples").join(name);
    findings(&fs::read_to_string(path).unwrap())
}

fn findings(text: &str) -> Findings {
    Findings::of(text.as_bytes(), &no_file)
}

/// No file that a configuration names is there.
fn no_file(path: &str) -> Result<Vec<u8>, String> {
    Err(format!("{path} cannot be read"))
}

/// `path: problem` of every mistake.
fn mistakes(findings: &Findings) -> Vec<String> {
    match &findings.outcome {
        Outcome::Mistakes(errors) => errors.iter().map(ToString::to_string).collect(),
        Outcome::Scheduler(_) | Outcome::Plimsoll(_) => Vec::new(),
    }
}

/// Warnings about the file, those about the build apart.
fn warnings(findings: &Findings) -> Vec<String> {
    let warnings = findings.warnings.iter();
    let warnings = warnings.filter(|warning| !warning.path.as_str().is_empty());
    warnings
        .map(|warning| format!("{}: {}", warning.path, warning.text))
        .collect()
}

/// A file with `rest` below kind and version.
fn file(rest: &str) -> String {
    format!("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n{rest}")
}

/// Whether a line of `list` holds all `parts`.
fn says(list: &[String], parts: &[&str]) -> bool {
    list.iter()
        .any(|line| parts.iter().all(|part| line.contains(part)))
}

#[test]
fn a_line_of_text_has_file_line_level_path_and_problem() {
    let findings = findings(&file(
        "profiles:\n- schedulerName: a\n  plugins:\n    permit: {enabled: [{name: Coscheduling}]}\n    \
         reserve: {enabled: [{name: Coscheduling}]}\nparalellism: 4\n",
    ));
    let text = text::render("f.yaml", &findings, true);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with(
        "f.yaml:6: error: profiles[0].plugins.permit.enabled[0]: unknown plugin `Coscheduling`: this build has no gang scheduling"
    ));
    assert_eq!(
        lines[1..],
        [
            "f.yaml:7: error: profiles[0].plugins.reserve.enabled[0]: unknown plugin `Coscheduling` (see above)",
            "f.yaml:8: error: paralellism: unknown field (did you mean `parallelism`?)",
            "nothing is in effect: the file has errors",
            "f.yaml: 3 errors",
        ]
    );
}

#[test]
fn the_table_has_every_plugin_with_weight_and_args() {
    let findings = findings(&file(
        "profiles:\n- schedulerName: lean\n  plugins:\n    multiPoint:\n      disabled: [{name: '*'}]\n      enabled:\n      \
         - {name: PrioritySort}\n      - {name: DefaultBinder}\n      - {name: TaintToleration, weight: 3}\n      \
         - {name: NodeResourcesBalancedAllocation}\n",
    ));
    let text = text::render("f.yaml", &findings, true);
    let args = r#"{"resources":[{"name":"cpu","weight":1},{"name":"memory","weight":1}]}"#;
    let expected = format!(
        "profile lean: looks at all nodes
  point      plugin                           weight    args
  queueSort  PrioritySort
  preFilter  TaintToleration
  filter     TaintToleration
  preScore   TaintToleration
             NodeResourcesBalancedAllocation            {args}
  score      TaintToleration                  3 (75 %)
             NodeResourcesBalancedAllocation  1 (25 %)
  bind       DefaultBinder

f.yaml: ok
"
    );
    assert_eq!(text, expected);
}

#[test]
fn settings_that_work_against_each_other_are_told() {
    let seen = warnings(&example("fighting.yaml"));
    for parts in [
        ["schedulerName", "ask for `default-scheduler`"],
        ["multiPoint.enabled[0]", "is diluted by TaintToleration 3"],
        ["percentageOfNodesToScore", "never see the least loaded"],
        ["pluginConfig[1].args.thresholds", "rejects them at cpu 0.6"],
        [
            "pluginConfig[0].args.strategy",
            "`NodeResourcesFit` spreads by requests",
        ],
    ] {
        assert!(says(&seen, &parts), "{parts:?} in {seen:#?}");
    }
    assert_eq!(seen.len(), 5, "{seen:#?}");
}

#[test]
fn settings_that_go_together_are_not_warned_of() {
    let seen = warnings(&findings(&file(
        "profiles:\n- plugins:\n    multiPoint: {enabled: [{name: ActualLoadScore, weight: 30}, {name: ActualLoadFilter}]}\n  \
         pluginConfig:\n  - {name: ActualLoadScore, args: {strategy: pack, packTarget: 0.6}}\n  \
         - {name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated}}}\n",
    )));
    assert_eq!(seen, [""; 0]);
    let other = warnings(&findings(&file(
        "profiles:\n- plugins:\n    multiPoint: {enabled: [{name: ActualLoadScore, weight: 30}]}\n  pluginConfig:\n  \
         - {name: ActualLoadScore, args: {loadWeight: 0}}\n  \
         - {name: NodeResourcesFit, args: {scoringStrategy: {type: MostAllocated}}}\n",
    )));
    assert!(
        says(&other, &["args.loadWeight", "by requests alone"]),
        "{other:#?}"
    );
    assert!(
        says(&other, &["spreads load", "packs by requests"]),
        "{other:#?}"
    );
}

#[test]
fn settings_of_plimsolls_own_are_checked_too() {
    let wrong = example("plimsoll.yaml");
    assert!(says(
        &mistakes(&wrong),
        &["binding.maxInflight", "`maxInFlight`"]
    ));
    assert!(says(&mistakes(&wrong), &["telemetry.listen", "localhost"]));
    let right = findings("apiVersion: plimsoll.dev/v1alpha1\nkind: PlimsollConfiguration\n");
    assert_eq!(right.to_json()["effective"]["binding"]["maxInFlight"], 32);
    assert!(text::render("f", &right, true).ends_with("}\n\nf: ok\n"));
}

#[test]
fn ext_a3_an_extender_that_every_pod_must_pass_is_warned_of() {
    let seen = |lines: &str| {
        let text = format!("extenders: [{{urlPrefix: 'http://e', {lines}}}]\n");
        warnings(&findings(&file(&text)))
    };
    for stops in ["filterVerb: f", "bindVerb: b"] {
        let seen = seen(stops);
        let says = says(&seen, &["extenders[0]: ", "not even its own replacement"]);
        assert!(says, "{seen:#?}");
    }
    let mild = [
        "filterVerb: f, ignorable: true",
        "filterVerb: f, managedResources: [{name: example.com/gpu}]",
        "prioritizeVerb: p, weight: 1",
    ];
    for lines in mild {
        let none: Vec<String> = Vec::new();
        assert_eq!(seen(lines), none, "{lines}");
    }
}
