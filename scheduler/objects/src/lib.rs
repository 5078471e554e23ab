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
pub mod budget;
pub mod constraints;
pub mod decode;
pub mod device;
pub mod duration;
pub mod feature;
mod intern;
pub mod meta;
pub mod namespace;
pub mod node;
pub mod object;
pub mod pod;
pub mod pod_affinity;
pub mod pod_claim;
pub mod pod_volume;
pub mod qualified_name;
pub mod quantity;
pub mod requests;
pub mod resource_name;
pub mod resources;
pub mod selector;
pub mod spread;
pub mod storage;
pub mod taint;
pub mod volume;
pub mod workload;

pub use amounts::Amounts;
pub use budget::PodDisruptionBudget;
pub use constraints::{Constraints, HostPort, NodeAffinity};
pub use decode::{DecodeError, decode_node, decode_pod};
pub use device::{DeviceClass, ResourceClaim, ResourceSlice};
pub use duration::{ApiDuration, DurationError};
pub use feature::NodeFeatures;
pub use meta::{Labels, ObjectKey, ObjectMeta, OwnerReference, Uid};
pub use namespace::Namespace;
pub use node::{Node, NodeImage, NodeStatus};
pub use object::{Object, ObjectKind};
pub use pod::{Condition, ConditionStatus, Phase, Pod, PodSpec, PodStatus};
pub use pod_affinity::{PodAffinity, PodAffinityTerm, TermList, WeightedPodAffinityTerm};
pub use pod_claim::PodClaims;
pub use pod_volume::PodVolume;
pub use quantity::{Quantity, QuantityError};
pub use resources::{Bytes, BytesPerSec, Limits, Millicores, Requests, Resources, ScoringRequests};
pub use selector::{LabelSelector, NodeSelector, NodeSelectorTerm, PreferredTerm};
pub use spread::{SpreadConstraint, WhenUnsatisfiable};
pub use storage::{CsiDriver, CsiNode, CsiStorageCapacity, StorageClass, VolumeAttachment};
pub use taint::{Taint, TaintEffect, Toleration, TolerationOperator};
pub use volume::{PersistentVolume, PersistentVolumeClaim};
pub use workload::{Workload, WorkloadSelector};
