//! Plugins for the queue alone: which pods they hold back and what wakes them is written on
//! the objects. A changed object wakes the plugins whose letters its label `wakes` has.

use std::cell::Cell;
use std::cmp::Ordering;
use std::sync::Arc;

use plimsoll_framework::test_util::{node, pod};
use plimsoll_framework::{
    Actions, Args, Bind, BindOutcome, Catalog, Change, ClusterEvent, Cycle, CycleState, Depends,
    EnqueueExtensions, Entity, EventResource, Filter, FilterOutcome, GroupSize, Grouping, Hint,
    Hooks, Membership, NodeInfo, PluginSpec, Point, PreEnqueue, QueueSort, Registry, Rejection,
};
use plimsoll_objects::{ObjectKey, Pod};

use crate::plugin_set::{PluginIx, PluginSet};
use crate::profile::{ProfileIx, Profiles};
use crate::queue::Happening;

/// Which events each plugin named; `None` hears of all.
pub(super) type Interests = Option<&'static [(EventResource, Actions)]>;

/// Name, letter, whether it holds pods back that have its letter as a label, interests.
pub(super) const PLUGINS: [(&str, char, bool, Interests); 5] = [
    (
        "GateA",
        'a',
        true,
        Some(&[
            (EventResource::TargetPod, Actions::UPDATE_POD_LABEL),
            (EventResource::Node, Actions::ADD),
        ]),
    ),
    (
        "GateB",
        'b',
        true,
        Some(&[(EventResource::TargetPod, Actions::UPDATE_POD_LABEL)]),
    ),
    (
        "One",
        '1',
        false,
        Some(&[
            (EventResource::Node, Actions::ADD),
            (EventResource::Node, Actions::UPDATE_NODE_LABEL),
            (EventResource::TargetPod, Actions::UPDATE_POD_LABEL),
        ]),
    ),
    (
        "Two",
        '2',
        false,
        Some(&[
            (EventResource::AssignedPod, Actions::DELETE),
            (EventResource::Node, Actions::ADD),
            (EventResource::Node, Actions::UPDATE_LOAD),
        ]),
    ),
    ("All", '3', false, None),
];

/// No profile has more.
const MOST_PLUGINS: u8 = 7;

struct Fake(usize);

thread_local! {
    static ASKED: Cell<usize> = const { Cell::new(0) };
}

/// How many hints were asked for since the last call.
pub(super) fn asked() -> usize {
    ASKED.replace(0)
}

/// A profile without `All`, one without `GateA`, and one with `One` alone. With `all`, the
/// second has `All`.
pub(super) fn profiles(all: bool) -> Profiles {
    let other = if all {
        "GateB One Two All"
    } else {
        "GateB One Two"
    };
    build(&[
        ("default-scheduler", "GateA GateB One Two"),
        ("other", other),
        ("deaf", "One"),
    ])
}

/// A profile in which pods with the label `gang` are groups.
pub(super) fn gangs() -> Profiles {
    build(&[("default-scheduler", "Gang GateA One Two")])
}

fn build(profiles: &[(&str, &str)]) -> Profiles {
    let registry = Registry::new(specs()).expect("names differ");
    let profiles = profiles.iter().map(|(name, plugins)| {
        let plugins = ["Sort", "Ends"].into_iter().chain(plugins.split(' '));
        let plugins: Vec<String> = plugins.map(|name| format!("{{name: {name}}}")).collect();
        let plugins = plugins.join(", ");
        format!(
            "- schedulerName: {name}\n  plugins:\n    multiPoint:\n      disabled: \
             [{{name: '*'}}]\n      enabled: [{plugins}]\n"
        )
    });
    let profiles: String = profiles.collect();
    let text = format!(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n\
         profiles:\n{profiles}"
    );
    let config = plimsoll_config::load(&text, &registry).expect("a right file");
    Profiles::new(&config).expect("profiles that can be built")
}

fn specs() -> Vec<PluginSpec> {
    let spec = |name, points, build: fn(&Args) -> Hooks| PluginSpec {
        name,
        points,
        depends: Depends::Anything,
        decode_args: |_, _, _| Args::none(),
        build,
    };
    vec![
        spec("Sort", &[Point::QueueSort], |_| {
            Hooks::default()
                .with_queue_sort(&Arc::new(Sort))
                .with_enqueue(&Arc::new(Deaf))
        }),
        spec("GateA", &[Point::PreEnqueue], |_| gate(0)),
        spec("GateB", &[Point::PreEnqueue], |_| gate(1)),
        spec("Gang", &[Point::PreEnqueue], |_| {
            let gang = Arc::new(Gang);
            Hooks::default()
                .with_pre_enqueue(&gang)
                .with_enqueue(&Arc::new(Deaf))
                .with_group(&gang)
        }),
        spec("One", &[Point::Filter], |_| filter(2)),
        spec("Two", &[Point::Filter], |_| filter(3)),
        spec("All", &[Point::Filter], |_| {
            Hooks::default().with_filter(&Arc::new(Fake(4)))
        }),
        spec("Ends", &[Point::Bind], |_| {
            Hooks::default()
                .with_bind(&Arc::new(Ends))
                .with_enqueue(&Arc::new(Deaf))
        }),
    ]
}

fn gate(index: usize) -> Hooks {
    let fake = Arc::new(Fake(index));
    Hooks::default().with_pre_enqueue(&fake).with_enqueue(&fake)
}

fn filter(index: usize) -> Hooks {
    let fake = Arc::new(Fake(index));
    Hooks::default().with_filter(&fake).with_enqueue(&fake)
}

/// The plugins of these names, those that the profile has.
pub(super) fn set(profiles: &Profiles, profile: ProfileIx, names: &[&str]) -> PluginSet {
    let mut set = PluginSet::EMPTY;
    for plugin in (0..MOST_PLUGINS).map(PluginIx) {
        if names.contains(&profiles.get(profile).name_of(plugin)) {
            set.insert(plugin);
        }
    }
    set
}

/// A node that is new, or has new labels.
pub(super) fn node_news(wakes: &str, is_new: bool) -> Happening {
    let node = node("n").label("wakes", wakes).arc();
    let actions = if is_new {
        Actions::ADD
    } else {
        Actions::UPDATE_NODE_LABEL
    };
    Happening::node(actions, None, Some(&node))
}

/// A pod with a node that is gone.
pub(super) fn pod_news(wakes: &str) -> Happening {
    let gone = pod("gone").label("wakes", wakes).on("n").arc();
    Happening::assigned(Actions::DELETE, Some(&gone), None)
}

/// A change that only a plugin without `EnqueueExtensions` hears of.
pub(super) fn nobodys_news() -> Happening {
    Happening::node(Actions::UPDATE_NODE_ANNOTATION, None, None)
}

/// Groups of [`GANG_SIZE`] by the label `gang`.
struct Gang;

pub(super) const GANG_SIZE: usize = 3;

impl Grouping for Gang {
    fn group_of(&self, pod: &Pod, _: &Catalog) -> Option<Membership> {
        let name = Arc::from(&**pod.meta.labels.get("gang")?);
        let namespace = Arc::clone(&pod.key().namespace);
        Some(Membership {
            key: ObjectKey { namespace, name },
            size: GroupSize::AtLeast(GANG_SIZE),
        })
    }
}

/// It needs a point to be enabled at.
impl PreEnqueue for Gang {
    fn pre_enqueue(&self, _: &Pod, _: &Catalog) -> Result<(), Rejection> {
        Ok(())
    }
}

struct Sort;

impl QueueSort for Sort {
    fn compare(&self, a: &Entity, b: &Entity) -> Ordering {
        let priority = b.priority().cmp(&a.priority());
        priority.then(a.queued_at().cmp(&b.queued_at()))
    }
}

/// Hears of nothing.
struct Deaf;

impl EnqueueExtensions for Deaf {
    fn events(&self) -> Vec<ClusterEvent> {
        Vec::new()
    }
}

impl PreEnqueue for Fake {
    fn pre_enqueue(&self, pod: &Pod, _: &Catalog) -> Result<(), Rejection> {
        let label: String = PLUGINS[self.0].1.into();
        match pod.meta.labels.get(&*label) {
            Some(_) => Err(Rejection::unresolvable("held")),
            None => Ok(()),
        }
    }
}

impl Filter for Fake {
    fn filter(
        &self,
        _: &Cycle<'_>,
        _: &CycleState,
        _: &NodeInfo,
    ) -> Result<FilterOutcome, Rejection> {
        Ok(FilterOutcome::Pass)
    }
}

impl EnqueueExtensions for Fake {
    fn events(&self) -> Vec<ClusterEvent> {
        let named = PLUGINS[self.0].3.unwrap_or_default().iter();
        named
            .map(|(resource, actions)| ClusterEvent::new(*resource, *actions))
            .collect()
    }

    fn hint(&self, _: &Pod, _: ClusterEvent, change: &Change<'_>, _: &Catalog) -> Hint {
        ASKED.set(ASKED.get() + 1);
        let labels = match change {
            Change::Node { new: Some(new), .. } => &new.meta.labels,
            Change::Pod { new: Some(pod), .. }
            | Change::Pod {
                old: Some(pod),
                new: None,
            } => &pod.meta.labels,
            _ => return Hint::Queue,
        };
        let wakes = labels.get("wakes").map_or("", |letters| &**letters);
        let letter = PLUGINS[self.0].1.to_ascii_uppercase();
        if wakes.contains(letter) {
            Hint::Queue
        } else {
            Hint::Skip
        }
    }
}

struct Ends;

impl Bind for Ends {
    fn bind(&self, _: &Pod, _: &CycleState, _: &str) -> Result<BindOutcome, Rejection> {
        Ok(BindOutcome::Skip)
    }
}
