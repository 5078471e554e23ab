//! Faults on demand: makes the server answer wrongly, late or not at all, for tests of clients.
//!
//! A test adds [`Rule`]s; each request is matched against them before it is served, and the first rule
//! that still has something to do decides.

mod rule;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub use rule::Rule;

use crate::{resources::Resource, status::Status, verb::Verb};

/// What happens to a request.
#[derive(Debug, Clone)]
pub enum Fault {
    /// It is answered with this, and not served.
    Answer(Status),
    /// It waits until the rule is removed, and is served then.
    Hang,
    /// It is served after this time.
    Delay(Duration),
    /// It is served, and the connection is closed without the answer.
    LoseAnswer,
}

impl Fault {
    /// 500 Internal Server Error.
    pub fn internal_error() -> Self {
        Self::Answer(Status::internal("a fault was asked for"))
    }

    /// 429 Too Many Requests, with a `Retry-After` header.
    pub fn too_many_requests(retry_after_s: u32) -> Self {
        let message = "too many requests, please try again later";
        Self::Answer(Status::too_many_requests(message, retry_after_s))
    }

    /// 410 Gone.
    pub fn expired() -> Self {
        Self::Answer(Status::expired("too old resource version: 1 (2)"))
    }
}

/// The identity of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FaultId(u64);

/// A handle on the faults of a running server; clones share them.
#[derive(Debug, Clone)]
pub struct Faults {
    rules: Arc<Mutex<Rules>>,
    /// How often each rule has struck.
    hits: Arc<watch::Sender<BTreeMap<FaultId, u64>>>,
    /// How often the watches of each resource were closed; the key "" means all.
    closes: Arc<watch::Sender<BTreeMap<String, u64>>>,
}

#[derive(Debug, Default)]
struct Rules {
    next: u64,
    active: BTreeMap<FaultId, Active>,
}

#[derive(Debug)]
struct Active {
    rule: Rule,
    seen: u64,
    release: CancellationToken,
}

/// A fault that has struck a request.
#[derive(Debug)]
pub(crate) struct Strike {
    pub(crate) fault: Fault,
    /// Ends a hang.
    pub(crate) release: CancellationToken,
}

impl Default for Faults {
    fn default() -> Self {
        Self {
            rules: Arc::default(),
            hits: Arc::new(watch::Sender::default()),
            closes: Arc::new(watch::Sender::default()),
        }
    }
}

impl Faults {
    /// Adds a rule, behind those that are there.
    pub fn add(&self, rule: Rule) -> FaultId {
        let mut rules = self.rules.lock();
        rules.next += 1;
        let id = FaultId(rules.next);
        let release = CancellationToken::new();
        rules.active.insert(
            id,
            Active {
                rule,
                seen: 0,
                release,
            },
        );
        id
    }

    /// Takes a rule away; requests that hang because of it go on.
    pub fn remove(&self, id: FaultId) {
        if let Some(active) = self.rules.lock().active.remove(&id) {
            active.release.cancel();
        }
    }

    /// Takes all rules away.
    pub fn clear(&self) {
        let active = std::mem::take(&mut self.rules.lock().active);
        for active in active.into_values() {
            active.release.cancel();
        }
    }

    /// Tells how often a rule has struck.
    pub fn hits(&self, id: FaultId) -> u64 {
        self.hits.borrow().get(&id).copied().unwrap_or(0)
    }

    /// Waits until a rule has struck `count` times.
    pub async fn struck(&self, id: FaultId, count: u64) {
        let mut hits = self.hits.subscribe();
        let enough = |hits: &BTreeMap<FaultId, u64>| hits.get(&id).is_some_and(|it| *it >= count);
        // The sender lives in self, so the wait ends only when the count is there.
        let waited = hits.wait_for(enough).await;
        debug_assert!(waited.is_ok(), "the sender outlives the wait");
    }

    /// Closes the open watches of a resource, or of all, as a server does that restarts.
    pub fn close_watches(&self, resource: Option<&str>) {
        let key = resource.unwrap_or("").to_owned();
        self.closes
            .send_modify(|closes| *closes.entry(key).or_default() += 1);
    }

    /// Gives the fault that strikes a request, if any. `resource` is the plural, with the group unless
    /// core, and the subresource.
    pub(crate) fn strike(&self, verb: Verb, resource: &str, name: Option<&str>) -> Option<Strike> {
        let mut rules = self.rules.lock();
        let (id, strike) = rules.active.iter_mut().find_map(|(id, active)| {
            if !active.rule.covers(verb, resource, name) {
                return None;
            }
            active.seen += 1;
            let strikes = active.rule.strikes_at(active.seen);
            strikes.then(|| (*id, active.strike()))
        })?;
        drop(rules);
        self.hits
            .send_modify(|hits| *hits.entry(id).or_default() += 1);
        Some(strike)
    }

    /// Gives a receiver that is told when watches shall close.
    pub(crate) fn closes(&self) -> watch::Receiver<BTreeMap<String, u64>> {
        self.closes.subscribe()
    }
}

impl Active {
    fn strike(&self) -> Strike {
        Strike {
            fault: self.rule.fault.clone(),
            release: self.release.clone(),
        }
    }
}

/// Counts how often the watches of a resource were closed.
pub(crate) fn closed(closes: &BTreeMap<String, u64>, resource: &Resource) -> u64 {
    let of = |key: &str| closes.get(key).copied().unwrap_or(0);
    of("")
        + of(resource.plural)
        + if resource.group.is_empty() {
            0
        } else {
            of(&resource.qualified())
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rule_with_something_left_to_do_decides() {
        let faults = Faults::default();
        let once = faults.add(
            Rule::new(Fault::internal_error())
                .verb(Verb::Create)
                .times(1),
        );
        let late = faults.add(Rule::new(Fault::LoseAnswer).resource("pods").nth(2));
        let strike = |verb| faults.strike(verb, "pods", None).map(|it| it.fault);
        assert!(matches!(strike(Verb::Create), Some(Fault::Answer(_))));
        assert!(strike(Verb::Create).is_none());
        assert!(matches!(strike(Verb::Get), Some(Fault::LoseAnswer)));
        assert!(strike(Verb::Get).is_none());
        assert_eq!((faults.hits(once), faults.hits(late)), (1, 1));
    }

    #[test]
    fn a_removed_rule_releases_what_it_holds() {
        let faults = Faults::default();
        let id = faults.add(Rule::new(Fault::Hang));
        let strike = faults.strike(Verb::Get, "pods", None).unwrap();
        assert!(!strike.release.is_cancelled());
        faults.remove(id);
        assert!(strike.release.is_cancelled());
        assert!(faults.strike(Verb::Get, "pods", None).is_none());
    }

    #[test]
    fn closing_counts_for_the_resource_or_for_all() {
        let faults = Faults::default();
        faults.close_watches(Some("pods"));
        faults.close_watches(None);
        let closes = faults.closes();
        let count = |name| closed(&closes.borrow(), Resource::named(name).unwrap());
        assert_eq!((count("pods"), count("nodes")), (2, 1));
    }
}
