//! Speeds, answers that do not come, and when a speed is asked for again. A pipe that nobody
//! writes to is a file whose reading hangs, as `speed` does while the kernel is busy.

use std::process::Command;

use super::*;
use crate::sample::fixture::Tree;

const SHORT: Duration = Duration::from_millis(20);

fn speed_file(tree: &Tree, name: &str, text: &str) {
    tree.write(&format!("sys/class/net/{name}/speed"), text);
}

fn hangs(tree: &Tree, name: &str) -> PathBuf {
    let folder = tree.root().net_class().join(name);
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("speed");
    let made = Command::new("mkfifo").arg(&path).status().unwrap();
    assert!(made.success());
    path
}

fn ask(tree: &Tree, ask: &AskSpeeds, names: &[&str]) -> (Vec<Option<u64>>, bool) {
    let owned: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let wanted: Vec<&String> = owned.iter().collect();
    let found = ask.of_within(SHORT, &tree.root().net_class(), &wanted);
    let speeds = names.iter().map(|name| found.speeds.get(*name).copied());
    (speeds.map(Option::flatten).collect(), found.too_slow)
}

#[test]
fn a_speed_is_in_bytes_and_one_that_the_driver_does_not_know_is_none() {
    let tree = Tree::new();
    for (name, text) in [
        ("a", "1000\n"),
        ("b", "-1\n"),
        ("c", "4294967295\n"),
        ("d", "0\n"),
        ("e", ""),
    ] {
        speed_file(&tree, name, text);
    }
    let long = AskSpeeds::default();
    let names = ["a", "b", "c", "d", "e", "no-file"].map(str::to_owned);
    let answers = long.of(&tree.root().net_class(), &names.each_ref());
    let known: Vec<_> = answers.speeds.values().flatten().collect();
    assert_eq!(known, [&125_000_000]);
    assert_eq!((answers.speeds.len(), answers.too_slow), (6, false));
}

#[test]
fn an_answer_that_does_not_come_in_time_leaves_what_was_known() {
    let tree = Tree::new();
    let pipe = hangs(&tree, "eth0");
    let asked = AskSpeeds {
        known: Speeds::from([("eth0".to_owned(), Some(7))]),
        again: true,
        ..AskSpeeds::default()
    };
    assert_eq!(ask(&tree, &asked, &["eth0"]), (vec![Some(7)], true));
    assert!(asked.waiting.load(Ordering::Acquire));
    // Nobody asks beside a thread that waits still, not even for another interface.
    speed_file(&tree, "eth1", "1000\n");
    let (speeds, too_slow) = ask(&tree, &asked, &["eth0", "eth1"]);
    assert_eq!((speeds, too_slow), (vec![Some(7), None], true));
    // The kernel answers at last.
    fs::write(pipe, "1000\n").unwrap();
    let clock = Clock::start();
    while asked.waiting.load(Ordering::Acquire) {
        assert!(
            clock.mono() < Duration::from_secs(10),
            "the thread is stuck"
        );
        std::thread::yield_now();
    }
    assert!(!ask(&tree, &asked, &["eth1"]).1);
}

#[test]
fn a_speed_that_could_not_be_had_is_not_asked_for_before_its_time() {
    let tree = Tree::new();
    hangs(&tree, "eth0");
    let mut asked = AskSpeeds {
        known: Speeds::from([("eth0".to_owned(), None)]),
        ..AskSpeeds::default()
    };
    assert_eq!(ask(&tree, &asked, &["eth0"]), (vec![None], false));
    tree.remove("sys/class/net/eth0/speed");
    speed_file(&tree, "eth0", "1000\n");
    asked.again = true;
    let names = ["eth0".to_owned()];
    let answers = asked.of(&tree.root().net_class(), &names.each_ref());
    assert_eq!(answers.speeds["eth0"], Some(125_000_000));
}
