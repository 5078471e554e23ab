//! Pods that wait for extenders to be free, in a line for each set of extenders.
//!
//! However many wait, finding the next costs as much as there are different sets: few.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use plimsoll_objects::Uid;

use super::waiting::Turn;

/// How often the head of a line is overtaken by pods that need fewer extenders. After that
/// its extenders are kept free for it.
const OVERTAKEN_MAX: u32 = 16;

/// Higher priority first, then first come first served.
type Place = (Reverse<i32>, u64);

/// All lines.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// By the extenders that its pods need.
    by_need: BTreeMap<Vec<usize>, Line>,
    places: BTreeMap<Uid, (Vec<usize>, Place)>,
    arrivals: u64,
}

#[derive(Debug, Default)]
struct Line {
    turns: BTreeMap<Place, Turn>,
    /// Of its head.
    overtaken: u32,
}

// === impl Lines ===

impl Lines {
    pub(super) fn push(&mut self, turn: Turn) {
        let Some(queued) = turn.item.pods().first() else {
            return;
        };
        self.arrivals += 1;
        let place = (Reverse(queued.pod.spec.priority), self.arrivals);
        let wanted = turn.wanted.clone();
        let uid = queued.pod.uid().clone();
        self.places.insert(uid, (wanted.clone(), place));
        let line = self.by_need.entry(wanted).or_default();
        line.turns.insert(place, turn);
    }

    /// The first whose extenders are free: not among `taken`, nor kept for one before it that
    /// was overtaken too often.
    pub(super) fn first_free(&self, mut taken: BTreeSet<usize>) -> Option<Uid> {
        for (_, wanted, line) in self.heads() {
            if wanted.iter().all(|index| !taken.contains(index)) {
                let (_, turn) = line.turns.first_key_value()?;
                return turn.uid();
            }
            if line.overtaken >= OVERTAKEN_MAX {
                taken.extend(wanted);
            }
        }
        None
    }

    /// Takes out the pod that [`Self::first_free`] gave; heads before it are overtaken.
    pub(super) fn take(&mut self, uid: &Uid) -> Option<Turn> {
        let (_, place) = self.places.get(uid)?;
        let place = *place;
        for line in self.by_need.values_mut() {
            let is_before = line
                .turns
                .first_key_value()
                .is_some_and(|(head, _)| *head < place);
            line.overtaken = line.overtaken.saturating_add(u32::from(is_before));
        }
        self.remove(uid)
    }

    /// Takes out any pod.
    pub(super) fn remove(&mut self, uid: &Uid) -> Option<Turn> {
        let (wanted, place) = self.places.remove(uid)?;
        let line = self.by_need.get_mut(&wanted)?;
        let is_head = line
            .turns
            .first_key_value()
            .is_some_and(|(head, _)| *head == place);
        let turn = line.turns.remove(&place);
        if is_head {
            line.overtaken = 0;
        }
        if line.turns.is_empty() {
            self.by_need.remove(&wanted);
        }
        turn
    }

    pub(super) fn contains(&self, uid: &Uid) -> bool {
        self.places.contains_key(uid)
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// The lines, that with the first head first.
    fn heads(&self) -> Vec<(Place, &Vec<usize>, &Line)> {
        let lines = self.by_need.iter();
        let mut heads: Vec<_> = lines
            .filter_map(|(wanted, line)| {
                let (place, _) = line.turns.first_key_value()?;
                Some((*place, wanted, line))
            })
            .collect();
        heads.sort_unstable_by_key(|(place, ..)| *place);
        heads
    }
}
