//! A group of 500 pods beside 500 pods of their own, on the engine alone: CPU from the first
//! that comes to the last that is bound.
//!
//! `cargo bench -p plimsoll-tests --bench group`; the groups are those of a plugin of the
//! bench, beside kube-scheduler's default plugins.

use std::io::Write;
use std::sync::Arc;

use plimsoll_core::{Command, Event};
use plimsoll_framework::test_util::pod;
use plimsoll_framework::{
    Args, Catalog, Depends, GroupSize, Grouping, Hooks, Membership, PluginSpec, Point, PreEnqueue,
    Registry, Rejection,
};
use plimsoll_objects::{ObjectKey, Pod};
use plimsoll_plugins::specs;
use plimsoll_tests::{Bench, thread_cpu};

/// Sizes of the clusters.
const NODES: [usize; 2] = [1_000, 5_000];
/// Running pods per node.
const PODS_PER_NODE: usize = 10;
/// Members of the group.
const MEMBERS: usize = 500;
/// Steps after which all must be bound.
const MAX_STEPS: usize = 100_000;
/// The label of a member.
const LABEL: &str = "gang";

const CONFIG: &str = "
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    preEnqueue:
      enabled:
      - name: Gang
";

/// Pods with the same label are one group.
struct Gang;

fn main() -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    for nodes in NODES {
        // What runs first warms both up.
        measure(nodes, false)?;
        let (together, alone) = (measure(nodes, true)?, measure(nodes, false)?);
        writeln!(
            out,
            "group: {MEMBERS} pods on {nodes} nodes: {together:.1} us each as one group, \
             {alone:.1} us each alone, ratio {:.2}",
            together / alone
        )?;
    }
    Ok(())
}

/// Microseconds of CPU per pod.
fn measure(nodes: usize, grouped: bool) -> anyhow::Result<f64> {
    let gang = PluginSpec {
        name: "Gang",
        points: &[Point::PreEnqueue],
        depends: Depends::Node,
        decode_args: |_, _, _| Args::none(),
        build: |_| Hooks {
            pre_enqueue: Some(Arc::new(Gang)),
            group: Some(Arc::new(Gang)),
            ..Hooks::default()
        },
    };
    let registry = Registry::new(specs().into_iter().chain([gang]))?;
    let mut bench = Bench::with_plugins(CONFIG, &registry, nodes, PODS_PER_NODE);
    let members: Vec<Arc<Pod>> = (0..MEMBERS).map(|index| member(index, grouped)).collect();
    let begin = thread_cpu();
    let mut commands = Vec::new();
    for member in members {
        commands.extend(bench.step(Event::PodSet(member)));
    }
    let (mut bound, mut steps) = (0, 0);
    while bound < MEMBERS && steps < MAX_STEPS {
        let mut next = Vec::new();
        for command in commands {
            let id = match command {
                Command::Bind { id, .. } => {
                    bound += 1;
                    id
                }
                Command::PatchStatus { id, .. } => id,
                _ => continue,
            };
            let outcome = Ok(());
            next.extend(bench.step(Event::Completed { id, outcome }));
        }
        if next.is_empty() {
            next = bench.step(Event::Tick);
        }
        commands = next;
        steps += 1;
    }
    let cpu = thread_cpu().saturating_sub(begin);
    anyhow::ensure!(bound == MEMBERS, "only {bound} of {MEMBERS} are bound");
    Ok(cpu.as_secs_f64() * 1e6 / MEMBERS as f64)
}

fn member(index: usize, grouped: bool) -> Arc<Pod> {
    let made = pod(&format!("member-{index:03}"))
        .cpu("100m")
        .memory("500Mi");
    if grouped {
        made.label(LABEL, "g").arc()
    } else {
        made.arc()
    }
}

impl Grouping for Gang {
    fn group_of(&self, pod: &Pod, _: &Catalog) -> Option<Membership> {
        let name = pod.meta.labels.get(LABEL)?;
        Some(Membership {
            key: ObjectKey::new(&pod.key().namespace, name),
            size: GroupSize::AtLeast(MEMBERS),
        })
    }
}

/// It needs a point to be enabled at.
impl PreEnqueue for Gang {
    fn pre_enqueue(&self, _: &Pod, _: &Catalog) -> Result<(), Rejection> {
        Ok(())
    }
}
