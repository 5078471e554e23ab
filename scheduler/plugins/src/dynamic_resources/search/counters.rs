//! Counters that the devices of a pool share, such as the memory of a card that can be split.

use std::sync::Arc;

use plimsoll_objects::Quantity;
use plimsoll_objects::device::CounterUse;

use super::super::offers::DeviceName;
use super::state::{Counter, Counters, Search};

// === impl Search ===

impl Search<'_> {
    /// Takes the device's counters from its pool, if there are enough.
    pub(super) fn consume_counters(&mut self, device: usize) -> bool {
        let pool = self.candidate(device).pool;
        if !self.available.contains_key(&pool) {
            let available = self.counters_left(pool);
            self.available.insert(pool, available);
        }
        let uses = &self.device(device).consumes;
        let consumed = self.consumed.entry(pool).or_default();
        for (counter, amount) in amounts(uses) {
            let sum = consumed.entry(counter).or_default();
            *sum = sum.saturating_add(amount);
        }
        let enough = self.available[&pool].iter().all(|(counter, left)| {
            let consumed = consumed.get(counter).copied().unwrap_or_default();
            consumed <= *left
        });
        if !enough {
            self.return_counters(device);
        }
        enough
    }

    /// Gives them back.
    pub(super) fn return_counters(&mut self, device: usize) {
        let pool = self.candidate(device).pool;
        let uses = &self.device(device).consumes;
        if let Some(consumed) = self.consumed.get_mut(&pool) {
            subtract(consumed, uses);
        }
    }

    /// The counters of a pool less those of the devices that are taken.
    fn counters_left(&self, pool: usize) -> Counters {
        let pool = &self.ground.pools.pools[pool];
        let offers = &self.ground.view.offers;
        let mut left = Counters::new();
        let slices = pool.counter_slices.iter();
        let sets = slices.flat_map(|number| &offers.get(*number).slice.shared_counters);
        for set in sets {
            let counters = set.counters.iter();
            left.extend(
                counters.map(|(name, amount)| ((Arc::clone(&set.name), Arc::clone(name)), *amount)),
            );
        }
        for number in &pool.device_slices {
            let devices = offers.get(*number).slice.devices.iter().enumerate();
            let consuming = devices.filter(|(_, device)| !device.consumes.is_empty());
            for (index, device) in consuming {
                if self.is_allocated(*number, index) {
                    subtract(&mut left, &device.consumes);
                }
            }
        }
        left
    }

    /// Whether a claim has the device or a share of it.
    fn is_allocated(&self, offer: usize, index: usize) -> bool {
        let view = self.ground.view;
        let offer = view.offers.get(offer);
        let name = DeviceName {
            pool: Arc::clone(&offer.slice.pool.name),
            device: Arc::clone(&offer.slice.devices[index].name),
            driver: Arc::clone(&offer.slice.driver),
        };
        view.ledger.is_taken(offer.first_device + index) || view.ledger.shares(&name).is_some()
    }
}

fn amounts(uses: &[CounterUse]) -> impl Iterator<Item = (Counter, Quantity)> {
    uses.iter().flat_map(|consumption| {
        let counters = consumption.counters.iter();
        counters.map(|(name, amount)| ((Arc::clone(&consumption.set), Arc::clone(name)), *amount))
    })
}

/// Takes away; a counter that is not there stays away.
fn subtract(counters: &mut Counters, uses: &[CounterUse]) {
    for (counter, amount) in amounts(uses) {
        if let Some(sum) = counters.get_mut(&counter) {
            *sum = sum.saturating_sub(amount);
        }
    }
}
