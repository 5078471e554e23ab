//! What the figures on the wire mean: the smoothing kernels, one definition for both
//! ends. The agent smooths with them, the scheduler asks them how much of a young pod's
//! load a figure already shows.

mod ewma;
mod kernel;

pub use ewma::Ewma;
pub use kernel::Kernel;
