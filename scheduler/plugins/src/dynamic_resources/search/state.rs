//! What a search keeps while it runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_objects::Quantity;
use plimsoll_objects::device::{AllocationMode, Device};

use super::super::capacity;
use super::super::constraint::Constraint;
use super::super::ledger::Amounts;
use super::super::offers::DeviceName;
use super::super::plan::{Choice, ClaimPlan, DEVICES_MAX};
use super::super::pools::{Candidate, PoolState};
use super::{At, Failure, Ground, Solution};

/// What is said if the first claim alone wants more devices than a claim may have, in every
/// way to meet it.
pub(super) const TOO_MANY: &str = "allocation max size exceeded";

/// A counter set and one of its counters.
pub(super) type Counter = (Arc<str>, Arc<str>);
/// Amounts by counter.
pub(super) type Counters = BTreeMap<Counter, Quantity>;

/// A search that runs.
pub(super) struct Search<'a> {
    /// The claims.
    pub plans: &'a [&'a ClaimPlan],
    /// What it is over.
    pub ground: Ground<'a>,
    /// What was found so far, by claim.
    pub solutions: Vec<Solution>,
    /// For requests of all devices, which ones; by claim, request, option.
    pub all: Vec<Vec<Vec<Vec<usize>>>>,
    /// The constraints by claim.
    pub constraints: Vec<Vec<Constraint<'a>>>,
    /// The claims that a device is being taken for as a whole, by device.
    pub holders: Vec<Vec<usize>>,
    /// What shares that are being taken consume, by device.
    pub shares: BTreeMap<usize, Amounts>,
    /// The counters that are left of a pool, by pool; made when first needed.
    pub available: BTreeMap<usize, Counters>,
    /// The counters that are being consumed, by pool.
    pub consumed: BTreeMap<usize, Counters>,
    /// Steps taken.
    pub steps: u64,
    steps_max: u64,
}

// === impl Search ===

impl<'a> Search<'a> {
    /// Checks the claims and counts what they want.
    ///
    /// # Errors
    /// A claim is wrong.
    pub(super) fn new(
        plans: &'a [&'a ClaimPlan],
        ground: Ground<'a>,
        steps_max: u64,
    ) -> Result<Self, Failure> {
        let mut search = Self {
            plans,
            ground,
            solutions: Vec::with_capacity(plans.len()),
            all: Vec::with_capacity(plans.len()),
            constraints: Vec::with_capacity(plans.len()),
            holders: vec![Vec::new(); ground.pools.devices.len()],
            shares: BTreeMap::new(),
            available: BTreeMap::new(),
            consumed: BTreeMap::new(),
            steps: 0,
            steps_max,
        };
        for plan in plans {
            let all = search.count(plan).map_err(Failure::Wrong)?;
            search.all.push(all);
            let key = &plan.claim.meta.key;
            let constraints = plan.claim.spec.constraints.iter().enumerate();
            let constraints = constraints.map(|(index, wire)| Constraint::new(wire, key, index));
            let constraints = constraints.collect::<Result<_, _>>();
            search
                .constraints
                .push(constraints.map_err(Failure::Wrong)?);
            search.solutions.push(Solution {
                devices: Vec::new(),
                chosen: vec![0; plan.requests.len()],
            });
        }
        Ok(search)
    }

    /// The devices of each request of all of them; checks that the claim can be met at all.
    fn count(&mut self, plan: &'a ClaimPlan) -> Result<Vec<Vec<Vec<usize>>>, String> {
        let claim = &plan.claim.meta.key;
        let mut all = Vec::with_capacity(plan.requests.len());
        let mut least = 0_usize;
        for (index, request) in plan.requests.iter().enumerate() {
            let mut devices = Vec::with_capacity(request.options.len());
            let mut fewest = usize::MAX;
            for choice in &request.options {
                let every = self.every(plan, choice)?;
                fewest = fewest.min(wanted(choice, every.len()));
                devices.push(every);
            }
            if fewest > DEVICES_MAX - least {
                let name = &plan.claim.spec.requests[index].name;
                return Err(format!(
                    "claim {claim}, request {name}: adding {fewest} devices exceeds the claim \
                     limit of {DEVICES_MAX}, with {least} already accounted for"
                ));
            }
            least += fewest;
            all.push(devices);
        }
        Ok(all)
    }

    /// The devices that "all of them" means; none for other requests.
    fn every(&mut self, plan: &ClaimPlan, choice: &Choice) -> Result<Vec<usize>, String> {
        if let Some(refusal) = &choice.refusal {
            return Err(refusal.clone());
        }
        if choice.wish.mode != AllocationMode::All {
            return Ok(Vec::new());
        }
        let begin = || {
            let name = choice.own_name();
            format!("claim {}, request {name}", plan.claim.meta.key)
        };
        let pools = self.ground.pools;
        let mut every = Vec::new();
        for pool in &pools.pools {
            let problem = match pool.state {
                PoolState::Whole => None,
                PoolState::Incomplete => Some("being updated"),
                PoolState::Invalid => Some("invalid"),
            };
            if let Some(problem) = problem {
                let pool = self.ground.view.offers.pool_name(pool.name);
                return Err(format!(
                    "{}: asks for all devices, but resource pool {pool} is currently {problem}",
                    begin()
                ));
            }
            for device in pool.devices.clone() {
                self.steps += 1;
                if !self.is_selectable(choice, device)? {
                    continue;
                }
                let found = self.device(device);
                let fits =
                    capacity::fits(&found.capacity, choice.wish.capacity.as_ref(), [None, None]);
                let fits = fits.map_err(|why| {
                    format!(
                        "{}: checking capacity for device {}: {why}",
                        begin(),
                        found.name
                    )
                })?;
                if fits {
                    every.push(device);
                }
            }
        }
        Ok(every)
    }

    /// Whether there is a step left; takes it.
    pub(super) fn take_step(&mut self) -> bool {
        self.steps += 1;
        self.steps <= self.steps_max
    }

    /// How many devices the option at `at` wants.
    pub(super) fn wanted(&self, at: At) -> usize {
        let choice = &self.plans[at.claim].requests[at.request].options[at.option];
        wanted(choice, self.all[at.claim][at.request][at.option].len())
    }

    /// The device `device` of the node's.
    pub(super) fn candidate(&self, device: usize) -> Candidate {
        self.ground.pools.devices[device]
    }

    /// The same, as its slice has it.
    pub(super) fn device(&self, device: usize) -> &'a Device {
        let candidate = self.candidate(device);
        self.ground
            .view
            .offers
            .device(candidate.offer, candidate.index)
    }

    /// Its name.
    pub(super) fn name(&self, device: usize) -> DeviceName {
        let slice = &self
            .ground
            .view
            .offers
            .get(self.candidate(device).offer)
            .slice;
        DeviceName {
            pool: Arc::clone(&slice.pool.name),
            device: Arc::clone(&self.device(device).name),
            driver: Arc::clone(&slice.driver),
        }
    }
}

/// How many devices a choice wants of `all` that match.
fn wanted(choice: &Choice, all: usize) -> usize {
    match choice.wish.mode {
        AllocationMode::Exact(count) => usize::try_from(count.max(0)).unwrap_or(usize::MAX),
        AllocationMode::All => all,
        AllocationMode::Other(_) => 0,
    }
}
