//! One extender: whom it wants to see, what it is asked, and what its answers mean.

pub(crate) mod filter;
#[cfg(test)]
mod tests;

use plimsoll_config::Extender;
use thiserror::Error;

use crate::fields::WireError;

/// What an extender can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verb {
    /// Which nodes are left.
    Filter,
    /// How good they are.
    Prioritize,
    /// Bind the pod.
    Bind,
    /// Which candidates of preemption are left.
    Preempt,
}

/// Why an answer is no use.
#[derive(Debug, Error)]
pub enum AnswerError {
    /// The body cannot be read.
    #[error("the answer cannot be read")]
    Wire(#[from] WireError),
    /// The extender says so itself; the text is its own.
    #[error("{0}")]
    Said(String),
    /// It names a node that it was not asked about.
    #[error(
        "extender {extender:?} claims a filtered node {node:?} which is not found in the input \
         node list"
    )]
    NotOffered {
        /// Its URL prefix.
        extender: String,
        /// The node.
        node: String,
    },
}

/// What an extender has against one node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The node.
    pub node: String,
    /// The extender's own words.
    pub message: String,
    /// Whether no eviction would help (`UnschedulableAndUnresolvable`).
    pub unresolvable: bool,
}

impl Verb {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Filter, Self::Prioritize, Self::Bind, Self::Preempt];

    /// Its name, as logs and series have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Filter => "filter",
            Self::Prioritize => "prioritize",
            Self::Bind => "bind",
            Self::Preempt => "preempt",
        }
    }

    /// The path that `extender` has for it; `None` if it is not asked.
    pub fn path(self, extender: &Extender) -> Option<&str> {
        let path = match self {
            Self::Filter => &extender.filter_verb,
            Self::Prioritize => &extender.prioritize_verb,
            Self::Bind => &extender.bind_verb,
            Self::Preempt => &extender.preempt_verb,
        };
        path.as_deref()
    }
}

/// The URL of a call: Go's `strings.TrimRight(prefix, "/") + "/" + verb`.
pub fn url(prefix: &str, path: &str) -> String {
    format!("{}/{path}", prefix.trim_end_matches('/'))
}
