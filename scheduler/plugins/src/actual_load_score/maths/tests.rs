//! Each formula by itself.

use plimsoll_framework::LoadResource::{Cpu, Memory, Rx, Tx};
use plimsoll_framework::test_util::{LoadBuilder, load, node};
use plimsoll_framework::{NodeLoad, PodEstimate};
use proptest::prelude::{Strategy, prop, prop_assert, proptest};

use super::{Weights, blend, is_over, node_load, pack_score, spread_scores};

const EQUAL: Weights = Weights {
    cpu: 1.0,
    memory: 1.0,
    network: 1.0,
};

fn of(row: &LoadBuilder, pod: &PodEstimate, weights: &Weights) -> Option<f64> {
    let row = row.row(&node("n1").cpu("4").memory("16Gi").link_speed("10G").build());
    node_load(&row, pod, weights)
}

fn rounded(load: Option<f64>) -> Option<f64> {
    load.map(|load| (load * 1000.0).round() / 1000.0)
}

#[test]
fn the_load_stays_near_the_largest_share() {
    let none = PodEstimate::default();
    let all = |share| {
        load("n1")
            .share(Cpu, share)
            .share(Memory, share)
            .share(Rx, share)
    };
    assert_eq!(rounded(of(&all(0.5), &none, &EQUAL)), Some(0.5));
    let hot = all(0.1).share(Cpu, 0.9);
    assert_eq!(rounded(of(&hot, &none, &EQUAL)), Some(0.684));
    let cpu_heavy = Weights { cpu: 4.0, ..EQUAL };
    assert_eq!(rounded(of(&hot, &none, &cpu_heavy)), Some(0.813));
}

#[test]
fn the_pod_counts_before_it_runs() {
    let pod = PodEstimate {
        cpu: 1000.0,
        memory: 0.0,
        rx: 0.0,
        tx: 0.0,
    };
    let row = load("n1").share(Cpu, 0.5);
    assert_eq!(rounded(of(&row, &pod, &EQUAL)), Some(0.75));
}

#[test]
fn the_busier_direction_of_the_network_counts() {
    let none = PodEstimate::default();
    let network = |rx, tx| load("n1").share(Rx, rx).share(Tx, tx);
    assert_eq!(rounded(of(&network(0.2, 0.6), &none, &EQUAL)), Some(0.6));
    assert_eq!(rounded(of(&network(0.6, 0.2), &none, &EQUAL)), Some(0.6));
    assert_eq!(
        rounded(of(&load("n1").share(Tx, 0.4), &none, &EQUAL)),
        Some(0.4)
    );
}

#[test]
fn what_is_unknown_is_left_out_and_not_zero() {
    let none = PodEstimate::default();
    assert_eq!(
        rounded(of(&load("n1").share(Cpu, 0.5), &none, &EQUAL)),
        Some(0.5)
    );
    assert_eq!(of(&load("n1"), &none, &EQUAL), None);
    assert_eq!(node_load(&NodeLoad::default(), &none, &EQUAL), None);
    let no_cpu = Weights { cpu: 0.0, ..EQUAL };
    assert_eq!(of(&load("n1").share(Cpu, 0.5), &none, &no_cpu), None);
}

#[test]
fn figures_gone_wrong_are_bounded() {
    let none = PodEstimate::default();
    assert_eq!(of(&load("n1").share(Cpu, 1e300), &none, &EQUAL), Some(10.0));
    assert_eq!(
        of(&load("n1").share(Cpu, f64::INFINITY), &none, &EQUAL),
        Some(10.0)
    );
    assert_eq!(of(&load("n1").share(Cpu, -1.0), &none, &EQUAL), Some(0.0));
    let half = load("n1").share(Cpu, f64::NAN).share(Memory, 0.5);
    assert!(of(&half, &none, &EQUAL).is_some_and(f64::is_finite));
}

#[test]
fn waiting_adds_to_what_is_in_use_where_little_is_free() {
    let none = PodEstimate::default();
    let cpu = |share, pressure| {
        let row = load("n1").share(Cpu, share).pressure_cpu(pressure);
        rounded(of(&row, &none, &EQUAL))
    };
    assert_eq!(cpu(0.6, 1.0), Some(0.6));
    assert_eq!(cpu(0.8, 0.4), Some(0.85));
    assert_eq!(cpu(1.0, 1.0), Some(1.25));
    assert_eq!(cpu(1.0, 0.0), Some(1.0));
    for wrong in [f32::NAN, -1.0] {
        assert_eq!(cpu(1.0, wrong), Some(1.0));
    }
    assert_eq!(cpu(1.0, f32::INFINITY), Some(1.25));
    let memory = load("n1").share(Memory, 0.8).pressure_memory(0.4);
    assert_eq!(rounded(of(&memory, &none, &EQUAL)), Some(0.85));
    // The network has no pressure, and that of a resource in little use is not counted.
    let network = load("n1").share(Rx, 0.9).share(Cpu, 0.1).pressure_cpu(1.0);
    let calm = load("n1").share(Rx, 0.9).share(Cpu, 0.1);
    assert_eq!(of(&network, &none, &EQUAL), of(&calm, &none, &EQUAL));
}

#[test]
fn packing_rises_to_the_target_and_starts_again_below_it() {
    let scores = [0.0, 0.3, 0.6, 0.61, 0.8, 1.0, 1.5].map(|load| pack_score(load, 0.6).round());
    assert_eq!(
        scores.map(|score| score as i64),
        [60, 80, 100, 59, 30, 0, 0]
    );
}

fn scores(loads: &[Option<f64>]) -> Option<Vec<f64>> {
    let rounded = |score: f64| (score * 10.0).round() / 10.0;
    let scores = spread_scores(loads, 0.20, 0.02)?;
    Some(scores.into_iter().map(rounded).collect())
}

#[test]
fn candidates_far_apart_get_the_whole_range() {
    let loads = [Some(0.1), Some(0.5), Some(0.9)];
    assert_eq!(scores(&loads), Some(vec![100.0, 50.0, 0.0]));
}

#[test]
fn candidates_close_together_differ_little() {
    assert_eq!(scores(&[Some(0.50), Some(0.55)]), Some(vec![25.0, 0.0]));
    assert_eq!(scores(&[Some(0.50)]), Some(vec![0.0]));
}

#[test]
fn candidates_within_the_tie_band_of_the_lowest_are_equal() {
    let loads = [Some(0.50), Some(0.515), Some(0.53), Some(0.70)];
    assert_eq!(scores(&loads), Some(vec![100.0, 100.0, 85.0, 0.0]));
}

#[test]
fn an_unknown_candidate_counts_as_the_median() {
    let three = [Some(0.2), None, Some(0.9), Some(0.4)];
    assert_eq!(scores(&three), Some(vec![100.0, 71.4, 0.0, 71.4]));
    let two = [None, Some(0.2), Some(0.6), None];
    assert_eq!(scores(&two), Some(vec![50.0, 100.0, 0.0, 50.0]));
}

#[test]
fn without_any_load_there_is_no_load_score() {
    assert_eq!(scores(&[None, None]), None);
    assert_eq!(scores(&[]), None);
}

#[test]
fn load_and_requests_are_mixed_by_weight_and_rounded() {
    assert_eq!(blend(Some(100.0), 0, 0.7), 70);
    assert_eq!(blend(Some(0.0), 100, 0.7), 30);
    assert_eq!(blend(Some(50.0), 51, 0.5), 51);
    assert_eq!(blend(Some(0.0), 42, 0.0), 42);
    assert_eq!(blend(None, 42, 0.7), 42);
    assert_eq!(blend(Some(100.0), 0, 1.0), 100);
}

fn loads() -> impl Strategy<Value = Vec<Option<f64>>> {
    prop::collection::vec(prop::option::weighted(0.8, 0.0..10.0_f64), 1..20)
}

proptest! {
    #[test]
    fn packing_never_inverts(a in 0.0..2.0_f64, b in 0.0..2.0_f64, target in 0.01..0.99_f64) {
        let (low, high) = (a.min(b), a.max(b));
        let (worth, more) = (pack_score(low, target), pack_score(high, target));
        prop_assert!((0.0..=100.0).contains(&worth) && (0.0..=100.0).contains(&more));
        match (is_over(low, target), is_over(high, target)) {
            // Filling up to the target is better, filling beyond it worse.
            (false, false) => prop_assert!(worth <= more),
            (true, true) => prop_assert!(worth >= more),
            (false, true) => prop_assert!(worth > more, "{worth} {more}"),
            (true, false) => prop_assert!(false, "the lower one is over, the higher one not"),
        }
    }

    #[test]
    fn more_use_or_more_waiting_is_never_less_load(
        shares in (0.0..1.5_f64, 0.0..1.5_f64), waits in (0.0..1.0_f32, 0.0..1.0_f32),
    ) {
        let load_of = |share: f64, waits: f32| {
            let row = load("n1").share(Cpu, share).pressure_cpu(waits);
            of(&row, &PodEstimate::default(), &EQUAL).unwrap_or(f64::NAN)
        };
        let (little, much) = (shares.0.min(shares.1), shares.0.max(shares.1));
        let (calm, pressed) = (waits.0.min(waits.1), waits.0.max(waits.1));
        prop_assert!(load_of(little, calm) <= load_of(much, calm) + 1e-12);
        prop_assert!(load_of(little, calm) <= load_of(little, pressed) + 1e-12);
    }

    #[test]
    fn scores_lie_in_range_and_never_prefer_the_busier(
        loads in loads(), span_floor in 0.001..1.0_f64, tie_band in 0.0..1.0_f64,
    ) {
        let Some(scores) = spread_scores(&loads, span_floor, tie_band) else {
            prop_assert!(loads.iter().all(Option::is_none));
            return Ok(());
        };
        prop_assert!(scores.iter().all(|score| (0.0..=100.0).contains(score)));
        for (a, score_a) in loads.iter().zip(&scores) {
            for (b, score_b) in loads.iter().zip(&scores) {
                if let (Some(a), Some(b)) = (a, b) {
                    prop_assert!(a > b || score_a >= score_b, "{a} {score_a}, {b} {score_b}");
                }
            }
        }
    }

    #[test]
    fn a_mixed_score_lies_between_its_parts(
        load in 0.0..=100.0_f64, requests in 0..=100_i64, weight in 0.0..=1.0_f64,
    ) {
        let score = f64::from(blend(Some(load), requests, weight));
        let (low, high) = (load.min(requests as f64), load.max(requests as f64));
        prop_assert!(score >= low.floor() && score <= high.ceil(), "{score}");
    }
}
