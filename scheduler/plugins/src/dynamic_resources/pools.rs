//! The pools of devices as one node sees them (`GatherPools` of the allocator).
//!
//! Slices of an older generation do not count. A pool of which slices are missing, or which
//! contradicts itself, is there but gives no device.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use plimsoll_objects::Node;
use plimsoll_objects::device::{CounterSet, ResourceSlice};

use super::offers::Offers;

/// All pools that have devices for a node, in the order in which they are tried.
#[derive(Debug, Default)]
pub(super) struct Pools {
    /// The pools.
    pub pools: Vec<Pool>,
    /// The devices of those pools that give any, in the order in which they are tried.
    pub devices: Vec<Candidate>,
}

/// One pool.
#[derive(Debug)]
pub(super) struct Pool {
    /// Which one.
    pub name: usize,
    /// Whether it gives devices.
    pub state: PoolState,
    /// Its devices among all those of the node.
    pub devices: Range<usize>,
    /// Its slices that have devices, those for other nodes included.
    pub device_slices: Vec<usize>,
    /// Its slices that have counters.
    pub counter_slices: Vec<usize>,
}

/// Whether a pool gives devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PoolState {
    /// It does.
    Whole,
    /// Slices are missing.
    Incomplete,
    /// It contradicts itself, such as two devices of one name.
    Invalid,
}

/// A device that a node has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    /// Its slice.
    pub offer: usize,
    /// Its place in the slice.
    pub index: usize,
    /// Its number among all devices of the cluster.
    pub number: usize,
    /// Its pool's place among the node's pools.
    pub pool: usize,
}

/// The pools that `node` sees.
///
/// # Errors
/// The selector of a slice or of a device has a mistake.
pub(super) fn gather(offers: &Offers, node: &Node) -> Result<Pools, String> {
    let mut by_pool: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for number in offers.near(node.name()) {
        let offer = offers.get(number);
        if !offer.has_groups && is_for(&offer.slice, node)? {
            let members = by_pool.entry(offer.pool).or_default();
            add_newest(offers, members, number);
        }
    }
    let mut built = Vec::new();
    for (pool, slices) in by_pool {
        built.extend(build(offers, pool, slices));
    }
    // Pools of devices that must be made ready after they are taken come last.
    built.sort_by_key(|pool| needs_binding(offers, pool));
    let mut all = Pools::default();
    for pool in built {
        all.push(offers, pool);
    }
    Ok(all)
}

/// Whether the slice has a device for `node`.
fn is_for(slice: &ResourceSlice, node: &Node) -> Result<bool, String> {
    let name = &slice.meta.key.name;
    let failed = |what: String, why: String| {
        format!("failed to perform node selection for {what}: failed to parse node selector: {why}")
    };
    if !slice.nodes.is_empty() {
        let matches = slice.nodes.matches(node);
        return matches.map_err(|why| failed(format!("slice {name}"), why));
    }
    if slice.per_device_nodes {
        for device in &slice.devices {
            let what = || format!("device {} in slice {name}", device.name);
            let matches = device.nodes.matches(node);
            if matches.map_err(|why| failed(what(), why))? {
                return Ok(true);
            }
        }
    }
    // Nothing that is known was said.
    Ok(false)
}

/// Adds a slice to those of its pool, unless it is older; a newer one drops them.
fn add_newest(offers: &Offers, members: &mut Vec<usize>, number: usize) {
    let generation = |number: usize| offers.get(number).slice.pool.generation;
    let Some(first) = members.first() else {
        members.push(number);
        return;
    };
    match generation(number).cmp(&generation(*first)) {
        std::cmp::Ordering::Less => {}
        std::cmp::Ordering::Equal => members.push(number),
        std::cmp::Ordering::Greater => *members = vec![number],
    }
}

/// A pool of which `slices` have devices for the node; `None` if it is being replaced.
fn build(offers: &Offers, name: usize, mut slices: Vec<usize>) -> Option<Draft> {
    let pool = &offers.get(*slices.first()?).slice.pool;
    let is_whole = |count: usize| i64::try_from(count) == Ok(pool.slice_count);
    let mut others = Vec::new();
    if !is_whole(slices.len()) {
        let all = offers.of_pool(name).iter().copied();
        let of = |number: usize| offers.get(number).slice.pool.generation;
        if all.clone().any(|number| of(number) > pool.generation) {
            return None;
        }
        let current = all.filter(|number| of(*number) == pool.generation);
        others = current
            .filter(|number| !offers.get(*number).has_groups && !slices.contains(number))
            .collect();
        if !is_whole(slices.len() + others.len()) {
            return Some(Draft::without_devices(name, PoolState::Incomplete));
        }
    }
    // Slices are numbered by name, the order in which they are tried.
    slices.sort_unstable();
    let has_counters = |number: &usize| !offers.get(*number).slice.shared_counters.is_empty();
    let (counters, mine): (Vec<usize>, Vec<usize>) = slices.into_iter().partition(has_counters);
    let (more, others): (Vec<usize>, Vec<usize>) = others.into_iter().partition(has_counters);
    let draft = Draft {
        name,
        state: PoolState::Whole,
        mine,
        others,
        counters: counters.into_iter().chain(more).collect(),
    };
    Some(if draft.is_consistent(offers) {
        draft
    } else {
        Draft::without_devices(name, PoolState::Invalid)
    })
}

fn needs_binding(offers: &Offers, pool: &Draft) -> bool {
    let slices = pool.mine.iter().map(|number| &offers.get(*number).slice);
    let mut devices = slices.flat_map(|slice| &slice.devices);
    devices.any(|device| device.binding_conditions.is_some())
}

/// A pool in the making.
struct Draft {
    name: usize,
    state: PoolState,
    mine: Vec<usize>,
    others: Vec<usize>,
    counters: Vec<usize>,
}

// === impl PoolState ===

impl PoolState {
    /// Whether it does not contradict itself.
    pub(super) fn is_sound(self) -> bool {
        self != Self::Invalid
    }
}

// === impl Draft ===

impl Draft {
    fn without_devices(name: usize, state: PoolState) -> Self {
        Self {
            name,
            state,
            mine: Vec::new(),
            others: Vec::new(),
            counters: Vec::new(),
        }
    }

    /// Whether device names and counter sets are unique and every counter that a device
    /// consumes is there.
    fn is_consistent(&self, offers: &Offers) -> bool {
        let slice = |number: &usize| &offers.get(*number).slice;
        let mut names = BTreeSet::new();
        let mut mine = self.mine.iter().map(slice).flat_map(|one| &one.devices);
        if !mine.all(|device| names.insert(&device.name)) {
            return false;
        }
        let mut sets: BTreeMap<&Arc<str>, &CounterSet> = BTreeMap::new();
        let mut found = self.counters.iter().map(slice);
        let mut found = found.by_ref().flat_map(|one| &one.shared_counters);
        if found.any(|set| sets.insert(&set.name, set).is_some()) {
            return false;
        }
        let all = self.mine.iter().chain(&self.others).map(slice);
        let mut uses = all
            .flat_map(|one| &one.devices)
            .flat_map(|device| &device.consumes);
        uses.all(|consumed| {
            let set = sets.get(&consumed.set);
            set.is_some_and(|set| {
                let mut counters = consumed.counters.keys();
                counters.all(|counter| set.counters.contains_key(counter))
            })
        })
    }
}

// === impl Pools ===

impl Pools {
    fn push(&mut self, offers: &Offers, draft: Draft) {
        let first = self.devices.len();
        for number in &draft.mine {
            let offer = offers.get(*number);
            for index in 0..offer.slice.devices.len() {
                self.devices.push(Candidate {
                    offer: *number,
                    index,
                    number: offer.first_device + index,
                    pool: self.pools.len(),
                });
            }
        }
        self.pools.push(Pool {
            name: draft.name,
            state: draft.state,
            devices: first..self.devices.len(),
            device_slices: draft.mine.into_iter().chain(draft.others).collect(),
            counter_slices: draft.counters,
        });
    }
}
