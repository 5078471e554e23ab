//! Before the pod is bound: its claims are written, and their devices become ready.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_framework::{
    Actions, ClusterEvent, CycleState, Effect, EventResource, PreBind, PreBindOutcome, PreBindStep,
    Rejection,
};
use plimsoll_objects::ResourceClaim;

use super::readiness::{self, Readiness};
use super::state::{Phase, Reserved};
use super::{DynamicResources, claims, writes};

/// Longest wait for a claim that was made to be seen
/// (`AssumeExtendedResourceTimeoutDefaultSeconds`).
const SEEN_WITHIN: Duration = Duration::from_mins(2);

impl PreBind for DynamicResources {
    fn pre_bind(
        &self,
        step: &PreBindStep<'_>,
        state: &mut CycleState,
    ) -> Result<PreBindOutcome, Rejection> {
        let Some(reserved) = state.get_mut::<Reserved>() else {
            return Ok(PreBindOutcome::Done);
        };
        if reserved.phase == Phase::Write {
            reserved.phase = Phase::See { deadline: None };
            let effects = first_writes(step, reserved);
            if !effects.is_empty() {
                return Ok(PreBindOutcome::Do(effects));
            }
        }
        if let Phase::See { deadline } = reserved.phase {
            if let Some(outcome) = self.see(step, reserved, deadline)? {
                return Ok(outcome);
            }
            reserved.phase = Phase::Ready { deadline: None };
        }
        self.await_devices(step, reserved)
    }
}

/// The writes to the claims that the pod names, and the claim for its extended resources.
fn first_writes(step: &PreBindStep<'_>, reserved: &mut Reserved) -> Vec<Effect> {
    let mut effects = Vec::new();
    for held in reserved.claims.iter_mut().filter(|held| !held.reserved) {
        held.reserved = true;
        let allocation = held.allocation.as_deref();
        if allocation.is_some() {
            effects.push(Effect::Write(writes::protect(&held.claim)));
        }
        let write = writes::reserve(&held.claim, allocation, step.pod, step.now.wall);
        effects.push(Effect::Write(write));
    }
    let extended = reserved.extended.iter();
    effects.extend(extended.map(|extended| {
        let claim = &extended.variant.extended.claim;
        Effect::Write(writes::create_extended(claim, step.pod))
    }));
    effects
}

// === impl DynamicResources ===

impl DynamicResources {
    /// Waits for the claim for extended resources, then writes its allocation; `None` once
    /// that is done.
    fn see(
        &self,
        step: &PreBindStep<'_>,
        reserved: &mut Reserved,
        deadline: Option<Duration>,
    ) -> Result<Option<PreBindOutcome>, Rejection> {
        let Some(extended) = &mut reserved.extended else {
            return Ok(None);
        };
        if extended.made.is_some() {
            return Ok(None);
        }
        if let Some(claim) = claims::of_extended_resources(step.pod, step.catalog) {
            extended.made = Some(Arc::clone(claim));
            self.world.written(step.pod.uid(), &claim.meta.key);
            let (pod, allocation) = (step.pod, Some(&*extended.allocation));
            let mappings = &extended.variant.extended.mappings;
            let effects = [
                writes::protect(claim),
                writes::reserve(claim, allocation, pod, step.now.wall),
                writes::tell_pod(pod, &claim.meta.key.name, mappings),
            ];
            let effects = effects.into_iter().map(Effect::Write).collect();
            return Ok(Some(PreBindOutcome::Do(effects)));
        }
        let deadline = deadline.unwrap_or(step.now.mono.saturating_add(SEEN_WITHIN));
        if step.now.mono >= deadline {
            return Err(Rejection::error(
                "the claim for extended resources was made and cannot be seen",
            ));
        }
        reserved.phase = Phase::See {
            deadline: Some(deadline),
        };
        Ok(Some(PreBindOutcome::WaitUntil {
            events: claim_events(),
            deadline,
        }))
    }

    /// Waits until all devices are ready.
    fn await_devices(
        &self,
        step: &PreBindStep<'_>,
        reserved: &mut Reserved,
    ) -> Result<PreBindOutcome, Rejection> {
        if !needs_devices(reserved) {
            return Ok(PreBindOutcome::Done);
        }
        let extended = reserved.extended.iter();
        let extended = extended.filter_map(|extended| extended.made.as_ref());
        let claims = reserved.claims.iter().map(|held| &held.claim);
        let mut waiting = false;
        for claim in claims.chain(extended) {
            let key = &claim.meta.key;
            let Some(now) = step.catalog.resource_claims.stored(key) else {
                return Err(Rejection::error(format!(
                    "could not find ResourceClaim \"{key}\""
                )));
            };
            match self.readiness(now, step)? {
                Readiness::Ready => {}
                _ => waiting = true,
            }
        }
        if !waiting {
            return Ok(PreBindOutcome::Done);
        }
        let Phase::Ready { deadline } = reserved.phase else {
            return Ok(PreBindOutcome::Done);
        };
        let timeout = self.args.binding_timeout;
        let deadline = deadline.unwrap_or(step.now.mono.saturating_add(timeout));
        if step.now.mono >= deadline {
            return Err(Rejection::error(
                "device binding timeout: context deadline exceeded",
            ));
        }
        reserved.phase = Phase::Ready {
            deadline: Some(deadline),
        };
        Ok(PreBindOutcome::WaitUntil {
            events: claim_events(),
            deadline,
        })
    }

    fn readiness(
        &self,
        claim: &ResourceClaim,
        step: &PreBindStep<'_>,
    ) -> Result<Readiness, Rejection> {
        match readiness::of(claim) {
            Readiness::Failed(why) => Err(Rejection::error(why)),
            Readiness::Waiting
                if readiness::is_late(claim, self.args.binding_timeout, step.now.wall) =>
            {
                let name = &claim.meta.key.name;
                Err(Rejection::error(format!(
                    "device binding timeout: claim={name}"
                )))
            }
            readiness => Ok(readiness),
        }
    }
}

/// Whether a device must be made ready before the pod is bound.
fn needs_devices(reserved: &Reserved) -> bool {
    let mut before = reserved.claims.iter().map(|held| &held.claim);
    let now = reserved
        .claims
        .iter()
        .filter_map(|held| held.allocation.as_ref());
    let extended = reserved
        .extended
        .iter()
        .map(|extended| &extended.allocation);
    let mut devices = now
        .chain(extended)
        .flat_map(|allocation| &allocation.results);
    before.any(|claim| readiness::is_needed(claim))
        || devices.any(|device| !device.binding_conditions.is_empty())
}

fn claim_events() -> Vec<ClusterEvent> {
    let actions = Actions::ADD | Actions::UPDATE | Actions::DELETE;
    vec![ClusterEvent::new(EventResource::ResourceClaim, actions)]
}
