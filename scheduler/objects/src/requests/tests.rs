//! The request formulas against figures of kube-scheduler 1.37 and of issues.

use super::{Container, PodAmounts, PodLevel, summarise};
use crate::amounts::Amounts;
use crate::resources::{Limits, Requests, ScoringRequests};

/// The default for memory, in bytes.
const DEFAULT: i64 = 209_715_200;

fn amounts(text: &'static str) -> Amounts<'static> {
    let entries = text
        .split_whitespace()
        .map(|entry| entry.split_once('=').unwrap());
    entries
        .map(|(name, amount)| (name, amount.parse().unwrap()))
        .collect()
}

fn asks(requests: &'static str) -> Container<'static> {
    Container {
        requests: amounts(requests),
        ..Container::default()
    }
}

fn sidecar(requests: &'static str) -> Container<'static> {
    Container {
        sidecar: true,
        ..asks(requests)
    }
}

fn runs(spec: &'static str, allocated: &'static str, actuated: &'static str) -> Container<'static> {
    let reported = |text| Some(amounts(text));
    Container {
        allocated: reported(allocated),
        actuated: reported(actuated),
        ..asks(spec)
    }
}

fn limited(limits: &'static str) -> Container<'static> {
    Container {
        limits: amounts(limits),
        ..Container::default()
    }
}

fn pod<const N: usize>(containers: [Container<'static>; N]) -> PodAmounts<'static> {
    PodAmounts {
        containers: containers.into(),
        ..PodAmounts::default()
    }
}

fn of<const I: usize, const N: usize>(
    init: [Container<'static>; I],
    containers: [Container<'static>; N],
) -> Requests {
    summarise(&PodAmounts {
        init_containers: init.into(),
        ..pod(containers)
    })
}

fn with_level(requests: &'static str, pod: PodAmounts<'static>) -> PodAmounts<'static> {
    let pod_level = PodLevel {
        requests: amounts(requests),
        ..PodLevel::default()
    };
    PodAmounts { pod_level, ..pod }
}

fn scoring(cpu: i64, memory: i64) -> ScoringRequests {
    ScoringRequests { cpu, memory }
}

#[test]
fn sch_a4_order_of_init_containers_decides_what_a_sidecar_adds() {
    let one = of([sidecar("cpu=250m"), asks("cpu=1500m")], [asks("cpu=1")]);
    let two = of([asks("cpu=1500m"), sidecar("cpu=250m")], [asks("cpu=1")]);
    assert_eq!((one.filter.cpu, one.placed.cpu), (1750, 1750));
    assert_eq!((two.filter.cpu, two.placed.cpu), (1500, 1500));
}

#[test]
fn containers_and_sidecars_are_summed_and_init_containers_maxed() {
    for (init, containers, cpu) in [
        (vec![], vec!["cpu=1", "cpu=2"], 3000),
        (vec![asks("cpu=5")], vec!["cpu=1"], 5000),
        (vec![asks("cpu=2"), asks("cpu=3")], vec!["cpu=1"], 3000),
        (
            vec![sidecar("cpu=1"), sidecar("cpu=2")],
            vec!["cpu=4"],
            7000,
        ),
        (
            vec![sidecar("cpu=1"), asks("cpu=9"), sidecar("cpu=2")],
            vec!["cpu=4"],
            10_000,
        ),
        (vec![asks("cpu=1")], vec![], 1000),
    ] {
        let containers = containers.into_iter().map(asks).collect();
        let pod = PodAmounts {
            init_containers: init,
            containers,
            ..PodAmounts::default()
        };
        assert_eq!(summarise(&pod).filter.cpu, cpu, "{pod:?}");
    }
}

#[test]
fn each_resource_is_maxed_by_itself() {
    let asked = of(
        [asks("cpu=4 memory=1")],
        [asks("cpu=1 memory=9 example.com/gpu=2")],
    )
    .filter;
    assert_eq!(
        (asked.cpu, asked.memory, asked.get("example.com/gpu")),
        (4000, 9, Some(2))
    );
}

#[test]
fn overhead_is_added_to_every_sum() {
    let pod = PodAmounts {
        overhead: amounts("cpu=200m memory=7"),
        ..pod([asks("cpu=1")])
    };
    let requests = summarise(&pod);
    assert_eq!((requests.filter.cpu, requests.filter.memory), (1200, 7));
    assert_eq!(requests.placed, requests.filter);
    assert_eq!(requests.scoring, scoring(1200, DEFAULT + 7));
    assert_eq!(requests.placed_scoring, scoring(1200, DEFAULT + 7));
}

#[test]
fn fractions_are_summed_before_they_are_rounded_up() {
    let asked = of(
        [],
        [asks("cpu=0.4m memory=100m"), asks("cpu=0.4m memory=100m")],
    )
    .filter;
    assert_eq!((asked.cpu, asked.memory), (1, 1));
}

#[test]
fn names_that_the_scheduler_does_not_count_are_left_out() {
    let asked = of(
        [],
        [asks("pods=3 gpu=1 requests.a.com/b=1 hugepages-2Mi=4Mi")],
    )
    .filter;
    let names: Vec<&str> = asked.scalar.keys().map(|name| &**name).collect();
    assert_eq!((asked.pods, names), (0, vec!["hugepages-2Mi"]));
}

#[test]
fn scoring_assumes_the_defaults_once_per_container_without_a_request() {
    let silent = of([], [asks(""), asks("")]);
    assert!(silent.filter.is_zero());
    assert_eq!(silent.scoring, scoring(200, 2 * DEFAULT));
    assert_eq!(silent.placed_scoring, scoring(200, 2 * DEFAULT));
    let mixed = of([], [asks("cpu=1"), asks("memory=5")]);
    assert_eq!(mixed.scoring, scoring(1100, DEFAULT + 5));
    let explicit_zero = of([], [asks("cpu=0 memory=0")]);
    assert_eq!(explicit_zero.scoring, scoring(0, 0));
    let beside_init = of([asks("cpu=50m"), sidecar("")], [asks("")]);
    assert_eq!(beside_init.scoring, scoring(200, 2 * DEFAULT));
}

#[test]
fn pod_level_requests_replace_the_sum_of_the_containers() {
    let requests = summarise(&with_level(
        "cpu=4 hugepages-2Mi=8Mi example.com/gpu=9",
        pod([asks("cpu=1 memory=3 hugepages-2Mi=2Mi example.com/gpu=1")]),
    ));
    assert_eq!((requests.filter.cpu, requests.filter.memory), (4000, 3));
    assert_eq!(requests.filter.get("hugepages-2Mi"), Some(8 << 20));
    assert_eq!(requests.filter.get("example.com/gpu"), Some(1));
    assert_eq!(requests.placed, requests.filter);
}

#[test]
fn the_fit_scorer_does_not_see_pod_level_requests_of_the_incoming_pod() {
    let requests = summarise(&with_level("cpu=4 hugepages-2Mi=8Mi", pod([asks("")])));
    assert_eq!(requests.filter.cpu, 4000);
    assert_eq!(requests.scoring, scoring(100, DEFAULT));
    assert_eq!(requests.fit_score_amount("hugepages-2Mi"), 0);
    assert_eq!(requests.fit_score_amount("cpu"), 100);
    let plain = of([], [asks("hugepages-2Mi=8Mi")]);
    assert_eq!(
        (
            plain.fit_score_amount("hugepages-2Mi"),
            plain.without_pod_level
        ),
        (8 << 20, None)
    );
}

#[test]
fn the_node_counts_pod_level_requests_and_defaults_only_what_nobody_states() {
    let requests = summarise(&with_level("cpu=4", pod([asks(""), asks("")])));
    assert_eq!(requests.placed_scoring, scoring(4000, 2 * DEFAULT));
    let stated = summarise(&with_level("cpu=4", pod([asks("memory=5"), asks("")])));
    assert_eq!(stated.placed_scoring, scoring(4000, 5));
}

#[test]
fn pod_level_requests_of_other_resources_alone_do_not_count_as_pod_level() {
    let requests = summarise(&with_level("example.com/gpu=9", pod([asks("cpu=1")])));
    assert_eq!(
        (requests.filter.cpu, requests.filter.scalar.len()),
        (1000, 0)
    );
    assert_eq!(requests.without_pod_level, None);
}

#[test]
fn resizes_of_two_containers_are_summed_over_the_pod_before_they_are_maxed() {
    let requests = summarise(&pod([
        runs("cpu=4", "cpu=1", "cpu=1"),
        runs("cpu=1", "cpu=4", "cpu=4"),
    ]));
    assert_eq!((requests.filter.cpu, requests.placed.cpu), (5000, 5000));
}

#[test]
fn a_placed_pod_takes_the_largest_of_wanted_allocated_and_actuated() {
    for (container, cpu) in [
        (runs("cpu=3", "cpu=2", "cpu=1"), 3000),
        (runs("cpu=1", "cpu=3", "cpu=2"), 3000),
        (runs("cpu=1", "cpu=2", "cpu=3"), 3000),
        (
            Container {
                allocated: None,
                ..runs("cpu=1", "", "cpu=3")
            },
            3000,
        ),
        (
            Container {
                actuated: None,
                ..runs("cpu=1", "cpu=3", "")
            },
            3000,
        ),
        (asks("cpu=2"), 2000),
    ] {
        let requests = summarise(&pod([container.clone()]));
        assert_eq!(requests.placed.cpu, cpu, "{container:?}");
        assert_eq!(requests.placed_scoring.cpu, cpu, "{container:?}");
    }
}

#[test]
fn an_infeasible_resize_leaves_out_what_is_wanted() {
    let infeasible = |container| {
        summarise(&PodAmounts {
            resize_infeasible: true,
            ..pod([container])
        })
    };
    assert_eq!(infeasible(runs("cpu=9", "cpu=2", "cpu=1")).placed.cpu, 2000);
    assert_eq!(infeasible(runs("cpu=9", "cpu=2", "cpu=1")).filter.cpu, 9000);
    assert_eq!(infeasible(asks("cpu=9")).placed.cpu, 0);
    assert_eq!(
        infeasible(asks("cpu=9")).placed_scoring,
        scoring(100, DEFAULT)
    );
}

#[test]
fn a_pod_level_resize_takes_the_largest_of_wanted_and_reported() {
    let resized = |spec, actuated, allocated, resize_infeasible| {
        let pod = PodAmounts {
            reports_resources: true,
            actuated: Some(amounts(actuated)),
            allocated: Some(amounts(allocated)),
            resize_infeasible,
            ..with_level(spec, pod([asks("cpu=1")]))
        };
        summarise(&pod).placed.cpu
    };
    assert_eq!(resized("cpu=2", "cpu=4", "cpu=3", false), 4000);
    assert_eq!(resized("cpu=5", "cpu=4", "cpu=3", false), 5000);
    assert_eq!(resized("cpu=5", "cpu=3", "cpu=4", true), 4000);
}

#[test]
fn pod_level_status_stands_in_for_the_statuses_of_the_containers() {
    let requests = summarise(&PodAmounts {
        reports_resources: true,
        actuated: Some(amounts("cpu=3")),
        allocated: Some(amounts("cpu=2")),
        ..pod([runs("cpu=1", "cpu=9", "cpu=9")])
    });
    assert_eq!(requests.placed.cpu, 3000);
}

#[test]
fn limits_bound_a_pod_only_if_every_container_has_one() {
    let limits = |containers| {
        summarise(&PodAmounts {
            containers,
            ..PodAmounts::default()
        })
        .limits
    };
    let both = limits(vec![
        limited("cpu=1 memory=5"),
        limited("cpu=500m memory=6"),
    ]);
    assert_eq!(
        both,
        Limits {
            cpu: Some(1500),
            memory: Some(11)
        }
    );
    let partial = limits(vec![limited("cpu=1 memory=5"), limited("memory=6")]);
    assert_eq!(
        partial,
        Limits {
            cpu: None,
            memory: Some(11)
        }
    );
    assert_eq!(limits(vec![limited("cpu=0")]), Limits::default());
    assert_eq!(limits(vec![]), Limits::default());
}

#[test]
fn a_pod_level_limit_bounds_containers_without_one_and_overhead_comes_on_top() {
    let pod_level = PodLevel {
        limits: amounts("memory=9"),
        ..PodLevel::default()
    };
    let overhead = amounts("memory=1");
    let requests = summarise(&PodAmounts {
        overhead,
        pod_level,
        ..pod([asks("cpu=1")])
    });
    assert_eq!(
        requests.limits,
        Limits {
            cpu: None,
            memory: Some(10)
        }
    );
}
