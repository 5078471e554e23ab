//! What a decision is worked out on: lists and scores that are used again by the next cycle,
//! and the tables of the kinds of pods that came last.

use plimsoll_objects::Pod;

use super::find::Found;
use super::table::Table;
use crate::runtime::score::Scores;

/// Most tables that are kept, however small the cluster: one is looked for by comparing.
const TABLES_MAX: usize = 64;
/// Most nodes in all tables together, 16 kinds of pods at 5,000 nodes: at some 400 bytes for
/// each (a row of every score, the lists) 32 MB.
const CELLS_MAX: usize = 80_000;

/// Kept by the engine from cycle to cycle.
#[derive(Debug)]
pub(crate) struct Desk {
    /// Found where no table is used.
    pub(crate) found: Found,
    pub(crate) scores: Scores,
    /// The table used last comes first.
    tables: Vec<Table>,
    has_tables: bool,
    /// Whether this cycle uses the first table.
    uses_table: bool,
}

// === impl Desk ===

impl Desk {
    /// A desk with tables, or without: then every node is judged in every cycle.
    pub(crate) fn new(has_tables: bool) -> Self {
        Self {
            found: Found::default(),
            scores: Scores::default(),
            tables: Vec::new(),
            has_tables,
            uses_table: false,
        }
    }

    /// A cycle begins.
    pub(crate) fn clear(&mut self) {
        self.found.clear();
        self.uses_table = false;
    }

    /// Turns to the table for `pod`, for a cluster of `nodes` nodes; `None` without tables.
    pub(crate) fn turn_to(
        &mut self,
        profile: usize,
        pod: &Pod,
        nodes: usize,
    ) -> Option<&mut Table> {
        if !self.has_tables {
            return None;
        }
        let most = (CELLS_MAX / nodes.max(1)).clamp(1, TABLES_MAX);
        self.tables.truncate(most);
        let mut tables = self.tables.iter();
        let index = match tables.position(|table| table.is_for(profile, pod)) {
            Some(index) => index,
            None if self.tables.len() < most => {
                self.tables.push(Table::default());
                self.tables.len() - 1
            }
            None => {
                // The table that nobody used for the longest time.
                let last = self.tables.len() - 1;
                self.tables[last].give_up();
                last
            }
        };
        self.tables[..=index].rotate_right(1);
        self.uses_table = true;
        self.tables.first_mut()
    }

    /// Turns away from the table: it is of no use in this cycle.
    pub(crate) fn turn_away(&mut self) {
        self.uses_table = false;
    }

    /// The table of this cycle.
    pub(crate) fn table(&mut self) -> Option<&mut Table> {
        let is_used = self.uses_table;
        self.tables.first_mut().filter(|_| is_used)
    }

    /// What was found in this cycle.
    pub(crate) fn found(&self) -> &Found {
        self.table_found().unwrap_or(&self.found)
    }

    /// What was found in this cycle, if by a table.
    pub(crate) fn table_found(&self) -> Option<&Found> {
        let table = self.tables.first().filter(|_| self.uses_table);
        table.map(Table::found)
    }

    /// The scores of this cycle.
    pub(crate) fn scores(&self) -> &Scores {
        match self.tables.first() {
            Some(table) if self.uses_table => table.scores(),
            _ => &self.scores,
        }
    }
}
