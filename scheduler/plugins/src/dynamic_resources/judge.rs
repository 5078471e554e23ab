//! Node by node: are the allocated claims usable there, and can the others be allocated?

use std::sync::Arc;
use std::sync::atomic::Ordering;

use plimsoll_framework::{
    Cycle, CycleState, Filter, FilterOutcome, NodeId, NodeInfo, NodeScore, Normalizes, Rejection,
    Score, score_one_by_one,
};
use plimsoll_objects::ResourceClaim;
use plimsoll_objects::device::RequestKind;

use super::plan::{ClaimPlan, Planner};
use super::readiness::{self, Readiness};
use super::search::{self, Failure, Ground};
use super::state::{Found, Shared, State, Variant};
use super::world::View;
use super::{DynamicResources, claims, extended};
use crate::normalize;

/// Steps of a search that stand for a second of kube-scheduler's `filterTimeout`: about what
/// its allocator looks at in that time. A step is a device looked at, some 100 ns here.
const STEPS_PER_SECOND: u64 = 1_000_000;
/// Most steps for one pod on all nodes together, some 2 s: kube-scheduler searches 16 nodes
/// at a time, this is one thread that other pods wait for.
const STEPS_PER_CYCLE: u64 = 20_000_000;
/// What the first of `firstAvailable` is worth (`FirstAvailableDeviceRequestMaxSize`).
const FIRST_IS_WORTH: usize = 8;

impl Filter for DynamicResources {
    fn filter(
        &self,
        cycle: &Cycle<'_>,
        state: &CycleState,
        node: &NodeInfo,
    ) -> Result<FilterOutcome, Rejection> {
        let Some(State(shared)) = state.get() else {
            return Err(Rejection::error(super::NO_STATE));
        };
        if shared.is_empty() {
            return Ok(FilterOutcome::Pass);
        }
        let variant = self.variant(cycle, shared, node)?;
        if variant.is_none() && shared.claims.is_empty() {
            return Ok(FilterOutcome::Pass);
        }
        let unusable: Vec<usize> = (0..shared.claims.len())
            .filter(|index| !self.is_usable(cycle, &shared.claims[*index], node))
            .collect();
        let found = match &shared.view {
            Some(view) => Some(self.find(shared, view, variant, node)?),
            None => None,
        };
        if !unusable.is_empty() {
            for index in unusable {
                shared.unavailable[index].store(true, Ordering::Relaxed);
            }
            return Err(Rejection::unresolvable(
                "resourceclaim not available on the node",
            ));
        }
        if let Some(found) = found {
            shared.set_found(node.id, found);
        }
        Ok(FilterOutcome::Pass)
    }
}

impl Score for DynamicResources {
    /// The earlier of its alternatives a request got, the better.
    fn score(
        &self,
        _cycle: &Cycle<'_>,
        state: &CycleState,
        node: &NodeInfo,
    ) -> Result<i64, Rejection> {
        let Some(State(shared)) = state.get() else {
            return Err(Rejection::error(super::NO_STATE));
        };
        let Some(found) = shared.found_on(node.id) else {
            return Ok(0);
        };
        let before = shared.claims.iter().map(|claim| worth_before(claim));
        let now = shared.plans.iter().zip(&found.solutions);
        let now = now.map(|(plan, solution)| worth(plan, solution));
        Ok(before.chain(now).sum())
    }

    fn normalize(
        &self,
        _cycle: &Cycle<'_>,
        _state: &CycleState,
        scores: &mut [NodeScore],
    ) -> Result<(), Rejection> {
        normalize::straight(scores);
        Ok(())
    }

    fn score_nodes(
        &self,
        cycle: &Cycle<'_>,
        state: &CycleState,
        nodes: &[NodeId],
        scores: &mut Vec<i64>,
    ) -> Result<(), Rejection> {
        let is_empty = |State(shared): &State| shared.is_empty();
        if state.get().is_some_and(is_empty) {
            scores.resize(scores.len() + nodes.len(), 0);
            return Ok(());
        }
        score_one_by_one(self, cycle, state, nodes, scores)
    }

    fn normalizes(&self) -> Normalizes {
        Normalizes::ByScores
    }
}

/// What the alternatives of an allocated claim are worth.
fn worth_before(claim: &ResourceClaim) -> i64 {
    let Some(allocation) = &claim.status.allocation else {
        return 0;
    };
    let requests = claim.spec.requests.iter().filter_map(|request| {
        let RequestKind::FirstAvailable(wishes) = &request.kind else {
            return None;
        };
        let given = wishes.iter().enumerate().filter(|(_, wish)| {
            let name = format!("{}/{}", request.name, wish.name);
            let mut results = allocation.results.iter();
            results.any(|result| *result.request == *name)
        });
        Some(given.map(|(place, _)| worth_at(place)).sum::<i64>())
    });
    requests.sum()
}

/// What the alternatives that a search chose are worth.
fn worth(plan: &ClaimPlan, solution: &search::Solution) -> i64 {
    let requests = plan.requests.iter().zip(&solution.chosen).enumerate();
    let given = requests.filter(|(index, (request, _))| {
        let mut devices = solution.devices.iter();
        request.is_alternatives && devices.any(|taken| taken.request == *index)
    });
    given.map(|(_, (_, place))| worth_at(*place)).sum()
}

fn worth_at(place: usize) -> i64 {
    i64::try_from(FIRST_IS_WORTH.saturating_sub(place)).unwrap_or(0)
}

// === impl DynamicResources ===

impl DynamicResources {
    /// The claim for the extended resources that `node` lacks; `None` if it lacks none.
    fn variant(
        &self,
        cycle: &Cycle<'_>,
        shared: &Shared,
        node: &NodeInfo,
    ) -> Result<Option<Arc<Variant>>, Rejection> {
        let Some(wish) = &shared.extended else {
            return Ok(None);
        };
        if wish.earlier.is_some() {
            return Err(Rejection::unresolvable(
                "cannot schedule extended resource claim",
            ));
        }
        let needed = extended::needed_on(node, &wish.requested);
        let needed = needed.map_err(Rejection::unresolvable)?;
        let (Some(view), Some(wanted)) = (&shared.view, claims::wanted(cycle.pod)) else {
            return Ok(None);
        };
        if needed.is_empty() {
            return Ok(None);
        }
        let names: Vec<Arc<str>> = needed.iter().map(|one| Arc::clone(&one.resource)).collect();
        let mut variants = shared.variants.lock();
        let variant = variants.entry(names).or_insert_with(|| {
            let extended = extended::claim_for(cycle.pod, wanted, &needed);
            let planner = Planner {
                catalog: cycle.snapshot.catalog(),
                offers: &view.offers,
                selectors: &self.selectors,
            };
            let plan = planner.plan(&extended.claim);
            Arc::new(Variant { extended, plan })
        });
        Ok(Some(Arc::clone(variant)))
    }

    /// Whether a claim, where it is allocated, can be used on `node`.
    fn is_usable(&self, cycle: &Cycle<'_>, claim: &ResourceClaim, node: &NodeInfo) -> bool {
        let Some(allocation) = &claim.status.allocation else {
            return true;
        };
        let nodes = allocation.nodes.as_ref();
        if !nodes.is_none_or(|nodes| nodes.matches(&node.node).unwrap_or(false)) {
            return false;
        }
        match readiness::of(claim) {
            Readiness::Ready => true,
            Readiness::Failed(_) => false,
            Readiness::Waiting => {
                !readiness::is_late(claim, self.args.binding_timeout, cycle.now.wall)
            }
        }
    }

    /// Looks for devices on `node` for all claims that have none.
    fn find(
        &self,
        shared: &Shared,
        view: &View,
        variant: Option<Arc<Variant>>,
        node: &NodeInfo,
    ) -> Result<Found, Rejection> {
        let pools = view.offers.pools(node);
        let pools =
            pools.map_err(|why| Rejection::error(format!("gather pool information: {why}")))?;
        let plans = shared.plans.iter();
        let plans: Vec<&ClaimPlan> = plans
            .chain(variant.as_deref().map(|variant| &variant.plan))
            .collect();
        let left = STEPS_PER_CYCLE.saturating_sub(shared.steps.load(Ordering::Relaxed));
        let of_node = self.args.filter_timeout.map_or(u64::MAX, |timeout| {
            (timeout.as_secs_f64() * STEPS_PER_SECOND as f64) as u64
        });
        let ground = Ground {
            node: &node.node,
            pools: &pools,
            view,
            selectors: &self.selectors,
        };
        let (result, steps) = search::search(&plans, ground, left.min(of_node));
        shared.steps.fetch_add(steps, Ordering::Relaxed);
        match result {
            Ok(solutions) => Ok(Found {
                solutions,
                pools,
                variant,
            }),
            Err(failure) => Err(rejection(failure, node)),
        }
    }
}

fn rejection(failure: Failure, node: &NodeInfo) -> Rejection {
    match failure {
        Failure::None => Rejection::unresolvable("cannot allocate all claims"),
        Failure::InvalidPools => Rejection::unresolvable("invalid resource pools were encountered"),
        Failure::TooLong => Rejection::error(format!(
            "node {}: timed out trying to allocate devices",
            node.name()
        )),
        Failure::Wrong(why) => Rejection::error(why),
    }
}
