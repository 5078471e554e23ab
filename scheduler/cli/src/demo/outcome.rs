//! What a run came to: reads the API server's objects, the world and the decisions, gives
//! the [`RunReport`].

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use plimsoll_apiserver::{Object, Stats, Store};
use plimsoll_framework::NodeLoad;
use plimsoll_objects::Quantity;
use plimsoll_scheduler::Decisions;
use serde_json::Value;

use super::cast::{self, Workload};
use super::policy::Policy;
use super::report::{
    ApiSummary, NodeReport, RealSample, RunReport, UnusedRequest, age_summary, hot_nodes, quantile,
};
use super::run::belongs_to;
use super::world::World;

/// All there is to see at the end of a run.
pub(crate) struct State<'a> {
    pub(crate) world: &'a World,
    pub(crate) store: Store,
    pub(crate) stats: Stats,
    pub(crate) decisions: &'a Decisions,
    pub(crate) ended: Duration,
    pub(crate) real: Option<RealSample>,
}

/// How many pods wait without a word of why: not tried yet.
pub(crate) fn untried(pods: &[Arc<Object>]) -> usize {
    let waits = |pod: &Value| pod["spec"]["nodeName"].is_null() && message(pod).is_none();
    pods.iter().filter(|pod| waits(&pod.value())).count()
}

/// The report of a run.
///
/// # Errors
/// The store refuses to list what it holds.
pub(crate) fn report(state: &State<'_>, policy: Policy) -> anyhow::Result<RunReport> {
    let pods: Vec<Value> = state
        .store
        .list("pods", None)?
        .iter()
        .map(|pod| pod.value())
        .collect();
    let nodes: Vec<NodeReport> = state
        .store
        .list("nodes", None)?
        .iter()
        .map(|node| node_report(state, &node.value(), &pods))
        .collect();
    let loads: Vec<f64> = nodes
        .iter()
        .filter(|node| node.simulated)
        .filter_map(|node| node.load)
        .collect();
    let arrived: Vec<&Value> = pods.iter().filter(|pod| arrives(pod)).collect();
    let bound = arrived
        .iter()
        .filter(|pod| !pod["spec"]["nodeName"].is_null())
        .count();
    Ok(RunReport {
        policy: policy.name(),
        bound,
        pending: arrived.len() - bound,
        pending_reasons: pending_reasons(&arrived),
        hot_nodes: hot_nodes(&nodes),
        max_load: quantile(&loads, 1.0).unwrap_or_default(),
        p99_load: quantile(&loads, 0.99).unwrap_or_default(),
        mean_load: loads.iter().sum::<f64>() / loads.len().max(1) as f64,
        nodes,
        unused_requests: unused_requests(state.world),
        sample_age: age_summary(&sample_ages(state.decisions)),
        api: writes(&state.stats),
        seconds: state.ended.as_secs_f64(),
    })
}

/// A row of the load model as a sample; `None` if the node never reported.
pub(crate) fn real_sample(load: &NodeLoad) -> Option<RealSample> {
    Some(RealSample {
        capacity_millicores: load.cpu.capacity,
        cpu_millicores: load.cpu.measured,
        capacity_memory_bytes: load.memory.capacity,
        memory_bytes: load.memory.measured,
        rx_bytes_per_second: load.rx.measured,
        tx_bytes_per_second: load.tx.measured,
        age_seconds: load.sample_age?.as_secs_f64(),
    })
}

fn node_report(state: &State<'_>, node: &Value, pods: &[Value]) -> NodeReport {
    let name = node["metadata"]["name"].as_str().unwrap_or_default();
    let here: Vec<&Value> = pods
        .iter()
        .filter(|pod| pod["spec"]["nodeName"] == name)
        .collect();
    let allocatable = millicores(&node["status"]["allocatable"]["cpu"]);
    let requested = here.iter().fold(0.0, |sum, pod| sum + pod_request(pod));
    let simulated = state
        .world
        .nodes()
        .iter()
        .position(|role| role.name == name);
    NodeReport {
        name: name.to_owned(),
        simulated: simulated.is_some(),
        load: simulated.map_or_else(
            || real_load(state.real),
            |index| Some(state.world.demand(index, state.ended).cpu / cast::NODE_MILLICORES),
        ),
        requested: requested / allocatable.max(1.0),
        pods: here.len(),
        placed: here.iter().filter(|pod| arrives(pod)).count(),
    }
}

fn real_load(sample: Option<RealSample>) -> Option<f64> {
    let sample = sample?;
    Some(sample.cpu_millicores? / sample.capacity_millicores?)
}

fn arrives(pod: &Value) -> bool {
    [cast::arriving(), cast::unplaceable()]
        .iter()
        .any(|workload| belongs_to(pod, workload))
}

fn pod_request(pod: &Value) -> f64 {
    let containers = pod["spec"]["containers"].as_array().into_iter().flatten();
    containers
        .map(|container| millicores(&container["resources"]["requests"]["cpu"]))
        .sum()
}

fn millicores(value: &Value) -> f64 {
    let quantity = value
        .as_str()
        .and_then(|text| text.parse::<Quantity>().ok());
    quantity.map_or(0.0, |quantity| quantity.milli_value() as f64)
}

fn message(pod: &Value) -> Option<&str> {
    let conditions = pod["status"]["conditions"].as_array()?;
    let scheduled = conditions
        .iter()
        .find(|condition| condition["type"] == "PodScheduled")?;
    scheduled["message"]
        .as_str()
        .filter(|message| !message.is_empty())
}

fn pending_reasons(arrived: &[&Value]) -> BTreeMap<String, usize> {
    let mut reasons = BTreeMap::new();
    for pod in arrived
        .iter()
        .filter(|pod| pod["spec"]["nodeName"].is_null())
    {
        let reason = message(pod).unwrap_or("not tried yet").to_owned();
        *reasons.entry(reason).or_default() += 1;
    }
    reasons
}

fn unused_requests(world: &World) -> Vec<UnusedRequest> {
    let mut owners: BTreeMap<String, (Vec<&Workload>, BTreeSet<&str>)> = BTreeMap::new();
    for role in world.nodes() {
        for tenant in &role.tenants {
            let owner = format!("{}/{}", tenant.namespace, tenant.name);
            let entry = owners.entry(owner).or_default();
            entry.0.push(tenant);
            entry.1.insert(&role.name);
        }
    }
    let cores = |tenants: &[&Workload], of: fn(&Workload) -> f64| {
        tenants
            .iter()
            .map(|tenant| tenant.count as f64 * of(tenant) / 1000.0)
            .sum()
    };
    let mut unused: Vec<UnusedRequest> = owners
        .into_iter()
        .map(|(owner, (tenants, nodes))| UnusedRequest {
            owner,
            pods: tenants.iter().map(|tenant| tenant.count).sum(),
            nodes: nodes.len(),
            requested_cores: cores(&tenants, |tenant| tenant.request_millicores),
            used_cores: cores(&tenants, |tenant| tenant.use_millicores),
        })
        .collect();
    unused.sort_by(|a, b| {
        let gap = |owner: &UnusedRequest| owner.requested_cores - owner.used_cores;
        gap(b).total_cmp(&gap(a))
    });
    unused
}

fn sample_ages(decisions: &Decisions) -> Vec<f64> {
    let all = decisions.all();
    let ages = all.iter().filter_map(|decision| decision.sample_age());
    ages.map(|age| age.as_secs_f64()).collect()
}

fn writes(stats: &Stats) -> ApiSummary {
    let mut summary = ApiSummary::default();
    for write in stats.writes() {
        match write.resource.as_str() {
            "pods/binding" => summary.bindings += write.count,
            "pods/status" => summary.pod_status += write.count,
            "events" | "events.events.k8s.io" => summary.events += write.count,
            _ => summary.other += write.count,
        }
    }
    summary
}
