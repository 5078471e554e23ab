//! Counts requests and writes, so that a test can prove what a client did and did not do.
//!
//! Takes one note per answered HTTP request and gives counts by verb, resource, code and user agent.

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;

use crate::verb::Verb;

/// How many user agents are told apart; the others are counted as one, so that no client can grow the
/// table without bound.
const MAX_USER_AGENTS: usize = 256;

/// The name of all user agents beyond the bound.
const OTHER_USER_AGENTS: &str = "(other)";

/// A handle on the counts of a running server; clones share them.
///
/// Resources are named as in an audit log: `pods`, `pods/binding`, `leases.coordination.k8s.io`.
#[derive(Debug, Clone, Default)]
pub struct Stats {
    counts: Arc<Mutex<Counts>>,
}

/// How often a verb on a resource was answered with a code.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestCount {
    /// The verb.
    pub verb: Verb,
    /// The resource, with its subresource.
    pub resource: String,
    /// The HTTP code.
    pub code: u16,
    /// How often.
    pub count: u64,
}

/// How often a user agent asked to change a resource, whatever the answer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct WriteCount {
    /// The client's `User-Agent`, empty if it sent none.
    pub user_agent: String,
    /// The verb.
    pub verb: Verb,
    /// The resource, with its subresource.
    pub resource: String,
    /// How often.
    pub count: u64,
}

#[derive(Debug, Default)]
struct Counts {
    requests: BTreeMap<(Verb, String, u16), u64>,
    writes: BTreeMap<String, BTreeMap<(Verb, String), u64>>,
}

impl Stats {
    /// Gives the counts of all requests that were answered.
    pub fn requests(&self) -> Vec<RequestCount> {
        let counts = self.counts.lock();
        let entries = counts.requests.iter();
        entries
            .map(|((verb, resource, code), count)| RequestCount {
                verb: *verb,
                resource: resource.clone(),
                code: *code,
                count: *count,
            })
            .collect()
    }

    /// Gives the counts of all writes that were asked for.
    pub fn writes(&self) -> Vec<WriteCount> {
        let counts = self.counts.lock();
        let agents = counts.writes.iter();
        agents
            .flat_map(|(user_agent, writes)| {
                writes.iter().map(|((verb, resource), count)| WriteCount {
                    user_agent: user_agent.clone(),
                    verb: *verb,
                    resource: resource.clone(),
                    count: *count,
                })
            })
            .collect()
    }

    /// Counts the answered requests of a verb on a resource, whatever the code.
    pub fn requests_of(&self, verb: Verb, resource: &str) -> u64 {
        let all = self.requests().into_iter();
        all.filter(|it| it.verb == verb && it.resource == resource)
            .map(|it| it.count)
            .sum()
    }

    /// Counts the writes of a resource, by all clients.
    pub fn writes_of(&self, resource: &str) -> u64 {
        let all = self.writes().into_iter();
        all.filter(|it| it.resource == resource)
            .map(|it| it.count)
            .sum()
    }

    /// Counts the writes of a user agent, of all resources.
    pub fn writes_by(&self, user_agent: &str) -> u64 {
        let all = self.writes().into_iter();
        all.filter(|it| it.user_agent == user_agent)
            .map(|it| it.count)
            .sum()
    }

    /// Counts the answers with a code.
    pub fn answers(&self, code: u16) -> u64 {
        let all = self.requests().into_iter();
        all.filter(|it| it.code == code).map(|it| it.count).sum()
    }

    /// Sets all counts to zero.
    pub fn reset(&self) {
        *self.counts.lock() = Counts::default();
    }

    pub(crate) fn record(&self, verb: Verb, resource: &str, code: u16, user_agent: &str) {
        let mut counts = self.counts.lock();
        *counts
            .requests
            .entry((verb, resource.to_owned(), code))
            .or_default() += 1;
        if !verb.writes() {
            return;
        }
        let known = counts.writes.contains_key(user_agent) || counts.writes.len() < MAX_USER_AGENTS;
        let agent = if known { user_agent } else { OTHER_USER_AGENTS };
        let writes = counts.writes.entry(agent.to_owned()).or_default();
        *writes.entry((verb, resource.to_owned())).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_no_writes_and_each_sum_counts_its_own() {
        let stats = Stats::default();
        stats.record(Verb::List, "pods", 200, "a");
        stats.record(Verb::Create, "pods/binding", 201, "a");
        stats.record(Verb::Create, "pods/binding", 409, "b");
        assert_eq!(stats.requests_of(Verb::Create, "pods/binding"), 2);
        assert_eq!(stats.writes_of("pods/binding"), 2);
        assert_eq!((stats.writes_by("a"), stats.writes_of("pods")), (1, 0));
        assert_eq!((stats.answers(409), stats.requests().len()), (1, 3));
        stats.reset();
        assert!(stats.requests().is_empty() && stats.writes().is_empty());
    }

    #[test]
    fn user_agents_beyond_the_bound_are_counted_as_one() {
        let stats = Stats::default();
        for agent in 0..MAX_USER_AGENTS + 5 {
            stats.record(Verb::Delete, "pods", 200, &agent.to_string());
        }
        assert_eq!(stats.writes_by(OTHER_USER_AGENTS), 5);
        assert_eq!(stats.writes_of("pods"), MAX_USER_AGENTS as u64 + 5);
    }
}
