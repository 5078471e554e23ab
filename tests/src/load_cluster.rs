//! Clusters of any size for benches: nodes, pods that run, pods that arrive, samples.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_config::SchedulerConfig;
use plimsoll_core::{Command, Engine, EngineOptions, Event, PodRef};
use plimsoll_framework::test_util::{node, pod};
use plimsoll_framework::{Now, Registry};
use plimsoll_kernel::Kernel;
use plimsoll_load::{Figure, Machine, Meter, Sample};
use plimsoll_objects::{Node, Pod};

/// Zones that nodes are spread over.
const ZONES: usize = 3;
/// Cores of a node.
const CORES: u32 = 4;

/// The default plugins and measured load at its usual weight.
pub const WITH_LOAD: &str = "
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    multiPoint:
      enabled:
      - name: ActualLoadScore
        weight: 30
";

/// A cluster on the engine, ready for pods.
#[derive(Debug)]
pub struct Bench {
    /// The engine.
    pub engine: Engine,
    /// The time of the next step.
    pub now: Duration,
    nodes: usize,
}

// === impl Bench ===

impl Bench {
    /// A cluster of `nodes` nodes of 4 cores and 32 GiB in three zones, with `pods_per_node`
    /// running pods of 100m and 500 MiB each, and a fresh sample of every node.
    ///
    /// # Panics
    /// The configuration does not load.
    pub fn new(config: &str, nodes: usize, pods_per_node: usize) -> Self {
        Self::with_options(config, nodes, pods_per_node, EngineOptions::default())
    }

    /// The same, with these settings of the engine.
    ///
    /// # Panics
    /// The configuration does not load.
    pub fn with_options(
        config: &str,
        nodes: usize,
        pods_per_node: usize,
        options: EngineOptions,
    ) -> Self {
        let running = (0..nodes * pods_per_node).map(|index| running_pod(index, nodes));
        let running = running.collect();
        let listed = (0..nodes).map(bench_node).collect();
        let registry = plimsoll_plugins::registry();
        let mut bench = Self::built((config, &registry), listed, running, options);
        bench.sample_all(1);
        bench
    }

    /// A cluster of these nodes and running pods, without measured load.
    ///
    /// # Panics
    /// The configuration does not load.
    pub fn of(config: &str, nodes: Vec<Arc<Node>>, running: Vec<Arc<Pod>>) -> Self {
        let registry = plimsoll_plugins::registry();
        let options = EngineOptions::default();
        Self::built((config, &registry), nodes, running, options)
    }

    /// The cluster of [`Self::new`] without measured load, with plugins of `registry`.
    ///
    /// # Panics
    /// The configuration does not load.
    pub fn with_plugins(
        config: &str,
        registry: &Registry,
        nodes: usize,
        pods_per_node: usize,
    ) -> Self {
        let running = (0..nodes * pods_per_node).map(|index| running_pod(index, nodes));
        let running = running.collect();
        let listed = (0..nodes).map(bench_node).collect();
        let options = EngineOptions::default();
        Self::built((config, registry), listed, running, options)
    }

    fn built(
        (config, registry): (&str, &Registry),
        nodes: Vec<Arc<Node>>,
        running: Vec<Arc<Pod>>,
        options: EngineOptions,
    ) -> Self {
        let config: SchedulerConfig =
            plimsoll_config::load(config, registry).expect("the bench's configuration loads");
        let engine = Engine::new(&config, options).expect("the bench's profiles can be built");
        let mut bench = Self {
            engine,
            now: Duration::from_secs(100),
            nodes: nodes.len(),
        };
        bench.step(Event::NodesListed(nodes));
        bench.step(Event::PodsListed(running));
        bench
    }

    /// A fresh sample of every node.
    pub fn sample_all(&mut self, sequence: u64) {
        let samples = (0..self.nodes)
            .map(|index| sample(index, sequence, self.now))
            .collect();
        self.step(Event::Samples(samples));
    }

    /// One step; time moves on by 100 microseconds.
    pub fn step(&mut self, event: Event) -> Vec<Command> {
        self.now += Duration::from_micros(100);
        self.engine.step(Now::at(self.now), event)
    }

    /// Hands in a pod and carries out all commands until it is bound; the number of
    /// bindings made.
    pub fn schedule(&mut self, pod: &Arc<Pod>) -> usize {
        let mut bound = 0;
        let mut commands = self.step(Event::PodSet(Arc::clone(pod)));
        for _ in 0..MAX_STEPS {
            let mut next = Vec::new();
            for command in commands {
                if let Command::Bind { id, .. } = command {
                    bound += 1;
                    next.extend(self.step(Event::Completed {
                        id,
                        outcome: Ok(()),
                    }));
                }
            }
            if bound > 0 && next.is_empty() {
                break;
            }
            commands = if next.is_empty() {
                self.step(Event::Tick)
            } else {
                next
            };
        }
        bound
    }
}

/// Steps after which a pod that fits must be bound.
const MAX_STEPS: usize = 8;

/// A pod that arrives: 100m and 500 MiB.
pub fn arriving_pod(index: usize) -> Arc<Pod> {
    pod(&format!("arriving-{index}"))
        .cpu("100m")
        .memory("500Mi")
        .arc()
}

/// How the cluster names a pod.
pub fn pod_ref(pod: &Pod) -> PodRef {
    PodRef {
        key: pod.key().clone(),
        uid: pod.uid().clone(),
    }
}

fn bench_node(index: usize) -> Arc<Node> {
    node(&node_name(index))
        .cpu(&CORES.to_string())
        .memory("32Gi")
        .zone(&format!("zone-{}", index % ZONES))
        .arc()
}

fn node_name(index: usize) -> String {
    format!("node-{index:05}")
}

fn running_pod(index: usize, nodes: usize) -> Arc<Pod> {
    pod(&format!("running-{index}"))
        .cpu("100m")
        .memory("500Mi")
        .on(&node_name(index % nodes))
        .phase("Running")
        .arc()
}

/// A sample of the node `index` with figures that differ from node to node.
pub fn sample(index: usize, sequence: u64, now: Duration) -> Sample {
    let share = (index * 37 % 100) as f64 / 100.0;
    let figure = |meter, kernel, value| Figure {
        meter,
        kernel,
        value,
        window: Duration::from_mins(1),
        samples: 60,
    };
    let mean = Kernel::Ewma {
        tau: Duration::from_secs(10),
    };
    Sample {
        node: Arc::from(node_name(index).as_str()),
        start_id: 1,
        sequence,
        arrived: now,
        age: Duration::ZERO,
        period: Duration::from_secs(1),
        machine: Machine {
            cpus: Some(CORES),
            memory: Some(32 << 30),
            link: Some(1_250_000_000),
        },
        steal: Some(0.0),
        untrusted: None,
        figures: vec![
            figure(Meter::Cpu, mean, share * 3000.0),
            figure(Meter::Memory, Kernel::Instant, share * 2e10),
            figure(Meter::Rx, mean, share * 1e8),
            figure(Meter::Tx, mean, share * 1e8),
        ],
        pods: Vec::new(),
    }
}
