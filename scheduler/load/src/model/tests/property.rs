//! The property of the ledger, over simulated nodes (`docs/load-model.md`): for any size,
//! start delay, phase, kernel and restart of the agent,
//! `|figure + ledger - truth| <= w * |estimate - truth| + sampling error`.

mod agent;
mod bound;
mod node;
mod plan;

use plimsoll_kernel::Kernel;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::world::EWMA;
use node::SimulatedNode;
use plan::PodReports::{Behind, Never, WithNode};
use plan::{AgentPlan, Plan, PodPlan, PodReports};

const HORIZON_MS: u64 = 120_000;

fn pod() -> impl Strategy<Value = PodPlan> {
    let lives = prop_oneof![Just(None), (100_u64..60_000).prop_map(Some)];
    let delays = prop_oneof![0_u64..2_000, 0_u64..60_000];
    (1_i64..4_000, 0_u32..4_000, 0_u64..80_000, delays, lives).prop_map(
        |(estimate, truth, assumed, delay, life)| PodPlan {
            estimate,
            truth: f64::from(truth),
            assumed,
            began: assumed + delay,
            ended: life.map(|life| assumed + delay + life),
        },
    )
}

/// A pod whose estimate is right.
fn known_pod() -> impl Strategy<Value = PodPlan> {
    pod().prop_map(|pod| PodPlan {
        truth: pod.estimate as f64,
        ..pod
    })
}

fn agent(pods: PodReports) -> impl Strategy<Value = AgentPlan> {
    let kernels = prop_oneof![
        Just(EWMA),
        (1_u64..60).prop_map(|s| Kernel::Ewma {
            tau: std::time::Duration::from_secs(s)
        }),
        (1_u64..60).prop_map(|s| Kernel::Box {
            width: std::time::Duration::from_secs(s)
        }),
        Just(Kernel::Instant),
    ];
    let restarts = prop::collection::vec(1_000..HORIZON_MS, 0..3);
    (kernels, 200_u64..2_000, 0_u64..2_000, restarts).prop_map(
        move |(kernel, period, phase, restarts)| AgentPlan {
            kernel,
            period,
            phase,
            restarts,
            pods,
        },
    )
}

fn plan(
    pods: impl Strategy<Value = PodPlan>,
    reports: PodReports,
    lag: impl Strategy<Value = u64>,
) -> impl Strategy<Value = Plan> {
    let pods = prop::collection::vec(pods, 1..7);
    (pods, agent(reports), lag, 0_u32..3_000).prop_map(|(pods, agent, lag, overhead)| Plan {
        pods,
        agent,
        lag,
        overhead: f64::from(overhead),
        until: HORIZON_MS,
    })
}

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 120,
        rng_seed: RngSeed::Fixed(0x5011),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Runs the plan; every difference from the truth beyond the bound is an error.
fn hold(plan: Plan) -> Result<(), TestCaseError> {
    SimulatedNode::new(plan).run(&mut |check| {
        prop_assert!(
            (check.used - check.truth).abs() <= check.bound + 1e-3,
            "at {} ms: {} is not {} within {}",
            check.at,
            check.used,
            check.truth,
            check.bound,
        );
        Ok(())
    })
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn the_ledger_holds_where_the_agent_reports_pods(plan in plan(pod(), WithNode, Just(0_u64))) {
        hold(plan)?;
    }

    #[test]
    fn the_ledger_holds_where_pods_are_read_before_the_node(
        plan in plan(pod(), Behind(10_000), Just(0_u64)),
    ) {
        hold(plan)?;
    }

    #[test]
    fn the_ledger_holds_where_the_agent_reports_no_pods(plan in plan(pod(), Never, Just(0_u64))) {
        hold(plan)?;
    }

    #[test]
    fn the_ledger_holds_where_news_of_pods_come_late(plan in plan(pod(), Never, 0_u64..3_000)) {
        hold(plan)?;
    }

    #[test]
    fn reports_of_pods_make_up_for_late_news(plan in plan(pod(), WithNode, 0_u64..3_000)) {
        hold(plan)?;
    }

    #[test]
    fn reports_of_pods_read_long_ago_do_so_too(
        plan in plan(pod(), Behind(10_000), 0_u64..3_000),
    ) {
        hold(plan)?;
    }

    #[test]
    fn right_estimates_leave_only_sampling_error(plan in plan(known_pod(), Never, Just(0_u64))) {
        hold(plan)?;
    }
}
