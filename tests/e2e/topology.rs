//! Pods that spread and pods that keep apart, on a real API server.

use std::collections::BTreeMap;
use std::time::Duration;

use plimsoll_tests::controlplane::{Options, until};
use serde_json::{Value, json};

use crate::rig::{NODES, Recorder, Rig, Setup, THEIRS, node, pod};

const BOUND: Duration = Duration::from_secs(30);
const ZONE: &str = "topology.kubernetes.io/zone";
const HOST: &str = "kubernetes.io/hostname";
/// Of four nodes in two zones.
const ZONES: [(&str, &str); 4] = [("n0", "a"), ("n1", "a"), ("n2", "a"), ("n3", "b")];

#[test]
fn pods_spread_over_zones_and_keep_off_each_others_nodes() -> anyhow::Result<()> {
    let rig = Rig::start(&Options::default())?;
    for (name, zone) in ZONES {
        let mut node = node(name, "8");
        node["metadata"]["labels"][ZONE] = json!(zone);
        rig.cluster.api().create(NODES, &node)?;
    }
    let mut recorder = Recorder::start(rig.cluster.api())?;
    let scheduler = rig.scheduler(&Setup {
        profiles: THEIRS.to_owned(),
        ..Setup::default()
    })?;

    rig.add_pods("spread", &vec![spread(); 10])?;
    recorder.until_bound("spread", 10, BOUND)?;
    let by_node = by_node(&mut recorder, "spread");
    let in_b = by_node.get("n3").copied().unwrap_or_default();
    assert_eq!(in_b, 5, "half of them in the zone of one node: {by_node:?}");

    rig.add_pods("apart", &vec![apart(); 5])?;
    recorder.until_bound("apart", 4, BOUND)?;
    until("the fifth is told that there is no node", BOUND, || {
        (0..5).any(|index| {
            let condition = rig.condition(&format!("apart-{index}"));
            condition.is_ok_and(|condition| {
                condition["message"]
                    .as_str()
                    .is_some_and(|text| text.contains("4 node(s) didn't match pod anti-affinity"))
            })
        })
    })?;
    let by_node = self::by_node(&mut recorder, "apart");
    assert_eq!(by_node.len(), 4, "one a node: {by_node:?}");
    assert_eq!(recorder.bound("apart"), 4);
    recorder.assert_sound();
    scheduler.stop()?;
    rig.close()
}

fn by_node(recorder: &mut Recorder, stem: &str) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    let pods = recorder.pods().filter(|pod| pod.name.starts_with(stem));
    for node in pods.filter_map(|pod| pod.node.clone()) {
        *counts.entry(node).or_default() += 1;
    }
    counts
}

fn spread() -> Value {
    let mut pod = labelled("spread");
    pod["spec"]["topologySpreadConstraints"] = json!([{
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "spread"}},
    }]);
    pod
}

fn apart() -> Value {
    let mut pod = labelled("apart");
    let term = json!({
        "topologyKey": HOST,
        "labelSelector": {"matchLabels": {"app": "apart"}},
    });
    let required = "requiredDuringSchedulingIgnoredDuringExecution";
    pod["spec"]["affinity"]["podAntiAffinity"][required] = json!([term]);
    pod
}

fn labelled(app: &str) -> Value {
    let mut pod = pod("plimsoll", "100m");
    pod["metadata"]["labels"] = json!({"app": app});
    pod
}
