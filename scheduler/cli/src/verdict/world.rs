//! The cluster of a case, in an engine of the scheduler.
//!
//! Takes a case; feeds an engine with its objects as the watches would. The engine is not
//! told that all pods were listed, so no cycle of its own runs.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use plimsoll_config::SchedulerConfig;
use plimsoll_core::{Engine, EngineOptions, Event, Placement, Verdict};
use plimsoll_framework::{FieldError, Now};
use plimsoll_objects::{Node, Object, Pod};
use serde_json::{Map, Value};

use super::case::{self, Case};
use super::object::{self, Known};

/// Version of a configuration that does not say it.
const CONFIG_VERSION: &str = "kubescheduler.config.k8s.io/v1";
/// Kind of a configuration that does not say it.
const CONFIG_KIND: &str = "KubeSchedulerConfiguration";

/// An engine that knows the cluster, and the pods to judge.
pub(crate) struct World {
    engine: Engine,
    /// Each with its place in the case.
    pending: Vec<(String, Arc<Pod>)>,
}

/// The objects of a case.
#[derive(Default)]
struct Objects {
    nodes: Vec<Arc<Node>>,
    pods: Vec<Arc<Pod>>,
    others: Vec<Object>,
}

// === impl World ===

impl World {
    /// Reads a case and tells an engine of its cluster; whether that keeps `tables`.
    ///
    /// # Errors
    /// The case makes no sense; names the file and the place.
    pub(crate) fn read(path: &Path, tables: bool) -> anyhow::Result<Self> {
        let case = case::read(path)?;
        Self::new(case, tables).with_context(|| path.display().to_string())
    }

    /// The pods to judge, in the order of the case, each with its place there.
    pub(crate) fn pending(&self) -> Vec<(String, Arc<Pod>)> {
        self.pending.clone()
    }

    /// What is said of a pod.
    ///
    /// # Errors
    /// No profile is for it.
    pub(crate) fn judge(&mut self, place: &str, pod: &Arc<Pod>) -> anyhow::Result<Verdict> {
        let verdict = self.engine.verdict(instant(), pod);
        verdict.with_context(|| no_profile(place, pod))
    }

    /// Where a pod goes; the next one finds it there.
    ///
    /// # Errors
    /// No profile is for it.
    pub(crate) fn place(&mut self, place: &str, pod: &Arc<Pod>) -> anyhow::Result<Placement> {
        let placement = self.engine.try_place(instant(), pod);
        placement.with_context(|| no_profile(place, pod))
    }

    fn new(case: Case, tables: bool) -> anyhow::Result<Self> {
        let config = config_of(case.config)?;
        let options = EngineOptions {
            tables,
            ..EngineOptions::default()
        };
        let engine =
            Engine::new(&config, options).context("config: the profiles cannot be built")?;
        let mut objects = Objects::default();
        for (index, value) in case.objects.iter().enumerate() {
            let known = object::decode(value).with_context(|| place_of("objects", index, value))?;
            objects.keep(known);
        }
        let nominated = pods_of("nominated", &case.nominated)?;
        let pending = pods_of("pending", &case.pending)?;
        let waiting = nominated.iter().chain(&pending);
        objects.pods.extend(waiting.map(|(_, pod)| Arc::clone(pod)));
        let mut world = Self { engine, pending };
        world.tell(objects);
        Ok(world)
    }

    fn tell(&mut self, objects: Objects) {
        let others = objects.others.into_iter().map(Event::ObjectSet);
        let nodes = [Event::NodesListed(objects.nodes)];
        let pods = objects.pods.into_iter().map(Event::PodSet);
        for event in others.chain(nodes).chain(pods) {
            // Nothing is carried out here.
            drop(self.engine.step(instant(), event));
        }
    }
}

// === impl Objects ===

impl Objects {
    fn keep(&mut self, known: Known) {
        match known {
            Known::Node(node) => self.nodes.push(node),
            // The scheduler's watch leaves these out.
            Known::Pod(pod) if pod.is_terminal() => {}
            Known::Pod(pod) => self.pods.push(pod),
            Known::Other(object) => self.others.push(object),
            Known::Unread => {}
        }
    }
}

/// Nothing in a case depends on the time of day.
fn instant() -> Now {
    Now::at(Duration::ZERO)
}

fn no_profile(place: &str, pod: &Pod) -> String {
    let name = &pod.spec.scheduler_name;
    format!("{place}: no profile has the schedulerName \"{name}\"")
}

fn pods_of(list: &str, values: &[Value]) -> anyhow::Result<Vec<(String, Arc<Pod>)>> {
    let pod = |(index, value): (usize, &Value)| {
        let place = place_of(list, index, value);
        let pod = object::decode_as_pod(value).with_context(|| place.clone())?;
        Ok((place, pod))
    };
    values.iter().enumerate().map(pod).collect()
}

/// `pending[3] (a)`: where an object is, and its name, if it has one.
fn place_of(list: &str, index: usize, value: &Value) -> String {
    match value["metadata"]["name"].as_str() {
        Some(name) => format!("{list}[{index}] ({name})"),
        None => format!("{list}[{index}]"),
    }
}

fn config_of(mut fields: Map<String, Value>) -> anyhow::Result<SchedulerConfig> {
    for (name, given) in [("apiVersion", CONFIG_VERSION), ("kind", CONFIG_KIND)] {
        let field = fields.entry(name).or_insert(Value::Null);
        if field.is_null() {
            *field = given.into();
        }
    }
    let text = Value::Object(fields).to_string();
    let loaded = plimsoll_config::load(&text, &plimsoll_plugins::registry());
    let config = loaded.map_err(|errors| anyhow::anyhow!("config: {}", sentences(&errors)))?;
    if !config.extenders.is_empty() {
        bail!("config: extenders: a case has none");
    }
    Ok(config)
}

fn sentences(errors: &[FieldError]) -> String {
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    errors.join("; ")
}

#[cfg(test)]
mod tests;
