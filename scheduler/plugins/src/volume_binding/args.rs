//! `VolumeBindingArgs`: reading, defaults, rules, in kube-scheduler's words.

use std::time::Duration;

use plimsoll_framework::{Args, FieldError, FieldPath, Fields, Stage};
use serde_json::{Value, json};

use crate::shape::{SCORE_SCALE, ShapePoint, UTILIZATION_MAX, points};

const TIMEOUT: &str = "bindTimeoutSeconds";
const SHAPE: &str = "shape";
/// How long binding waits for volumes (`SetDefaults_VolumeBindingArgs`).
const TIMEOUT_SECONDS: i64 = 600;
/// The emptier the volumes the better.
const SHAPE_DEFAULT: [ShapePoint; 2] = [
    ShapePoint {
        utilization: 0,
        score: SCORE_SCALE,
    },
    ShapePoint {
        utilization: UTILIZATION_MAX,
        score: 0,
    },
];

/// What the plugin is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VolumeBindingArgs {
    /// How long binding waits for volumes; zero: not at all.
    pub(crate) bind_timeout: Duration,
    /// How the utilization of volumes becomes a score: at least one point, each with more
    /// utilization than the one before.
    pub(crate) shape: Vec<ShapePoint>,
}

/// Reads the args.
pub(crate) fn decode(args: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) -> Args {
    let mut fields = Fields::new(args, path.clone(), errors);
    let seconds: i64 = fields.optional(TIMEOUT).unwrap_or(TIMEOUT_SECONDS);
    if seconds < 0 {
        let problem = format!(
            "Invalid value: {seconds}: invalid BindTimeoutSeconds, should not be a negative value"
        );
        fields.reject(TIMEOUT, Stage::Validate, problem);
    }
    let mut shape = points::read(&mut fields, SHAPE, Stage::Validate);
    if shape.is_empty() {
        shape = SHAPE_DEFAULT.into();
    }
    fields.finish();
    let effective = json!({TIMEOUT: seconds, SHAPE: points::to_json(&shape)});
    let typed = VolumeBindingArgs {
        bind_timeout: Duration::from_secs(u64::try_from(seconds).unwrap_or(0)),
        shape,
    };
    Args::new(typed, effective)
}

impl Default for VolumeBindingArgs {
    fn default() -> Self {
        Self {
            bind_timeout: Duration::from_secs(TIMEOUT_SECONDS.unsigned_abs()),
            shape: SHAPE_DEFAULT.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_framework::FieldPath;
    use serde_json::{Value, json};

    use super::{VolumeBindingArgs, decode};

    /// The typed and the effective args, or the mistakes.
    fn read(args: &Value) -> Result<(VolumeBindingArgs, Value), Vec<String>> {
        let mut errors = Vec::new();
        let args = decode(args, &FieldPath::new("args"), &mut errors);
        if errors.is_empty() {
            let typed: &VolumeBindingArgs = args.get().unwrap();
            return Ok((typed.clone(), args.effective().clone()));
        }
        Err(errors.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn the_defaults_are_those_of_kube_scheduler() {
        let effective = json!({"bindTimeoutSeconds": 600, "shape": [
            {"utilization": 0, "score": 10}, {"utilization": 100, "score": 0},
        ]});
        let expected = (VolumeBindingArgs::default(), effective);
        assert_eq!(read(&Value::Null), Ok(expected.clone()));
        assert_eq!(read(&json!({"shape": []})), Ok(expected));
    }

    #[test]
    fn everything_that_is_set_is_kept() {
        let args = json!({"bindTimeoutSeconds": 0, "shape": [
            {"utilization": 0, "score": 0}, {"utilization": 100, "score": 10},
        ]});
        let (typed, effective) = read(&args).unwrap();
        assert_eq!(effective, args);
        assert!(typed.bind_timeout.is_zero());
        assert_eq!(typed.shape[1].score, 10);
    }

    #[test]
    fn a_negative_timeout_and_points_out_of_order_or_range_are_refused() {
        let args = json!({"bindTimeoutSeconds": -1, "shape": [
            {"utilization": 100, "score": 0}, {"utilization": 0, "score": 10},
            {"utilization": -1, "score": 12, "weight": 1},
        ]});
        assert_eq!(
            read(&args).unwrap_err(),
            [
                "args.bindTimeoutSeconds: Invalid value: -1: invalid BindTimeoutSeconds, should not be a negative value",
                "args.shape[2].weight: unknown field",
                "args.shape[1].utilization: Invalid value: 0: values must be sorted in increasing order",
                "args.shape[2].utilization: Invalid value: -1: not in valid range [0, 100]",
                "args.shape[2].score: Invalid value: 12: not in valid range [0, 10]",
            ]
        );
    }
}
