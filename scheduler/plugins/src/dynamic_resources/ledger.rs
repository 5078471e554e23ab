//! Who has which device: the allocations of all claims, kept up to date by difference.
//!
//! Takes the claims as they are to be taken (those in flight included), gives for each
//! device of the cluster whether it is taken, and of those that are shared how much.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_framework::Catalog;
use plimsoll_objects::device::{AllocatedDevice, Allocation};
use plimsoll_objects::{Quantity, ResourceClaim};

use super::offers::{DeviceName, Offers};

/// Amounts by name of a capacity.
pub(super) type Amounts = BTreeMap<Arc<str>, Quantity>;

/// What is taken.
#[derive(Debug, Clone, Default)]
pub(super) struct Ledger {
    seen: Vec<Arc<ResourceClaim>>,
    taken: BTreeMap<DeviceName, u32>,
    shares: BTreeMap<DeviceName, Shares>,
    /// Whether a device is taken as a whole, by its number.
    is_taken: Vec<bool>,
}

/// The shares of a device that are taken.
#[derive(Debug, Clone, Default)]
struct Shares {
    count: u32,
    consumed: Amounts,
}

/// Whether something is added or taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    Add,
    Remove,
}

// === impl Ledger ===

impl Ledger {
    /// Whether it is up to date with the claims.
    pub(super) fn is_of(&self, catalog: &Catalog) -> bool {
        let now = catalog.resource_claims.iter();
        let same =
            |(one, other): (&Arc<ResourceClaim>, &Arc<ResourceClaim>)| Arc::ptr_eq(one, other);
        self.seen.len() == catalog.resource_claims.len() && self.seen.iter().zip(now).all(same)
    }

    /// Brings it up to date with the claims.
    pub(super) fn follow(&mut self, catalog: &Catalog, offers: &Offers) {
        let before = std::mem::take(&mut self.seen);
        let mut before = before.into_iter().peekable();
        for claim in catalog.resource_claims.iter() {
            while let Some(gone) = before.next_if(|old| old.meta.key < claim.meta.key) {
                self.change(&gone, Change::Remove, offers);
            }
            let old = before.next_if(|old| old.meta.key == claim.meta.key);
            if !old.as_ref().is_some_and(|old| Arc::ptr_eq(old, claim)) {
                if let Some(old) = &old {
                    self.change(old, Change::Remove, offers);
                }
                self.change(claim, Change::Add, offers);
            }
            self.seen.push(Arc::clone(claim));
        }
        for gone in before {
            self.change(&gone, Change::Remove, offers);
        }
    }

    /// Numbers the devices anew.
    pub(super) fn renumber(&mut self, offers: &Offers) {
        self.is_taken = vec![false; offers.devices()];
        for name in self.taken.keys() {
            mark(&mut self.is_taken, offers.numbers(name), true);
        }
    }

    /// Adds an allocation that no claim has yet.
    pub(super) fn add(&mut self, allocation: &Allocation, offers: &Offers) {
        self.apply(allocation, Change::Add, offers);
    }

    /// Takes it away again.
    pub(super) fn remove(&mut self, allocation: &Allocation, offers: &Offers) {
        self.apply(allocation, Change::Remove, offers);
    }

    fn change(&mut self, claim: &ResourceClaim, change: Change, offers: &Offers) {
        if let Some(allocation) = &claim.status.allocation {
            self.apply(allocation, change, offers);
        }
    }

    fn apply(&mut self, allocation: &Allocation, change: Change, offers: &Offers) {
        // A device held for administration is free for others.
        let held = allocation.results.iter().filter(|one| !one.admin_access);
        for device in held {
            let name = name_of(device);
            if device.share.is_some() {
                self.apply_share(&name, device, change);
            } else if count(&mut self.taken, &name, change) {
                let is_taken = change == Change::Add;
                mark(&mut self.is_taken, offers.numbers(&name), is_taken);
            }
        }
    }

    fn apply_share(&mut self, name: &DeviceName, device: &AllocatedDevice, change: Change) {
        let shares = self.shares.entry(name.clone()).or_default();
        for (capacity, amount) in device.consumed.iter().flatten() {
            let sum = shares.consumed.entry(Arc::clone(capacity)).or_default();
            *sum = match change {
                Change::Add => sum.saturating_add(*amount),
                Change::Remove => sum.saturating_sub(*amount),
            };
        }
        shares.count = match change {
            Change::Add => shares.count.saturating_add(1),
            Change::Remove => shares.count.saturating_sub(1),
        };
        if shares.count == 0 {
            self.shares.remove(name);
        }
    }

    /// Whether the device `number` is taken as a whole.
    pub(super) fn is_taken(&self, number: usize) -> bool {
        self.is_taken.get(number).copied().unwrap_or(false)
    }

    /// What the shares of a device consume; `None` if nobody has one.
    pub(super) fn shares(&self, name: &DeviceName) -> Option<&Amounts> {
        self.shares.get(name).map(|shares| &shares.consumed)
    }
}

/// Counts; whether the first came or the last went.
fn count(taken: &mut BTreeMap<DeviceName, u32>, name: &DeviceName, change: Change) -> bool {
    match (change, taken.get_mut(name)) {
        (Change::Add, None) => {
            taken.insert(name.clone(), 1);
            true
        }
        (Change::Add, Some(holders)) => {
            *holders = holders.saturating_add(1);
            false
        }
        (Change::Remove, Some(holders)) if *holders > 1 => {
            *holders -= 1;
            false
        }
        (Change::Remove, Some(_)) => {
            taken.remove(name);
            true
        }
        (Change::Remove, None) => false,
    }
}

fn mark(is_taken: &mut [bool], numbers: &[usize], value: bool) {
    for number in numbers {
        if let Some(slot) = is_taken.get_mut(*number) {
            *slot = value;
        }
    }
}

/// The device of an allocation.
pub(super) fn name_of(device: &AllocatedDevice) -> DeviceName {
    DeviceName {
        pool: Arc::clone(&device.pool),
        device: Arc::clone(&device.device),
        driver: Arc::clone(&device.driver),
    }
}
