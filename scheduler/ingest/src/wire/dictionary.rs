//! Which pod an index of a stream stands for. Takes what a report says of a pod's name; gives
//! its uid, or the reason why it has none.
//!
//! Names are kept for as long as they are in use: an agent reads every pod each ten seconds,
//! and says the uid again after a minute of silence.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::metrics::Reason;

/// Most names of one stream: eight times what the largest nodes run, so that pods that came
/// and went need not be cleared at once. At some 120 bytes each, half a megabyte; twice that
/// if all were of the longest.
const MAX_NAMES: usize = 4096;
/// Names after which those out of use are searched for: more than a usual node's pods.
const FEW_NAMES: usize = 256;
/// A name that was not used for this long is forgotten: five times the agent's minute.
const UNUSED_FOR: Duration = Duration::from_mins(5);
/// Longest uid of a pod: a UUID has 36, a config hash 32 bytes; the manifest of a static pod may
/// set its own, and this is the longest that agents send.
const MAX_UID_BYTES: usize = 128;

/// The names of one stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Dictionary {
    names: BTreeMap<u32, Name>,
    /// Number of names at which those out of use are searched for next.
    look_at: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Name {
    uid: Arc<str>,
    used_at: Duration,
}

impl Dictionary {
    /// The uid of the pod that a report calls `index` and `uid`; notes what is new.
    ///
    /// # Errors
    /// Why the pod has no name.
    pub(super) fn name(
        &mut self,
        index: u32,
        uid: String,
        now: Duration,
    ) -> Result<Arc<str>, Reason> {
        if !uid.is_empty() && !is_uid(&uid) {
            return Err(Reason::Malformed);
        }
        if index == 0 {
            return if uid.is_empty() {
                Err(Reason::Malformed)
            } else {
                Ok(Arc::from(uid))
            };
        }
        if let Some(name) = self.names.get_mut(&index) {
            if !uid.is_empty() && *uid != *name.uid {
                return Err(Reason::Redefined);
            }
            name.used_at = now;
            return Ok(Arc::clone(&name.uid));
        }
        if uid.is_empty() {
            return Err(Reason::UnknownIndex);
        }
        let uid: Arc<str> = Arc::from(uid);
        self.add(index, Arc::clone(&uid), now);
        Ok(uid)
    }

    /// Keeps a name if there is room for it.
    fn add(&mut self, index: u32, uid: Arc<str>, now: Duration) {
        if self.names.len() >= self.look_at.clamp(FEW_NAMES, MAX_NAMES) {
            self.names
                .retain(|_, name| now.saturating_sub(name.used_at) < UNUSED_FOR);
            // Twice what is in use: the search stays cheap whatever the stream says.
            self.look_at = self.names.len() * 2;
        }
        if self.names.len() < MAX_NAMES {
            self.names.insert(index, Name { uid, used_at: now });
        }
    }
}

fn is_uid(uid: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    uid.len() <= MAX_UID_BYTES && uid.bytes().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Duration = Duration::from_hours(1);

    fn name(names: &mut Dictionary, index: u32, uid: &str) -> Result<Arc<str>, Reason> {
        names.name(index, uid.to_owned(), START)
    }

    #[test]
    fn a_pod_is_named_once_and_known_by_its_index_from_then_on() {
        let mut names = Dictionary::default();
        for uid in ["a-1", "", "a-1", ""] {
            assert_eq!(name(&mut names, 1, uid).as_deref(), Ok("a-1"));
        }
        assert_eq!(name(&mut names, 0, "b").as_deref(), Ok("b"), "no index");
    }

    /// The manifest of a static pod may set its own uid, and the folder carries it.
    #[test]
    fn a_uid_of_a_manifest_s_own_is_one() {
        let mut names = Dictionary::default();
        let long = "x".repeat(128);
        for (index, uid) in [(1, "kube-proxy.node-1_a"), (2, &*long)] {
            assert_eq!(name(&mut names, index, uid).as_deref(), Ok(uid));
        }
    }

    #[test]
    fn a_name_that_is_none_has_its_reason() {
        let mut names = Dictionary::default();
        name(&mut names, 1, "a").unwrap();
        let long = "x".repeat(129);
        for (index, uid, reason) in [
            (0, "", Reason::Malformed),
            (2, "a b", Reason::Malformed),
            (2, &*long, Reason::Malformed),
            (2, "", Reason::UnknownIndex),
            (1, "b", Reason::Redefined),
        ] {
            assert_eq!(name(&mut names, index, uid), Err(reason), "{index} {uid}");
        }
        assert_eq!(name(&mut names, 1, "").as_deref(), Ok("a"));
    }

    #[test]
    fn a_stream_that_names_ever_new_pods_fills_no_memory_and_keeps_its_old_ones() {
        let mut names = Dictionary::default();
        for index in 1..=10_000 {
            assert!(name(&mut names, index, "a").is_ok());
        }
        assert_eq!(names.names.len(), MAX_NAMES);
        assert!(name(&mut names, 1, "").is_ok());
        assert_eq!(name(&mut names, 10_000, ""), Err(Reason::UnknownIndex));
    }

    #[test]
    fn names_out_of_use_make_room_for_new_ones() {
        let mut names = Dictionary::default();
        for index in 1..100_000 {
            // A pod each ten seconds; the first is read all the time.
            let now = START + Duration::from_secs(u64::from(index) * 10);
            names.name(index, "a".to_owned(), now).unwrap();
            names.name(1, String::new(), now).unwrap();
            assert!(names.names.len() <= FEW_NAMES);
        }
    }
}
