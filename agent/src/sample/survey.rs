//! The slow part of sampling: takes the roots, walks the folders of links, cgroups and pods,
//! gives what to read from then on. Walks may block, so they run on a blocking thread beside
//! the ticks; `speed`, which waits for the kernel's network lock, has a time limit there.

use std::fs;
use std::path::Path;
use std::time::Duration;

use super::cgroup::CgroupTree;
use super::network::{AskSpeeds, Links, NetworkPlan};
use super::pods::{PodTree, PodWalk};
use super::root::HostRoot;

/// A walk that is due; [`Survey::run`] carries it out.
#[derive(Debug)]
pub struct Survey {
    pub(crate) root: HostRoot,
    /// Links and cgroups of the machine too, with the speeds that are known.
    pub(crate) machine: Option<AskSpeeds>,
    pub(crate) pods: PodWalk,
}

impl Survey {
    /// Walks. Blocks, never fails: what is not readable is not in the inventory.
    pub fn run(self) -> Inventory {
        let mut pods = self.pods;
        if pods.newcomers_age.is_none() {
            pods.newcomers_age = uptime(&self.root.proc);
        }
        Inventory {
            machine: self
                .machine
                .map(|speeds| MachineInventory::find(&self.root, &speeds)),
            pods: PodTree::find(&self.root.cgroup(), pods),
            root: self.root,
        }
    }
}

/// What a walk found, for [`crate::usage::Source::apply`].
#[derive(Debug)]
pub struct Inventory {
    pub(crate) root: HostRoot,
    pub(crate) machine: Option<MachineInventory>,
    pub(crate) pods: PodTree,
}

/// Links and cgroups of the machine.
#[derive(Debug)]
pub(crate) struct MachineInventory {
    pub(crate) cgroup: Option<CgroupTree>,
    pub(crate) network: NetworkPlan,
}

impl MachineInventory {
    fn find(root: &HostRoot, speeds: &AskSpeeds) -> Self {
        let links = Links::find(&root.net_class(), speeds);
        Self {
            cgroup: CgroupTree::find(&root.cgroup()),
            network: NetworkPlan::choose(root, links),
        }
    }
}

/// Time since the machine started: no folder of it is older.
fn uptime(proc: &Path) -> Option<Duration> {
    let text = fs::read_to_string(proc.join("uptime")).ok()?;
    let seconds: f64 = text.split_whitespace().next()?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}
