//! When a brown-out begins and ends. Times in seconds.

use std::time::Duration;

use super::Watch;
use crate::moment::Moment;
use crate::node_state::Voice;

/// A sample is fresh for so long.
const FRESH: i32 = 3;

fn second(second: i32) -> Moment {
    let span = Duration::from_secs(second.unsigned_abs().into());
    if second < 0 {
        Moment::FIRST.before(span)
    } else {
        Moment::FIRST.after(span)
    }
}

/// A group of nodes, and when they last reported; `None` if they report still.
type Group = (usize, Option<i32>);

/// Frequent looks at these nodes up to `now`; whether the last one finds a brown-out.
fn look(watch: &mut Watch, now: i32, groups: &[Group]) -> bool {
    let last = watch.looks.map(|looks| looks.last);
    let steps = (0..now).filter(|step| step % 2 == now % 2);
    for step in steps.filter(|step| last.is_some_and(|last| second(*step) > last)) {
        glance(watch, step, groups);
    }
    glance(watch, now, groups)
}

/// One look at these nodes.
fn glance(watch: &mut Watch, now: i32, groups: &[Group]) -> bool {
    watch.clear();
    for (nodes, last_report) in groups {
        let voice = match last_report {
            Some(last) if last + FRESH < now => Voice::Silent {
                last_report: second(*last),
                began: second(last + FRESH),
            },
            _ => Voice::Fresh,
        };
        (0..*nodes).for_each(|_| watch.add(voice));
    }
    watch.judge(second(now));
    watch.is_on()
}

/// A watch that saw `nodes` nodes report for a while, until second 1,000.
fn settled(nodes: usize) -> Watch {
    let mut watch = Watch::default();
    for now in [0, 500, 1_000] {
        assert!(!look(&mut watch, now, &[(nodes, None)]));
    }
    watch
}

#[test]
fn a_brown_out_begins_when_enough_fall_silent_together() {
    for (fresh, lost, is_on) in [
        (0, 1, false),
        (0, 2, false),
        (0, 3, true),
        (0, 100, true),
        (70, 30, false),
        (69, 31, true),
        (6, 3, true),
        (7, 3, false),
        (5, 2, false),
        (100, 3, false),
    ] {
        let mut watch = settled(fresh + lost);
        let groups = [(fresh, None), (lost, Some(1_000))];
        assert_eq!(look(&mut watch, 1_004, &groups), is_on, "{fresh} {lost}");
        assert_eq!(watch.total(), u64::from(is_on));
    }
}

#[test]
fn it_ends_when_few_are_lost_still() {
    let mut watch = settled(100);
    let lost = |count| [(100 - count, None), (count, Some(1_000))];
    assert!(look(&mut watch, 1_010, &lost(40)));
    assert!(look(&mut watch, 1_020, &lost(25)));
    assert!(look(&mut watch, 1_030, &lost(15)));
    assert!(!look(&mut watch, 1_040, &lost(14)));
    // What is lost still does not begin another one.
    assert!(!look(&mut watch, 1_050, &lost(14)));
    assert_eq!(watch.total(), 1);
}

#[test]
fn a_second_fault_is_a_second_brown_out() {
    let mut watch = settled(10);
    assert!(look(&mut watch, 1_010, &[(10, Some(1_000))]));
    assert!(!look(&mut watch, 1_020, &[(10, None)]));
    assert!(look(&mut watch, 1_030, &[(10, Some(1_020))]));
    assert_eq!(watch.total(), 2);
}

#[test]
fn a_fault_lasts_as_long_as_the_silence() {
    let mut watch = settled(10);
    for now in [1_004, 1_700, 5_000, 100_000] {
        assert!(look(&mut watch, now, &[(10, Some(1_000))]), "{now}");
        assert!(
            look(&mut watch, now, &[(5, None), (5, Some(1_000))]),
            "{now}"
        );
    }
    assert_eq!(watch.total(), 1);
}

#[test]
fn silences_that_begin_minutes_apart_are_no_common_fault() {
    let mut watch = settled(10);
    let mut groups = vec![(10, None)];
    for index in 0..10 {
        groups[0].0 -= 1;
        groups.push((1, Some(1_000 + 31 * index)));
        let now = 1_004 + 31 * index;
        assert!(!look(&mut watch, now, &groups), "{now}");
    }
}

#[test]
fn a_rolling_update_of_agents_is_no_brown_out() {
    let mut watch = settled(12);
    // Each third of a minute one agent goes and the one before is back.
    for now in 1_000..1_240 {
        let gone = now - now % 20;
        assert!(!look(&mut watch, now, &[(11, None), (1, Some(gone))]));
    }
}

#[test]
fn who_was_silent_before_counts_as_one_that_is_there() {
    let mut watch = settled(10);
    // Five were silent for five minutes; of ten that reported lately two are lost.
    let groups = [(3, None), (5, Some(700)), (2, Some(1_000))];
    assert!(!look(&mut watch, 1_010, &groups));
    // Silent for over ten minutes they are no members: three of six are lost.
    let groups = [(3, None), (5, Some(300)), (3, Some(1_010))];
    assert!(look(&mut watch, 1_020, &groups));
    // Once those are back it is over, whatever the others do.
    assert!(!look(&mut watch, 1_030, &[(6, None), (5, Some(300))]));
}

#[test]
fn the_long_silent_do_not_dilute_a_brown_out() {
    let mut watch = settled(110);
    let long = (100, Some(100));
    assert!(look(
        &mut watch,
        1_010,
        &[(6, None), long, (4, Some(1_000))]
    ));
    assert!(look(
        &mut watch,
        1_020,
        &[(8, None), long, (2, Some(1_000))]
    ));
    assert!(!look(
        &mut watch,
        1_030,
        &[(9, None), long, (1, Some(1_000))]
    ));
}

#[test]
fn there_is_none_in_the_first_half_minute() {
    let mut watch = Watch::default();
    assert!(!look(&mut watch, 100, &[(10, None)]));
    assert!(!look(&mut watch, 110, &[(10, Some(100))]));
    assert!(!look(&mut watch, 129, &[(10, Some(100))]));
    // The fault that lasts is noticed then, by whatever look.
    assert!(look(&mut watch, 130, &[(10, Some(100))]));
    let mut watch = Watch::default();
    assert!(!look(&mut watch, 100, &[(10, None)]));
    assert!(!look(&mut watch, 110, &[(6, None), (4, Some(103))]));
    assert!(look(&mut watch, 300, &[(6, None), (4, Some(103))]));
}

#[test]
fn rare_looks_see_what_frequent_ones_would_have_seen() {
    let rare = |groups: &[Group]| {
        let mut watch = settled(10);
        assert!(!glance(&mut watch, 1_600, groups));
        glance(&mut watch, 1_700, groups)
    };
    assert!(rare(&[(6, None), (4, Some(1_010))]));
    assert!(!rare(&[(6, None), (2, Some(1_010)), (2, Some(1_200))]));
}

#[test]
fn a_scheduler_that_was_away_hears_the_agents_before_it_judges() {
    let mut watch = settled(10);
    // It was stopped for 20 s: what the agents sent meanwhile is not read yet.
    assert!(!glance(&mut watch, 1_020, &[(10, Some(1_000))]));
    assert!(!glance(&mut watch, 1_021, &[(10, None)]));
    // Those that are silent still are judged.
    let mut watch = settled(10);
    assert!(!glance(&mut watch, 1_020, &[(10, Some(1_000))]));
    assert!(glance(&mut watch, 1_021, &[(6, None), (4, Some(1_000))]));
    // And what is on does not end for it.
    assert!(glance(&mut watch, 1_100, &[(10, None)]));
    assert!(!glance(&mut watch, 1_101, &[(10, None)]));
    assert_eq!(watch.total(), 1);
}

#[test]
fn nodes_that_are_deleted_are_not_lost() {
    let mut watch = settled(100);
    assert!(!look(&mut watch, 1_010, &[(40, None)]));
    assert!(look(&mut watch, 1_020, &[(20, None), (20, Some(1_010))]));
    assert!(look(&mut watch, 1_030, &[(20, None), (4, Some(1_010))]));
    assert!(!look(&mut watch, 1_040, &[(20, None), (3, Some(1_010))]));
}

#[test]
fn a_cluster_without_nodes_is_in_no_brown_out() {
    let mut watch = settled(3);
    assert!(look(&mut watch, 1_010, &[(3, Some(1_000))]));
    assert!(look(&mut watch, 1_020, &[(1, Some(1_000))]));
    assert!(!look(&mut watch, 1_030, &[]));
}

#[test]
fn nodes_that_never_reported_are_neither_there_nor_lost() {
    let mut watch = settled(3);
    watch.clear();
    (0..100).for_each(|_| watch.add(Voice::Never));
    (0..3).for_each(|_| {
        watch.add(Voice::Silent {
            last_report: second(1_000),
            began: second(1_003),
        });
    });
    watch.judge(second(1_003));
    assert!(watch.is_on());
}
