//! Small plugins whose behaviour tests choose by labels of pods and nodes.
//!
//! What they were asked is kept per thread: a test runs in one ([`log`]).

mod claims;
mod gang;
mod heavy;
mod nodes;
mod odd;
mod placing;
mod queueing;

use std::cell::RefCell;
use std::sync::Arc;

use plimsoll_framework::{
    Actions, Args, Depends, EventResource, Hooks, PluginSpec, Point, Registry,
};
use plimsoll_objects::Pod;

use self::claims::Claims;
use self::gang::{Apart, Gang};
use self::heavy::Heavy;
use self::nodes::{Fit, Label, Match, Only};
use self::odd::Odd;
use self::placing::{Binder, Book, Hold, Rescue};
use self::queueing::{FitWakes, Gates, Sort, Wakes};

pub(crate) use self::heavy::hints;
pub(crate) use self::queueing::asked;

thread_local! {
    static LOG: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// What the fakes were asked since the last call.
pub(crate) fn log() -> Vec<String> {
    LOG.with_borrow_mut(std::mem::take)
}

fn note(line: String) {
    LOG.with_borrow_mut(|log| log.push(line));
}

pub(crate) fn registry() -> Registry {
    Registry::new(choosing().into_iter().chain(placing())).expect("names differ")
}

/// Plugins up to the choice of a node.
fn choosing() -> Vec<PluginSpec> {
    vec![
        spec("Sort", &[Point::QueueSort], |_| Hooks {
            queue_sort: Some(Arc::new(Sort)),
            ..Hooks::default()
        }),
        spec("Gates", &[Point::PreEnqueue], |_| Hooks {
            pre_enqueue: Some(Arc::new(Gates)),
            enqueue: Some(Arc::new(Wakes(&[(
                EventResource::TargetPod,
                Actions::UPDATE_POD_SCHEDULING_GATES_ELIMINATED,
            )]))),
            ..Hooks::default()
        }),
        spec("Fit", &[Point::Filter], |_| Hooks {
            filter: Some(Arc::new(Fit)),
            enqueue: Some(Arc::new(FitWakes)),
            ..Hooks::default()
        }),
        spec("Heavy", &[Point::Filter], |_| Hooks {
            filter: Some(Arc::new(Heavy)),
            enqueue: Some(Arc::new(Heavy)),
            ..Hooks::default()
        }),
        spec("Match", &[Point::PreFilter, Point::Filter], |_| Hooks {
            pre_filter: Some(Arc::new(Match)),
            filter: Some(Arc::new(Match)),
            enqueue: Some(Arc::new(Wakes(&[
                (EventResource::Node, Actions::ADD),
                (EventResource::Node, Actions::UPDATE_NODE_LABEL),
            ]))),
            ..Hooks::default()
        }),
        spec("Only", &[Point::PreFilter], |_| Hooks {
            pre_filter: Some(Arc::new(Only("only"))),
            ..Hooks::default()
        }),
        spec("Also", &[Point::PreFilter], |_| Hooks {
            pre_filter: Some(Arc::new(Only("also"))),
            ..Hooks::default()
        }),
        spec(
            "Odd",
            &[
                Point::PreFilter,
                Point::Filter,
                Point::PreScore,
                Point::Score,
            ],
            |_| Hooks {
                pre_filter: Some(Arc::new(Odd)),
                filter: Some(Arc::new(Odd)),
                pre_score: Some(Arc::new(Odd)),
                score: Some(Arc::new(Odd)),
                enqueue: Some(Arc::new(Wakes(&[(EventResource::Node, Actions::ADD)]))),
                ..Hooks::default()
            },
        ),
    ]
}

/// Plugins from the choice of a node on.
fn placing() -> Vec<PluginSpec> {
    vec![
        spec("Label", &[Point::Score], |_| Hooks {
            score: Some(Arc::new(Label)),
            ..Hooks::default()
        }),
        spec(
            "Book",
            &[Point::Reserve, Point::PreBind, Point::PostBind],
            |_| Hooks {
                reserve: Some(Arc::new(Book("Book"))),
                pre_bind: Some(Arc::new(Book("Book"))),
                post_bind: Some(Arc::new(Book("Book"))),
                ..Hooks::default()
            },
        ),
        spec("Second", &[Point::Reserve], |_| Hooks {
            reserve: Some(Arc::new(Book("Second"))),
            ..Hooks::default()
        }),
        spec(
            "Claims",
            &[Point::PreEnqueue, Point::PreFilter, Point::Reserve],
            |_| Hooks {
                pre_enqueue: Some(Arc::new(Claims)),
                pre_filter: Some(Arc::new(Claims)),
                reserve: Some(Arc::new(Claims)),
                enqueue: Some(Arc::new(Claims)),
                ..Hooks::default()
            },
        ),
        spec("Hold", &[Point::Permit], |_| Hooks {
            permit: Some(Arc::new(Hold)),
            enqueue: Some(Arc::new(Wakes(&[(
                EventResource::Node,
                Actions::UPDATE_NODE_LABEL,
            )]))),
            ..Hooks::default()
        }),
        spec("Rescue", &[Point::PostFilter], |_| Hooks {
            post_filter: Some(Arc::new(Rescue("rescue"))),
            ..Hooks::default()
        }),
        spec("Last", &[Point::PostFilter], |_| Hooks {
            post_filter: Some(Arc::new(Rescue("last"))),
            ..Hooks::default()
        }),
        spec("Gang", &[Point::PreEnqueue], |_| Hooks {
            pre_enqueue: Some(Arc::new(Gang)),
            enqueue: Some(Arc::new(Wakes(&[(
                EventResource::TargetPod,
                Actions::UPDATE_POD_LABEL,
            )]))),
            group: Some(Arc::new(Gang)),
            ..Hooks::default()
        }),
        spec("Apart", &[Point::Filter], |_| Hooks {
            filter: Some(Arc::new(Apart)),
            enqueue: Some(Arc::new(FitWakes)),
            ..Hooks::default()
        }),
        spec("Binder", &[Point::Bind], |_| Hooks {
            bind: Some(Arc::new(Binder)),
            ..Hooks::default()
        }),
    ]
}

fn spec(name: &'static str, points: &'static [Point], build: fn(&Args) -> Hooks) -> PluginSpec {
    let depends = match name {
        "Fit" => Depends::NodeInfo,
        "Match" | "Label" => Depends::Node,
        _ => Depends::Anything,
    };
    PluginSpec {
        name,
        points,
        depends,
        decode_args: |_, _, _| Args::none(),
        build,
    }
}

fn label<'a>(pod: &'a Pod, key: &str) -> Option<&'a str> {
    pod.meta.labels.get(key).map(|value| &**value)
}
