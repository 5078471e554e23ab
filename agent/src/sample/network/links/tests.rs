//! Which interfaces are physical and what they can carry.

use super::{AskSpeeds, Links, Speeds};
use crate::sample::fixture::Tree;

const GIGABIT: u64 = 125_000_000;

fn links(tree: &Tree) -> Links {
    Links::find(&tree.root().net_class(), &AskSpeeds::default())
}

fn names(links: &Links) -> Vec<&str> {
    links
        .physical
        .iter()
        .map(|link| link.name.as_str())
        .collect()
}

fn bond(tree: &Tree, mode: &str, slaves: &str, active: &str, megabits: &str) {
    tree.write("sys/class/net/bonding_masters", "bond0\n");
    tree.write("sys/class/net/bond0/bonding/mode", mode);
    tree.write("sys/class/net/bond0/bonding/slaves", slaves);
    tree.write("sys/class/net/bond0/bonding/active_slave", active);
    tree.write("sys/class/net/bond0/speed", megabits);
}

#[test]
fn only_interfaces_with_a_device_are_counted() {
    let tree = Tree::new();
    tree.nic("enp3s0", 0, 0, "1000");
    for name in ["lo", "cni0", "veth1", "vxlan.calico", "bond0.7", "tap0"] {
        tree.traffic(name, 0, 0);
        tree.write(&format!("sys/class/net/{name}/speed"), "10000\n");
    }
    let found = links(&tree);
    assert_eq!(names(&found), ["enp3s0"]);
    assert_eq!(found.capacity, Some(GIGABIT));
    assert_eq!(found.all_names.len(), 7);
}

#[test]
fn a_device_may_be_a_link_as_in_the_real_sysfs() {
    let tree = Tree::new();
    tree.traffic("eth0", 0, 0);
    tree.link(
        "sys/class/net/eth0/device",
        "../../../devices/pci0000:00/0000:00:03.0",
    );
    assert_eq!(names(&links(&tree)), ["eth0"]);
}

#[test]
fn an_unknown_speed_of_a_link_that_is_up_makes_the_capacity_unknown() {
    for speed in ["-1", "0", "4294967295", "Invalid"] {
        let tree = Tree::new();
        tree.nic("eth0", 0, 0, "1000");
        tree.nic("eth1", 0, 0, speed);
        assert_eq!(links(&tree).capacity, None, "{speed}");
    }
}

#[test]
fn a_link_that_is_down_carries_nothing_and_hides_nothing() {
    let tree = Tree::new();
    tree.nic("eth0", 0, 0, "1000");
    tree.nic("eth1", 0, 0, "-1");
    tree.write("sys/class/net/eth1/operstate", "down\n");
    assert_eq!(links(&tree).capacity, Some(GIGABIT));
    tree.write("sys/class/net/eth0/operstate", "down\n");
    assert_eq!(links(&tree).capacity, None);
}

#[test]
fn a_bond_carries_the_sum_of_the_members_that_are_up() {
    let tree = Tree::new();
    tree.nic("eth0", 0, 0, "10000");
    tree.nic("eth1", 0, 0, "10000");
    bond(&tree, "802.3ad 4\n", "eth0 eth1\n", "", "20000\n");
    assert_eq!(links(&tree).capacity, Some(20 * GIGABIT));
    tree.write("sys/class/net/eth1/operstate", "down\n");
    assert_eq!(links(&tree).capacity, Some(10 * GIGABIT));
}

#[test]
fn an_active_backup_bond_carries_what_its_active_member_does() {
    let tree = Tree::new();
    tree.nic("eth0", 0, 0, "1000");
    tree.nic("eth1", 0, 0, "10000");
    bond(
        &tree,
        "active-backup 1\n",
        "eth0 eth1\n",
        "eth1\n",
        "10000\n",
    );
    assert_eq!(links(&tree).capacity, Some(10 * GIGABIT));
    bond(&tree, "active-backup 1\n", "eth0 eth1\n", "\n", "10000\n");
    assert_eq!(links(&tree).capacity, Some(GIGABIT));
}

#[test]
fn the_speed_of_a_bond_stands_in_for_that_of_its_members() {
    let tree = Tree::new();
    tree.nic("eth0", 0, 0, "-1");
    tree.nic("eth1", 0, 0, "-1");
    bond(&tree, "802.3ad 4\n", "eth0 eth1\n", "", "20000\n");
    assert_eq!(links(&tree).capacity, Some(20 * GIGABIT));
}

#[test]
fn a_virtual_function_is_left_out_where_its_physical_one_is_seen() {
    let tree = Tree::new();
    tree.nic("enp1s0f0", 0, 0, "10000");
    tree.nic("enp1s0f0v0", 0, 0, "10000");
    tree.write(
        "sys/class/net/enp1s0f0v0/device/physfn/net/enp1s0f0/mtu",
        "1500\n",
    );
    assert_eq!(names(&links(&tree)), ["enp1s0f0"]);
    tree.remove("sys/class/net/enp1s0f0");
    assert_eq!(names(&links(&tree)), ["enp1s0f0v0"]);
}

#[test]
fn the_port_of_a_switch_that_stands_for_a_function_is_left_out() {
    let tree = Tree::new();
    tree.nic("enp1s0f0np0", 0, 0, "10000");
    tree.write("sys/class/net/enp1s0f0np0/phys_port_name", "p0\n");
    tree.nic("eth3", 0, 0, "10000");
    tree.write("sys/class/net/eth3/phys_port_name", "pf0vf3\n");
    assert_eq!(names(&links(&tree)), ["enp1s0f0np0"]);
}

#[test]
fn known_speeds_are_not_read_again() {
    let tree = Tree::new();
    tree.nic("eth0", 0, 0, "1000");
    tree.nic("eth1", 0, 0, "1000");
    let mut ask = AskSpeeds {
        known: Speeds::from([("eth0".to_owned(), Some(7))]),
        ..AskSpeeds::default()
    };
    let class = tree.root().net_class();
    assert_eq!(Links::find(&class, &ask).capacity, Some(GIGABIT + 7));
    ask.again = true;
    assert_eq!(Links::find(&class, &ask).capacity, Some(2 * GIGABIT));
}

#[test]
fn without_a_folder_there_are_no_links() {
    assert_eq!(links(&Tree::new()), Links::default());
}
