//! The chart as text: five value sets are linted, rendered, and taken by a real API server;
//! wrong values are refused in words.

use std::fs;

use anyhow::{Context, ensure};
use plimsoll_framework::FieldError;
use plimsoll_tests::controlplane::{Controlplane, Options};
use serde_json::{Value, json};

use super::documents::Documents;
use super::helm::{NAMESPACE, chart, helm, helm_ok, render, value_sets};

#[test]
fn five_value_sets_are_linted_and_pass_a_dry_run_on_the_api_server() -> anyhow::Result<()> {
    let cluster = Controlplane::start(&Options::default())?;
    cluster.apply(&json!({"apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": NAMESPACE}}))?;
    cluster.apply(&custom_resources())?;
    let established = cluster.kubectl(&[
        "wait",
        "--for=condition=Established",
        "--timeout=30s",
        "crd",
        "--all",
    ])?;
    ensure!(established.status.success(), "the CRDs are not served");
    let sets = value_sets()?;
    assert_eq!(sets.len(), 5);
    let chart = chart();
    for set in sets {
        let name = set.to_string_lossy();
        let linted = helm_ok(
            None,
            &["lint", "--strict", "-f", &name, &chart.to_string_lossy()],
        );
        linted?;
        let rendered = render(&["-f", &name])?;
        let path = cluster.folder().join("rendered.yaml");
        fs::write(&path, &rendered)?;
        let dry = cluster.kubectl(&[
            "apply",
            "--dry-run=server",
            "--validate=strict",
            "-f",
            &path.to_string_lossy(),
        ])?;
        let words = String::from_utf8_lossy(&dry.stderr);
        ensure!(dry.status.success(), "{name}: {words}");
        let taken = String::from_utf8_lossy(&dry.stdout);
        let objects = Documents::read(&rendered)?.names();
        assert_eq!(taken.lines().count(), objects.len(), "{name}: {taken}");
        assert!(
            taken
                .lines()
                .all(|line| line.ends_with("created (server dry run)")),
            "{name}: {taken}"
        );
    }
    Ok(())
}

#[test]
fn wrong_values_are_refused_in_words() -> anyhow::Result<()> {
    for (values, words) in [
        (
            "scheduler.replicas=-1",
            "'/scheduler/replicas': minimum: got -1, want 0",
        ),
        (
            "scheduler.replicas=2,scheduler.config.leaderElection.leaderElect=false",
            "scheduler.replicas: 2 replicas without scheduler.config.leaderElection.leaderElect",
        ),
        (
            "agent.perod=1s",
            "'/agent': additional properties 'perod' not allowed",
        ),
        (
            "tls.insecurePlaintext=maybe",
            "'/tls/insecurePlaintext': got string, want boolean",
        ),
        (
            "agent.period=fast",
            "'/agent/period': 'fast' does not match pattern",
        ),
        // What the agent itself would refuse at every start.
        (
            "agent.period=500ms",
            "'/agent/period': '500ms' does not match pattern",
        ),
        (
            "agent.linkSpeed=10k",
            "'/agent/linkSpeed': '10k' does not match pattern",
        ),
        (
            "agent.linkSpeed=0G",
            "'/agent/linkSpeed': '0G' does not match pattern",
        ),
        (
            "agent.extraSchedulers[0]=http://other:7443",
            "agent.extraSchedulers[0]: http://other:7443 is plain text: use https://",
        ),
        (
            "agent.maxUnavailable=0",
            "'/agent/maxUnavailable': minimum: got 0, want 1",
        ),
        (
            "scheduler.logFormat=xml",
            "'/scheduler/logFormat': value must be one of 'text', 'json'",
        ),
        (
            "scheduler.extraArgs[0]=load",
            "'/scheduler/extraArgs/0': 'load' does not match pattern '^--'",
        ),
        (
            "scheduler.serviceAccount.create=false",
            "'/scheduler/serviceAccount/name': minLength",
        ),
        (
            "scheduler.plimsollConfig.telemetry.listen=0.0.0.0:1",
            "scheduler.plimsollConfig.telemetry: the chart gives it, leave it out",
        ),
        (
            "tls.insecurePlaintext=true,tls.existingSecret=a",
            "tls: set one of insecurePlaintext and existingSecret, not both",
        ),
        (
            "tls.certManager.enabled=true",
            "tls.certManager.issuerRef.name: must name the issuer",
        ),
    ] {
        let chart = chart();
        let output = helm(
            None,
            &["template", "x", &chart.to_string_lossy(), "--set", values],
        )?;
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{values} is taken");
        assert!(said.contains(words), "{values}: {said}");
    }
    Ok(())
}

#[test]
fn the_ways_of_tls_give_each_end_its_own_and_the_scheduler_takes_its_files() -> anyhow::Result<()> {
    let mut seen = Vec::new();
    for set in value_sets()? {
        let rendered = Documents::read(&render(&["-f", &set.to_string_lossy()])?)?;
        let scheduler = rendered.get("Deployment", "-scheduler")?;
        let tls = volume(scheduler, "tls");
        let config = rendered.get("ConfigMap", "-scheduler")?;
        let own = config["data"]["plimsoll.yaml"].as_str().unwrap_or_default();
        let profiles = config["data"]["scheduler.yaml"]
            .as_str()
            .unwrap_or_default();
        are_taken(profiles, own).with_context(|| set.display().to_string())?;
        assert_eq!(
            own.contains("certFile"),
            !tls.is_null(),
            "{}",
            set.display()
        );
        if let Some(agents) = rendered.find("DaemonSet", "-agent") {
            let ca = volume(agents, "ca");
            assert_eq!(ca.is_null(), tls.is_null(), "{}", set.display());
            let key = json!([{"key": "ca.crt", "path": "ca.crt"}]);
            for source in ["secret", "configMap"] {
                let items = &ca[source]["items"];
                assert!(items.is_null() || *items == key, "agents see the CA alone");
            }
        }
        let secret = rendered.find("Secret", "").is_some();
        let certificate = rendered.find("Certificate", "").is_some();
        seen.push((secret, certificate, tls.is_null()));
    }
    let ways = [
        (true, false, false),
        (false, true, false),
        (false, false, false),
        (false, false, true),
        (true, false, false),
    ];
    assert_eq!(seen, ways);
    Ok(())
}

/// Both files of the scheduler load.
fn are_taken(profiles: &str, own: &str) -> anyhow::Result<()> {
    let registry = plimsoll_plugins::registry();
    let mistakes = |errors: Vec<FieldError>| anyhow::anyhow!("{errors:?}");
    plimsoll_config::load(profiles, &registry).map_err(mistakes)?;
    plimsoll_config::plimsoll::load(own).map_err(mistakes)?;
    Ok(())
}

fn volume(workload: &Value, name: &str) -> Value {
    let volumes = workload["spec"]["template"]["spec"]["volumes"].as_array();
    let mut volumes = volumes.into_iter().flatten();
    let found = volumes.find(|volume| volume["name"] == name);
    found.cloned().unwrap_or_default()
}

/// The foreign kinds of the chart, as small as they can be and still refuse what their
/// owners would: fields that are not there.
fn custom_resources() -> Value {
    let text = json!({"type": "string"});
    let texts = json!({"type": "array", "items": text});
    let map = json!({"type": "object", "additionalProperties": text});
    let selector = json!({"type": "object", "properties": {"matchLabels": map}});
    let relabeling = json!({"type": "object", "properties": {
        "sourceLabels": texts, "targetLabel": text}});
    let endpoint = json!({"type": "object", "properties": {"port": text, "interval": text,
        "relabelings": {"type": "array", "items": relabeling}}});
    let pod_monitor = json!({"selector": selector,
        "podMetricsEndpoints": {"type": "array", "items": endpoint}});
    let rule = json!({"type": "object", "required": ["expr"], "properties": {"alert": text,
        "expr": text, "for": text, "labels": map, "annotations": map}});
    let group = json!({"type": "object", "required": ["name"], "properties": {"name": text,
        "rules": {"type": "array", "items": rule}}});
    let prometheus_rule = json!({"groups": {"type": "array", "items": group}});
    let key = json!({"type": "object", "properties": {"algorithm": text,
        "size": {"type": "integer"}, "rotationPolicy": text}});
    let issuer = json!({"type": "object", "required": ["name"], "properties": {
        "name": text, "kind": text, "group": text}});
    let certificate = json!({"secretName": text, "commonName": {"type": "string", "maxLength": 64},
        "dnsNames": texts, "duration": text, "renewBefore": text, "privateKey": key,
        "usages": texts, "issuerRef": issuer});
    let monitoring = "monitoring.coreos.com";
    let kinds = [
        crd(monitoring, "PodMonitor", "podmonitors", &pod_monitor),
        crd(
            monitoring,
            "PrometheusRule",
            "prometheusrules",
            &prometheus_rule,
        ),
        crd(
            "cert-manager.io",
            "Certificate",
            "certificates",
            &certificate,
        ),
    ];
    json!({"apiVersion": "v1", "kind": "List", "items": kinds})
}

fn crd(group: &str, kind: &str, plural: &str, spec: &Value) -> Value {
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": spec}}});
    let names = json!({"kind": kind, "plural": plural, "singular": kind.to_lowercase()});
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{group}")},
        "spec": {"group": group, "names": names, "scope": "Namespaced", "versions": [
            {"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": schema}}]},
    })
}
