//! One device for one request: may it be taken, and how it is put back.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_objects::Quantity;
use plimsoll_objects::device::Device;

use super::super::capacity;
use super::super::ledger::Amounts;
use super::super::plan::Choice;
use super::super::selectors::SelectorError;
use super::state::Search;
use super::{At, Failure};

/// A device that was taken.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Taken {
    /// Its place among the node's devices.
    pub device: usize,
    /// The request it is for.
    pub request: usize,
    /// The option of the request.
    pub option: usize,
    /// For administration only.
    pub is_admin: bool,
    /// It is a share, which consumes so much.
    pub share: Option<Amounts>,
}

/// What was done to take a device.
#[derive(Debug, Default)]
pub(super) struct Undo {
    device: usize,
    counters: bool,
    constraints: usize,
    held: bool,
    /// What the share consumes, and whether it is the first of the device in this search.
    share: Option<(Amounts, bool)>,
    taken: bool,
}

// === impl Search ===

impl<'a> Search<'a> {
    fn choice(&self, at: At) -> &'a Choice {
        &self.plans[at.claim].requests[at.request].options[at.option]
    }

    /// Takes `device` if it is free, matches, and has enough capacity.
    ///
    /// # Errors
    /// A claim, a class or a device is wrong.
    pub(super) fn try_one(&mut self, at: At, device: usize) -> Result<Option<Undo>, Failure> {
        let choice = self.choice(at);
        let is_admin = choice.wish.is_admin();
        let busy = if is_admin {
            self.holders[device].contains(&at.claim)
        } else {
            self.is_in_use(device)
        };
        if busy || !self.is_selectable(choice, device).map_err(Failure::Wrong)? {
            return Ok(None);
        }
        if !self.has_capacity(at, device, "checking")? {
            return Ok(None);
        }
        self.take(at, device, false)
    }

    /// Takes `device`, which matches, if nothing hinders it; `must` if no other will do.
    ///
    /// # Errors
    /// A claim or a device is wrong.
    pub(super) fn take(
        &mut self,
        at: At,
        device: usize,
        must: bool,
    ) -> Result<Option<Undo>, Failure> {
        let choice = self.choice(at);
        let found = self.device(device);
        let is_admin = choice.wish.is_admin();
        let held_here = self.holders[device].contains(&at.claim);
        if (!found.shareable && is_admin && held_here) || (!is_admin && self.is_in_use(device)) {
            return Ok(None);
        }
        let mut undo = Undo {
            device,
            ..Undo::default()
        };
        // The counters of a device that is shared already were charged for its first share.
        let charged = found.shareable && self.is_shared(device);
        if !charged && !found.consumes.is_empty() {
            if !self.consume_counters(device) {
                return Ok(None);
            }
            undo.counters = true;
        }
        if is_repelled(choice, found) {
            self.put_back(at, &undo);
            return Ok(None);
        }
        if !self.meets_constraints(at, device, &mut undo) {
            self.put_back(at, &undo);
            return if must {
                let name = choice.own_name();
                let claim = &self.plans[at.claim].claim.meta.key;
                Err(Failure::Wrong(format!(
                    "claim {claim}, request {name}: cannot add device {} because a claim \
                     constraint would not be satisfied",
                    self.name(device)
                )))
            } else {
                Ok(None)
            };
        }
        if !found.shareable {
            self.holders[device].push(at.claim);
            undo.held = true;
        }
        self.take_capacity(at, undo)
    }

    fn take_capacity(&mut self, at: At, mut undo: Undo) -> Result<Option<Undo>, Failure> {
        let device = undo.device;
        let choice = self.choice(at);
        let found = self.device(device);
        match self.has_capacity(at, device, "rechecking") {
            Ok(true) => {}
            Ok(false) => {
                self.put_back(at, &undo);
                return Ok(None);
            }
            Err(failure) => {
                self.put_back(at, &undo);
                return Err(failure);
            }
        }
        if found.shareable {
            let consumed = capacity::consumed(&found.capacity, choice.wish.capacity.as_ref());
            let consumed = match consumed {
                Ok(consumed) => consumed,
                Err(why) => {
                    self.put_back(at, &undo);
                    return Err(self.about(at, &format!("computing consumed capacity: {why}")));
                }
            };
            let is_first = !self.shares.contains_key(&device);
            let shares = self.shares.entry(device).or_default();
            add(shares, &consumed, Quantity::saturating_add);
            undo.share = Some((consumed, is_first));
        }
        self.solutions[at.claim].devices.push(Taken {
            device,
            request: at.request,
            option: at.option,
            is_admin: choice.wish.is_admin(),
            share: undo.share.as_ref().map(|(consumed, _)| consumed.clone()),
        });
        undo.taken = true;
        Ok(Some(undo))
    }

    /// Undoes what taking a device did, the last first.
    pub(super) fn put_back(&mut self, at: At, undo: &Undo) {
        if undo.taken {
            self.solutions[at.claim].devices.pop();
        }
        if let Some((share, is_first)) = &undo.share
            && let Some(shares) = self.shares.get_mut(&undo.device)
        {
            add(shares, share, Quantity::saturating_sub);
            if *is_first {
                self.shares.remove(&undo.device);
            }
        }
        if undo.held {
            self.holders[undo.device].pop();
        }
        let choice = self.choice(at);
        for constraint in self.constraints[at.claim][..undo.constraints]
            .iter_mut()
            .rev()
        {
            constraint.remove(choice);
        }
        if undo.counters {
            self.return_counters(undo.device);
        }
    }

    /// Whether the selectors mean the device and it is on this node.
    ///
    /// # Errors
    /// A selector fails, or the device's own choice of nodes is wrong.
    pub(super) fn is_selectable(&self, choice: &Choice, device: usize) -> Result<bool, String> {
        let candidate = self.candidate(device);
        let found = self.device(device);
        let slice = &self.ground.view.offers.get(candidate.offer).slice;
        for test in &choice.tests {
            let matches = if let Some(known) = test.verdicts.get(candidate.number) {
                known
            } else {
                let said = self
                    .ground
                    .selectors
                    .matches(&test.selector, &slice.driver, found);
                let matches = said.map_err(|error| match error {
                    SelectorError::Compile(_) => format!("{}: {error}", test.owner),
                    SelectorError::Run(_) => {
                        format!("{} on device {}: {error}", test.owner, self.name(device))
                    }
                })?;
                test.verdicts.set(candidate.number, matches);
                matches
            };
            if !matches {
                return Ok(false);
            }
        }
        if slice.per_device_nodes {
            let matches = found.nodes.matches(self.ground.node);
            return matches.map_err(|why| format!("failed to parse node selector: {why}"));
        }
        Ok(true)
    }

    fn is_in_use(&self, device: usize) -> bool {
        let number = self.candidate(device).number;
        self.ground.view.ledger.is_taken(number) || !self.holders[device].is_empty()
    }

    /// Whether somebody has a share of it.
    fn is_shared(&self, device: usize) -> bool {
        let before = || self.ground.view.ledger.shares(&self.name(device)).is_some();
        self.shares.contains_key(&device) || before()
    }

    fn meets_constraints(&mut self, at: At, device: usize, undo: &mut Undo) -> bool {
        let (choice, found) = (self.choice(at), self.device(device));
        let offers = &self.ground.view.offers;
        let driver = &offers.get(self.candidate(device).offer).slice.driver;
        for constraint in &mut self.constraints[at.claim] {
            if !constraint.add(choice, driver, found) {
                return false;
            }
            undo.constraints += 1;
        }
        true
    }

    fn has_capacity(&self, at: At, device: usize, doing: &str) -> Result<bool, Failure> {
        let found = self.device(device);
        if found.capacity.is_empty() {
            let request = self.choice(at).wish.capacity.as_ref();
            return Ok(request.is_none_or(BTreeMap::is_empty));
        }
        let name = found.shareable.then(|| self.name(device));
        let before = name.and_then(|name| self.ground.view.ledger.shares(&name));
        let taken = [before, self.shares.get(&device)];
        let fits = capacity::fits(
            &found.capacity,
            self.choice(at).wish.capacity.as_ref(),
            taken,
        );
        fits.map_err(|why| {
            let doing = format!("{doing} capacity for device {}: {why}", self.name(device));
            self.about(at, &doing)
        })
    }

    fn about(&self, at: At, problem: &str) -> Failure {
        let claim = &self.plans[at.claim].claim.meta.key;
        let name = self.choice(at).own_name();
        Failure::Wrong(format!("claim {claim}, request {name}: {problem}"))
    }
}

fn add(sums: &mut Amounts, amounts: &Amounts, op: fn(Quantity, Quantity) -> Quantity) {
    for (name, amount) in amounts {
        let sum = sums.entry(Arc::clone(name)).or_default();
        *sum = op(*sum, *amount);
    }
}

/// Whether the device has a taint that the choice does not tolerate.
fn is_repelled(choice: &Choice, device: &Device) -> bool {
    let mut taints = device.taints.iter().filter(|taint| taint.repels());
    taints.any(|taint| {
        let mut tolerations = choice.wish.tolerations.iter();
        !tolerations.any(|toleration| toleration.tolerates(taint))
    })
}
