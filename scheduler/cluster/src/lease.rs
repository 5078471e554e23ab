//! Which replica schedules: leader election on a `Lease`, as client-go does it.
//!
//! [`Election`] is the deciding part, without IO; [`Record`] is what the lease says.

mod election;
mod record;

pub use self::election::{Action, Answer, Election, Found, Moment, Step, Timing};
pub use self::record::Record;
