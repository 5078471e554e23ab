//! The refresh: rows are brought up to date, brown-outs noticed, falls noted.

use std::time::Duration;

use plimsoll_framework::{LoadMode, NodeId, NodeLoad};

use super::{LoadModel, live};
use crate::census::LoadCensus;
use crate::moment::Moment;
use crate::node_state::{NodeState, Voice};
use crate::options::{AGE_STEP, LoadOptions, PEER_CONFIDENCE};
use crate::scale::Scale;
use crate::silence::{Floor, StandIn};

/// Judges nobody by others.
const NOBODY: &StandIn = &StandIn {
    floor: Floor::NONE,
    scale: Scale::NONE,
};

/// What a pass over rows needs, and whom it tells.
struct Pass<'a> {
    at: Moment,
    options: LoadOptions,
    falls: &'a mut Vec<NodeId>,
    changed: &'a mut dyn FnMut(NodeId, &NodeLoad),
}

// === impl LoadModel ===

impl LoadModel {
    /// Brings rows up to date and tells `changed` of each row that changed, nodes in the
    /// order of their ids within one pass. Costs what changed since the last refresh; once
    /// per [`AGE_STEP`] of `now` (the engine's monotonic clock) also a blend of every row.
    pub fn refresh(&mut self, now: Duration, changed: &mut dyn FnMut(NodeId, &NodeLoad)) {
        let at = Moment::at(now);
        let mut ids = std::mem::take(&mut self.changed);
        ids.sort_unstable();
        for id in &ids {
            let options = self.options;
            if let Some(state) = self.state_mut(*id) {
                state.reckon(at, &options);
            }
        }
        let is_due = |last| now.abs_diff(last) >= AGE_STEP;
        if self.aged_at.is_none_or(is_due) || self.enabled != self.shown {
            self.aged_at = Some(now);
            self.age_all(at, changed);
            self.note_mode(now);
        } else if self.enabled {
            self.blend(&ids, at, changed);
        }
        ids.clear();
        self.changed = ids;
    }

    /// Adds to `out`, in the order of their ids, the nodes that pods rejected for load may
    /// fit now, each once: those whose load fell by [`FALL`](crate::options::FALL) of
    /// capacity since they were last told, whose figures are fresh again, and all once load
    /// is judged no more. Costs the number of such nodes.
    pub fn take_falls(&mut self, out: &mut Vec<NodeId>) {
        let mut tell = |id, state: &mut NodeState| {
            if std::mem::take(&mut state.is_announced) && state.name.is_some() {
                out.push(id);
            }
        };
        if std::mem::take(&mut self.all_fell) {
            self.falls.clear();
            for (id, state) in live(&mut self.states) {
                state.is_announced = true;
                tell(id, state);
            }
            return;
        }
        self.falls.sort_unstable();
        for id in self.falls.drain(..) {
            if let Some(Some(state)) = self.states.get_mut(id.index()) {
                tell(id, state);
            }
        }
    }

    /// Blends `ids` only, silent nodes as the last pass over all rows had it.
    fn blend(&mut self, ids: &[NodeId], at: Moment, changed: &mut dyn FnMut(NodeId, &NodeLoad)) {
        let mut pass = Pass {
            at,
            options: self.options,
            falls: &mut self.falls,
            changed,
        };
        for id in ids {
            if let Some(Some(state)) = self.states.get_mut(id.index()) {
                let is_fresh = state.voice(at, &self.options) == Voice::Fresh;
                let by = if is_fresh { NOBODY } else { &self.stand_in };
                pass.blend(*id, state, by);
            }
        }
    }

    /// Looks at every node: blends rows that are well known as they are, then the others,
    /// judged by them.
    fn age_all(&mut self, at: Moment, changed: &mut dyn FnMut(NodeId, &NodeLoad)) {
        let mut scale = Scale::default();
        let silent = self.look(at, &mut scale, changed);
        self.watch.judge(at);
        self.census.brown_outs = self.watch.total();
        self.stand_in = if self.watch.is_on() {
            let floor = Floor::NONE;
            StandIn { floor, scale }
        } else if silent.is_empty() {
            StandIn::default()
        } else {
            let floor = self.peers.floor(&self.options);
            let scale = Scale::NONE;
            StandIn { floor, scale }
        };
        if self.enabled {
            self.blend(&silent, at, changed);
        } else if self.shown {
            self.blank(changed);
        }
        self.shown = self.enabled;
    }

    /// Counts all nodes, blends the fresh ones and learns from them; gives the others.
    fn look(
        &mut self,
        at: Moment,
        scale: &mut Scale,
        changed: &mut dyn FnMut(NodeId, &NodeLoad),
    ) -> Vec<NodeId> {
        let options = self.options;
        let falls = &mut self.falls;
        let mut pass = Pass {
            at,
            options,
            falls,
            changed,
        };
        self.peers.clear();
        self.watch.clear();
        self.census = LoadCensus::default();
        let mut others = Vec::new();
        for (id, state) in live(&mut self.states) {
            let voice = state.voice(at, &options);
            if state.name.is_some() {
                self.census.count(voice);
            }
            if !state.is_out {
                self.watch.add(voice);
            }
            if voice != Voice::Fresh {
                others.push(id);
            } else if self.enabled {
                pass.blend(id, state, NOBODY);
                self.peers.add(&state.row);
                state.tell(scale);
            }
            let is_known = || state.confidence(at, &options) >= PEER_CONFIDENCE;
            if self.enabled && matches!(voice, Voice::Silent { .. }) && is_known() {
                self.peers.add(&state.blended(at, NOBODY, &options));
            }
        }
        others
    }

    /// Empties every row.
    fn blank(&mut self, changed: &mut dyn FnMut(NodeId, &NodeLoad)) {
        for (id, state) in live(&mut self.states) {
            if state.row != self.unknown {
                state.row = self.unknown;
                changed(id, &state.row);
            }
        }
    }

    /// Where load rejects nobody any more, every node is worth another look.
    fn note_mode(&mut self, now: Duration) {
        let mode = self.mode();
        if mode != self.mode {
            self.mode = mode;
            self.mode_since = now;
            self.all_fell |= mode != LoadMode::Live;
        }
    }
}

// === impl Pass ===

impl Pass<'_> {
    /// Blends a row, judged `by` others; tells if it changed, and notes if it fell.
    fn blend(&mut self, id: NodeId, state: &mut NodeState, by: &StandIn) {
        if !state.blend(self.at, by, &self.options) {
            return;
        }
        if state.falls.see(self.at, &state.row) && !state.is_announced {
            state.is_announced = true;
            self.falls.push(id);
        }
        (self.changed)(id, &state.row);
    }
}
