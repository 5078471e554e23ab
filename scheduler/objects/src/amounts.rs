//! Exact amounts by resource name, as one container or pod states them.
//!
//! Takes the entries of a `ResourceList`, gives sums and maxima over them that are still
//! exact: kube-scheduler adds quantities first and rounds the total.

use crate::intern::intern;
use crate::quantity::Quantity;
use crate::resource_name::is_scalar;
use crate::resources::Resources;

/// A `ResourceList`: few entries, each name once, a name with amount 0 is present.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Amounts<'a> {
    entries: Vec<(&'a str, Quantity)>,
}

// === impl Amounts ===

impl<'a> Amounts<'a> {
    /// The amount of `name`, if it is stated.
    pub fn get(&self, name: &str) -> Option<Quantity> {
        self.entries
            .iter()
            .find(|(own, _)| *own == name)
            .map(|(_, amount)| *amount)
    }

    /// States `amount` of `name`, replacing what was stated.
    pub fn set(&mut self, name: &'a str, amount: Quantity) {
        self.merge(name, amount, |_, new| new);
    }

    /// All names and amounts, in the order in which they were stated.
    pub fn iter(&self) -> impl Iterator<Item = (&'a str, Quantity)> + '_ {
        self.entries.iter().copied()
    }

    /// Adds every amount of `other`.
    pub(crate) fn add(&mut self, other: &Self) {
        for (name, amount) in other.iter() {
            self.merge(name, amount, Quantity::saturating_add);
        }
    }

    /// Raises every amount to at least that of `other`.
    pub(crate) fn raise(&mut self, other: &Self) {
        for (name, amount) in other.iter() {
            self.merge(name, amount, Quantity::max);
        }
    }

    /// Rounded as the scheduler counts: cpu up to milli, all else up to whole units;
    /// names that it does not count are left out.
    pub fn to_resources(&self) -> Resources {
        let mut resources = Resources::default();
        for (name, amount) in self.iter() {
            match name {
                "cpu" => resources.cpu = amount.milli_value(),
                "memory" => resources.memory = amount.value(),
                "ephemeral-storage" => resources.ephemeral_storage = amount.value(),
                "pods" => resources.pods = amount.value(),
                _ if is_scalar(name) => {
                    resources.scalar.insert(intern(name), amount.value());
                }
                _ => {}
            }
        }
        resources
    }

    fn merge(&mut self, name: &'a str, amount: Quantity, op: fn(Quantity, Quantity) -> Quantity) {
        match self.entries.iter_mut().find(|(own, _)| *own == name) {
            Some((_, own)) => *own = op(*own, amount),
            None => self.entries.push((name, amount)),
        }
    }
}

impl<'a> FromIterator<(&'a str, Quantity)> for Amounts<'a> {
    fn from_iter<I: IntoIterator<Item = (&'a str, Quantity)>>(entries: I) -> Self {
        let mut amounts = Self::default();
        for (name, amount) in entries {
            amounts.set(name, amount);
        }
        amounts
    }
}
