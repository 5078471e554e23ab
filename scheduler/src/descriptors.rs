//! Room for sockets: each agent and each request under way holds a descriptor.
//!
//! Takes the limits that the process was started with, raises the one in force as far as it
//! is allowed to go. Container runtimes start programs with 1,024, enough for a thousand
//! agents, and the thousand-and-first would take the API server's connections with it.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tracing::{debug, warn};

/// What the largest cluster needs: the telemetry port takes 20,000 connections, the rest is
/// for the API server, the admin port and files.
const WANTED: u64 = 21_000;
/// Below this a cluster of usual size can be too large.
const FEW: u64 = 4096;

/// Raises the limit of open files to what is allowed, and says so where that is little.
pub(crate) fn raise() {
    let Some(raised) = raised(getrlimit(Resource::Nofile)) else {
        return;
    };
    let limit = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => raised.current,
        Err(error) => {
            warn!(%error, "the limit of open files cannot be raised");
            getrlimit(Resource::Nofile).current
        }
    };
    debug!(?limit, "limit of open files");
    if limit.is_some_and(|limit| limit < FEW) {
        warn!(
            limit,
            "few open files are allowed: with about as many nodes, connections fail"
        );
    }
}

/// The limits to ask for; `None` where what is in force is enough.
fn raised(now: Rlimit) -> Option<Rlimit> {
    let is_enough = now.current.is_none_or(|current| current >= WANTED);
    (!is_enough).then_some(Rlimit {
        current: now.maximum,
        maximum: now.maximum,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(current: u64, maximum: Option<u64>) -> Rlimit {
        let current = Some(current);
        Rlimit { current, maximum }
    }

    #[test]
    fn a_low_limit_is_raised_to_what_is_allowed_and_a_high_one_left_alone() {
        for (now, then) in [
            (
                limits(1024, Some(524_288)),
                Some(limits(524_288, Some(524_288))),
            ),
            (limits(1024, Some(4096)), Some(limits(4096, Some(4096)))),
            (limits(1_048_576, Some(1_048_576)), None),
        ] {
            assert_eq!(raised(now), then, "{now:?}");
        }
        let endless = raised(limits(1024, None));
        assert_eq!(endless.map(|limits| limits.current), Some(None));
    }
}
