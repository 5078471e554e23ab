//! Every task of the process: its name, its stop signal, and what follows when it ends.
//!
//! A task that ends before the stop signal ends the process: a scheduler that has silently
//! lost its watch or its telemetry is worse than one that is restarted. Who loses the lease
//! waits for nothing: another one leads.

use std::future::Future;
use std::time::Duration;

use anyhow::anyhow;
use plimsoll_cluster::TaskError;
use tokio::task::{JoinError, JoinSet};
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, debug, error, info_span};

/// Time for tasks to end after the stop signal. Bindings in flight take a second or two, but
/// with an API server that does not answer the commands' own grace (15 s) and that of events
/// (2 s) run out first; the usual grace of a pod is 30 s.
const GRACE: Duration = Duration::from_secs(20);

/// The tasks of one process.
#[derive(Debug)]
pub(crate) struct Tasks {
    running: JoinSet<Ended>,
    stop: CancellationToken,
}

#[derive(Debug)]
struct Ended {
    name: &'static str,
    result: anyhow::Result<()>,
}

// === impl Tasks ===

impl Tasks {
    /// No tasks yet; all are to end when `stop` is cancelled.
    pub(crate) fn new(stop: CancellationToken) -> Self {
        Self {
            running: JoinSet::new(),
            stop,
        }
    }

    /// The stop signal, for a task.
    pub(crate) fn stop_signal(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// Begins a task.
    pub(crate) fn spawn(
        &mut self,
        name: &'static str,
        task: impl Future<Output = anyhow::Result<()>> + Send + 'static,
    ) {
        let span = info_span!("task", name);
        self.running.spawn(
            async move {
                Ended {
                    name,
                    result: task.await,
                }
            }
            .instrument(span),
        );
    }

    /// Begins a task on a thread of its own.
    pub(crate) fn spawn_thread(
        &mut self,
        name: &'static str,
        task: impl FnOnce() -> anyhow::Result<()> + Send + 'static,
    ) {
        self.running.spawn_blocking(move || Ended {
            name,
            result: task(),
        });
    }

    /// Waits for the stop signal, or for the first task that ends without it; then ends all.
    ///
    /// # Errors
    /// A task ended early, failed, or did not end in time.
    pub(crate) async fn run(mut self) -> anyhow::Result<()> {
        let early = tokio::select! {
            biased;
            () = self.stop.cancelled() => Ok(()),
            ended = self.running.join_next() => self.first_end(ended),
        };
        self.stop.cancel();
        if early.as_ref().is_err_and(has_lost_the_lease) {
            self.running.abort_all();
            return early;
        }
        let drained = tokio::time::timeout(GRACE, self.drain()).await;
        let late = drained.unwrap_or_else(|_| Err(anyhow!("tasks did not end within {GRACE:?}")));
        self.running.abort_all();
        early.and(late)
    }

    /// What it means that the first task has ended. The signal may have come between the two
    /// looks: a task that ended because of it has not ended early.
    fn first_end(&self, ended: Option<Result<Ended, JoinError>>) -> anyhow::Result<()> {
        match ended {
            Some(ended) if self.stop.is_cancelled() => late_end(ended),
            ended => Err(early_end(ended)),
        }
    }

    async fn drain(&mut self) -> anyhow::Result<()> {
        let mut first = Ok(());
        while let Some(ended) = self.running.join_next().await {
            first = first.and(late_end(ended));
        }
        first
    }
}

fn has_lost_the_lease(cause: &anyhow::Error) -> bool {
    cause.downcast_ref() == Some(&TaskError::LeaseLost)
}

/// A task has ended after the signal, as it should.
fn late_end(ended: Result<Ended, JoinError>) -> anyhow::Result<()> {
    let result = match ended {
        Ok(ended) => {
            debug!(task = ended.name, "task ended");
            ended
                .result
                .map_err(|cause| cause.context(format!("task {}", ended.name)))
        }
        Err(cause) => Err(anyhow!(cause).context("a task panicked or was aborted")),
    };
    result.inspect_err(|cause| {
        error!(cause = format!("{cause:#}"), "task failed while stopping");
    })
}

fn early_end(ended: Option<Result<Ended, JoinError>>) -> anyhow::Error {
    match ended {
        None => anyhow!("there is no task to run"),
        Some(Err(cause)) => anyhow!(cause).context("a task panicked"),
        Some(Ok(Ended {
            name,
            result: Ok(()),
        })) => anyhow!("task {name} ended by itself"),
        Some(Ok(Ended {
            name,
            result: Err(cause),
        })) => cause.context(format!("task {name}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tasks() -> (Tasks, CancellationToken) {
        let stop = CancellationToken::new();
        (Tasks::new(stop.clone()), stop)
    }

    #[tokio::test]
    async fn a_task_that_ends_early_ends_all_and_is_named() {
        let (mut tasks, stop) = tasks();
        let waits = tasks.stop_signal();
        tasks.spawn("waits", async move {
            waits.cancelled().await;
            Ok(())
        });
        tasks.spawn("leaves", async { Ok(()) });
        let problem = tasks.run().await.expect_err("an early end is an error");
        assert_eq!(problem.to_string(), "task leaves ended by itself");
        assert!(stop.is_cancelled());
    }

    #[tokio::test]
    async fn a_stop_signal_ends_all_without_an_error() {
        let (mut tasks, stop) = tasks();
        let waits = tasks.stop_signal();
        tasks.spawn("waits", async move {
            waits.cancelled().await;
            Ok(())
        });
        stop.cancel();
        assert!(tasks.run().await.is_ok());
    }

    #[test]
    fn a_task_that_ends_by_the_signal_before_it_is_seen_has_not_ended_early() {
        let (tasks, stop) = tasks();
        let ended = || {
            Some(Ok(Ended {
                name: "quick",
                result: Ok(()),
            }))
        };
        assert!(tasks.first_end(ended()).is_err());
        stop.cancel();
        assert!(tasks.first_end(ended()).is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_lost_lease_ends_all_without_waiting_for_anybody() {
        let (mut tasks, stop) = tasks();
        let began = tokio::time::Instant::now();
        tasks.spawn("stuck", std::future::pending());
        tasks.spawn("leader election", async {
            Err(TaskError::LeaseLost.into())
        });
        let problem = tasks.run().await.expect_err("a lost lease is an error");
        assert_eq!(
            format!("{problem:#}"),
            "task leader election: the lease is lost"
        );
        assert!(stop.is_cancelled() && began.elapsed().is_zero());
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_does_not_stop_is_ended_and_said_so() {
        let (mut tasks, stop) = tasks();
        tasks.spawn("stuck", std::future::pending());
        stop.cancel();
        let problem = tasks.run().await.expect_err("a stuck task is an error");
        assert!(problem.to_string().contains("did not end"));
    }
}
