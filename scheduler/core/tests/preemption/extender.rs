//! Preemption where HTTP extenders have a say: which candidates they are asked about, and
//! what comes of their answers.

use plimsoll_core::{Command, CommandId, Event, Question, Reply, SparedOn};
use plimsoll_objects::Uid;

use crate::world::World;

const ONE: &str = "extenders: [{urlPrefix: 'http://x', preemptVerb: p}]\n";

/// Two nodes, each full with a pod that may go: that of `n0` is of the lowest priority.
fn full(extenders: &str) -> World {
    let mut world = World::with(extenders, 2, 2);
    world.create("low", 1, 2_000, Some("n0"));
    world.create("mid", 2, 2_000, Some("n1"));
    world.create("high", 9, 2_000, None);
    world
}

fn question(world: &World) -> (CommandId, usize, Question) {
    let ask = world.open.iter().rev().find_map(|command| match command {
        Command::AskExtender {
            id,
            extender,
            question,
            ..
        } => Some((*id, *extender, question.clone())),
        _ => None,
    });
    ask.expect("an extender was asked")
}

fn reply(world: &mut World, reply: Result<Reply, String>) {
    let (id, ..) = question(world);
    world
        .open
        .retain(|command| !matches!(command, Command::AskExtender { .. }));
    world.tell(Event::ExtenderAnswered { id, reply });
    world.work();
}

fn spare(world: &World, left: &[(&str, &[&str])]) -> Reply {
    let uid = |name: &&str| {
        let known = world.pods.get(*name);
        Uid(known.map_or(*name, |stored| stored.uid.as_str()).into())
    };
    let candidate = |(node, victims): &(&str, &[&str])| SparedOn {
        node: (*node).into(),
        victims: victims.iter().map(uid).collect(),
        pdb_violations: 0,
    };
    Reply::Candidates(left.iter().map(candidate).collect())
}

#[test]
fn an_extender_is_asked_about_all_candidates_and_strikes_some_out() {
    let mut world = full(ONE);
    let (_, extender, question) = question(&world);
    let Question::Preempt { candidates } = question else {
        panic!("{question:?}");
    };
    let asked: Vec<(&str, &str)> = candidates
        .iter()
        .map(|one| (&*one.node, &*one.victims[0].key.name))
        .collect();
    assert_eq!((extender, asked), (0, vec![("n0", "low"), ("n1", "mid")]));
    assert!(
        world.victims().is_empty(),
        "nobody is put out before the answer"
    );
    let answer = spare(&world, &[("n1", &["mid"])]);
    reply(&mut world, Ok(answer));
    assert_eq!(
        (world.victims(), world.nominated("high")),
        (vec!["mid"], Some("n1"))
    );
}

#[test]
fn of_what_extenders_leave_the_plugin_chooses_by_its_rules() {
    let mut world = full(ONE);
    let answer = spare(&world, &[("n1", &["mid"]), ("n0", &["low"])]);
    reply(&mut world, Ok(answer));
    assert_eq!(world.nominated("high"), Some("n0"));
}

#[test]
fn where_extenders_leave_nothing_nobody_goes_and_the_pod_is_told() {
    let mut world = full(ONE);
    let answer = spare(&world, &[]);
    reply(&mut world, Ok(answer));
    assert!(world.victims().is_empty());
    let message = &world.pods["high"].message;
    assert!(
        message.ends_with(". preemption: no candidate node for preemption"),
        "{message}"
    );
}

#[test]
fn what_an_extender_must_not_say_ends_the_attempt_unless_it_may_be_ignored() {
    let lies = [
        (("n1", &["low"][..]), "is not found on that node"),
        (
            ("n7", &["mid"][..]),
            "nodeinfo not found for node name \"n7\"",
        ),
        (
            ("n1", &[][..]),
            "expected at least one victim pod on node \"n1\"",
        ),
    ];
    for (lie, says) in lies {
        let mut world = full(ONE);
        let answer = spare(&world, &[lie]);
        reply(&mut world, Ok(answer));
        assert!(world.victims().is_empty());
        let message = &world.pods["high"].message;
        assert!(message.contains(says), "{message}");

        let soft = "extenders: [{urlPrefix: 'http://x', preemptVerb: p, ignorable: true}]\n";
        let mut world = full(soft);
        let answer = spare(&world, &[lie]);
        reply(&mut world, Ok(answer));
        let node = world.nominated("high").map(str::to_owned);
        // A node without victims is struck out; another lie is passed over.
        let expected = if lie.1.is_empty() {
            None
        } else {
            Some("n0".to_owned())
        };
        assert_eq!(node, expected, "{says}");
    }
}

#[test]
fn an_extender_that_fails_keeps_victims_where_they_are() {
    let mut world = full(ONE);
    reply(&mut world, Err("connection refused".to_owned()));
    assert!(world.victims().is_empty());
    let message = &world.pods["high"].message;
    assert!(
        message.ends_with(". preemption: connection refused"),
        "{message}"
    );
}
