//! Which file is believed. The whole reading is in the cases `NET-A2`.

use super::{Links, NetworkPlan, NetworkSource, NoNetwork};
use crate::sample::AskSpeeds;
use crate::sample::fixture::Tree;

fn plan(tree: &Tree) -> NetworkPlan {
    let root = tree.root();
    NetworkPlan::choose(&root, Links::find(&root.net_class(), &AskSpeeds::default()))
}

fn net_dev(tree: &Tree, process: &str, names: &[&str]) {
    let lines: Vec<String> = names
        .iter()
        .map(|name| format!("{name}: 1 0 0 0 0 0 0 0 2 0 0 0 0 0 0 0\n"))
        .collect();
    tree.write(&format!("proc/{process}/net/dev"), &lines.concat());
}

#[test]
fn a_link_that_goes_away_during_the_walk_leaves_the_others() {
    let tree = Tree::new();
    tree.nic("eth0", 0, 0, "1000");
    tree.nic("eth1", 0, 0, "1000");
    tree.remove("sys/class/net/eth1/statistics");
    let plan = plan(&tree);
    assert_eq!(plan.source, Ok(NetworkSource::Sysfs));
    assert_eq!(plan.links.physical.len(), 1);
}

#[test]
fn process_one_of_another_namespace_than_sysfs_is_not_believed() {
    let tree = Tree::new();
    tree.nic("eth0", 0, 0, "1000");
    tree.remove("sys/class/net/eth0/statistics");
    net_dev(&tree, "self", &["lo"]);
    net_dev(&tree, "1", &["lo", "eth0", "veth7"]);
    let plan = plan(&tree);
    assert_eq!(plan.source, Err(NoNetwork::LinksUnknown));
    assert_eq!(plan.links.physical, []);
}

#[test]
fn an_empty_machine_has_nothing_readable() {
    assert_eq!(plan(&Tree::new()).source, Err(NoNetwork::NothingReadable));
}
