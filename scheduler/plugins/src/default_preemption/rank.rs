//! Which victims weigh more, and on which node the least is lost.
//!
//! Takes pods and candidates, gives an order and the best; kube-scheduler
//! `MoreImportantVictim` and `pickOneNodeForPreemption`.

use std::cmp::Reverse;
use std::sync::Arc;

use plimsoll_framework::{Now, Preemption};
use plimsoll_objects::Pod;

/// Added to each priority so that none is below zero: more victims always weigh more.
const PRIORITY_OFFSET: i64 = 1 << 31;

/// What a candidate costs: smaller is better, the first difference decides.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Cost {
    pdb_violations: usize,
    highest_priority: i32,
    /// With [`PRIORITY_OFFSET`] for each victim.
    sum_of_priorities: i64,
    victims: usize,
    /// When the first of the victims of the highest priority started: the later the better.
    started: Reverse<i128>,
}

/// Sorts `pods`, most important first: by priority, then by age; equals keep their order.
pub(super) fn sort(pods: &mut [Arc<Pod>], now: Now) {
    pods.sort_by_key(|pod| (Reverse(pod.spec.priority), started(pod, now)));
}

/// The candidates that cost least.
pub(super) fn best(candidates: &[Preemption], now: Now) -> Vec<&Preemption> {
    let costs: Vec<Cost> = candidates.iter().map(|one| cost(one, now)).collect();
    let Some(least) = costs.iter().min() else {
        return Vec::new();
    };
    let pairs = candidates.iter().zip(&costs);
    pairs
        .filter(|(_, cost)| *cost == least)
        .map(|(candidate, _)| candidate)
        .collect()
}

/// The victims are most important first.
fn cost(candidate: &Preemption, now: Now) -> Cost {
    let victims = &candidate.victims;
    let priorities = victims.iter().map(|pod| pod.spec.priority);
    let highest_priority = priorities.clone().max().unwrap_or(i32::MIN);
    let highest = victims
        .iter()
        .filter(|pod| pod.spec.priority == highest_priority);
    let first = highest.map(|pod| started(pod, now)).min();
    Cost {
        pdb_violations: candidate.pdb_violations,
        highest_priority,
        sum_of_priorities: priorities
            .map(|priority| i64::from(priority) + PRIORITY_OFFSET)
            .sum(),
        victims: victims.len(),
        started: Reverse(first.unwrap_or(i128::MIN)),
    }
}

/// When the pod started, in nanoseconds since the epoch. One that has not, such as one that
/// is being bound, starts now.
fn started(pod: &Pod, now: Now) -> i128 {
    pod.status.started.unwrap_or(now.wall).as_nanosecond()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use plimsoll_framework::test_util::{PodBuilder, pod};
    use plimsoll_framework::{NodeId, Now, Preemption};

    use super::{best, sort};

    const EARLY: &str = "1970-01-01T00:01:00Z";
    const LATE: &str = "1970-01-01T00:02:00Z";

    fn now() -> Now {
        Now::at(Duration::from_secs(90))
    }

    /// The nodes that cost least, of candidates with these victims and violations.
    fn least<const N: usize>(candidates: [(&[PodBuilder], usize); N]) -> Vec<u32> {
        let numbered = candidates.into_iter().enumerate();
        let candidates: Vec<Preemption> = numbered
            .map(|(index, (victims, pdb_violations))| Preemption {
                node: NodeId(index as u32),
                victims: victims.iter().map(PodBuilder::arc).collect(),
                pdb_violations,
            })
            .collect();
        let best = best(&candidates, now());
        best.iter().map(|candidate| candidate.node.0).collect()
    }

    fn of(priority: i32) -> PodBuilder {
        pod("v").priority(priority).started(EARLY)
    }

    #[test]
    fn budgets_come_before_priorities() {
        assert_eq!(least([(&[of(1)], 1), (&[of(9), of(9)], 0)]), [1]);
    }

    #[test]
    fn the_highest_priority_comes_before_all_of_them_together() {
        assert_eq!(least([(&[of(5)], 0), (&[of(4), of(4), of(4)], 0)]), [1]);
    }

    #[test]
    fn of_one_highest_priority_the_smaller_sum_is_taken() {
        assert_eq!(least([(&[of(5), of(4)], 0), (&[of(5), of(3)], 0)]), [1]);
        // Fewer pods weigh less even where the priorities are below zero.
        assert_eq!(least([(&[of(-5), of(-9)], 0), (&[of(-5)], 0)]), [1]);
    }

    #[test]
    fn of_one_sum_the_fewer_victims_are_taken() {
        let lowest = || of(i32::MIN);
        assert_eq!(least([(&[lowest(), lowest()], 0), (&[lowest()], 0)]), [1]);
    }

    #[test]
    fn of_as_many_victims_the_later_start_of_the_highest_is_taken() {
        let (early, late) = (|| of(5), || of(5).started(LATE));
        let young = of(1).started(LATE);
        assert_eq!(least([(&[early()], 0), (&[late()], 0)]), [1]);
        assert_eq!(least([(&[early(), young], 0), (&[late(), of(1)], 0)]), [1]);
        assert_eq!(
            least([(&[late(), early()], 0), (&[late(), late()], 0)]),
            [1]
        );
    }

    #[test]
    fn a_pod_without_a_start_starts_now() {
        let unstarted = || pod("v").priority(5);
        let late = of(5).started(LATE);
        assert_eq!(least([(&[of(5)], 0), (&[unstarted()], 0)]), [1]);
        assert_eq!(least([(&[unstarted()], 0), (&[late], 0)]), [1]);
    }

    #[test]
    fn equals_are_all_given_and_nothing_of_nothing() {
        assert_eq!(least([(&[of(5)], 0), (&[of(6)], 0), (&[of(5)], 0)]), [0, 2]);
        assert!(least([]).is_empty());
    }

    #[test]
    fn the_most_important_come_first_and_equals_keep_their_order() {
        let pods = [
            pod("young").priority(5).started(LATE),
            pod("low").priority(1).started(EARLY),
            pod("old").priority(5).started(EARLY),
            pod("old-too").priority(5).started(EARLY),
            pod("unstarted").priority(5),
        ];
        let mut pods: Vec<_> = pods.iter().map(PodBuilder::arc).collect();
        sort(&mut pods, now());
        let names: Vec<&str> = pods.iter().map(|pod| &*pod.key().name).collect();
        assert_eq!(names, ["old", "old-too", "unstarted", "young", "low"]);
    }
}
