//! How fast a watch begins again.

use std::time::Duration;

use crate::watch::stream::End;
use crate::watch::{Pace, WAIT_LEAST};

fn unreachable() -> End {
    End::Failed {
        message: "connection refused".to_owned(),
        retry_after: None,
        refused: false,
    }
}

#[test]
fn a_server_that_is_back_and_has_forgotten_the_version_is_listed_at_once() {
    let mut pace = Pace::new();
    pace.after(&End::Broken("reset".to_owned()), false);
    for _ in 0..10 {
        assert!(pace.after(&unreachable(), false).wait >= WAIT_LEAST);
    }
    let next = pace.after(&End::Expired, false);
    assert_eq!((next.wait, next.list), (Duration::ZERO, true));
    // One that forgets each version that it gives is not asked without pause.
    let next = pace.after(&End::Expired, false);
    assert!(next.list && next.wait >= WAIT_LEAST, "{next:?}");
    pace.after(&End::Closed, true);
    assert_eq!(pace.after(&End::Expired, false).wait, Duration::ZERO);
}
