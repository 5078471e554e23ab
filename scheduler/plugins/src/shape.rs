//! A piecewise linear function of utilization (kube-scheduler
//! `helper.BuildBrokenLinearFunction`), in integers.

pub(crate) mod points;

/// Largest utilization of a point, in percent.
pub(crate) const UTILIZATION_MAX: i64 = 100;
/// Scores in args run to 10, those of the framework to 100.
pub(crate) const SCORE_SCALE: i64 = 10;

/// The points of the function, by utilization, each larger than the one before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shape {
    points: Vec<ShapePoint>,
}

/// One point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ShapePoint {
    /// 0..=100.
    pub utilization: i64,
    /// 0..=10.
    pub score: i64,
}

// === impl Shape ===

impl Shape {
    /// A function through `points`, which are sorted; flat outside.
    pub(crate) fn new(points: Vec<ShapePoint>) -> Self {
        Self { points }
    }

    /// The score 0..=100 at `utilization`, divisions rounded towards zero. 0 without points.
    pub(crate) fn score(&self, utilization: i64) -> i64 {
        let above = self
            .points
            .iter()
            .position(|point| utilization <= point.utilization);
        let (low, high) = match above {
            Some(0) => (self.points[0], self.points[0]),
            Some(index) => (self.points[index - 1], self.points[index]),
            None => match self.points.last() {
                Some(last) => (*last, *last),
                None => return 0,
            },
        };
        let (from, to) = (low.score * SCORE_SCALE, high.score * SCORE_SCALE);
        match high.utilization - low.utilization {
            0 => from,
            width => from + (to - from) * (utilization - low.utilization) / width,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Shape, ShapePoint};

    fn shape(points: &[(i64, i64)]) -> Shape {
        let points = points.iter();
        Shape::new(
            points
                .map(|&(utilization, score)| ShapePoint { utilization, score })
                .collect(),
        )
    }

    #[test]
    fn the_function_is_linear_between_points_and_flat_outside() {
        let shape = shape(&[(10, 1), (40, 10), (70, 0)]);
        let cases = [
            (0, 10),
            (10, 10),
            (11, 13),
            (25, 55),
            (40, 100),
            (41, 97),
            (69, 4),
            (70, 0),
            (100, 0),
        ];
        for (utilization, score) in cases {
            assert_eq!(shape.score(utilization), score, "{utilization}");
        }
    }

    #[test]
    fn one_point_is_a_constant() {
        let shape = shape(&[(50, 7)]);
        assert_eq!(
            [0, 50, 100].map(|utilization| shape.score(utilization)),
            [70, 70, 70]
        );
    }
}
