//! The plugin as the engine runs it.

mod binding;
mod claims;
mod matching;
mod provisioning;
mod scores;
mod wake;

use plimsoll_framework::test_util::{Cluster, PodBuilder, check_filter, cluster, node};
use serde_json::Value;

use super::spec;
use crate::volume_fixtures::waiting_class;

const ZONE: &str = "topology.kubernetes.io/zone";
const NO_VOLUME: &str = "node(s) didn't find available persistent volumes to bind";
const AFFINITY: &str = "node(s) didn't match PersistentVolume's node affinity";
const FULL: &str = "node(s) did not have enough free storage";

fn verdicts(cluster: &Cluster, pod: &PodBuilder) -> Vec<String> {
    check_filter(&spec(), &Value::Null, cluster, pod)
}

/// Nodes `n1` in zone `a` and `n2` in zone `b`, a class of local volumes, one that makes them.
fn storage() -> Cluster {
    let node = |name: &str, zone: &str| node(name).zone(zone).label("host", name);
    cluster([node("n1", "a"), node("n2", "b")]).objects([
        waiting_class("local", "kubernetes.io/no-provisioner"),
        waiting_class("fast", "csi.example.com"),
    ])
}

fn rejected(node: &str, reasons: &str) -> String {
    format!("{node}: UnschedulableAndUnresolvable: {reasons}")
}
