//! What kube-scheduler 1.37.2 sent to an extender (`tests/fixtures/extender/bodies.json`, which
//! the end-to-end tests keep), built by us from the same objects.

use std::collections::BTreeMap;
use std::time::Duration;

use plimsoll_config::Extender;
use plimsoll_extender::{Args, BindingArgs, Nodes, PreemptionArgs, WholeVictims};
use plimsoll_tests::project_root;
use serde_json::{Value, to_value};

struct Fixture(Value);

impl Fixture {
    fn read() -> Self {
        let path = project_root().join("tests/fixtures/extender/bodies.json");
        let text = std::fs::read_to_string(path).unwrap();
        Self(serde_json::from_str(&text).unwrap())
    }

    fn object(&self, name: &str) -> &Value {
        &self.0["objects"][name]
    }

    fn sent(&self, path: &str) -> Value {
        let mut asked = self.0["asked"].as_array().unwrap().iter();
        let found = asked.find(|asked| asked["path"] == path);
        found.unwrap_or_else(|| panic!("{path} is not in the fixture"))["body"].clone()
    }

    /// Nodes as a watch has them: with their kind.
    fn nodes(&self, names: &[&str]) -> Vec<Value> {
        let all = self.object("nodes").as_array().unwrap();
        let find = |name: &&str| {
            let mut all = all.iter();
            let found = all.find(|node| node["metadata"]["name"] == *name);
            let mut node = found.unwrap().clone();
            node["apiVersion"] = "v1".into();
            node["kind"] = "Node".into();
            node
        };
        names.iter().map(find).collect()
    }

    fn victims(&self, fillers: &[&str]) -> BTreeMap<String, WholeVictims> {
        let all = self.object("victims").as_array().unwrap();
        let of = |name: &&str| {
            let mut all = all.iter();
            let pod = all.find(|pod| pod["metadata"]["name"] == *name).unwrap();
            let node = pod["spec"]["nodeName"].as_str().unwrap().to_owned();
            let victims = WholeVictims {
                pods: vec![pod.clone()],
                budget_violations: 0,
            };
            (node, victims)
        };
        fillers.iter().map(of).collect()
    }
}

fn extender(node_cache_capable: bool) -> Extender {
    Extender {
        url_prefix: String::new(),
        filter_verb: None,
        preempt_verb: None,
        prioritize_verb: None,
        bind_verb: None,
        weight: 1,
        enable_https: false,
        tls: None,
        http_timeout: Duration::from_secs(1),
        node_cache_capable,
        managed_resources: Vec::new(),
        ignorable: false,
    }
}

#[test]
fn filter_and_prioritize_are_asked_of_names_as_kube_scheduler_asks() {
    let fixture = Fixture::read();
    let asked = |names: &[&str]| {
        let names = names.iter().map(ToString::to_string).collect();
        to_value(Args::new(fixture.object("picky"), Nodes::Names(names))).unwrap()
    };
    assert_eq!(
        asked(&["n0", "n1", "n2", "n3"]),
        fixture.sent("/names/filter")
    );
    assert_eq!(
        asked(&["n0", "n2", "n3"]),
        fixture.sent("/names/prioritize")
    );
}

#[test]
fn filter_and_prioritize_are_asked_of_whole_nodes_as_kube_scheduler_asks() {
    let fixture = Fixture::read();
    let nodes = fixture.nodes(&["n0", "n2", "n3"]);
    let asked = to_value(Args::new(fixture.object("picky"), Nodes::Whole(nodes))).unwrap();
    assert_eq!(asked, fixture.sent("/whole/filter"));
    assert_eq!(asked, fixture.sent("/whole/prioritize"));
}

#[test]
fn bind_is_asked_as_kube_scheduler_asks() {
    let fixture = Fixture::read();
    let asked = to_value(BindingArgs::new(fixture.object("picky"), "n2")).unwrap();
    assert_eq!(asked, fixture.sent("/names/bind"));
}

#[test]
fn preempt_is_asked_as_kube_scheduler_asks() {
    let fixture = Fixture::read();
    let asked = |names: bool, fillers: &[&str]| {
        let victims = fixture.victims(fillers);
        to_value(PreemptionArgs::new(
            &extender(names),
            fixture.object("urgent"),
            victims,
        ))
        .unwrap()
    };
    // The first extender leaves one candidate to the second.
    let all = asked(true, &["filler-0", "filler-1", "filler-2", "filler-3"]);
    assert_eq!(all, fixture.sent("/names/preempt"));
    assert_eq!(asked(false, &["filler-3"]), fixture.sent("/whole/preempt"));
}
