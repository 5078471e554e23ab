//! Candidates against a scripted server: leases edited by hand, answers that do not come.

mod ends;

use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Candidate;
use crate::call::Api;
use crate::cluster::TaskError;
use crate::lease::{Leadership, LeaseOptions, Timing};
use crate::metrics::Metrics;
use crate::script::{Reply, Script};

const GET: &str = "GET /apis/coordination.k8s.io/v1/namespaces/ns/leases/lock";
const PUT: &str = "PUT /apis/coordination.k8s.io/v1/namespaces/ns/leases/lock";
const POST: &str = "POST /apis/coordination.k8s.io/v1/namespaces/ns/leases";
const EVENT: &str = "POST /apis/events.k8s.io/v1/namespaces/ns/events";
const LEASE: Duration = Duration::from_secs(15);
const RENEW: Duration = Duration::from_secs(10);
const RETRY: Duration = Duration::from_secs(2);
/// What connections in memory take; time is paused otherwise.
const SOON: Duration = Duration::from_millis(50);

/// One candidate that runs, and its server.
struct Stage {
    script: Script,
    metrics: Metrics,
    leadership: Leadership,
    shutdown: CancellationToken,
    carried: CancellationToken,
    began: Instant,
    running: JoinSet<Result<(), TaskError>>,
}

impl Stage {
    fn start(script: Script) -> Self {
        let metrics = Metrics::default();
        let options = LeaseOptions {
            namespace: "ns".to_owned(),
            name: "lock".to_owned(),
            identity: "me".to_owned(),
            timing: Timing {
                lease: LEASE,
                renew_deadline: RENEW,
                retry: RETRY,
            },
            reporter: "plimsoll".to_owned(),
        };
        let api = Api::new(script.client(), metrics.clone());
        let candidate = Candidate::new(api, options);
        let (shutdown, carried) = (CancellationToken::new(), CancellationToken::new());
        let leadership = candidate.leadership();
        let began = Instant::now();
        let mut running = JoinSet::new();
        running.spawn(candidate.run(shutdown.clone(), [carried.clone(), carried.clone()]));
        Self {
            script,
            metrics,
            leadership,
            shutdown,
            carried,
            began,
            running,
        }
    }

    /// A candidate that finds no lease and makes it.
    async fn leader(script: Script) -> Self {
        script.on(GET, Reply::status(404, "not found"));
        script.on(POST, written("1"));
        let stage = Self::start(script);
        stage.leadership.begins().await;
        stage
    }

    async fn ended(&mut self) -> (Result<(), TaskError>, Duration) {
        let ended = self.running.join_next().await.expect("it runs");
        (ended.expect("it does not panic"), self.began.elapsed())
    }

    fn master(&self) -> Option<String> {
        self.metrics
            .value("leader_election_master_status{name=\"lock\"}")
    }

    fn slow_paths(&self) -> Option<String> {
        self.metrics
            .value("leader_election_slowpath_total{name=\"lock\"}")
    }
}

fn lease(holder: &str, version: &str) -> Value {
    json!({
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {
            "namespace": "ns", "name": "lock", "uid": "l1", "resourceVersion": version,
            "labels": {"team": "a"},
        },
        "spec": {
            "holderIdentity": holder,
            "leaseDurationSeconds": 15,
            "acquireTime": "2026-01-01T00:00:00.000000Z",
            "renewTime": "2026-01-01T00:00:00.000000Z",
            "leaseTransitions": 3,
        },
    })
}

fn read(holder: &str, version: &str) -> Reply {
    Reply::ok(&lease(holder, version))
}

fn written(version: &str) -> Reply {
    read("me", version)
}

fn conflict() -> Reply {
    Reply::status(409, "the object has been modified")
}

#[tokio::test(start_paused = true)]
async fn who_finds_no_lease_makes_it_and_leads_and_says_so() {
    let script = Script::default();
    script.on(EVENT, Reply::ok(&json!({})));
    let stage = Stage::start(script);
    assert!(!stage.leadership.leads());
    stage.script.on(GET, Reply::status(404, "not found"));
    stage.script.on(POST, written("1"));
    stage.leadership.begins().await;
    assert_eq!(stage.master().as_deref(), Some("1"));
    let made = &stage.script.asked(POST, 1).await[0].body;
    assert_eq!(made["spec"]["holderIdentity"], "me");
    assert_eq!(made["spec"]["leaseDurationSeconds"], 15);
    assert_eq!(made["spec"]["leaseTransitions"], 0);
    let event = &stage.script.asked(EVENT, 1).await[0].body;
    assert_eq!(event["reason"], "LeaderElection");
    assert_eq!(event["note"], "me became leader");
    assert_eq!(event["regarding"]["kind"], "Lease");
    assert_eq!(event["regarding"]["uid"], "l1");
}

#[tokio::test(start_paused = true)]
async fn a_lease_of_another_is_taken_over_once_it_has_not_changed_for_its_duration() {
    let script = Script::default();
    for _ in 0..12 {
        script.on(GET, read("other", "7"));
    }
    script.on(PUT, written("8"));
    let stage = Stage::start(script);
    let taken = stage.script.asked(PUT, 1).await.remove(0);
    let waited = taken.at - stage.began;
    // The last look may come a whole pause after the end: 1 + 1.2 retry periods.
    assert!(
        waited >= LEASE && waited <= LEASE + RETRY.mul_f64(2.2) + SOON,
        "{waited:?}"
    );
    assert_eq!(taken.body["spec"]["leaseTransitions"], 4);
    assert_eq!(taken.body["spec"]["holderIdentity"], "me");
    assert_ne!(
        taken.body["spec"]["acquireTime"],
        "2026-01-01T00:00:00.000000Z"
    );
    // What is not of the election stays.
    let metadata = &taken.body["metadata"];
    assert_eq!(
        (&metadata["resourceVersion"], &metadata["labels"]["team"]),
        (&json!("7"), &json!("a"))
    );
    stage.leadership.begins().await;
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_nobody_holds_or_that_makes_no_sense_is_taken_at_once() {
    let mut emptied = lease("", "7");
    let mut no_spec = lease("x", "7");
    let mut garbage = lease("other", "7");
    emptied["spec"]["leaseDurationSeconds"] = 1.into();
    no_spec["spec"] = Value::Null;
    garbage["spec"] = json!({
        "holderIdentity": "other", "leaseDurationSeconds": -5, "renewTime": "yesterday",
        "acquireTime": 7, "leaseTransitions": "many",
    });
    for odd in [emptied, no_spec, garbage] {
        let script = Script::default();
        script.on(GET, Reply::ok(&odd)).on(PUT, written("8"));
        let stage = Stage::start(script);
        stage.leadership.begins().await;
        assert!(stage.began.elapsed() < SOON, "{odd}");
        assert_eq!(
            stage.script.seen_on(PUT)[0].body["spec"]["leaseDurationSeconds"],
            15
        );
    }
}

#[tokio::test(start_paused = true)]
async fn the_duration_that_another_wrote_is_the_one_that_counts_for_its_lease() {
    let script = Script::default();
    let mut long = lease("other", "7");
    long["spec"]["leaseDurationSeconds"] = 60.into();
    for _ in 0..40 {
        script.on(GET, Reply::ok(&long));
    }
    let stage = Stage::start(script);
    let taken = stage.script.asked(PUT, 1).await.remove(0);
    assert!(taken.at - stage.began >= Duration::from_mins(1));
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_is_emptied_or_edited_under_its_leader_is_written_again() {
    for holder in ["", "me"] {
        let stage = Stage::leader(Script::default()).await;
        stage.script.on(PUT, conflict());
        stage
            .script
            .on(GET, read(holder, "5"))
            .on(PUT, written("6"));
        let puts = stage.script.asked(PUT, 2).await;
        assert_eq!(puts[0].body["metadata"]["resourceVersion"], "1");
        assert_eq!(puts[1].body["metadata"]["resourceVersion"], "5");
        assert!(puts[1].at - puts[0].at < SOON);
        let _renewed = stage.script.asked(PUT, 3).await;
        assert!(stage.leadership.leads());
        assert_eq!(stage.slow_paths().as_deref(), Some("1"), "{holder}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_is_deleted_under_its_leader_is_made_again() {
    let stage = Stage::leader(Script::default()).await;
    let gone = || Reply::status(404, "not found");
    stage
        .script
        .on(PUT, gone())
        .on(GET, gone())
        .on(POST, written("9"));
    let again = stage.script.asked(PUT, 2).await;
    assert_eq!(again[1].body["metadata"]["resourceVersion"], "9");
    assert!(stage.leadership.leads());
    assert_eq!(stage.script.seen_on(POST).len(), 2);
}

#[tokio::test(start_paused = true)]
async fn who_may_not_have_the_lease_asks_on_and_never_leads() {
    let script = Script::default();
    for _ in 0..20 {
        script.on(GET, Reply::status(403, "leases is forbidden"));
    }
    let mut stage = Stage::start(script);
    stage.script.asked(GET, 20).await;
    assert!(!stage.leadership.leads());
    assert_eq!(stage.master().as_deref(), Some("0"));
    stage.shutdown.cancel();
    assert_eq!(stage.ended().await.0, Ok(()));
    assert!(stage.script.seen_on(EVENT).is_empty());
}
