//! The two ways in which the story is told, as configurations of the scheduler.

use plimsoll_config::plimsoll::PlimsollConfig;
use plimsoll_scheduler::{AppOptions, ClientOptions};

/// A way to place pods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Policy {
    /// The default plugins of this version: they see what kube-scheduler sees.
    RequestsOnly,
    /// The same, and measured load at its usual weight.
    Plimsoll,
}

/// The profile of both runs.
const REQUESTS_ONLY: &str = "
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
profiles:
- schedulerName: plimsoll
";

/// The same, with measured load.
const PLIMSOLL: &str = "
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
profiles:
- schedulerName: plimsoll
  plugins:
    multiPoint:
      enabled:
      - name: ActualLoadScore
        weight: 30
";

/// Telemetry and admin on free ports of this machine alone.
const PORTS: &str = "
apiVersion: plimsoll.dev/v1alpha1
kind: PlimsollConfiguration
telemetry:
  listen: 127.0.0.1:0
admin:
  listen: 127.0.0.1:0
";

// === impl Policy ===

impl Policy {
    /// The name in reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::RequestsOnly => "requests-only",
            Self::Plimsoll => "plimsoll",
        }
    }

    /// A scheduler of this policy on the API server at `server`.
    ///
    /// # Errors
    /// The texts above do not load: a mistake that the tests would find.
    pub(crate) fn options(self, server: String) -> anyhow::Result<AppOptions> {
        let registry = plimsoll_plugins::registry();
        let text = match self {
            Self::RequestsOnly => REQUESTS_ONLY,
            Self::Plimsoll => PLIMSOLL,
        };
        let scheduler = plimsoll_config::load(text, &registry).map_err(|errors| all(&errors))?;
        let plimsoll: PlimsollConfig =
            plimsoll_config::plimsoll::load(PORTS).map_err(|errors| all(&errors))?;
        Ok(AppOptions {
            access: ClientOptions::Address(server),
            scheduler,
            plimsoll,
            insecure_plaintext: true,
            load_on: true,
            node_load_metrics: false,
            instance: "demo".to_owned(),
        })
    }
}

fn all(errors: &[plimsoll_framework::FieldError]) -> anyhow::Error {
    let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
    anyhow::anyhow!("{}", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_policies_load() {
        for policy in [Policy::RequestsOnly, Policy::Plimsoll] {
            assert!(policy.options(String::new()).is_ok(), "{}", policy.name());
        }
    }
}
