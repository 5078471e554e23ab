//! Evictions under way, as hooks see them.
//!
//! Takes from the engine which pods wait for victims to go and which pods the API server
//! would not let go; gives both to `PreEnqueue` and `PostFilter`.

use std::collections::BTreeSet;

use plimsoll_objects::Uid;

/// What evictions mean for pods that wait and for pods that run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evictions {
    preempting: BTreeSet<Uid>,
    spared: BTreeSet<Uid>,
}

// === impl Evictions ===

impl Evictions {
    /// Whether victims are being told to go for this pod: another attempt would see them
    /// where they are and choose anew.
    pub fn is_preempting(&self, uid: &Uid) -> bool {
        self.preempting.contains(uid)
    }

    /// Says whether victims are being told to go for this pod.
    pub fn set_preempting(&mut self, uid: &Uid, is: bool) {
        set(&mut self.preempting, uid, is);
    }

    /// Whether the API server has refused of late to let this pod go.
    pub fn is_spared(&self, uid: &Uid) -> bool {
        self.spared.contains(uid)
    }

    /// Says whether the API server refuses to let this pod go.
    pub fn set_spared(&mut self, uid: &Uid, is: bool) {
        set(&mut self.spared, uid, is);
    }

    /// Whether nothing is under way and nobody is spared.
    pub fn is_empty(&self) -> bool {
        self.preempting.is_empty() && self.spared.is_empty()
    }
}

fn set(of: &mut BTreeSet<Uid>, uid: &Uid, is: bool) {
    if is {
        of.insert(uid.clone());
    } else {
        of.remove(uid);
    }
}
