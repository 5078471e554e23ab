//! Kubernetes objects as Plimsoll sees them.
//!
//! Takes the JSON of the API server, gives slim values that cannot be wrong: quantities
//! are integers, requests are summed once, selectors are parsed. A field that the
//! scheduler never reads is skipped while parsing and costs no memory. An object that
//! cannot be understood is refused with the path of the mistake, never with a panic.
//!
//! Knows nothing of a client, of time, or of scheduling.

pub mod amounts;
pub mod bandwidth;
pub mod constraints;
pub mod decode;
pub mod duration;
mod intern;
pub mod meta;
pub mod node;
pub mod pod;
pub mod qualified_name;
pub mod quantity;
pub mod requests;
pub mod resource_name;
pub mod resources;
pub mod selector;
pub mod taint;

pub use amounts::Amounts;
pub use constraints::{Constraints, HostPort, NodeAffinity};
pub use decode::{DecodeError, decode_node, decode_pod};
pub use duration::{ApiDuration, DurationError};
pub use meta::{Labels, ObjectKey, ObjectMeta, OwnerReference, Uid};
pub use node::{Node, NodeImage, NodeStatus};
pub use pod::{Condition, ConditionStatus, Phase, Pod, PodSpec, PodStatus};
pub use quantity::{Quantity, QuantityError};
pub use resources::{Bytes, BytesPerSec, Limits, Millicores, Requests, Resources, ScoringRequests};
pub use selector::{NodeSelector, NodeSelectorTerm, PreferredTerm};
pub use taint::{Taint, TaintEffect, Toleration, TolerationOperator};
