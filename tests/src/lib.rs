//! What tests and benches across crates share: where the project is and what it consists
//! of, clusters of any size, CPU time, whole flows in process.

mod child;
#[cfg(feature = "e2e")]
pub mod controlplane;
mod cpu;
pub mod flow;
mod load_cluster;
mod tree;

pub use child::Measured;
pub use cpu::{resident_bytes, thread_cpu};
pub use load_cluster::{Bench, WITH_LOAD, arriving_pod, pod_ref, sample};
pub use tree::{Source, project_root, rust_sources};
