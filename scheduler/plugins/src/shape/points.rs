//! The points of a shape in the args of plugins: `[{utilization, score}, ..]`.
//!
//! Takes a field, gives the points and every mistake in kube-scheduler's words; gives the
//! points back as JSON.

use plimsoll_framework::{FieldError, Fields, Stage};
use serde_json::{Value, json};

use super::{SCORE_SCALE, ShapePoint, UTILIZATION_MAX};
use crate::resource_list::objects;

/// Reads the list in the field `name`; empty where it is absent. `stage` is when
/// kube-scheduler finds mistakes of value.
pub(crate) fn read(fields: &mut Fields<'_>, name: &'static str, stage: Stage) -> Vec<ShapePoint> {
    let path = fields.path(name);
    let points = objects(fields, name, |item, index, errors| {
        let mut point = Fields::new(item, path.index(index), errors);
        let mut number = |name| point.optional::<i32>(name).unwrap_or_default().into();
        let (utilization, score) = (number("utilization"), number("score"));
        point.finish();
        ShapePoint { utilization, score }
    });
    let mut refuse = |index: usize, name: &str, problem: String| {
        let path = path.index(index).field(name);
        fields.errors().push(FieldError::new(stage, path, problem));
    };
    check_order(&points, &mut refuse);
    check_bounds(&points, &mut refuse);
    points
}

/// The points as JSON.
pub(crate) fn to_json(points: &[ShapePoint]) -> Value {
    let points = points.iter();
    points
        .map(|point| json!({"utilization": point.utilization, "score": point.score}))
        .collect()
}

/// Only the first point out of order is named, as in kube-scheduler.
fn check_order(points: &[ShapePoint], refuse: &mut impl FnMut(usize, &str, String)) {
    let mut pairs = points.windows(2).enumerate();
    let unsorted = pairs.find(|(_, pair)| pair[0].utilization >= pair[1].utilization);
    if let Some((index, pair)) = unsorted {
        let value = pair[1].utilization;
        let problem = format!("Invalid value: {value}: values must be sorted in increasing order");
        refuse(index + 1, "utilization", problem);
    }
}

fn check_bounds(points: &[ShapePoint], refuse: &mut impl FnMut(usize, &str, String)) {
    for (index, point) in points.iter().enumerate() {
        let bounds = [
            ("utilization", point.utilization, UTILIZATION_MAX),
            ("score", point.score, SCORE_SCALE),
        ];
        for (name, value, max) in bounds {
            if !(0..=max).contains(&value) {
                let problem = format!("Invalid value: {value}: not in valid range [0, {max}]");
                refuse(index, name, problem);
            }
        }
    }
}
