//! `DynamicResources`: claims of devices are allocated and reserved.
//!
//! kube-scheduler `plugins/dynamicresources` with the allocator of
//! `dynamic-resource-allocation/structured` and the feature gates that are on in v1.37:
//! prioritised lists, admin access, partitionable devices, device taints, consumable
//! capacity, binding conditions, extended resources by devices.
//!
//! Differs: a search is bounded by steps, not by time (`filterTimeout` is turned into
//! steps). Of several claims that could be deallocated the first is taken, not any. Rules
//! of taints (`DeviceTaintRule`) are not read, pod groups do not share claims, a list as the
//! value of an attribute is not understood, and a device that skips node operations counts
//! as any other (the last three are behind gates that are off).

mod after;
mod args;
mod before;
mod binding;
mod capacity;
mod claims;
mod constraint;
pub(crate) mod extended;
mod judge;
mod ledger;
mod offers;
mod outcome;
mod plan;
mod pools;
mod readiness;
mod search;
mod selectors;
mod state;
mod wake;
mod world;
mod writes;

use std::sync::Arc;

use plimsoll_framework::{Depends, Hooks, PluginSpec, Point};

use self::args::DynamicResourcesArgs;
use self::selectors::Selectors;
use self::world::World;

/// The plugin's name.
pub const NAME: &str = "DynamicResources";

/// What a hook says whose `PreFilter` did not run: kube-scheduler's text for a value that is
/// not in the cycle's state.
const NO_STATE: &str = "not found";

struct DynamicResources {
    args: DynamicResourcesArgs,
    selectors: Selectors,
    world: World,
}

/// The plugin.
pub fn spec() -> PluginSpec {
    PluginSpec {
        name: NAME,
        points: &[
            Point::PreEnqueue,
            Point::PreFilter,
            Point::Filter,
            Point::PostFilter,
            Point::Score,
            Point::Reserve,
            Point::PreBind,
        ],
        // A verdict reads the node, other kinds, and notes what it found.
        depends: Depends::Anything,
        decode_args: args::decode,
        build: |args| {
            let plugin = Arc::new(DynamicResources {
                args: args.get().copied().unwrap_or_default(),
                selectors: Selectors::default(),
                world: World::default(),
            });
            Hooks::default()
                .with_pre_enqueue(&plugin)
                .with_pre_filter(&plugin)
                .with_filter(&plugin)
                .with_post_filter(&plugin)
                .with_score(&plugin)
                .with_reserve(&plugin)
                .with_pre_bind(&plugin)
                .with_enqueue(&plugin)
        },
    }
}

#[cfg(test)]
mod tests;
