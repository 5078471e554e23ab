//! After the verdict: the chosen node's devices are held, or a claim gives its own back.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use plimsoll_framework::{
    Cycle, CycleState, Handle, NodeId, NodeInfo, ObjectWrite, PostFilter, PostFilterOutcome,
    Rejection, Reserve,
};
use plimsoll_objects::device::{Allocation, ClaimStatus};
use plimsoll_objects::{Object, Pod, ResourceClaim};

use super::outcome::{self, Source};
use super::state::{Found, Held, HeldExtended, Reserved, Shared, State};
use super::{DynamicResources, writes};

impl PostFilter for DynamicResources {
    fn post_filter(
        &self,
        cycle: &Cycle<'_>,
        state: &CycleState,
        _verdicts: &[(NodeId, Rejection)],
        _engine: &dyn Handle,
    ) -> Result<PostFilterOutcome, Rejection> {
        let Some(State(shared)) = state.get() else {
            return Err(Rejection::error(super::NO_STATE));
        };
        if let Some(claim) = to_deallocate(shared, cycle.pod) {
            return Ok(PostFilterOutcome::Retry {
                writes: vec![writes::deallocate(claim)],
                reason: Some("deallocation of ResourceClaim completed".into()),
            });
        }
        let stale = shared
            .extended
            .as_ref()
            .and_then(|wish| wish.earlier.as_ref());
        if let Some(stale) = stale {
            return Ok(PostFilterOutcome::Retry {
                writes: writes::delete(stale),
                reason: Some("deletion of ResourceClaim completed".into()),
            });
        }
        let mut silent = Rejection::unschedulable("");
        silent.reasons.clear();
        Err(silent)
    }
}

/// A claim that hinders its own pod on some node and that nobody else uses. kube-scheduler
/// takes any, this the first.
fn to_deallocate<'s>(shared: &'s Shared, pod: &Pod) -> Option<&'s ResourceClaim> {
    let claims = shared.claims.iter().zip(&shared.unavailable);
    let mut hindering = claims.filter(|(_, unavailable)| unavailable.load(Ordering::Relaxed));
    let found = hindering.find(|(claim, _)| match &*claim.status.reserved_for {
        [] => true,
        [one] => one.uid == *pod.uid(),
        _ => false,
    });
    found.map(|(claim, _)| &**claim)
}

impl Reserve for DynamicResources {
    fn reserve(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
        node: &NodeInfo,
    ) -> Result<Vec<Object>, Rejection> {
        let Some(State(shared)) = state.get().cloned() else {
            return Err(Rejection::error(super::NO_STATE));
        };
        if shared.is_empty() {
            return Ok(Vec::new());
        }
        let found = shared.found_on(node.id);
        if found.is_none() && !shared.plans.is_empty() {
            return Err(Rejection::error("claim allocation not found for node"));
        }
        let allocations = allocations(&shared, found.as_deref(), node);
        let mut allocations = allocations.map_err(Rejection::error)?.into_iter();
        let held = shared.claims.iter().map(|claim| Held {
            claim: Arc::clone(claim),
            allocation: if claim.is_allocated() {
                None
            } else {
                allocations.next()
            },
            reserved: claim.is_reserved_for(cycle.pod.uid()),
        });
        let claims: Vec<Held> = held.collect();
        let variant = found.and_then(|found| found.variant.clone());
        let extended = variant.zip(allocations.next());
        let extended = extended.map(|(variant, allocation)| HeldExtended {
            variant,
            allocation,
            made: None,
        });
        let objects = self.hold(cycle.pod, &claims, extended.as_ref());
        state.insert(Reserved {
            claims,
            extended,
            ..Reserved::default()
        });
        // Binding must not hold on to what the search needed.
        state.insert(State::default());
        Ok(objects)
    }

    fn unreserve(&self, pod: &Pod, state: &mut CycleState, _node: &str) -> Vec<ObjectWrite> {
        self.world.release(pod.uid());
        if let Some(reserved) = state.get_mut::<Reserved>() {
            let reserved = std::mem::take(reserved);
            let made = reserved.extended.and_then(|extended| extended.made);
            let claims = reserved.claims.iter().filter(|held| held.reserved);
            let claims = claims.map(|held| writes::unreserve(&held.claim, pod.uid()));
            return claims
                .chain(made.iter().flat_map(|claim| writes::delete(claim)))
                .collect();
        }
        let Some(State(shared)) = state.get().cloned() else {
            return Vec::new();
        };
        state.insert(State::default());
        let claims = shared.claims.iter();
        let reserved =
            claims.filter(|claim| claim.is_allocated() && claim.is_reserved_for(pod.uid()));
        reserved
            .map(|claim| writes::unreserve(claim, pod.uid()))
            .collect()
    }
}

/// The allocations of what was found, by plan; the extended resources' last.
fn allocations(
    shared: &Shared,
    found: Option<&Found>,
    node: &NodeInfo,
) -> Result<Vec<Arc<Allocation>>, String> {
    let (Some(found), Some(view)) = (found, &shared.view) else {
        return Ok(Vec::new());
    };
    let source = Source {
        offers: &view.offers,
        pools: &found.pools,
        node: node.name(),
    };
    let plans = shared.plans.iter();
    let plans = plans.chain(found.variant.as_deref().map(|variant| &variant.plan));
    let pairs = plans.zip(&found.solutions);
    pairs
        .map(|(plan, solution)| outcome::allocation(plan, solution, source).map(Arc::new))
        .collect()
}

// === impl DynamicResources ===

impl DynamicResources {
    /// Holds the devices; the claims as they will be.
    fn hold(&self, pod: &Pod, claims: &[Held], extended: Option<&HeldExtended>) -> Vec<Object> {
        if let Some(extended) = extended {
            self.world.hold(pod.uid(), &extended.allocation, None);
        }
        let objects = claims.iter().filter_map(|held| {
            let allocation = held.allocation.as_ref()?;
            let key = &held.claim.meta.key;
            self.world.hold(pod.uid(), allocation, Some(key));
            let claim = ResourceClaim {
                status: ClaimStatus {
                    allocation: Some(Arc::clone(allocation)),
                    ..held.claim.status.clone()
                },
                ..ResourceClaim::clone(&held.claim)
            };
            Some(Object::ResourceClaim(Arc::new(claim)))
        });
        objects.collect()
    }
}
