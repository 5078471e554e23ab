//! The scheduler's rights: what the code lists, the chart grants, the documentation says and
//! the API server is really asked for are one set.

use std::collections::BTreeSet;
use std::fs;

use plimsoll_apiserver::{Fault, Rule, Verb};
use plimsoll_cluster::{LEASE_RIGHTS, RIGHTS};
use plimsoll_tests::flow::{REQUESTS_ONLY, Stage, node, pod};
use plimsoll_tests::project_root;
use serde_json::{Value, json};

/// The group that the embedded API server does not serve.
const DEVICES: &str = "resource.k8s.io";

/// One right: group, resource, verb.
type Right = (String, String, String);

fn of_code() -> BTreeSet<Right> {
    rights(&RIGHTS)
}

fn rights(listed: &[plimsoll_cluster::Right]) -> BTreeSet<Right> {
    let rights = listed.iter().flat_map(|right| {
        let verbs = right.verbs.iter();
        verbs.map(|verb| (right.group.into(), right.resource.into(), (*verb).into()))
    });
    rights.collect()
}

fn of_chart() -> BTreeSet<Right> {
    let path = project_root().join("deploy/helm/plimsoll/files/rbac-rules.yaml");
    let text = fs::read_to_string(path).expect("the chart has rules");
    of_rules(&text)
}

/// The rules below the first `rules:` after `kind: Role` of a file, without its names.
fn of_role(file: &str) -> BTreeSet<Right> {
    let text = fs::read_to_string(project_root().join(file)).expect("the file is there");
    let (_, role) = text.split_once("\nkind: Role\n").expect("a Role");
    let (_, rules) = role.split_once("\nrules:\n").expect("rules");
    let rules = rules.split("\n---").next().unwrap_or_default();
    let lines = rules
        .lines()
        .filter(|line| !line.contains("resourceNames:"));
    of_rules(&lines.collect::<Vec<_>>().join("\n"))
}

fn of_rules(text: &str) -> BTreeSet<Right> {
    let rules: Value = serde_saphyr::from_str(text).expect("the rules are YAML");
    let mut rights = BTreeSet::new();
    for rule in rules.as_array().expect("a list of rules") {
        let fields = rule.as_object().expect("a rule is an object");
        let known = ["apiGroups", "resources", "verbs"];
        assert!(fields.keys().all(|field| known.contains(&field.as_str())));
        for group in words(&rule["apiGroups"]) {
            for resource in words(&rule["resources"]) {
                for verb in words(&rule["verbs"]) {
                    let right = (group.clone(), resource.clone(), verb);
                    assert!(rights.insert(right.clone()), "{right:?} stands there twice");
                }
            }
        }
    }
    rights
}

fn words(list: &Value) -> Vec<String> {
    let list = list.as_array().expect("a list");
    let word = |value: &Value| value.as_str().expect("a word").to_owned();
    list.iter().map(word).collect()
}

/// The table below a heading: group, resources, verbs.
fn of_documentation(heading: &str) -> BTreeSet<Right> {
    let path = project_root().join("docs/configuration.md");
    let text = fs::read_to_string(path).expect("the page is there");
    let (_, section) = text
        .split_once(&format!("\n{heading}\n"))
        .expect("the page has the section");
    let section = section.split("\n##").next().unwrap_or_default();
    let rows = section.lines().filter(|line| line.starts_with("| "));
    let rows = rows.map(|line| {
        let cells = line.trim_matches('|').split('|').map(str::trim);
        cells.collect::<Vec<_>>()
    });
    let mut rights = BTreeSet::new();
    for row in rows.filter(|row| row[0] != "group") {
        let group = if row[0] == "core" { "" } else { row[0] };
        for verb in row[2].split(", ") {
            rights.insert((group.to_owned(), row[1].to_owned(), verb.to_owned()));
        }
    }
    rights
}

/// What the API server was asked for; it names resources `plural.group`, as an audit log does.
fn of_server(stage: &Stage) -> BTreeSet<Right> {
    let counts = stage.stats().requests().into_iter();
    let rights = counts.map(|count| {
        let (resource, group) = match count.resource.split_once('.') {
            Some((resource, group)) => (resource.to_owned(), group.to_owned()),
            None => (count.resource, String::new()),
        };
        (group, resource, count.verb.name().to_owned())
    });
    rights.collect()
}

#[test]
fn chart_and_documentation_give_the_rights_that_the_code_lists() {
    assert_eq!(
        of_chart(),
        of_code(),
        "the chart is left, the code is right"
    );
    assert_eq!(
        of_documentation("## API rights"),
        of_code(),
        "docs/configuration.md is left, the code is right"
    );
    let of_lease = rights(&LEASE_RIGHTS);
    assert_eq!(of_documentation("### Rights on the lease"), of_lease);
    for file in [
        "deploy/helm/plimsoll/templates/rbac.yaml",
        "deploy/examples/scheduler-rbac.yaml",
    ] {
        assert_eq!(of_role(file), of_lease, "{file} is left, the code is right");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn flow_of_an_election_asks_for_every_right_on_the_lease_and_no_other() -> anyhow::Result<()>
{
    let stage = Stage::open();
    let elects = "leaderElection: {retryPeriod: 100ms, resourceName: lock}\n";
    let profiles = format!("{REQUESTS_ONLY}{elects}");
    let scheduler = stage.scheduler(&profiles).await;
    let leases = "leases.coordination.k8s.io";
    stage
        .until("the lease is renewed", || {
            stage.answers(Verb::Update, leases, 200) > 0
        })
        .await;
    scheduler.stop().await?;
    let mut asked = of_server(&stage);
    asked.retain(|(group, ..)| group == "coordination.k8s.io");
    assert_eq!(asked, rights(&LEASE_RIGHTS));
    stage.close().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn flow_of_every_kind_asks_the_api_server_for_every_right_and_no_other() -> anyhow::Result<()>
{
    let stage = Stage::open();
    stage.add(node("a", "1"));
    stage.add(pod("tiny").cpu("100m").on("a"));
    // A binding whose answer is lost: the pod is looked at.
    let lost = Rule::new(Fault::LoseAnswer)
        .verb(Verb::Create)
        .resource("pods/binding");
    stage.faults().add(lost.times(1));
    let scheduler = stage.scheduler(REQUESTS_ONLY).await;
    stage.add(pod("web").cpu("100m"));
    stage.until_told("web", "Scheduled").await;

    // A pod without a node, twice: a condition, an event, and the event counts two.
    stage.add(pod("big").cpu("2"));
    stage.until_told("big", "FailedScheduling").await;
    stage.delete_pod("tiny");
    stage
        .until("the event counts two", || stage.told("big")[0].count == 2)
        .await;
    stage.add(node("large", "4"));
    stage.until_told("big", "Scheduled").await;

    preempt(&stage).await;
    bind_volumes(&stage).await;
    scheduler.stop().await?;
    // This server has no devices; `tests/e2e/devices.rs` compares them on a real one.
    let listed = of_code();
    let served = listed.iter().filter(|(group, ..)| group != DEVICES);
    let asked = of_server(&stage);
    assert_eq!(
        asked
            .iter()
            .filter(|(group, ..)| group != DEVICES)
            .collect::<Vec<_>>(),
        served.collect::<Vec<_>>(),
        "asked is left, listed is right"
    );
    let beyond: Vec<_> = asked.difference(&listed).collect();
    assert!(beyond.is_empty(), "asked and not listed: {beyond:?}");
    stage.close().await;
    Ok(())
}

/// The pod `big` goes for one of a higher priority.
async fn preempt(stage: &Stage) {
    let mut urgent: Value = pod("urgent").cpu("3").into();
    urgent["spec"]["priority"] = json!(1000);
    stage.add(urgent);
    assert_eq!(stage.until_bound("urgent").await, "large");
    assert!(stage.pod("big").is_null(), "it is evicted");
}

/// A volume that is there is set aside for a claim, and one is asked for on a node; the test
/// completes both as the volume controller does.
async fn bind_volumes(stage: &Stage) {
    for (class, provisioner) in [("local", "kubernetes.io/no-provisioner"), ("made", "disks")] {
        stage.add(json!({
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": class},
            "provisioner": provisioner,
            "volumeBindingMode": "WaitForFirstConsumer",
        }));
    }
    stage.add(volume("there", "local"));
    for class in ["local", "made"] {
        stage.add(json!({
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": class, "namespace": "default"},
            "spec": {
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}},
                "storageClassName": class,
            },
            "status": {"phase": "Pending"},
        }));
        let mut user: Value = pod(class).cpu("10m").into();
        user["spec"]["volumes"] =
            json!([{"name": "data", "persistentVolumeClaim": {"claimName": class}}]);
        stage.add(user);
    }
    let get = |resource: &str, namespace: &str, name: &str| {
        let found = stage.store().get(resource, namespace, name);
        found.map_or(Value::Null, |object| object.value())
    };
    stage
        .until("the volume is set aside", || {
            get("persistentvolumes", "", "there")["spec"]["claimRef"]["name"] == "local"
        })
        .await;
    complete(stage, "local", "there");
    stage.until_bound("local").await;

    let claim = || get("persistentvolumeclaims", "default", "made");
    let selected = "volume.kubernetes.io/selected-node";
    stage
        .until("a node is chosen for the claim", || {
            claim()["metadata"]["annotations"][selected].is_string()
        })
        .await;
    let mut new = volume("new", "made");
    new["spec"]["claimRef"] = json!({
        "kind": "PersistentVolumeClaim", "namespace": "default", "name": "made",
        "uid": claim()["metadata"]["uid"],
    });
    stage.add(new);
    complete(stage, "made", "new");
    stage.until_bound("made").await;
}

fn volume(name: &str, class: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": class,
            "hostPath": {"path": "/mnt"},
        },
        "status": {"phase": "Available"},
    })
}

fn complete(stage: &Stage, claim: &str, volume: &str) {
    let store = stage.store();
    let edited = store.edit("persistentvolumeclaims", "default", claim, |claim| {
        claim["metadata"]["annotations"]["pv.kubernetes.io/bind-completed"] = json!("yes");
        claim["spec"]["volumeName"] = json!(volume);
        claim["status"]["phase"] = json!("Bound");
    });
    edited.expect("the claim is there");
}
