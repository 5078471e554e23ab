//! The slow part of sampling: takes the roots, walks the folders of links and cgroups, gives
//! what to read from then on. May block for seconds (`speed` waits for the kernel's network
//! lock), so it runs on a blocking thread beside the ticks.

use super::cgroup::CgroupTree;
use super::network::{Links, NetworkPlan, Speeds};
use super::root::HostRoot;

/// A walk that is due; [`Survey::run`] carries it out.
#[derive(Debug)]
pub struct Survey {
    pub(crate) root: HostRoot,
    /// Speeds that need not be read again.
    pub(crate) known_speeds: Option<Speeds>,
}

impl Survey {
    /// Walks. Blocks, never fails: what is not readable is not in the inventory.
    pub fn run(self) -> Inventory {
        let links = Links::find(&self.root.net_class(), self.known_speeds.as_ref());
        Inventory {
            cgroup: CgroupTree::find(&self.root.cgroup()),
            network: NetworkPlan::choose(&self.root, links),
            root: self.root,
        }
    }
}

/// What a walk found, for [`crate::usage::Source::apply`].
#[derive(Debug)]
pub struct Inventory {
    pub(crate) root: HostRoot,
    pub(crate) cgroup: Option<CgroupTree>,
    pub(crate) network: NetworkPlan,
}
