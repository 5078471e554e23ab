//! Which requests a fault strikes: verb, resource and name; from which request on; how often.

use super::Fault;
use crate::verb::Verb;

/// A fault and the requests it strikes; without conditions, all of them.
#[derive(Debug, Clone)]
pub struct Rule {
    pub(super) fault: Fault,
    verb: Option<Verb>,
    resource: Option<String>,
    name: Option<String>,
    /// The first matching request that is struck, counted from 1.
    first: u64,
    /// How many are struck, all if absent.
    times: Option<u64>,
}

impl Rule {
    /// Makes a rule that strikes every request.
    pub const fn new(fault: Fault) -> Self {
        Self {
            fault,
            verb: None,
            resource: None,
            name: None,
            first: 1,
            times: None,
        }
    }

    /// Strikes only this verb.
    #[must_use]
    pub const fn verb(mut self, verb: Verb) -> Self {
        self.verb = Some(verb);
        self
    }

    /// Strikes only this resource: `pods`, `pods/binding`, `leases.coordination.k8s.io`.
    #[must_use]
    pub fn resource(mut self, resource: &str) -> Self {
        self.resource = Some(resource.to_owned());
        self
    }

    /// Strikes only requests for the object of this name.
    #[must_use]
    pub fn name(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    /// Lets the matching requests before the `n`th pass (counted from 1). Strikes that one only, unless
    /// [`times`](Self::times) says more.
    #[must_use]
    pub fn nth(mut self, n: u64) -> Self {
        self.first = n.max(1);
        self.times = self.times.or(Some(1));
        self
    }

    /// Strikes so many requests, then none.
    #[must_use]
    pub const fn times(mut self, times: u64) -> Self {
        self.times = Some(times);
        self
    }

    pub(super) fn covers(&self, verb: Verb, resource: &str, name: Option<&str>) -> bool {
        self.verb.is_none_or(|it| it == verb)
            && self.resource.as_deref().is_none_or(|it| it == resource)
            && (self.name.is_none() || self.name.as_deref() == name)
    }

    /// Tells whether the rule strikes the matching request of this number.
    pub(super) fn strikes_at(&self, number: u64) -> bool {
        let Some(past) = number.checked_sub(self.first) else {
            return false;
        };
        self.times.is_none_or(|times| past < times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_strikes_the_requests_it_counts() {
        let rule = || Rule::new(Fault::Hang);
        let struck = |rule: &Rule| {
            (1..=5)
                .filter(|n| rule.strikes_at(*n))
                .collect::<Vec<u64>>()
        };
        assert_eq!(struck(&rule()), [1, 2, 3, 4, 5]);
        assert_eq!(struck(&rule().times(2)), [1, 2]);
        assert_eq!(struck(&rule().nth(3)), [3]);
        assert_eq!(struck(&rule().nth(3).times(2)), [3, 4]);
        assert_eq!(struck(&rule().times(2).nth(0)), [1, 2]);
    }

    #[test]
    fn a_rule_covers_only_what_its_conditions_say() {
        let rule = Rule::new(Fault::Hang)
            .verb(Verb::Create)
            .resource("pods/binding")
            .name("a");
        assert!(rule.covers(Verb::Create, "pods/binding", Some("a")));
        assert!(!rule.covers(Verb::Create, "pods", Some("a")));
        assert!(!rule.covers(Verb::Delete, "pods/binding", Some("a")));
        assert!(!rule.covers(Verb::Create, "pods/binding", None));
    }
}
