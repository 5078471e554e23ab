//! What the scheduler serves against what the real kube-scheduler 1.37.2 served
//! (`tests/controlplane/pages` wrote `tests/fixtures/stock`).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use plimsoll_tests::flow::{PLIMSOLL, Scheduler, Stage, node, pod};
use plimsoll_tests::project_root;
use serde_json::Value;

/// What is left out, by the beginning of its name, and why.
const LEFT_OUT: [(&str, &str); 11] = [
    (
        "scheduler_batch_",
        "no batches: verdicts are kept by signature",
    ),
    ("scheduler_get_node_hint_", "no batches"),
    ("scheduler_store_schedule_results_", "no batches"),
    ("scheduler_goroutines", "one thread decides"),
    (
        "scheduler_queueing_hint_execution_",
        "a hint takes less than two looks at a clock",
    ),
    (
        "scheduler_pod_scheduled_after_flush_",
        "the flush is a net that no pod should need",
    ),
    (
        "scheduler_preemption_goroutines_",
        "on the page from the first preemption on",
    ),
    (
        "rest_client_rate_limiter_",
        "requests are bounded in flight, not by time",
    ),
    ("rest_client_exec_plugin_", "of the runtime of Go's client"),
    ("rest_client_transport_", "of the runtime of Go's client"),
    ("rest_client_re", "sizes of bodies are not measured"),
];
/// Of the kernel's figures, those of this process.
const PROCESS: [&str; 2] = ["process_cpu_seconds_total", "process_resident_memory_bytes"];

struct Metric {
    kind: String,
    labels: BTreeSet<String>,
    buckets: Vec<f64>,
}

fn read(name: &str) -> String {
    let path = project_root().join("tests/fixtures/stock").join(name);
    fs::read_to_string(path).expect("the fixture is there")
}

/// The metrics of the golden file.
fn theirs() -> BTreeMap<String, Metric> {
    let list = |text: &str| -> Vec<String> {
        let parts = text.split(',').filter(|part| *part != "-");
        parts.map(str::to_owned).collect()
    };
    let text = read("metrics.txt");
    let rows = text.lines().map(|line| {
        let fields: Vec<&str> = line.split(' ').collect();
        let metric = Metric {
            kind: fields[1].to_owned(),
            labels: list(fields[2]).into_iter().collect(),
            buckets: list(fields[3])
                .iter()
                .map(|bound| bound.parse().expect("a bound is a number"))
                .collect(),
        };
        (fields[0].to_owned(), metric)
    });
    rows.collect()
}

/// The metrics of a page of ours.
fn ours(page: &str) -> BTreeMap<String, Metric> {
    let mut metrics = BTreeMap::new();
    let mut now = String::new();
    for line in page.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').expect("a name and a type");
            now = if kind == "counter" {
                format!("{name}_total")
            } else {
                name.to_owned()
            };
            let (labels, buckets) = (BTreeSet::new(), Vec::new());
            let kind = kind.to_owned();
            metrics.insert(
                now.clone(),
                Metric {
                    kind,
                    labels,
                    buckets,
                },
            );
        } else if let Some((_, inside)) = line.split_once('{')
            && let Some(metric) = metrics.get_mut(&now)
        {
            for pair in inside.split("\",") {
                let Some((name, value)) = pair.split_once("=\"") else {
                    continue;
                };
                let value = value.split('"').next().unwrap_or_default();
                match (name, value.parse()) {
                    ("le", Ok(bound)) => metric.buckets.push(bound),
                    _ => drop(metric.labels.insert(name.to_owned())),
                }
            }
        }
    }
    metrics
}

fn is_wanted(name: &str) -> bool {
    let prefixes = ["scheduler_", "rest_client_", "leader_election_"];
    let by_name = [
        "rest_client_requests_total",
        "rest_client_request_duration_seconds",
    ];
    let left_out = LEFT_OUT.iter().any(|(begin, _)| name.starts_with(begin));
    PROCESS.contains(&name)
        || by_name.contains(&name)
        || (prefixes.iter().any(|begin| name.starts_with(begin)) && !left_out)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn its_metrics_are_named_typed_labelled_and_bounded_as_those_of_kube_scheduler()
-> anyhow::Result<()> {
    let stage = Stage::open();
    stage.add(node("a", "8"));
    stage.add(node("b", "8"));
    let elects = format!("{PLIMSOLL}leaderElection: {{leaderElect: true}}\n");
    let scheduler = stage.scheduler(&elects).await;
    stage.add(pod("web").cpu("1"));
    stage.add(pod("huge").cpu("100"));
    stage.until_told("web", "Scheduled").await;
    stage.until_told("huge", "FailedScheduling").await;
    let waits = "scheduler_unschedulable_pods{plugin=\"NodeResourcesFit\",profile=\"plimsoll\"}";
    scheduler.until_series(waits, |pods| pods == 1.0).await;

    let page = ours(&scheduler.page("/metrics").await.text);
    for (name, theirs) in theirs().into_iter().filter(|(name, _)| is_wanted(name)) {
        let ours = page.get(&name);
        let ours = ours.unwrap_or_else(|| panic!("{name} is not on the page"));
        assert_eq!(ours.kind, theirs.kind, "{name}");
        assert_eq!(ours.labels, theirs.labels, "{name}");
        // Ours may be finer: each of their bounds is one of ours.
        for bound in theirs.buckets {
            let near = |own: &f64| (own - bound).abs() <= bound * 1e-4;
            assert!(ours.buckets.iter().any(near), "{name} has no bound {bound}");
        }
    }
    scheduler.stop().await?;
    stage.close().await;
    Ok(())
}

fn configz(file: &str) -> Value {
    let registry = plimsoll_plugins::registry();
    let config = plimsoll_config::load(file, &registry).expect("the file loads");
    let mut page = plimsoll_config::configz(&config)["componentconfig"].take();
    page["clientConnection"]["kubeconfig"] = Value::Null;
    page
}

#[test]
fn configz_says_what_that_of_kube_scheduler_says_of_the_same_file() {
    let stock: Value = serde_json::from_str(&read("configz.json")).unwrap();
    let theirs = &stock["file"]["componentconfig"];
    let ours = configz(&read("config.yaml"));
    // Their answer is a file, too: it means the same here.
    assert_eq!(ours, configz(&theirs.to_string()));
    // So is ours.
    assert_eq!(ours, configz(&ours.to_string()));
    let keys = |value: &Value| -> BTreeSet<String> {
        let map = value.as_object().expect("an object");
        map.keys().cloned().collect()
    };
    assert_eq!(keys(&ours), keys(theirs));
    assert_eq!(keys(&ours["profiles"][0]), keys(&theirs["profiles"][0]));
    // Unset means all nodes here, and 0 the share that kube-scheduler has for itself.
    let unset = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n";
    for (rest, share) in [("", 100), ("percentageOfNodesToScore: 0\n", 0)] {
        let shown = configz(&format!("{unset}{rest}"));
        assert_eq!(shown["percentageOfNodesToScore"], share, "{rest}");
        assert_eq!(configz(&shown.to_string()), shown);
    }
    for (name, value) in theirs.as_object().expect("an object") {
        if !["profiles", "clientConnection"].contains(&name.as_str()) {
            assert_eq!(&ours[name], value, "{name}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn configz_is_served_as_json_to_everybody() -> anyhow::Result<()> {
    let stage = Stage::open();
    let scheduler: Scheduler = stage.scheduler(PLIMSOLL).await;
    let page = scheduler.page("/configz").await;
    assert_eq!(page.code, 200);
    let mut served: Value = serde_json::from_str(&page.text)?;
    let served = &mut served["componentconfig"];
    served["clientConnection"]["kubeconfig"] = Value::Null;
    // The stage has one replica.
    let mut expected = configz(PLIMSOLL);
    expected["leaderElection"]["leaderElect"] = false.into();
    assert_eq!(*served, expected);
    assert_eq!(served["profiles"][0]["schedulerName"], "plimsoll");
    let points = &served["profiles"][0]["plugins"];
    let scores = points["score"]["enabled"].as_array().expect("a list");
    let ours = scores
        .iter()
        .find(|plugin| plugin["name"] == "ActualLoadScore");
    assert_eq!(ours.map(|plugin| &plugin["weight"]), Some(&30.into()));
    scheduler.stop().await?;
    stage.close().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sigusr2_leaves_it_running_and_the_page_shows_cache_and_queue() -> anyhow::Result<()> {
    let stage = Stage::open();
    stage.add(node("a", "8"));
    let scheduler: Scheduler = stage.scheduler(PLIMSOLL).await;
    stage.add(pod("web").cpu("1"));
    stage.add(pod("huge").cpu("100"));
    stage.until_bound("web").await;
    stage.until_told("huge", "FailedScheduling").await;
    let this = rustix::process::getpid();
    rustix::process::kill_process(this, rustix::process::Signal::USR2)?;
    let text = scheduler.page("/debug/dump").await.text;
    for words in [
        "Cache and API server agree",
        "Node name: a\nDeleted: false\n",
        "Scheduled Pods(number: 1):\nname: web, namespace: default, uid: ",
        "unschedulablePods:1;",
        "queue: unschedulable, attempts: 1, because of: [NodeResourcesFit]",
    ] {
        assert!(text.contains(words), "{words} is not in\n{text}");
    }
    scheduler.stop().await?;
    stage.close().await;
    Ok(())
}
