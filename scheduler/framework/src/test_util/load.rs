//! Builds load rows for tests: what the load model would say of one node.

use std::time::Duration;

use plimsoll_objects::Node;
use plimsoll_objects::bandwidth::{LinkSpeed, bytes_per_sec};

use super::quantity;
use crate::load::{LoadResource, NodeLoad};

/// Age of a sample unless the test says otherwise: fresh at 1 Hz.
const DEFAULT_AGE: Duration = Duration::from_secs(1);

/// One node's load in the making. What is not set is unknown, not zero.
///
/// `used` becomes measured + in flight - departing, or, of a resource without a
/// measurement, what was expected; capacity is the node's own (and its link-speed
/// annotation for both directions of the network).
///
/// ```
/// use plimsoll_framework::LoadResource;
/// use plimsoll_framework::test_util::{load, node};
/// let row = load("n1").cpu("3").in_flight_cpu("500m").row(&node("n1").build());
/// assert_eq!(row.cpu.ratio_with(0.0), Some(0.875));
/// assert_eq!(row.memory.used, None);
/// let row = load("n1").share(LoadResource::Cpu, 0.95).row(&node("n1").build());
/// assert_eq!(row.cpu.used, Some(3800.0));
/// ```
#[derive(Debug, Clone)]
pub struct LoadBuilder {
    node: String,
    row: NodeLoad,
    shares: Vec<(LoadResource, f64)>,
    peaks: Vec<(LoadResource, f64)>,
}

/// The load of the node called `node`.
pub fn load(node: &str) -> LoadBuilder {
    let row = NodeLoad {
        confidence: 1.0,
        sample_age: Some(DEFAULT_AGE),
        ..NodeLoad::default()
    };
    LoadBuilder {
        node: node.to_owned(),
        row,
        shares: Vec::new(),
        peaks: Vec::new(),
    }
}

// === impl LoadBuilder ===

impl LoadBuilder {
    /// Sets the measured cpu, such as `3800m`.
    ///
    /// # Panics
    /// `amount` is not a quantity (so with every amount below).
    #[must_use]
    pub fn cpu(mut self, amount: &str) -> Self {
        self.row.cpu.measured = Some(millicores(amount));
        self
    }

    /// Sets the measured memory, such as `12Gi`.
    ///
    /// # Panics
    /// See [`LoadBuilder::cpu`].
    #[must_use]
    pub fn memory(mut self, amount: &str) -> Self {
        self.row.memory.measured = Some(bytes(amount));
        self
    }

    /// Sets the measured bandwidth towards the node in bit/s, such as `4G`.
    ///
    /// # Panics
    /// See [`LoadBuilder::cpu`].
    #[must_use]
    pub fn rx(mut self, bits_per_second: &str) -> Self {
        self.row.rx.measured = Some(rate(bits_per_second));
        self
    }

    /// Sets the measured bandwidth from the node in bit/s, such as `4G`.
    ///
    /// # Panics
    /// See [`LoadBuilder::cpu`].
    #[must_use]
    pub fn tx(mut self, bits_per_second: &str) -> Self {
        self.row.tx.measured = Some(rate(bits_per_second));
        self
    }

    /// Sets the measured use of a resource as a share of its capacity.
    #[must_use]
    pub fn share(mut self, resource: LoadResource, share: f64) -> Self {
        self.shares.push((resource, share));
        self
    }

    /// Sets what is used of a resource at its peaks (`used_p95`) as a share of its capacity.
    #[must_use]
    pub fn peak(mut self, resource: LoadResource, share: f64) -> Self {
        self.peaks.push((resource, share));
        self
    }

    /// Sets the cpu in flight.
    ///
    /// # Panics
    /// See [`LoadBuilder::cpu`].
    #[must_use]
    pub fn in_flight_cpu(mut self, amount: &str) -> Self {
        self.row.cpu.in_flight = millicores(amount);
        self
    }

    /// Sets the memory in flight.
    ///
    /// # Panics
    /// See [`LoadBuilder::cpu`].
    #[must_use]
    pub fn in_flight_memory(mut self, amount: &str) -> Self {
        self.row.memory.in_flight = bytes(amount);
        self
    }

    /// Sets the cpu that the node's pods are expected to use.
    ///
    /// # Panics
    /// See [`LoadBuilder::cpu`].
    #[must_use]
    pub fn expected_cpu(mut self, amount: &str) -> Self {
        self.row.cpu.expected = Some(millicores(amount));
        self
    }

    /// Sets the memory that the node's pods are expected to use.
    ///
    /// # Panics
    /// See [`LoadBuilder::cpu`].
    #[must_use]
    pub fn expected_memory(mut self, amount: &str) -> Self {
        self.row.memory.expected = Some(bytes(amount));
        self
    }

    /// Sets the share of time in which some task waited for a cpu.
    #[must_use]
    pub fn pressure_cpu(mut self, share: f32) -> Self {
        self.row.pressure.cpu = Some(share);
        self
    }

    /// Sets the share of time in which some task waited for memory.
    #[must_use]
    pub fn pressure_memory(mut self, share: f32) -> Self {
        self.row.pressure.memory = Some(share);
        self
    }

    /// Sets the age of the sample and how far it is believed (1 fully, 0 not at all).
    #[must_use]
    pub fn aged(mut self, age: Duration, confidence: f64) -> Self {
        self.row.sample_age = Some(age);
        self.row.confidence = confidence;
        self
    }

    /// The node that this is the load of.
    pub fn node(&self) -> &str {
        &self.node
    }

    /// The row, with the capacity of `node`.
    pub fn row(&self, node: &Node) -> NodeLoad {
        let mut row = self.row;
        for resource in LoadResource::ALL {
            row.get_mut(resource).capacity = capacity(node, resource);
        }
        for (resource, share) in &self.shares {
            let cell = row.get_mut(*resource);
            cell.measured = cell.capacity.map(|capacity| capacity * share);
        }
        for resource in LoadResource::ALL {
            let cell = row.get_mut(resource);
            let carried = cell
                .measured
                .map(|used| used + cell.in_flight - cell.departing);
            cell.used = carried.or(cell.expected);
        }
        for (resource, share) in &self.peaks {
            let cell = row.get_mut(*resource);
            cell.used_p95 = cell.capacity.map(|capacity| capacity * share);
        }
        row
    }
}

fn capacity(node: &Node, resource: LoadResource) -> Option<f64> {
    let capacity = &node.status.capacity;
    let amount = match resource {
        LoadResource::Cpu => capacity.cpu as f64,
        LoadResource::Memory => capacity.memory as f64,
        LoadResource::Rx | LoadResource::Tx => match node.link_speed {
            Some(LinkSpeed::Known(speed)) => speed as f64,
            Some(LinkSpeed::Invalid(_)) | None => return None,
        },
    };
    Some(amount).filter(|amount| *amount > 0.0)
}

fn millicores(text: &str) -> f64 {
    quantity(text).milli_value() as f64
}

fn bytes(text: &str) -> f64 {
    quantity(text).value() as f64
}

fn rate(text: &str) -> f64 {
    match bytes_per_sec(text) {
        Some(rate) => rate as f64,
        None => panic!("`{text}` is not a rate in bit/s, such as 4G"),
    }
}
