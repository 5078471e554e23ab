//! Connections of agents: accepted up to a limit, each with the one node it speaks for.
//! Takes a listener; gives a stream of links for the gRPC server. A link ends itself when
//! it stays silent for too long, and when the server's grace period is over.

mod accept;
mod link;
mod secure;

use std::sync::{Arc, OnceLock};

pub(crate) use accept::Accept;
pub(crate) use secure::Lines;

/// What all streams of one connection share.
#[derive(Debug, Clone, Default)]
pub(crate) struct Connection {
    node: Arc<OnceLock<Arc<str>>>,
}

impl Connection {
    /// Binds the connection to `node` at the first call; says whether it speaks for `node`.
    pub(crate) fn speaks_for(&self, node: &Arc<str>) -> bool {
        self.node.get_or_init(|| Arc::clone(node)) == node
    }

    /// Says whether any node was named yet.
    fn has_spoken(&self) -> bool {
        self.node.get().is_some()
    }
}

#[cfg(test)]
mod tests;
