//! How many nodes report: numbers for metrics and pages.

use crate::node_state::Voice;

/// The nodes by what their agents do, as of the last refresh that brought all ages up to
/// date.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LoadCensus {
    /// Nodes whose newest sample is fresh.
    pub reporting: usize,
    /// Nodes that reported once, and whose newest sample is older than fresh.
    pub silent: usize,
    /// Nodes that never reported.
    pub never: usize,
    /// Brown-outs that began since the start.
    pub brown_outs: u64,
}

// === impl LoadCensus ===

impl LoadCensus {
    /// Counts a node.
    pub(crate) fn count(&mut self, voice: Voice) {
        match voice {
            Voice::Fresh => self.reporting += 1,
            Voice::Silent { .. } => self.silent += 1,
            Voice::Never => self.never += 1,
        }
    }
}
