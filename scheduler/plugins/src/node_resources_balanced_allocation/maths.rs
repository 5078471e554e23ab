//! How even the requested shares of a node are, and what a pod changes about it.

/// Highest evenness.
const EVEN: f64 = 100.0;
/// The score of a pod that changes nothing.
const NEUTRAL: i64 = 50;

/// The share of a resource that is requested, within 0..=1. `allocatable` is not 0.
pub(super) fn share(requested: i64, allocatable: i64) -> f64 {
    (requested as f64 / allocatable as f64).clamp(0.0, 1.0)
}

/// The score of a node: `50 + (50 + evenness(with) - evenness(without)) / 2` in integers,
/// so 50..=100: 75 where the pod changes nothing about the balance.
pub(super) fn score(without: &[f64], with: &[f64]) -> i64 {
    NEUTRAL + (NEUTRAL + evenness(with) - evenness(without)) / 2
}

/// `(1 - standard deviation of the shares) * 100`, rounded down: 50..=100. The operations
/// are in kube-scheduler's order, so that the floats are the same to the last bit.
fn evenness(shares: &[f64]) -> i64 {
    ((1.0 - deviation(shares)) * EVEN) as i64
}

fn deviation(shares: &[f64]) -> f64 {
    match shares {
        [] | [_] => 0.0,
        [a, b] => ((a - b) / 2.0).abs(),
        _ => {
            let count = shares.len() as f64;
            let mean = shares.iter().sum::<f64>() / count;
            let squares: f64 = shares
                .iter()
                .map(|share| (share - mean) * (share - mean))
                .sum();
            (squares / count).sqrt()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{score, share};

    #[test]
    fn a_pod_that_evens_out_scores_higher_than_one_that_does_not() {
        // evenness without: 1 - 0.2 / 2 = 90.
        let without = [0.4, 0.2];
        assert_eq!(score(&without, &[0.4, 0.4]), 80);
        assert_eq!(score(&without, &[0.6, 0.4]), 75);
        assert_eq!(score(&without, &[0.8, 0.2]), 65);
    }

    #[test]
    fn fewer_than_two_resources_are_always_even() {
        assert_eq!(score(&[], &[]), 75);
        assert_eq!(score(&[0.1], &[0.9]), 75);
    }

    #[test]
    fn more_than_two_take_the_standard_deviation() {
        // deviation of 0, 0, 0.9: sqrt(0.18) = 0.424.
        assert_eq!(score(&[0.0, 0.0, 0.9], &[0.9, 0.9, 0.9]), 96);
    }

    #[test]
    fn a_share_never_exceeds_one() {
        assert_eq!(share(5, 4), 1.0);
        assert_eq!(share(1, 4), 0.25);
    }
}
