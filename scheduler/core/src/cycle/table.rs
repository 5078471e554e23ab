//! Verdicts on all nodes that are kept for pods that are alike: after a change only the
//! nodes that changed are judged again, and only by plugins whose words may be kept
//! (`Depends`); the others are asked each time.
//!
//! Takes a cycle after `PreFilter`, gives the same lists and scores as judging every node
//! anew does, in the same order (a property that the engine's tests hold).

mod lists;

use plimsoll_framework::{
    ChangeMark, CycleState, FilterOutcome, Handle as _, NodeId, NodeInfo, Rejection,
};
use plimsoll_objects::Pod;

use self::lists::{KeptWord, Lists};
use super::decide::Deciding;
use super::find::Found;
use super::signature::is_alike;
use crate::plugin_set::PluginSet;
use crate::runtime::judge::Judge;
use crate::runtime::score::Scores;
use crate::runtime::score::kept::{KeptScores, Ranked};

/// Share of the nodes above which a table is made anew rather than mended: mending a node
/// costs a search and a shift on top of judging it.
const MENDED_MAX: usize = 8;

/// What is kept for one kind of pod.
#[derive(Debug, Default)]
pub(crate) struct Table {
    made: Option<Made>,
    /// What the plugins say whose words are kept.
    lists: Lists,
    /// What all plugins say, where that is more.
    combined: Found,
    /// Whether it is: a plugin was asked each time, or pods are promised a node.
    is_combined: bool,
    kept: KeptScores,
    scores: Scores,
}

/// For what, and of when, a table is.
#[derive(Debug)]
struct Made {
    profile: usize,
    /// One of the pods.
    pod: Pod,
    at: Moment,
}

/// The state of everything that words which are kept depend on.
#[derive(Debug)]
struct Moment {
    /// Plugins that had nothing to judge.
    skip: PluginSet,
    order: u64,
    device_classes: u64,
    images: u64,
    changes: ChangeMark,
}

/// Why a table does not say who passes.
#[derive(Debug)]
pub(crate) enum Unfit {
    /// A plugin failed whose words are kept: all nodes are to be judged anew.
    Table,
    /// An internal error: the attempt fails.
    Attempt(Rejection),
}

// === impl Table ===

impl Table {
    /// Whether the table is for pods like this one.
    pub(crate) fn is_for(&self, profile: usize, pod: &Pod) -> bool {
        let made = self.made.as_ref();
        made.is_some_and(|made| made.profile == profile && is_alike(&made.pod, pod))
    }

    /// Forgets for which pods the table was; the memory serves others.
    pub(crate) fn give_up(&mut self) {
        self.made = None;
    }

    /// What was found for the pod of the last cycle.
    pub(crate) fn found(&self) -> &Found {
        if self.is_combined {
            &self.combined
        } else {
            &self.lists.found
        }
    }

    /// The scores of the last cycle.
    pub(crate) fn scores(&self) -> &Scores {
        &self.scores
    }

    /// Finds the nodes for the pod of this cycle.
    ///
    /// # Errors
    /// A plugin failed.
    pub(crate) fn search(
        &mut self,
        deciding: &Deciding<'_>,
        judge: &Judge<'_>,
        state: &CycleState,
    ) -> Result<(), Unfit> {
        let made = self.made.take();
        let brought_up = self.bring_up(made.as_ref(), deciding, judge, state);
        brought_up.map_err(|_| Unfit::Table)?;
        let pod = made.map(|made| made.pod);
        self.made = Some(Made {
            profile: deciding.framework.index(),
            pod: pod.unwrap_or_else(|| deciding.cycle.pod.clone()),
            at: Moment::of(deciding, judge),
        });
        self.is_combined = !judge.nominated.is_empty() || judge.has_live();
        if self.is_combined {
            let combined = self.combine(deciding, judge, state);
            combined.map_err(Unfit::Attempt)?;
        }
        Ok(())
    }

    /// Scores what was found.
    ///
    /// # Errors
    /// An internal error of a plugin: the attempt fails.
    pub(crate) fn score(
        &mut self,
        deciding: &Deciding<'_>,
        state: &mut CycleState,
    ) -> Result<(), Rejection> {
        let Deciding {
            framework,
            cycle,
            probe,
            ..
        } = deciding;
        let found = if self.is_combined {
            &self.combined
        } else {
            &self.lists.found
        };
        let nodes = Ranked {
            feasible: &found.feasible,
            order: cycle.snapshot.order(),
            ranks: &self.lists.ranks,
        };
        let (kept, scores) = (&mut self.kept, &mut self.scores);
        framework.score_kept((cycle, state), nodes, (kept, scores), probe)
    }

    /// Judges again what changed since `made`; everything, where that is not known.
    fn bring_up(
        &mut self,
        made: Option<&Made>,
        deciding: &Deciding<'_>,
        judge: &Judge<'_>,
        state: &CycleState,
    ) -> Result<(), Rejection> {
        let (cycle, now) = (&deciding.cycle, Moment::of(deciding, judge));
        let at = made.map(|made| &made.at);
        let Some(at) = at.filter(|at| now.can_be_reached_from(at, deciding)) else {
            return self.make(deciding, judge, state);
        };
        let changes = cycle.snapshot.changes_since(&at.changes);
        let Some(mut changed) = changes.map(Iterator::collect::<Vec<NodeId>>) else {
            return self.make(deciding, judge, state);
        };
        changed.sort_unstable();
        changed.dedup();
        if changed.len() * MENDED_MAX > self.lists.cells.len() {
            return self.make(deciding, judge, state);
        }
        if now.images != at.images {
            self.kept.forget_images(deciding.framework);
        }
        for id in changed {
            let info = cycle.snapshot.get(id);
            let (Some(rank), Some(info)) = (self.lists.rank_of(id), info) else {
                continue;
            };
            self.lists.mend(rank, id, judge.kept(cycle, state, info))?;
            self.kept.forget(rank);
        }
        Ok(())
    }

    fn make(
        &mut self,
        deciding: &Deciding<'_>,
        judge: &Judge<'_>,
        state: &CycleState,
    ) -> Result<(), Rejection> {
        let cycle = &deciding.cycle;
        let order = cycle.snapshot.order();
        self.lists.clear(cycle.snapshot);
        self.kept.clear(deciding.framework, order.len());
        for (rank, id) in order.iter().enumerate() {
            if let Some(info) = cycle.snapshot.get(*id) {
                self.lists.add(rank, *id, judge.kept(cycle, state, info))?;
            }
        }
        Ok(())
    }

    /// Adds to the kept words those of the other plugins, and leaves room for pods that are
    /// promised a node.
    fn combine(
        &mut self,
        deciding: &Deciding<'_>,
        judge: &Judge<'_>,
        state: &CycleState,
    ) -> Result<(), Rejection> {
        let (found, snapshot) = (&mut self.combined, deciding.cycle.snapshot);
        found.clear();
        let mut kept = self.lists.words();
        for id in snapshot.order() {
            let Some(word) = kept.next().flatten() else {
                continue;
            };
            let Some(info) = snapshot.get(*id) else {
                continue;
            };
            let said = if judge.nominated.contains_key(id) {
                judge.filter(&deciding.cycle, state, info)
            } else {
                word.with_others(judge, deciding, state, info)
            };
            found.keep(*id, said)?;
        }
        Ok(())
    }
}

// === impl Moment ===

impl Moment {
    fn of(deciding: &Deciding<'_>, judge: &Judge<'_>) -> Self {
        let snapshot = deciding.cycle.snapshot;
        Self {
            skip: judge.skip,
            order: snapshot.order_version(),
            device_classes: snapshot.catalog().device_classes.changes(),
            images: snapshot.images_version(),
            changes: snapshot.change_mark(),
        }
    }

    /// Whether only single nodes changed since `past`, and columns of scores.
    fn can_be_reached_from(&self, past: &Self, deciding: &Deciding<'_>) -> bool {
        self.skip == past.skip
            && self.order == past.order
            && self.device_classes == past.device_classes
            && (self.images == past.images || !deciding.framework.filters_by_images())
    }
}

// === impl KeptWord ===

impl KeptWord<'_> {
    fn with_others(
        self,
        judge: &Judge<'_>,
        deciding: &Deciding<'_>,
        state: &CycleState,
        info: &NodeInfo,
    ) -> Result<FilterOutcome, Rejection> {
        let cycle = &deciding.cycle;
        match self {
            Self::Passes => judge.live(cycle, state, info, (FilterOutcome::Pass, 0)),
            Self::Soft(over, at) => judge.live(cycle, state, info, (over.as_outcome(), at)),
            Self::Rejects(rejection, at) => Err(judge
                .rejected_before(cycle, state, info, at)
                .unwrap_or_else(|| rejection.clone())),
        }
    }
}
