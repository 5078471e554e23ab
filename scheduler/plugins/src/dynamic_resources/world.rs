//! What cycles share: the devices of the cluster and who has them.
//!
//! Brought up to date at the start of a cycle, by difference. What was reserved and is not
//! written yet is kept here: an allocation is written in steps, of which the first ends what
//! is assumed of the claim, and extended resources have no claim before their pod is bound.
//!
//! Differs: each profile has its own. Two profiles of one process may give one device twice
//! in the instant between the two writes of an allocation.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_framework::{Catalog, Kept};
use plimsoll_objects::device::Allocation;
use plimsoll_objects::{ObjectKey, Uid};

use super::ledger::Ledger;
use super::offers::Offers;

/// The devices and who has them, of one profile.
#[derive(Debug, Default)]
pub(super) struct World {
    inner: Kept<Inner>,
}

/// Both of one instant.
#[derive(Debug, Clone)]
pub(super) struct View {
    /// The devices.
    pub offers: Arc<Offers>,
    /// Who has them.
    pub ledger: Arc<Ledger>,
}

#[derive(Debug, Default)]
struct Inner {
    offers: Arc<Offers>,
    ledger: Arc<Ledger>,
    unwritten: BTreeMap<Uid, Vec<Unwritten>>,
}

/// What a pod holds and no claim says yet.
#[derive(Debug)]
struct Unwritten {
    allocation: Arc<Allocation>,
    /// The claim, once there is one.
    claim: Option<ObjectKey>,
    /// It is in the ledger by itself: the claim as it is to be taken does not say it.
    counted: bool,
}

// === impl World ===

impl World {
    /// The devices and claims as `catalog` has them.
    pub(super) fn view(&self, catalog: &Catalog) -> View {
        let mut inner = self.inner.lock();
        inner.follow(catalog);
        View {
            offers: Arc::clone(&inner.offers),
            ledger: Arc::clone(&inner.ledger),
        }
    }

    /// `pod` holds `allocation` from now on, until it is released or the API server has it
    /// in the claim.
    pub(super) fn hold(&self, pod: &Uid, allocation: &Arc<Allocation>, claim: Option<&ObjectKey>) {
        let mut inner = self.inner.lock();
        let offers = Arc::clone(&inner.offers);
        Arc::make_mut(&mut inner.ledger).add(allocation, &offers);
        let held = Unwritten {
            allocation: Arc::clone(allocation),
            claim: claim.cloned(),
            counted: true,
        };
        inner.unwritten.entry(pod.clone()).or_default().push(held);
    }

    /// What `pod` holds without a claim is being written into `claim`.
    pub(super) fn written(&self, pod: &Uid, claim: &ObjectKey) {
        let mut inner = self.inner.lock();
        for held in inner.unwritten.get_mut(pod).into_iter().flatten() {
            held.claim.get_or_insert_with(|| claim.clone());
        }
    }

    /// `pod` holds nothing any more that no claim says.
    pub(super) fn release(&self, pod: &Uid) {
        let mut inner = self.inner.lock();
        let gone = inner.unwritten.remove(pod).unwrap_or_default();
        inner.drop_all(&gone);
    }

    /// Whether somebody holds devices for the claim that it does not say yet.
    pub(super) fn is_held(&self, claim: &ObjectKey) -> bool {
        let inner = self.inner.lock();
        let mut held = inner.unwritten.values().flatten();
        held.any(|held| held.claim.as_ref() == Some(claim))
    }
}

// === impl Inner ===

impl Inner {
    fn follow(&mut self, catalog: &Catalog) {
        if !self.offers.are_of(catalog) {
            self.offers = Arc::new(Offers::of(catalog));
            Arc::make_mut(&mut self.ledger).renumber(&self.offers);
        }
        if !self.ledger.is_of(catalog) {
            Arc::make_mut(&mut self.ledger).follow(catalog, &self.offers);
        }
        let Self {
            offers,
            ledger,
            unwritten,
        } = self;
        unwritten.retain(|_, held| {
            held.retain_mut(|held| held.follow(catalog, offers, ledger));
            !held.is_empty()
        });
    }

    fn drop_all(&mut self, gone: &[Unwritten]) {
        for held in gone.iter().filter(|held| held.counted) {
            Arc::make_mut(&mut self.ledger).remove(&held.allocation, &self.offers);
        }
    }
}

// === impl Unwritten ===

impl Unwritten {
    /// Sees to it that the ledger has it once; whether it is still to be kept.
    fn follow(&mut self, catalog: &Catalog, offers: &Offers, ledger: &mut Arc<Ledger>) -> bool {
        let Some(key) = &self.claim else {
            return true;
        };
        let claims = &catalog.resource_claims;
        let is_written = claims.stored(key).is_none_or(|claim| claim.is_allocated());
        let is_said = is_written || claims.get(key).is_some_and(|claim| claim.is_allocated());
        if is_said && self.counted {
            Arc::make_mut(ledger).remove(&self.allocation, offers);
        } else if !is_said && !self.counted {
            Arc::make_mut(ledger).add(&self.allocation, offers);
        }
        self.counted = !is_said;
        !is_written
    }
}
