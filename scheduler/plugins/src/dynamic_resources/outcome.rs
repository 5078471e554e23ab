//! A solution of the search -> the allocation that is written into the claim.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use plimsoll_objects::device::{
    AllocatedConfig, AllocatedDevice, Allocation, ConfigSource, NodesSelector, SelectorRequirement,
    SelectorTerm,
};
use plimsoll_objects::selector::RawRequirement;
use plimsoll_objects::{NodeSelector, NodeSelectorTerm};

use super::offers::Offers;
use super::plan::{Choice, ClaimPlan};
use super::pools::Pools;
use super::search::{Solution, Taken};

/// What a solution refers to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'a> {
    /// All devices.
    pub offers: &'a Offers,
    /// The node's.
    pub pools: &'a Pools,
    /// The node.
    pub node: &'a Arc<str>,
}

/// The allocation of the claim of `plan` by `solution`.
///
/// # Errors
/// A slice has a selector that cannot be written into an allocation.
pub(super) fn allocation(
    plan: &ClaimPlan,
    solution: &Solution,
    source: Source<'_>,
) -> Result<Allocation, String> {
    let nodes = nodes(solution, source).map_err(|why| {
        let name = &plan.claim.meta.key.name;
        format!("create NodeSelector for claim {name}: {why}")
    })?;
    let devices = solution.devices.iter().enumerate();
    let results = devices.map(|(index, taken)| result(plan, taken, index, source));
    Ok(Allocation {
        results: results.collect(),
        config: config(plan, solution).into(),
        nodes,
        timestamp: None,
    })
}

fn result(plan: &ClaimPlan, taken: &Taken, index: usize, source: Source<'_>) -> AllocatedDevice {
    let candidate = source.pools.devices[taken.device];
    let slice = &source.offers.get(candidate.offer).slice;
    let device = &slice.devices[candidate.index];
    let choice = &plan.requests[taken.request].options[taken.option];
    let share = taken.share.as_ref().map(|_| {
        let mut hasher = DefaultHasher::new();
        (&plan.claim.meta.uid, &slice.driver, &slice.pool.name).hash(&mut hasher);
        (&device.name, index).hash(&mut hasher);
        share_id(hasher)
    });
    let conditions = device.binding_conditions.clone();
    AllocatedDevice {
        request: Arc::clone(&choice.full_name),
        driver: Arc::clone(&slice.driver),
        pool: Arc::clone(&slice.pool.name),
        device: Arc::clone(&device.name),
        admin_access: taken.is_admin,
        tolerations: choice.wish.tolerations.clone(),
        binding_conditions: conditions.unwrap_or_default(),
        binding_failure_conditions: device.binding_failure_conditions.clone(),
        share,
        consumed: taken.share.clone().filter(|consumed| !consumed.is_empty()),
    }
}

/// The name of a share, in the form of a UUID: the same for the same share of the same
/// claim, so that nothing random is needed.
fn share_id(mut hasher: DefaultHasher) -> Arc<str> {
    let high = hasher.finish();
    high.hash(&mut hasher);
    let low = hasher.finish();
    // Version 8 is for makers' own rules; the variant is that of RFC 9562.
    let third = 0x8000 | (high & 0x0fff);
    let fourth = 0x8000 | (low >> 48 & 0x3fff);
    Arc::from(format!(
        "{:08x}-{:04x}-{third:04x}-{fourth:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        low & 0xffff_ffff_ffff
    ))
}

/// The option that each request got.
fn chosen<'p>(plan: &'p ClaimPlan, solution: &Solution) -> Vec<Option<&'p Choice>> {
    let requests = plan.requests.iter().zip(&solution.chosen);
    requests
        .map(|(request, option)| request.options.get(*option))
        .collect()
}

/// The configuration of classes, once each, then that of the claim.
fn config(plan: &ClaimPlan, solution: &Solution) -> Vec<AllocatedConfig> {
    let chosen = chosen(plan, solution);
    let mut config: Vec<AllocatedConfig> = Vec::new();
    let mut of_classes: Vec<(&Arc<str>, std::ops::Range<usize>)> = Vec::new();
    for choice in chosen.iter().flatten() {
        let Some(class) = &choice.class else {
            continue;
        };
        let name = &class.meta.key.name;
        if let Some((_, range)) = of_classes.iter().find(|(known, _)| *known == name) {
            for one in &mut config[range.clone()] {
                one.requests.push(Arc::clone(&choice.full_name));
            }
            continue;
        }
        let first = config.len();
        config.extend(class.config.iter().map(|opaque| AllocatedConfig {
            source: ConfigSource::Class,
            requests: vec![Arc::clone(&choice.full_name)],
            opaque: opaque.clone(),
        }));
        of_classes.push((name, first..config.len()));
    }
    for one in &plan.claim.spec.config {
        let names = plan.claim.spec.requests.iter().zip(&chosen);
        let mut names = names.map(|(request, choice)| (&request.name, choice));
        let applies = names.any(|(name, choice)| is_named(&one.requests, name, *choice));
        if one.requests.is_empty() || applies {
            config.push(AllocatedConfig {
                source: ConfigSource::Claim,
                requests: one.requests.to_vec(),
                opaque: one.opaque.clone(),
            });
        }
    }
    for one in &mut config {
        let mut names = plan.claim.spec.requests.iter().zip(&chosen);
        // What is for all of them names none.
        if names.all(|(request, choice)| is_named(&one.requests, &request.name, *choice)) {
            one.requests.clear();
        }
    }
    config
}

/// Whether the list has the request, or the subrequest that it got.
fn is_named(names: &[Arc<str>], request: &Arc<str>, choice: Option<&Choice>) -> bool {
    let full = choice.map(|choice| &choice.full_name);
    names
        .iter()
        .any(|name| name == request || Some(name) == full)
}

/// The nodes that have all of the devices; `None` for every node.
fn nodes(solution: &Solution, source: Source<'_>) -> Result<Option<Arc<NodesSelector>>, String> {
    let mut term = (Vec::new(), Vec::new());
    for taken in &solution.devices {
        let candidate = source.pools.devices[taken.device];
        let slice = &source.offers.get(candidate.offer).slice;
        let device = &slice.devices[candidate.index];
        let nodes = if slice.per_device_nodes {
            &device.nodes
        } else {
            &slice.nodes
        };
        if nodes.name.is_some() || device.binds_to_node {
            return Ok(Some(one_node(source.node)));
        }
        match nodes.selector.as_ref().map(|selector| &*selector.terms) {
            None | Some([]) => {}
            Some([more]) => {
                add_new(&mut term.0, &more.fields);
                add_new(&mut term.1, &more.expressions);
            }
            Some(terms) => {
                let count = terms.len();
                return Err(format!(
                    "unsupported ResourceSlice.NodeSelector with {count} terms"
                ));
            }
        }
    }
    let is_empty = term.0.is_empty() && term.1.is_empty();
    Ok((!is_empty).then(|| selector(term.0, term.1)))
}

fn one_node(name: &Arc<str>) -> Arc<NodesSelector> {
    let field = SelectorRequirement {
        key: Arc::from("metadata.name"),
        operator: Arc::from("In"),
        values: Some([Arc::clone(name)].into()),
    };
    selector(vec![field], Vec::new())
}

fn selector(
    fields: Vec<SelectorRequirement>,
    expressions: Vec<SelectorRequirement>,
) -> Arc<NodesSelector> {
    let parsed = NodeSelectorTerm::new(&raw(&expressions), &raw(&fields));
    let term = SelectorTerm {
        fields: fields.into(),
        expressions: expressions.into(),
    };
    Arc::new(NodesSelector {
        parsed: NodeSelector {
            terms: [parsed].into(),
        },
        terms: [term].into(),
    })
}

fn raw(requirements: &[SelectorRequirement]) -> Vec<RawRequirement<'_>> {
    let raw = requirements.iter().map(|one| RawRequirement {
        key: &one.key,
        operator: &one.operator,
        values: one
            .values
            .as_ref()
            .map(|values| values.iter().map(|value| &**value).collect()),
    });
    raw.collect()
}

/// Adds what is not there yet; the order of values does not matter.
fn add_new(to: &mut Vec<SelectorRequirement>, from: &[SelectorRequirement]) {
    let values = |one: &SelectorRequirement| -> BTreeSet<Arc<str>> {
        one.values.iter().flatten().cloned().collect()
    };
    for one in from {
        let same = |other: &SelectorRequirement| {
            other.key == one.key && other.operator == one.operator && values(other) == values(one)
        };
        if !to.iter().any(same) {
            to.push(one.clone());
        }
    }
}
