//! Decides where a node's traffic is read: takes the links of sysfs and the interface lists
//! of `/proc`, gives the counters to keep open, or the reason why there are none.
//!
//! The mounted sysfs is the host's where it shows physical links. `/proc/net/dev` is the
//! reader's own namespace and never taken. `/proc/1/net/dev` is the host's only if it is
//! seen to be another namespace than the agent's own: without the host's `/proc`, process 1
//! is the agent itself.

use std::fs;
use std::path::Path;

use serde::Serialize;

use super::links::{Link, Links};
use crate::sample::parse::net_dev;
use crate::sample::root::HostRoot;

/// Where traffic is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NetworkSource {
    /// `/sys/class/net/X/statistics`.
    Sysfs,
    /// `/proc/1/net/dev`.
    Proc1,
    /// Whatever sysinfo reads.
    Sysinfo,
}

/// Why there is no bandwidth figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoNetwork {
    /// Nothing physical in sysfs, and `/proc/1/net/dev` cannot be read.
    #[error(
        "no physical link in /sys/class/net and /proc/1/net/dev is not readable: mount the \
         host's /sys"
    )]
    NothingReadable,
    /// `/proc/1/net/dev` shows the same interfaces as the agent's own namespace.
    #[error(
        "no physical link in /sys/class/net and /proc/1/net/dev shows the agent's own \
         interfaces: mount the host's /sys"
    )]
    OwnNamespace,
    /// Several interfaces and nothing that tells a link from a veth.
    #[error(
        "no physical link in /sys/class/net and /proc/1/net/dev does not tell physical links \
         from virtual ones: mount the host's /sys"
    )]
    LinksUnknown,
}

/// The counters to keep open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NetworkPlan {
    pub(crate) source: Result<NetworkSource, NoNetwork>,
    pub(crate) links: Links,
}

impl NetworkPlan {
    /// Chooses for `links`, as found below `root`.
    pub(crate) fn choose(root: &HostRoot, mut links: Links) -> Self {
        let class = root.net_class();
        let in_sysfs = |link: &Link| has_statistics(&class, &link.name);
        if links.physical.iter().any(in_sysfs) {
            // One without statistics beside others with them went away during the walk.
            links.physical.retain(in_sysfs);
            return Self {
                source: Ok(NetworkSource::Sysfs),
                links,
            };
        }
        let source = of_process_1(root, &links).map(|single| {
            if let Some(name) = single {
                links.physical = vec![Link { name, speed: None }];
                links.capacity = None;
            }
            NetworkSource::Proc1
        });
        if source.is_err() {
            links.physical.clear();
        }
        Self { source, links }
    }
}

/// Checks `/proc/1/net/dev`. Gives the name of the only interface where sysfs knows no
/// physical link.
fn of_process_1(root: &HostRoot, links: &Links) -> Result<Option<String>, NoNetwork> {
    let first = interfaces(&root.proc.join("1/net/dev")).ok_or(NoNetwork::NothingReadable)?;
    if interfaces(&root.proc.join("self/net/dev")).is_some_and(|own| own == first) {
        return Err(NoNetwork::OwnNamespace);
    }
    if !links.physical.is_empty() {
        // The same names as in sysfs: the same namespace.
        let is_same = links.all_names == first;
        return is_same.then_some(None).ok_or(NoNetwork::LinksUnknown);
    }
    let mut others = first.into_iter().filter(|name| name != "lo");
    match (others.next(), others.next()) {
        (Some(only), None) => Ok(Some(only)),
        _ => Err(NoNetwork::LinksUnknown),
    }
}

fn has_statistics(class: &Path, name: &str) -> bool {
    let folder = class.join(name).join("statistics");
    ["rx_bytes", "tx_bytes"]
        .iter()
        .all(|file| fs::File::open(folder.join(file)).is_ok())
}

/// The names in a `net/dev` file, in order.
fn interfaces(path: &Path) -> Option<Vec<String>> {
    let text = fs::read(path).ok()?;
    let mut names: Vec<String> = net_dev(&text)
        .filter_map(|line| std::str::from_utf8(line.name).ok())
        .map(str::to_owned)
        .collect();
    names.sort_unstable();
    Some(names)
}

#[cfg(test)]
mod tests;
