//! All devices of the cluster, by node and by pool, and what is known of them.
//!
//! Made anew when a slice changes; until then every cycle shares it, and so do what
//! selectors say of each device and the pools as each node sees them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use plimsoll_framework::{Catalog, Kept, NodeInfo};
use plimsoll_objects::device::Device;
use plimsoll_objects::{Node, ResourceSlice};

use super::pools::{self, Pools};

/// Selectors whose verdicts are kept: as many as are kept compiled.
const VERDICTS_MAX: usize = 64;

/// A device by name; ordered so that most comparisons end at the first field.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct DeviceName {
    /// Its pool, most often a node's name.
    pub pool: Arc<str>,
    /// Its own name.
    pub device: Arc<str>,
    /// Its driver.
    pub driver: Arc<str>,
}

/// A pool by name, in the order in which pools are tried.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PoolName {
    /// Its driver.
    pub driver: Arc<str>,
    /// Its own name.
    pub pool: Arc<str>,
}

/// One slice.
#[derive(Debug)]
pub(super) struct Offer {
    /// The object.
    pub slice: Arc<ResourceSlice>,
    /// Its pool: an index into the names.
    pub pool: usize,
    /// Number of its first device among all devices of the cluster.
    pub first_device: usize,
    /// It declares what this version cannot judge: it does not count.
    pub has_groups: bool,
}

/// All slices.
#[derive(Debug, Default)]
pub(super) struct Offers {
    slices: Vec<Offer>,
    pool_names: Vec<PoolName>,
    by_pool: Vec<Vec<usize>>,
    on_node: BTreeMap<Arc<str>, Vec<usize>>,
    elsewhere: Vec<usize>,
    numbers: BTreeMap<DeviceName, Vec<usize>>,
    devices: usize,
    verdicts: Kept<BTreeMap<Arc<str>, Arc<Verdicts>>>,
    seen: Kept<Vec<Option<Seen>>>,
}

/// What a selector says of each device, as far as it was asked.
#[derive(Debug)]
pub(super) struct Verdicts(Box<[AtomicU8]>);

/// The pools as a node sees them.
#[derive(Debug, Clone)]
struct Seen {
    node: Arc<Node>,
    pools: Result<Arc<Pools>, Arc<str>>,
}

// === impl DeviceName, PoolName ===

impl std::fmt::Display for DeviceName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}/{}", self.driver, self.pool, self.device)
    }
}

impl std::fmt::Display for PoolName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.driver, self.pool)
    }
}

// === impl Offers ===

impl Offers {
    /// The slices of the cluster.
    pub(super) fn of(catalog: &Catalog) -> Self {
        let names = catalog.resource_slices.iter().map(|slice| PoolName {
            driver: Arc::clone(&slice.driver),
            pool: Arc::clone(&slice.pool.name),
        });
        let mut pool_names: Vec<PoolName> = names.collect();
        pool_names.sort_unstable();
        pool_names.dedup();
        let mut all = Self {
            by_pool: vec![Vec::new(); pool_names.len()],
            pool_names,
            ..Self::default()
        };
        catalog
            .resource_slices
            .iter()
            .for_each(|slice| all.add(slice));
        all
    }

    fn add(&mut self, slice: &Arc<ResourceSlice>) {
        let name = PoolName {
            driver: Arc::clone(&slice.driver),
            pool: Arc::clone(&slice.pool.name),
        };
        // Every name is there: the list was made of these slices.
        let pool = self.pool_names.binary_search(&name).unwrap_or_else(|at| at);
        let number = self.slices.len();
        if let Some(members) = self.by_pool.get_mut(pool) {
            members.push(number);
        }
        match &slice.nodes.name {
            Some(node) => self
                .on_node
                .entry(Arc::clone(node))
                .or_default()
                .push(number),
            None => self.elsewhere.push(number),
        }
        for (index, device) in slice.devices.iter().enumerate() {
            let name = DeviceName {
                pool: Arc::clone(&slice.pool.name),
                device: Arc::clone(&device.name),
                driver: Arc::clone(&slice.driver),
            };
            self.numbers
                .entry(name)
                .or_default()
                .push(self.devices + index);
        }
        self.slices.push(Offer {
            pool,
            first_device: self.devices,
            has_groups: slice.has_compatibility_groups(),
            slice: Arc::clone(slice),
        });
        self.devices += slice.devices.len();
    }

    /// Whether these are still the slices of the cluster.
    pub(super) fn are_of(&self, catalog: &Catalog) -> bool {
        let now = catalog.resource_slices.iter();
        let same = |(one, other): (&Offer, &Arc<ResourceSlice>)| Arc::ptr_eq(&one.slice, other);
        self.slices.len() == catalog.resource_slices.len() && self.slices.iter().zip(now).all(same)
    }

    /// The slice `number`.
    pub(super) fn get(&self, number: usize) -> &Offer {
        &self.slices[number]
    }

    /// The device `index` of the slice `number`.
    pub(super) fn device(&self, number: usize, index: usize) -> &Device {
        &self.slices[number].slice.devices[index]
    }

    /// Number of devices, the older generations' included.
    pub(super) fn devices(&self) -> usize {
        self.devices
    }

    /// The name of the pool `pool`.
    pub(super) fn pool_name(&self, pool: usize) -> &PoolName {
        &self.pool_names[pool]
    }

    /// All slices of the pool `pool`, of every generation.
    pub(super) fn of_pool(&self, pool: usize) -> &[usize] {
        &self.by_pool[pool]
    }

    /// The slices that name `node`, then those that name none.
    pub(super) fn near(&self, node: &str) -> impl Iterator<Item = usize> {
        let own = self.on_node.get(node).into_iter().flatten();
        own.chain(&self.elsewhere).copied()
    }

    /// The numbers of the devices of this name: more than one if an older generation of
    /// its pool is still there.
    pub(super) fn numbers(&self, name: &DeviceName) -> &[usize] {
        self.numbers.get(name).map_or(&[], Vec::as_slice)
    }

    /// What the selector `text` says, to be asked and added to.
    pub(super) fn verdicts(&self, text: &Arc<str>) -> Arc<Verdicts> {
        let mut kept = self.verdicts.lock();
        if let Some(verdicts) = kept.get(text) {
            return Arc::clone(verdicts);
        }
        if kept.len() >= VERDICTS_MAX {
            kept.clear();
        }
        let unknown = (0..self.devices).map(|_| AtomicU8::new(Verdicts::UNKNOWN));
        let verdicts = Arc::new(Verdicts(unknown.collect()));
        kept.insert(Arc::clone(text), Arc::clone(&verdicts));
        verdicts
    }

    /// The pools as `node` sees them.
    ///
    /// # Errors
    /// The selector of a slice has a mistake.
    pub(super) fn pools(&self, node: &NodeInfo) -> Result<Arc<Pools>, Arc<str>> {
        let index = node.id.index();
        let mut seen = self.seen.lock();
        if let Some(Some(before)) = seen.get(index)
            && Arc::ptr_eq(&before.node, &node.node)
        {
            return before.pools.clone();
        }
        let pools = pools::gather(self, &node.node);
        let pools = pools.map(Arc::new).map_err(Arc::from);
        if seen.len() <= index {
            seen.resize(index + 1, None);
        }
        seen[index] = Some(Seen {
            node: Arc::clone(&node.node),
            pools: pools.clone(),
        });
        pools
    }
}

// === impl Verdicts ===

impl Verdicts {
    const UNKNOWN: u8 = 0;
    const NO: u8 = 1;
    const YES: u8 = 2;

    /// What is known of a device.
    pub(super) fn get(&self, device: usize) -> Option<bool> {
        match self.0.get(device)?.load(Ordering::Relaxed) {
            Self::UNKNOWN => None,
            verdict => Some(verdict == Self::YES),
        }
    }

    /// Notes what the selector says of a device.
    pub(super) fn set(&self, device: usize, matches: bool) {
        if let Some(slot) = self.0.get(device) {
            let verdict = if matches { Self::YES } else { Self::NO };
            slot.store(verdict, Ordering::Relaxed);
        }
    }
}
