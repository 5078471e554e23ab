//! Constraints between the devices of a claim: the same value of an attribute, or no two.

use std::sync::Arc;

use plimsoll_objects::ObjectKey;
use plimsoll_objects::device::{Attribute, Device, DeviceConstraint};

use super::plan::Choice;

/// A constraint and the devices that it has been told of.
#[derive(Debug)]
pub(super) struct Constraint<'a> {
    requests: &'a [Arc<str>],
    attribute: &'a str,
    rule: Rule<'a>,
}

#[derive(Debug)]
enum Rule<'a> {
    /// The value of the first device, and how many devices there are.
    Same(Option<&'a Attribute>, usize),
    /// The values of the devices.
    Distinct(Vec<&'a Attribute>),
}

// === impl Constraint ===

impl<'a> Constraint<'a> {
    /// The constraint number `index` of `claim`.
    ///
    /// # Errors
    /// It is of a kind that this version does not know.
    pub(super) fn new(
        wire: &'a DeviceConstraint,
        claim: &ObjectKey,
        index: usize,
    ) -> Result<Self, String> {
        let (attribute, rule) = match (&wire.same, &wire.distinct) {
            (Some(attribute), _) => (attribute, Rule::Same(None, 0)),
            (None, Some(attribute)) => (attribute, Rule::Distinct(Vec::new())),
            (None, None) => {
                return Err(format!(
                    "claim {claim}, constraint #{index}: empty constraint (unsupported \
                     constraint type?)"
                ));
            }
        };
        Ok(Self {
            requests: &wire.requests,
            attribute,
            rule,
        })
    }

    /// Whether `device` may be added; then it is.
    pub(super) fn add(&mut self, choice: &Choice, driver: &str, device: &'a Device) -> bool {
        if !self.is_about(choice) {
            return true;
        }
        let Some(value) = attribute(device, driver, self.attribute) else {
            return false;
        };
        match &mut self.rule {
            Rule::Same(first, count) => {
                if *count == 0 {
                    *first = Some(value);
                } else if *value == Attribute::Unknown || *first != Some(value) {
                    return false;
                }
                *count += 1;
            }
            Rule::Distinct(values) => {
                let unknown = *value == Attribute::Unknown && !values.is_empty();
                if unknown || values.contains(&value) {
                    return false;
                }
                values.push(value);
            }
        }
        true
    }

    /// Undoes the last [`Constraint::add`], which was for `choice`.
    pub(super) fn remove(&mut self, choice: &Choice) {
        if !self.is_about(choice) {
            return;
        }
        match &mut self.rule {
            Rule::Same(_, count) => *count = count.saturating_sub(1),
            Rule::Distinct(values) => drop(values.pop()),
        }
    }

    /// Whether it is about the request, by its own name or by that of its parent.
    fn is_about(&self, choice: &Choice) -> bool {
        let full = &*choice.full_name;
        let parent = full.split_once('/').map_or(full, |(parent, _)| parent);
        let mut requests = self.requests.iter();
        self.requests.is_empty() || requests.any(|name| **name == *full || **name == *parent)
    }
}

/// An attribute by its full name; in the domain of the driver it may be under its own name.
fn attribute<'d>(device: &'d Device, driver: &str, name: &str) -> Option<&'d Attribute> {
    device.attributes.get(name).or_else(|| {
        let (domain, id) = name.split_once('/')?;
        let found = device.attributes.get(id);
        found.filter(|_| domain == driver)
    })
}
