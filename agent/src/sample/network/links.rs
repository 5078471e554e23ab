//! Finds the physical links of a node: takes `/sys/class/net`, gives the interfaces to count
//! and their capacity. Walks folders and may read `speed`, so never on the tick.
//!
//! A physical interface has a `device`; bridges, veths, bonds, tunnels and lo have none, and
//! would count the same byte again. Virtual functions are left out where their physical
//! function is seen, switch representors always.

use std::fs;
use std::path::Path;

use super::speeds::{AskSpeeds, Speeds};
use crate::sample::parse::words;

/// A physical interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) name: String,
    /// Bytes per second, one direction.
    pub(crate) speed: Option<u64>,
}

/// The links of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Links {
    /// In order of their names.
    pub(crate) physical: Vec<Link>,
    /// All interfaces of this sysfs, in order.
    pub(crate) all_names: Vec<String>,
    /// Bytes per second of all links that are up, one direction; `None` as soon as one of
    /// them is unknown.
    pub(crate) capacity: Option<u64>,
    /// The speeds behind it, for the next walk.
    pub(crate) speeds: Speeds,
    /// Some speeds were not given in time.
    pub(crate) too_slow: bool,
}

impl Links {
    /// Walks the folder `class` (`/sys/class/net`).
    pub(crate) fn find(class: &Path, ask: &AskSpeeds) -> Self {
        let all_names = names(class);
        let counted: Vec<&String> = all_names
            .iter()
            .filter(|name| is_counted(class, name))
            .collect();
        let bonds = bonds(class, &all_names);
        let wanted: Vec<&String> = counted
            .iter()
            .copied()
            .chain(bonds.iter().map(|bond| &bond.name))
            .collect();
        let answers = ask.of(class, &wanted);
        let speeds = answers.speeds;
        let of = |name: &String| speeds.get(name).copied().flatten();
        Self {
            capacity: capacity(class, &counted, &bonds, &of),
            physical: counted
                .iter()
                .map(|name| Link {
                    name: (*name).clone(),
                    speed: of(name),
                })
                .collect(),
            too_slow: answers.too_slow,
            all_names,
            speeds,
        }
    }
}

/// A bond and its members.
struct Bond {
    name: String,
    members: Vec<String>,
    /// The one member that carries the traffic, in the mode `active-backup`.
    only: Option<String>,
}

/// Adds up the links that are up, each bond as its members: all of them, or in
/// `active-backup` the active one.
fn capacity(
    class: &Path,
    counted: &[&String],
    bonds: &[Bond],
    speed: &dyn Fn(&String) -> Option<u64>,
) -> Option<u64> {
    let mut sum: Option<u64> = None;
    let mut add = |part: u64| sum = Some(sum.unwrap_or(0).saturating_add(part));
    for name in counted {
        let is_member = bonds.iter().any(|bond| bond.members.contains(name));
        if !is_member && is_up(class, name) {
            add(speed(name)?);
        }
    }
    for bond in bonds {
        let up: Vec<&String> = bond
            .members
            .iter()
            .filter(|name| counted.contains(name) && is_up(class, name))
            .filter(|name| bond.only.as_ref().is_none_or(|only| only == *name))
            .collect();
        if up.is_empty() {
            continue;
        }
        let members: Option<u64> = up.iter().map(|name| speed(name)).sum();
        // The bond's own speed is the kernel's sum of the same members.
        add(members.or_else(|| speed(&bond.name))?);
    }
    sum
}

/// Interfaces in order; empty if the folder is not readable.
fn names(class: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(class) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        // `bonding_masters` is a plain file among the interfaces.
        .filter(|entry| entry.path().is_dir())
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    names.sort_unstable();
    names
}

fn is_counted(class: &Path, name: &str) -> bool {
    let device = class.join(name).join("device");
    if fs::symlink_metadata(&device).is_err() {
        return false;
    }
    let of_seen_function = fs::read_dir(device.join("physfn/net")).is_ok_and(|functions| {
        functions
            .filter_map(Result::ok)
            .any(|function| class.join(function.file_name()).exists())
    });
    !of_seen_function && !is_representor(class, name)
}

/// A port of an embedded switch that stands for a function, `pf0vf3`: it carries the same
/// bytes as the uplink.
fn is_representor(class: &Path, name: &str) -> bool {
    fs::read(class.join(name).join("phys_port_name")).is_ok_and(|port| {
        let port = port.trim_ascii();
        port.windows(2).any(|pair| pair == b"pf")
            && port.windows(2).any(|pair| pair == b"vf" || pair == b"sf")
    })
}

fn bonds(class: &Path, names: &[String]) -> Vec<Bond> {
    let text = |name: &str, file: &str| {
        fs::read_to_string(class.join(name).join("bonding").join(file)).ok()
    };
    let mut bonds = Vec::new();
    for name in names {
        let Some(slaves) = text(name, "slaves") else {
            continue;
        };
        let members: Vec<String> = slaves.split_whitespace().map(str::to_owned).collect();
        let mode = text(name, "mode").unwrap_or_default();
        let is_backup = words(mode.as_bytes()).next() == Some(b"active-backup");
        // Between two active members there is none: any one stands for it.
        let active = text(name, "active_slave").map(|active| active.trim().to_owned());
        let only = active
            .filter(|active| members.contains(active))
            .or_else(|| members.first().cloned());
        bonds.push(Bond {
            name: name.clone(),
            only: only.filter(|_| is_backup),
            members,
        });
    }
    bonds
}

/// Up unless it says otherwise.
fn is_up(class: &Path, name: &str) -> bool {
    let state = fs::read(class.join(name).join("operstate")).unwrap_or_default();
    !matches!(
        state.trim_ascii(),
        b"down" | b"lowerlayerdown" | b"notpresent"
    )
}

#[cfg(test)]
mod tests;
