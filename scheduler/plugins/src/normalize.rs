//! Scores of any range to 0..=100 (kube-scheduler `helper.DefaultNormalizeScore`).

use plimsoll_framework::{MAX_SCORE, NodeScore};

/// Maps the largest raw score to 0 and zero to 100: for plugins whose raw score counts
/// what speaks against a node. Raw scores must not be negative; if all are 0, all become
/// 100.
pub(crate) fn reversed(scores: &mut [NodeScore]) {
    let largest = scores.iter().map(|row| row.score).max().unwrap_or(0);
    for row in scores {
        let share = if largest > 0 {
            scaled(row.score, largest)
        } else {
            0
        };
        row.score = MAX_SCORE - share;
    }
}

/// Maps the largest raw score to 100: for plugins whose raw score counts what speaks for a
/// node. Raw scores must not be negative; if all are 0, they stay.
pub(crate) fn straight(scores: &mut [NodeScore]) {
    let largest = scores.iter().map(|row| row.score).max().unwrap_or(0);
    if largest > 0 {
        for row in scores {
            row.score = scaled(row.score, largest);
        }
    }
}

/// `100 * score / largest`, rounded down.
fn scaled(score: i64, largest: i64) -> i64 {
    (i128::from(MAX_SCORE) * i128::from(score.max(0)) / i128::from(largest)) as i64
}

#[cfg(test)]
mod tests {
    use plimsoll_framework::{NodeId, NodeScore};

    use super::{reversed, straight};

    fn by(normalize: fn(&mut [NodeScore]), raw: &[i64]) -> Vec<i64> {
        let rows = raw.iter().map(|score| NodeScore {
            node: NodeId(0),
            score: *score,
        });
        let mut rows: Vec<NodeScore> = rows.collect();
        normalize(&mut rows);
        rows.iter().map(|row| row.score).collect()
    }

    fn normalised(raw: &[i64]) -> Vec<i64> {
        by(reversed, raw)
    }

    #[test]
    fn the_largest_becomes_the_most() {
        assert_eq!(by(straight, &[0, 1, 2, 3]), [0, 33, 66, 100]);
        assert_eq!(by(straight, &[0, 0]), [0, 0]);
        assert_eq!(by(straight, &[]), [0; 0]);
    }

    #[test]
    fn the_largest_becomes_nothing_and_nothing_becomes_the_most() {
        assert_eq!(normalised(&[0, 1, 2, 3]), [100, 67, 34, 0]);
        assert_eq!(normalised(&[0, 0]), [100, 100]);
        assert_eq!(normalised(&[5, 5]), [0, 0]);
        assert_eq!(normalised(&[]), [0; 0]);
    }

    #[test]
    fn huge_scores_do_not_overflow() {
        assert_eq!(
            normalised(&[i64::MAX, i64::MAX / 2, i64::MIN]),
            [0, 51, 100]
        );
    }
}
