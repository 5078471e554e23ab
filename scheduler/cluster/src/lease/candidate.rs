//! The task of a candidate: carries out what the [`Election`] wants.
//!
//! Takes the lease at the API server, gives [`Leadership`], a log, metrics and events. Mirrors
//! client-go's `tools/leaderelection` and `resourcelock/leaselock.go`.

mod ends;

use std::time::Duration;

use http::StatusCode;
use plimsoll_core::{Failure, FailureKind};
use plimsoll_objects::ObjectKey;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};

use super::tell;
use super::{Action, Answer, Election, Found, Leadership, LeaseOptions, Moment, Record, Step};
use crate::call::{Api, Call, CallError, accepted};
use crate::clock::wall;
use crate::cluster::TaskError;
use crate::path;

const ROOT: &str = "/apis/coordination.k8s.io/v1";
const LEASES: &str = "leases";
/// How long after the lease is good without renewal a leader that still runs is called stuck
/// (`cmd/kube-scheduler/app/options/options.go`, `NewLeaderHealthzAdaptor`).
const SLACK: Duration = Duration::from_secs(20);
/// How often the same trouble is told again.
const TOLD_EVERY: Duration = Duration::from_mins(1);

/// One candidate for a lease.
pub(crate) struct Candidate {
    api: Api,
    options: LeaseOptions,
    election: Election,
    leadership: Leadership,
    /// When monotonic time was zero.
    origin: Instant,
    /// The lease as it was read or written last: what is not of the election stays in it.
    lease: Value,
    /// Whom the lease named when it was last told of.
    holder: String,
    trouble: Option<(String, Instant)>,
    slow_paths: u64,
    /// Events on their way; there are two in the life of a leader.
    telling: JoinSet<()>,
}

// === impl Candidate ===

impl Candidate {
    pub(crate) fn new(api: Api, options: LeaseOptions) -> Self {
        Self {
            election: Election::new(options.identity.clone(), options.timing),
            leadership: Leadership::waits(),
            origin: Instant::now(),
            lease: Value::Null,
            holder: String::new(),
            trouble: None,
            slow_paths: 0,
            telling: JoinSet::new(),
            api,
            options,
        }
    }

    /// What the others ask.
    pub(crate) fn leadership(&self) -> Leadership {
        self.leadership.clone()
    }

    /// Runs until `shutdown`; who leads goes on until those who act for a leader have told
    /// that they have ended (`acting`), and hands the lease over.
    ///
    /// # Errors
    /// The lease is lost.
    pub(crate) async fn run(
        mut self,
        shutdown: CancellationToken,
        acting: [CancellationToken; 2],
    ) -> Result<(), TaskError> {
        let LeaseOptions { name, identity, .. } = &self.options;
        info!(lease = name, identity, "asks for the lease");
        self.api.metrics().election().master(name, false);
        let mut answer = Answer::Waited;
        loop {
            let step = self.election.step(self.moment(), answer);
            self.publish(&step);
            if step.action == Action::Lost {
                return self.lost(&shutdown).await;
            }
            let leads = self.leadership.leads();
            let ends = async {
                shutdown.cancelled().await;
                for acting in acting.iter().filter(|_| leads) {
                    acting.cancelled().await;
                }
            };
            answer = tokio::select! {
                biased;
                () = ends => {
                    self.hand_over().await;
                    return Ok(());
                }
                answer = self.carry_out(step.action) => answer,
            };
        }
    }

    fn moment(&self) -> Moment {
        Moment {
            mono: self.origin.elapsed(),
            wall: wall(),
            chance: fastrand::f64(),
        }
    }

    /// Tells everybody what the election has come to.
    fn publish(&mut self, step: &Step) {
        while self.telling.try_join_next().is_some() {}
        let series = self.api.metrics().election();
        let slow_paths = self.election.slow_paths();
        if slow_paths > self.slow_paths {
            series.slow_paths(&self.options.name, slow_paths - self.slow_paths);
            self.slow_paths = slow_paths;
        }
        if let Some(until) = self.election.leads_until() {
            let timing = self.options.timing;
            let until = self.origin + until;
            let overdue = until + timing.lease.saturating_sub(timing.renew_deadline) + SLACK;
            self.leadership.renewed(until, overdue);
        }
        if step.began {
            series.master(&self.options.name, true);
            info!(lease = self.options.name, "leads");
            self.tell("became leader");
        }
    }

    async fn carry_out(&mut self, action: Action) -> Answer {
        let outcome = match action {
            Action::Wait(until) => {
                sleep_until(self.origin + until).await;
                return Answer::Waited;
            }
            Action::Read => self.read().await.map(Answer::Read),
            Action::Create(record) => self.create(&record).await.map(Answer::Written),
            Action::Update(record, version) => {
                self.update(&record, &version).await.map(Answer::Written)
            }
            // Seen before it comes here.
            Action::Lost => return Answer::Failed,
        };
        match outcome {
            Ok(answer) => {
                self.trouble = None;
                answer
            }
            Err(failure) => {
                self.complain(&failure);
                Answer::Failed
            }
        }
    }

    async fn read(&mut self) -> Result<Option<Found>, Failure> {
        let call = Call::get(LEASES, &self.item()?)?;
        let answer = self.call(call).await;
        if matches!(&answer, Ok(answer) if answer.code() == StatusCode::NOT_FOUND) {
            return Ok(None);
        }
        let (lease, version) = parsed(accepted(answer)?.body())?;
        let record = Record::read(&lease);
        self.lease = lease;
        if record.holder != self.holder {
            self.holder.clone_from(&record.holder);
            info!(
                lease = self.options.name,
                holder = self.holder,
                "holder of the lease"
            );
        }
        Ok(Some(Found { record, version }))
    }

    async fn create(&mut self, record: &Record) -> Result<String, Failure> {
        let LeaseOptions {
            namespace, name, ..
        } = &self.options;
        let lease = json!({
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"namespace": namespace, "name": name},
            "spec": record.spec(),
        });
        let path = path::collection(ROOT, LEASES, namespace)?;
        self.write(Call::create(LEASES, &path, &lease)?).await
    }

    async fn update(&mut self, record: &Record, version: &str) -> Result<String, Failure> {
        let mut lease = self.lease.clone();
        lease["metadata"]["resourceVersion"] = version.into();
        lease["spec"] = record.spec();
        self.write(Call::update(LEASES, &self.item()?, &lease)?)
            .await
    }

    async fn write(&mut self, call: Call) -> Result<String, Failure> {
        let answer = accepted(self.call(call).await)?;
        let (lease, version) = parsed(answer.body())?;
        self.lease = lease;
        self.holder.clone_from(&self.options.identity);
        Ok(version)
    }

    /// One request; who leads does not wait for an answer that comes too late.
    async fn call(&self, call: Call) -> Result<crate::call::Answer, CallError> {
        let limit = self.options.call_limit();
        let left = self.election.leads_until();
        let left = left.map(|until| until.saturating_sub(self.origin.elapsed()));
        let limit = left.map_or(limit, |left| left.min(limit));
        self.api.call_within(call, limit).await
    }

    fn item(&self) -> Result<String, path::BadName> {
        let key = ObjectKey::new(&self.options.namespace, &self.options.name);
        path::item(ROOT, LEASES, &key, "")
    }

    /// A conflict is how a candidate learns that another one was quicker; the rest is trouble.
    fn complain(&mut self, failure: &Failure) {
        let (lease, error, kind) = (&self.options.name, &failure.message, failure.kind);
        let now = Instant::now();
        let is_told = self
            .trouble
            .as_ref()
            .is_some_and(|(text, at)| text == error && now.duration_since(*at) < TOLD_EVERY);
        if kind == FailureKind::Conflict || is_told {
            debug!(lease, error, ?kind, "lease not read or not written");
            return;
        }
        warn!(lease, error, ?kind, "lease not read or not written");
        self.trouble = Some((error.clone(), now));
    }

    fn tell(&mut self, what: &str) {
        match tell::event(&self.options, &self.lease, what, wall()) {
            Ok(call) => {
                let api = self.api.clone();
                self.telling.spawn(async move {
                    if let Err(failure) = accepted(api.call(call).await) {
                        warn!(error = failure.message, "event of the lease not written");
                    }
                });
            }
            Err(error) => warn!(%error, "event of the lease not written"),
        }
    }
}

/// A lease and its `resourceVersion`.
fn parsed(body: &[u8]) -> Result<(Value, String), Failure> {
    let failure = |message: String| Failure {
        kind: FailureKind::Unknown,
        message,
    };
    let lease: Value = serde_json::from_slice(body)
        .map_err(|error| failure(format!("the answer is no lease: {error}")))?;
    let version = lease.pointer("/metadata/resourceVersion");
    let version = version.and_then(Value::as_str).map(str::to_owned);
    let version = version.ok_or_else(|| failure("a lease without resourceVersion".to_owned()))?;
    Ok((lease, version))
}

#[cfg(test)]
mod tests;
