//! Owns the agent's tasks: each has a name, a stop signal, and a consequence when it dies.
//! Takes futures that end when the shutdown token is cancelled; gives the first error of a
//! task that ended before.

use std::error::Error as StdError;
use std::time::Duration;

use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tracing::{Instrument, debug, info_span, warn};

/// Time that tasks have to end after the stop signal; they hold nothing that needs more,
/// and the whole process promises to be gone within one second.
const GRACE: Duration = Duration::from_millis(700);

/// An error of any task.
pub type TaskError = Box<dyn StdError + Send + Sync>;

/// Why the tasks ended before they were told to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A task returned although nobody asked it to.
    #[error("task {name} ended before shutdown")]
    Ended {
        /// Name of the task.
        name: &'static str,
    },
    /// A task failed.
    #[error("task {name} failed")]
    Failed {
        /// Name of the task.
        name: &'static str,
        /// Why.
        #[source]
        source: TaskError,
    },
    /// A task panicked.
    #[error("task {name} panicked")]
    Panicked {
        /// Name of the task.
        name: &'static str,
        /// How.
        #[source]
        source: JoinError,
    },
}

/// A set of named tasks that live and end together. Dropping it aborts them.
#[derive(Debug)]
pub struct Tasks {
    set: JoinSet<Result<(), TaskError>>,
    names: Vec<(Id, &'static str)>,
    shutdown: CancellationToken,
}

impl Tasks {
    /// Makes an empty set that ends with `shutdown`.
    pub fn new(shutdown: CancellationToken) -> Self {
        Self {
            set: JoinSet::new(),
            names: Vec::new(),
            shutdown,
        }
    }

    /// Gives a new stop signal for a task.
    pub fn stop_signal(&self) -> CancellationToken {
        self.shutdown.child_token()
    }

    /// Starts a task.
    pub fn spawn<F>(&mut self, name: &'static str, task: F)
    where
        F: Future<Output = Result<(), TaskError>> + Send + 'static,
    {
        let handle = self.set.spawn(task.instrument(info_span!("task", name)));
        self.names.push((handle.id(), name));
    }

    /// Waits for shutdown and the end of all tasks.
    ///
    /// # Errors
    /// The first task that ended before shutdown, with its error; the others are stopped.
    pub async fn run(mut self) -> Result<(), Error> {
        let shutdown = self.shutdown.clone();
        let outcome = tokio::select! {
            biased;
            () = shutdown.cancelled() => Ok(()),
            early = self.next_end() => Err(early),
        };
        shutdown.cancel();
        if timeout(GRACE, self.drain()).await.is_err() {
            warn!(
                tasks = self.set.len(),
                "tasks did not end in time, aborting them"
            );
        }
        self.set.shutdown().await;
        outcome
    }

    async fn next_end(&mut self) -> Error {
        match self.set.join_next_with_id().await {
            Some(Ok((id, Ok(())))) => Error::Ended {
                name: self.name(id),
            },
            Some(Ok((id, Err(source)))) => Error::Failed {
                name: self.name(id),
                source,
            },
            Some(Err(source)) => Error::Panicked {
                name: self.name(source.id()),
                source,
            },
            // No task at all: there is nothing whose end could matter.
            None => std::future::pending().await,
        }
    }

    async fn drain(&mut self) {
        while let Some(end) = self.set.join_next_with_id().await {
            match end {
                Ok((_, Ok(()))) => {}
                Ok((id, Err(error))) => {
                    warn!(
                        name = self.name(id),
                        error = error.as_ref(),
                        "task failed while stopping"
                    );
                }
                Err(error) => debug!(%error, "task was cut off while stopping"),
            }
        }
    }

    fn name(&self, id: Id) -> &'static str {
        let named = self.names.iter().find(|(known, _)| *known == id);
        named.map_or("unknown", |(_, name)| *name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_task_that_ends_before_shutdown_ends_all_with_its_error() {
        let shutdown = CancellationToken::new();
        let mut tasks = Tasks::new(shutdown.clone());
        let stop = tasks.stop_signal();
        tasks.spawn("patient", async move {
            stop.cancelled().await;
            Ok(())
        });
        tasks.spawn("hasty", async { Err("disk on fire".into()) });

        let error = tasks.run().await.unwrap_err();

        assert_eq!(error.to_string(), "task hasty failed");
        assert_eq!(
            error.source().map(ToString::to_string).as_deref(),
            Some("disk on fire")
        );
        assert!(shutdown.is_cancelled());
    }

    #[tokio::test]
    async fn a_task_that_returns_without_being_asked_is_an_error() {
        let mut tasks = Tasks::new(CancellationToken::new());
        tasks.spawn("hasty", async { Ok(()) });
        assert_eq!(
            tasks.run().await.unwrap_err().to_string(),
            "task hasty ended before shutdown"
        );
    }

    #[tokio::test]
    async fn a_panic_names_its_task() {
        let mut tasks = Tasks::new(CancellationToken::new());
        tasks.spawn("clumsy", async { panic!("on purpose") });
        assert_eq!(
            tasks.run().await.unwrap_err().to_string(),
            "task clumsy panicked"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_task_that_ignores_the_stop_signal_is_aborted_after_the_grace_period() {
        let shutdown = CancellationToken::new();
        let mut tasks = Tasks::new(shutdown.clone());
        tasks.spawn("deaf", std::future::pending());
        shutdown.cancel();
        let clock = crate::clock::Clock::start();
        assert!(tasks.run().await.is_ok());
        assert_eq!(clock.mono(), GRACE);
    }
}
