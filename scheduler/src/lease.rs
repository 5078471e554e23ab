//! Leader election as the configuration asks for it.
//!
//! Takes `leaderElection` and the name of this replica, gives which lease is asked for, by
//! whom, and how often.

use std::fs;

use anyhow::ensure;
use plimsoll_cluster::{LeaseOptions, Timing};
use plimsoll_config::SchedulerConfig;
use tracing::warn;

/// A candidate waits up to this part of a retry period more: client-go's `JitterFactor`.
const JITTER_PERCENT: u32 = 120;
/// The scheduler name of pods that name none, and the lease of kube-scheduler, which places them.
const DEFAULT_SCHEDULER: &str = "default-scheduler";
const STOCK_LEASE: (&str, &str) = ("kube-system", "kube-scheduler");
/// Where Linux gives a random UUID, a new one each time.
const RANDOM_UUID: &str = "/proc/sys/kernel/random/uuid";

/// The lease to ask for; `None` where `leaderElect` is off.
///
/// # Errors
/// The durations leave no time for a second try, as client-go's `NewLeaderElector` has it.
pub(crate) fn lease(
    config: &SchedulerConfig,
    instance: &str,
) -> anyhow::Result<Option<LeaseOptions>> {
    let election = &config.leader_election;
    if !election.leader_elect {
        return Ok(None);
    }
    let timing = Timing {
        lease: election.lease_duration.to_std(),
        renew_deadline: election.renew_deadline.to_std(),
        retry: election.retry_period.to_std(),
    };
    ensure!(
        timing.renew_deadline > timing.retry * JITTER_PERCENT / 100,
        "leaderElection.renewDeadline: must be greater than 1.2 times retryPeriod ({}), is {}",
        election.retry_period,
        election.renew_deadline
    );
    let names = config
        .profiles
        .iter()
        .map(|profile| &*profile.scheduler_name);
    let names: Vec<&str> = names.collect();
    let (namespace, name) = (&election.resource_namespace, &election.resource_name);
    if is_of_others(&names, namespace, name) {
        warn!(
            lease = name,
            namespace,
            "leaderElection names kube-scheduler's own lease: as long as kube-scheduler runs, \
             no pod is placed here; set resourceName and resourceNamespace, or leaderElect: false"
        );
    }
    Ok(Some(LeaseOptions {
        namespace: namespace.clone(),
        name: name.clone(),
        identity: format!("{instance}_{}", uuid()),
        timing,
        reporter: names
            .first()
            .copied()
            .unwrap_or(DEFAULT_SCHEDULER)
            .to_owned(),
    }))
}

/// Who places other pods than kube-scheduler has no reason to wait for it.
fn is_of_others(profiles: &[&str], namespace: &str, name: &str) -> bool {
    (namespace, name) == STOCK_LEASE && !profiles.contains(&DEFAULT_SCHEDULER)
}

/// A random UUID. Without the system's, 128 bits of a generator that each process seeds anew.
fn uuid() -> String {
    let system = fs::read_to_string(RANDOM_UUID).ok();
    let system = system.map(|text| text.trim().to_owned());
    system
        .filter(|text| !text.is_empty())
        .unwrap_or_else(|| format!("{:032x}", fastrand::u128(..)))
}

#[cfg(test)]
mod tests {
    use plimsoll_framework::Registry;

    use super::{is_of_others, lease};

    fn options(election: &str) -> anyhow::Result<Option<plimsoll_cluster::LeaseOptions>> {
        let file = format!(
            "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n\
             profiles: [{{schedulerName: plimsoll}}]\nleaderElection: {election}\n"
        );
        let registry: Registry = plimsoll_plugins::registry();
        let config = plimsoll_config::load(&file, &registry).expect("the file loads");
        lease(&config, "host")
    }

    #[test]
    fn each_start_is_somebody_else() {
        let identity = || {
            let options = options("{}").expect("it is right");
            options.expect("it elects").identity
        };
        let (one, other) = (identity(), identity());
        assert!(one.starts_with("host_") && other.starts_with("host_"));
        assert_ne!(one, other);
    }

    #[test]
    fn without_leader_elect_there_is_no_lease() {
        let none = options("{leaderElect: false}").expect("it is right");
        assert!(none.is_none());
    }

    #[test]
    fn durations_that_leave_no_second_try_are_refused() {
        let short = "{leaseDuration: 15s, renewDeadline: 2400ms, retryPeriod: 2s}";
        let problem = options(short).expect_err("as client-go says");
        assert_eq!(
            problem.to_string(),
            "leaderElection.renewDeadline: must be greater than 1.2 times retryPeriod (2s), is 2.4s"
        );
        assert!(options(&short.replace("2400", "2401")).is_ok());
    }

    #[test]
    fn the_lease_of_kube_scheduler_is_for_who_replaces_it() {
        let cases = [
            (&["plimsoll"][..], "kube-system", "kube-scheduler", true),
            (
                &["plimsoll", "default-scheduler"][..],
                "kube-system",
                "kube-scheduler",
                false,
            ),
            (&["plimsoll"][..], "kube-system", "plimsoll", false),
            (&["plimsoll"][..], "plimsoll", "kube-scheduler", false),
        ];
        for (profiles, namespace, name, expected) in cases {
            assert_eq!(
                is_of_others(profiles, namespace, name),
                expected,
                "{profiles:?} {name}"
            );
        }
    }
}
