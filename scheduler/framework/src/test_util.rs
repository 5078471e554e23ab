//! Builders and checks for unit tests of plugins (feature `test-util`).
//!
//! A test takes quantities as text and gives plain data that compares: build objects with
//! [`pod`], [`node`] and [`load`], put them into a [`cluster`], hand the plugin's spec and
//! its args as JSON to one of the checks. Every check goes the way that the engine goes:
//! it decodes the args, builds the hooks, and holds the plugin to the points it declares.
//!
//! | check | runs | gives |
//! | --- | --- | --- |
//! | [`check_args`] | `decode_args` | the effective args, or every mistake |
//! | [`check_pre_enqueue`] | `PreEnqueue` | `Pass`, or the rejection |
//! | [`check_queue_sort`] | `QueueSort` | the entities in order |
//! | [`check_filter`] | `PreFilter` with its skip and node set, `Filter` | a line per node |
//! | [`check_post_filter`] | `PreFilter`, `PostFilter` with an engine that edits nodes | the answer |
//! | [`check_score`] | the above, `PreScore` with its skip, `Score`, `normalize` | a line per node |
//! | [`check_reserve`] | `PreFilter`, `Reserve`, `unreserve` twice | the answer |
//! | [`check_permit`] | `PreFilter`, `Permit` | the answer |
//! | [`check_pre_bind`] | `PreFilter`, `Reserve`, `PreBind` until it is done | a line per step |
//! | [`check_bind`] | `Bind` | the answer |
//! | [`check_post_bind`] | `PreFilter`, `PostBind` | the state it leaves |
//! | [`check_hint`] | `EnqueueExtensions` | the hint, `None` if it does not listen |
//!
//! The last and [`check_pre_enqueue`] have a twin with `_in` for plugins that look at other objects.
//!
//! Texts are made of [`crate::Code::as_str`], the reasons and, in brackets, the detail:
//! `Unschedulable: Insufficient cpu`. Where a test needs numbers rather than text (property
//! tests), [`Trial`] has the same steps with the framework's own types.
//!
//! Everything here panics on a test that is written wrongly (a quantity that is none, a pod
//! on a node that is not there) and says what is wrong with it.

mod check;
mod cluster;
mod load;
mod node;
mod pod;
mod trial;

pub use check::args::check_args;
pub use check::binding::{check_bind, check_permit, check_pre_bind, check_reserve};
pub use check::nodes::{check_filter, check_score};
pub use check::post::{check_post_bind, check_post_filter};
pub use check::queue::{
    check_hint, check_hint_in, check_pre_enqueue, check_pre_enqueue_in, check_queue_sort, queued,
};
pub use cluster::{Cluster, Scene, cluster, snapshot};
pub use load::{LoadBuilder, load};
pub use node::{NodeBuilder, node};
pub use pod::{PodBuilder, pod};
pub use trial::{Scored, Trial};

use plimsoll_objects::Quantity;
use serde_json::Value;

/// Reads a quantity of a test.
fn quantity(text: &str) -> Quantity {
    match text.parse() {
        Ok(quantity) => quantity,
        Err(error) => panic!("{error}"),
    }
}

/// Merges objects field by field; anything else is replaced.
fn merge(into: &mut Value, patch: Value) {
    match (into, patch) {
        (Value::Object(into), Value::Object(patch)) => {
            for (key, value) in patch {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, patch) => *into = patch,
    }
}

/// Appends to a list that may not be there yet.
fn push(list: &mut Value, item: Value) {
    match list {
        Value::Array(items) => items.push(item),
        _ => *list = Value::Array(vec![item]),
    }
}
