//! Before any node is looked at: can the pod's claims be used at all?

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use plimsoll_framework::{Catalog, Cycle, CycleState, PreFilter, PreFilterOutcome, Rejection};
use plimsoll_objects::device::{DeviceWish, RequestKind};
use plimsoll_objects::{Pod, ResourceClaim};

use super::plan::Planner;
use super::state::{ExtendedWish, Shared, State};
use super::{DynamicResources, claims, extended};

impl PreFilter for DynamicResources {
    fn pre_filter(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
    ) -> Result<PreFilterOutcome, Rejection> {
        // Later hooks tell "nothing to do" from "never asked".
        state.insert(State::default());
        let (pod, catalog) = (cycle.pod, cycle.snapshot.catalog());
        if claims::wanted(pod).is_none() {
            return Ok(PreFilterOutcome::Skip);
        }
        let found = claims::of_pod(pod, catalog).map_err(Rejection::unresolvable)?;
        let extended = extended_wish(pod, catalog);
        if found.is_empty() && extended.is_none() {
            return Ok(PreFilterOutcome::Skip);
        }
        for claim in &found {
            self.check(claim, catalog)?;
        }
        state.insert(State(Arc::new(self.shared(found, extended, catalog))));
        Ok(PreFilterOutcome::Ready)
    }
}

/// The extended resources of the pod, if devices stand behind one.
fn extended_wish(pod: &Pod, catalog: &Catalog) -> Option<ExtendedWish> {
    let requested = extended::requested(pod, catalog);
    if requested.is_empty() {
        return None;
    }
    let earlier = claims::of_extended_resources(pod, catalog);
    let earlier = earlier.filter(|claim| !claim.spec.requests.is_empty());
    Some(ExtendedWish {
        earlier: earlier.cloned(),
        requested,
    })
}

// === impl DynamicResources ===

impl DynamicResources {
    /// Whether the claim can be used, or allocated, on some node.
    fn check(&self, claim: &ResourceClaim, catalog: &Catalog) -> Result<(), Rejection> {
        if let Some(allocation) = &claim.status.allocation {
            let mistakes = allocation.nodes.as_ref().and_then(|nodes| nodes.mistakes());
            return mistakes.map_or(Ok(()), |mistakes| Err(Rejection::error(mistakes)));
        }
        let key = &claim.meta.key;
        if claims::is_in_flight(catalog, key) || self.world.is_held(key) {
            return Err(Rejection::unresolvable(format!(
                "resource claim {key} is in the process of being allocated"
            )));
        }
        for request in &claim.spec.requests {
            match &request.kind {
                RequestKind::Exactly(wish) => check_class(wish, &request.name, catalog)?,
                RequestKind::FirstAvailable(wishes) => {
                    for wish in wishes {
                        let name = format!("{}/{}", request.name, wish.name);
                        check_class(wish, &name, catalog)?;
                    }
                }
                RequestKind::Unknown => {
                    let name = &request.name;
                    return Err(Rejection::unresolvable(format!(
                        "resource claim {key}, request {name}: unknown request type"
                    )));
                }
            }
        }
        Ok(())
    }

    fn shared(
        &self,
        claims: Vec<Arc<ResourceClaim>>,
        extended: Option<ExtendedWish>,
        catalog: &Catalog,
    ) -> Shared {
        let open: Vec<&Arc<ResourceClaim>> = claims
            .iter()
            .filter(|claim| !claim.is_allocated())
            .collect();
        let takes_devices = !open.is_empty() || extended.is_some();
        let view = takes_devices.then(|| self.world.view(catalog));
        let plans = view.as_ref().map(|view| {
            let planner = Planner {
                catalog,
                offers: &view.offers,
                selectors: &self.selectors,
            };
            open.iter().map(|claim| planner.plan(claim)).collect()
        });
        Shared {
            unavailable: claims.iter().map(|_| AtomicBool::new(false)).collect(),
            plans: plans.unwrap_or_default(),
            claims,
            extended,
            view,
            ..Shared::default()
        }
    }
}

fn check_class(wish: &DeviceWish, request: &str, catalog: &Catalog) -> Result<(), Rejection> {
    if wish.class.is_empty() {
        return Err(Rejection::error(format!(
            "request {request}: unsupported request type"
        )));
    }
    if catalog.device_classes.named(&wish.class).is_none() {
        return Err(Rejection::unresolvable(format!(
            "request {request}: device class {} does not exist",
            wish.class
        )));
    }
    Ok(())
}
