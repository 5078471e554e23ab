//! Trying again what may be done twice.
//!
//! Takes a call that leaves the same state however often it is carried out, gives its
//! answer or the last failure. The same causes and steps as upstream's status patch
//! (`pkg/scheduler/util/utils.go`, `retry.DefaultBackoff`).

use std::time::Duration;

use plimsoll_core::{Failure, FailureKind};
use tokio::time::sleep;

use crate::call::{Answer, Api, Call, accepted};

/// How often a call is tried: upstream's four steps.
const TRIES: u32 = 4;
/// Wait before the second try: a conflict inside the API server is over at once.
const FIRST_WAIT: Duration = Duration::from_millis(10);
/// Each wait is this many times the one before: 10, 50, 250 ms.
const FACTOR: u32 = 5;

/// Carries out a call that may be done twice.
///
/// # Errors
/// The last failure. What waiting a third of a second does not mend (429, 404, other 4xx)
/// is not tried again.
pub(crate) async fn call_again(api: &Api, call: Call) -> Result<Answer, Failure> {
    let mut wait = FIRST_WAIT;
    for _ in 1..TRIES {
        match accepted(api.call(call.clone()).await) {
            Err(failure) if is_passing(failure.kind) => sleep(wait).await,
            settled => return settled,
        }
        wait *= FACTOR;
    }
    accepted(api.call(call).await)
}

fn is_passing(kind: FailureKind) -> bool {
    match kind {
        FailureKind::Conflict | FailureKind::Unavailable | FailureKind::Unknown => true,
        FailureKind::NotFound | FailureKind::TooManyRequests { .. } | FailureKind::Refused => false,
    }
}
