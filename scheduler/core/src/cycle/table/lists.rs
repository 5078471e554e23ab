//! The lists of a table: who passes and who is rejected, by the plugins whose words are
//! kept, in the order of the nodes.
//!
//! Takes a word on a node, gives the lists mended in place: a search and a shift.

use plimsoll_framework::{FilterOutcome, NodeId, Rejection, Snapshot};

use crate::cycle::find::Found;
use crate::decision::OverCap;
use crate::runtime::judge::kept::Word;

/// Stands for a node that is not in the order.
const NOWHERE: u32 = u32::MAX;

#[derive(Debug, Default)]
pub(super) struct Lists {
    pub(super) found: Found,
    /// By rank: place in the order of the nodes.
    pub(super) cells: Vec<Cell>,
    /// Rank by node.
    pub(super) ranks: Vec<u32>,
}

/// In which list a node is; the filter, by its place, that has put it there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Cell {
    #[default]
    Absent,
    Passes,
    Soft {
        at: u8,
    },
    Rejects {
        at: u8,
    },
}

/// What is kept of one node, and the place of the filter that says so.
#[derive(Debug, Clone, Copy)]
pub(super) enum KeptWord<'a> {
    Passes,
    Soft(&'a OverCap, u8),
    Rejects(&'a Rejection, u8),
}

// === impl Lists ===

impl Lists {
    /// No words yet, for the nodes of `snapshot`.
    pub(super) fn clear(&mut self, snapshot: &Snapshot) {
        self.found.clear();
        self.cells.clear();
        self.cells.resize(snapshot.order().len(), Cell::Absent);
        self.ranks.clear();
        self.ranks.resize(snapshot.columns(), NOWHERE);
        for (rank, id) in snapshot.order().iter().enumerate() {
            if let Some(slot) = self.ranks.get_mut(id.index()) {
                *slot = rank as u32;
            }
        }
    }

    /// The place of a node in the order.
    pub(super) fn rank_of(&self, id: NodeId) -> Option<usize> {
        let rank = *self.ranks.get(id.index())?;
        (rank != NOWHERE).then_some(rank as usize)
    }

    /// What is kept of each node, in their order; `None` of a node without a word.
    pub(super) fn words(&self) -> impl Iterator<Item = Option<KeptWord<'_>>> {
        // The lists are in the same order: each cell has the next entry of its list.
        let mut soft = self.found.soft.iter();
        let mut rejected = self.found.rejected.iter();
        self.cells.iter().map(move |cell| match *cell {
            Cell::Absent => None,
            Cell::Passes => Some(KeptWord::Passes),
            Cell::Soft { at } => soft.next().map(|soft| KeptWord::Soft(&soft.over, at)),
            Cell::Rejects { at } => {
                let (_, rejection) = rejected.next()?;
                Some(KeptWord::Rejects(rejection, at))
            }
        })
    }

    /// Adds the word on the next node of the order.
    ///
    /// # Errors
    /// It is an internal error.
    pub(super) fn add(&mut self, rank: usize, id: NodeId, word: Word) -> Result<(), Rejection> {
        let cell = Cell::of(&word);
        self.found.keep(id, word.said)?;
        self.cells[rank] = cell;
        Ok(())
    }

    /// Puts a new word on a node in the place of the old one.
    ///
    /// # Errors
    /// It is an internal error: the lists are of no use from then on.
    pub(super) fn mend(&mut self, rank: usize, id: NodeId, word: Word) -> Result<(), Rejection> {
        let (old, new) = (self.cells[rank], Cell::of(&word));
        if (old, new) == (Cell::Passes, Cell::Passes) {
            return Ok(());
        }
        let Self { found, ranks, .. } = self;
        let place = |node: &NodeId| ranks[node.index()] < rank as u32;
        match old {
            Cell::Absent => {}
            Cell::Passes => {
                found.feasible.remove(found.feasible.partition_point(place));
            }
            Cell::Soft { .. } => {
                let index = found.soft.partition_point(|soft| place(&soft.node));
                found.soft.remove(index);
            }
            Cell::Rejects { .. } => {
                let index = found.rejected.partition_point(|(node, _)| place(node));
                drop(found.rejected.remove(index));
            }
        }
        // Each list gets at most one entry, at its end: from there it goes to its place.
        found.keep(id, word.said)?;
        match new {
            Cell::Absent => {}
            Cell::Passes => settle(&mut found.feasible, place),
            Cell::Soft { .. } => settle(&mut found.soft, |soft| place(&soft.node)),
            Cell::Rejects { .. } => settle(&mut found.rejected, |(node, _)| place(node)),
        }
        self.cells[rank] = new;
        Ok(())
    }
}

/// Moves the last entry to its place: behind all that come before it.
fn settle<T>(list: &mut [T], comes_before: impl Fn(&T) -> bool) {
    let Some(last) = list.len().checked_sub(1) else {
        return;
    };
    let index = list[..last].partition_point(comes_before);
    list[index..].rotate_right(1);
}

// === impl Cell ===

impl Cell {
    fn of(word: &Word) -> Self {
        match &word.said {
            Ok(FilterOutcome::Pass) => Self::Passes,
            Ok(FilterOutcome::Soft { .. }) => Self::Soft { at: word.at },
            Err(_) => Self::Rejects { at: word.at },
        }
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_framework::test_util::node;
    use plimsoll_framework::{FilterOutcome, NodeId, NodeInfo, Now, Rejection, Snapshot};
    use proptest::prelude::{Strategy, prop, prop_assert_eq, proptest};

    use super::Lists;
    use crate::runtime::judge::kept::Word;

    const NODES: u32 = 6;

    fn word(kind: u8) -> Word {
        let soft = |excess| FilterOutcome::Soft {
            excess,
            reason: "over".into(),
            detail: None,
        };
        let said = match kind {
            0 => Ok(FilterOutcome::Pass),
            1 => Ok(soft(0.5)),
            2 => Err(Rejection::unschedulable("full")),
            _ => Err(Rejection::unresolvable("taint")),
        };
        Word { said, at: kind }
    }

    fn snapshot() -> Snapshot {
        let info = |id| NodeInfo::new(NodeId(id), node(&format!("n{id}")).arc());
        let infos = (0..NODES).map(info).collect();
        Snapshot::of(infos, Vec::new(), Now::at(std::time::Duration::ZERO))
    }

    fn filled(kinds: &[u8]) -> Lists {
        let snapshot = snapshot();
        let mut lists = Lists::default();
        lists.clear(&snapshot);
        for (rank, kind) in kinds.iter().enumerate() {
            let id = snapshot.order()[rank];
            lists.add(rank, id, word(*kind)).expect("no error");
        }
        lists
    }

    fn kinds() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(0..4_u8, NODES as usize)
    }

    proptest! {
        #[test]
        fn lists_that_are_mended_are_those_made_anew(
            mut kinds in kinds(),
            changes in prop::collection::vec((0..NODES, 0..4_u8), 0..20),
        ) {
            let mut lists = filled(&kinds);
            for (rank, kind) in changes {
                kinds[rank as usize] = kind;
                lists.mend(rank as usize, NodeId(rank), word(kind)).expect("no error");
            }
            let anew = filled(&kinds);
            prop_assert_eq!(&lists.cells, &anew.cells);
            prop_assert_eq!(format!("{:?}", lists.found), format!("{:?}", anew.found));
        }
    }
}
