//! What is not taken from the wire and why, as the counter calls it.

/// What was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// A whole stream.
    Stream,
    /// A whole report; the stream goes on.
    Report,
    /// A pod of a report; the rest of the report counts.
    Pod,
    /// A figure of a report; the rest of the report counts.
    Figure,
    /// A point of a history; the rest of it counts.
    History,
}

impl What {
    /// The value of the label.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Stream => "stream",
            Self::Report => "report",
            Self::Pod => "pod",
            Self::Figure => "figure",
            Self::History => "history",
        }
    }
}

/// Why it was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    /// Against the order of messages: no `Hello` first, or a second one.
    Protocol,
    /// Another version of the schema.
    Schema,
    /// A second node on one connection, or no node's name.
    Identity,
    /// A newer stream speaks for the node.
    Superseded,
    /// Too many bad reports in a row.
    Implausible,
    /// The limit of nodes is reached.
    Capacity,
    /// Not a message, too large, or values that cannot be.
    Malformed,
    /// An age that cannot be, or too old to be of use.
    Age,
    /// A sequence that does not grow.
    Replay,
    /// More than two periods old because it lay in buffers: a newer one is right behind it.
    Late,
    /// More reports than any agent sends.
    Rate,
    /// An index of a pod that was never given a uid, or whose pod was forgotten.
    UnknownIndex,
    /// An index of a pod that stands for another pod already.
    Redefined,
    /// A kernel that this version does not know, or one without a width.
    Kernel,
    /// A resource that this version does not know.
    Resource,
    /// Not a number, or infinite.
    NotFinite,
    /// Below zero.
    Negative,
    /// More than four times what the machine can do.
    AboveCapacity,
}

impl Reason {
    /// The value of the label.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Protocol => "protocol",
            Self::Schema => "schema",
            Self::Identity => "identity",
            Self::Superseded => "superseded",
            Self::Implausible => "implausible",
            Self::Capacity => "capacity",
            Self::Malformed => "malformed",
            Self::Age => "age",
            Self::Replay => "replay",
            Self::Late => "late",
            Self::Rate => "rate",
            Self::UnknownIndex => "unknown_index",
            Self::Redefined => "redefined",
            Self::Kernel => "kernel",
            Self::Resource => "resource",
            Self::NotFinite => "not_finite",
            Self::Negative => "negative",
            Self::AboveCapacity => "above_capacity",
        }
    }
}
