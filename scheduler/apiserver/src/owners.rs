//! Who owns which fields of an object, for server-side apply
//! (`sigs.k8s.io/structured-merge-diff`, KEP-555).
//!
//! Takes an object and what an applier wants of it, and gives the merged object with the owners of its
//! fields in `metadata.managedFields`, or the conflict. Owners are kept from an object's first apply on;
//! what was there before belongs to `before-first-apply`, as with kube-apiserver for objects without
//! owners.

mod conflict;
mod merge;
mod paths;
mod record;

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{json, schema::Type, status::Status};
use paths::{Path, at, owned};
use record::{Operation, Owner, read, write};

/// Owns what an object had before its first apply.
const BEFORE: &str = "before-first-apply";

/// What an apply request says beside the object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Applier<'a> {
    pub(crate) manager: &'a str,
    /// Whether fields are taken from other owners.
    pub(crate) force: bool,
}

/// Applies a configuration to an object, or to nothing; gives the object with its owners.
pub(crate) fn apply(
    of: &Type,
    live: &Value,
    config: &Value,
    applier: Applier<'_>,
) -> Result<Value, Status> {
    let mut owners = read(live);
    let present = owned(of, live);
    if owners.is_empty() && !present.is_empty() {
        owners.push(Owner {
            manager: BEFORE.to_owned(),
            operation: Operation::Update,
            fields: present,
            ..Owner::of(live)
        });
    }
    let wanted = owned(of, config);
    let is_own =
        |owner: &Owner| owner.manager == applier.manager && owner.operation == Operation::Apply;
    let differs = |path: &&Path| at(live, path) != at(config, path);
    let mut disputes = Vec::new();
    for owner in owners.iter_mut().filter(|owner| !is_own(owner)) {
        let disputed: BTreeSet<Path> = owner
            .fields
            .intersection(&wanted)
            .filter(differs)
            .cloned()
            .collect();
        if disputed.is_empty() {
            continue;
        }
        if applier.force {
            owner.fields = &owner.fields - &disputed;
        } else {
            disputes.push((owner.name(), disputed));
        }
    }
    if !disputes.is_empty() {
        return Err(conflict::refusal(&disputes));
    }
    let mut object = merge::merged(of, live, config);
    let place = owners.iter().position(is_own);
    let before = place.map(|at| owners.remove(at));
    if let Some(before) = &before {
        let kept: BTreeSet<&Path> = owners.iter().flat_map(|owner| &owner.fields).collect();
        // An item goes before its fields: without those that are its keys it would not be found.
        for path in before.fields.difference(&wanted) {
            let is_held = kept.iter().any(|held| held.starts_with(path));
            if !is_held {
                paths::remove(&mut object, path);
            }
        }
    }
    let unchanged = before.as_ref().is_some_and(|it| it.fields == wanted);
    let owner = match before {
        Some(before) if unchanged => before,
        _ => Owner {
            manager: applier.manager.to_owned(),
            operation: Operation::Apply,
            fields: wanted,
            ..Owner::of(config)
        },
    };
    owners.insert(place.unwrap_or(owners.len()), owner);
    write(&mut object, owners);
    Ok(object)
}

/// Gives what a plain write changes to its writer, where the object's owners are known.
pub(crate) fn track(of: &Type, old: &Value, new: &mut Value, manager: &str) {
    let mut owners = read(old);
    json::put(
        json::section(new, "metadata"),
        "managedFields",
        json::at(old, &["metadata", "managedFields"]).cloned(),
    );
    if owners.is_empty() {
        return;
    }
    let (before, after) = (owned(of, old), owned(of, new));
    let changed: BTreeSet<Path> = after
        .iter()
        .filter(|path| at(old, path) != at(new, path))
        .cloned()
        .collect();
    let touched = &changed | &(&before - &after);
    if touched.is_empty() {
        return;
    }
    for owner in &mut owners {
        owner.fields = &owner.fields - &touched;
    }
    let is_own =
        |owner: &&mut Owner| owner.manager == manager && owner.operation == Operation::Update;
    match owners.iter_mut().find(is_own) {
        Some(owner) => owner.fields.extend(changed),
        None => owners.push(Owner {
            manager: manager.to_owned(),
            operation: Operation::Update,
            fields: changed,
            ..Owner::of(new)
        }),
    }
    write(new, owners);
}

#[cfg(test)]
mod tests;
