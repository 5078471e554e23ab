//! `DefaultPreemptionArgs`: reading, defaults, rules, in kube-scheduler's words.
//!
//! The dry run looks at `max(nodes * minCandidateNodesPercentage / 100,
//! minCandidateNodesAbsolute)` candidates, so both cannot be zero.

use plimsoll_framework::{Args, FieldError, FieldPath, Fields, Stage};
use serde_json::{Value, json};

const PERCENTAGE: &str = "minCandidateNodesPercentage";
const ABSOLUTE: &str = "minCandidateNodesAbsolute";
/// Part of the nodes to look at (`SetDefaults_DefaultPreemptionArgs`).
const PERCENTAGE_DEFAULT: i32 = 10;
/// Nodes to look at in any case (`SetDefaults_DefaultPreemptionArgs`).
const ABSOLUTE_DEFAULT: i32 = 100;

/// What the plugin is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DefaultPreemptionArgs {
    /// Candidates at least, in percent of all nodes: 0..=100.
    pub(crate) min_candidate_nodes_percentage: u32,
    /// Candidates at least; not 0 where the percentage is 0.
    pub(crate) min_candidate_nodes_absolute: u32,
}

/// Reads the args.
pub(crate) fn decode(args: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) -> Args {
    let mut fields = Fields::new(args, path.clone(), errors);
    let percentage: i32 = fields.optional(PERCENTAGE).unwrap_or(PERCENTAGE_DEFAULT);
    let absolute: i32 = fields.optional(ABSOLUTE).unwrap_or(ABSOLUTE_DEFAULT);
    let mut refuse = |name: &str, value: i32, why: &str| {
        let problem = format!("Invalid value: {value}: {why}");
        fields.reject(name, Stage::Validate, problem);
    };
    if !(0..=100).contains(&percentage) {
        refuse(PERCENTAGE, percentage, "not in valid range [0, 100]");
    }
    if absolute < 0 {
        refuse(ABSOLUTE, absolute, "not in valid range [0, inf)");
    }
    if percentage == 0 && absolute == 0 {
        for (name, other) in [(PERCENTAGE, ABSOLUTE), (ABSOLUTE, PERCENTAGE)] {
            refuse(
                name,
                0,
                &format!("cannot be zero at the same time as {other}"),
            );
        }
    }
    fields.finish();
    let typed = DefaultPreemptionArgs {
        min_candidate_nodes_percentage: percentage.unsigned_abs(),
        min_candidate_nodes_absolute: absolute.unsigned_abs(),
    };
    Args::new(typed, json!({PERCENTAGE: percentage, ABSOLUTE: absolute}))
}

impl Default for DefaultPreemptionArgs {
    fn default() -> Self {
        Self {
            min_candidate_nodes_percentage: PERCENTAGE_DEFAULT.unsigned_abs(),
            min_candidate_nodes_absolute: ABSOLUTE_DEFAULT.unsigned_abs(),
        }
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_framework::FieldPath;
    use serde_json::{Value, json};

    use super::{DefaultPreemptionArgs, decode};

    /// The typed and the effective args, or the mistakes.
    fn read(args: &Value) -> Result<(DefaultPreemptionArgs, Value), Vec<String>> {
        let mut errors = Vec::new();
        let args = decode(args, &FieldPath::new("args"), &mut errors);
        if errors.is_empty() {
            return Ok((*args.get().unwrap(), args.effective().clone()));
        }
        Err(errors.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn the_defaults_are_those_of_kube_scheduler() {
        let effective =
            json!({"minCandidateNodesPercentage": 10, "minCandidateNodesAbsolute": 100});
        let expected = (DefaultPreemptionArgs::default(), effective);
        assert_eq!(read(&Value::Null), Ok(expected.clone()));
        assert_eq!(
            read(&json!({"minCandidateNodesPercentage": null})),
            Ok(expected)
        );
    }

    #[test]
    fn one_of_the_two_may_be_zero() {
        let (typed, effective) = read(&json!({"minCandidateNodesPercentage": 0})).unwrap();
        assert_eq!(typed.min_candidate_nodes_percentage, 0);
        assert_eq!(
            effective,
            json!({"minCandidateNodesPercentage": 0, "minCandidateNodesAbsolute": 100})
        );
    }

    #[test]
    fn what_is_out_of_range_is_refused() {
        let both = json!({"minCandidateNodesPercentage": 0, "minCandidateNodesAbsolute": 0});
        assert_eq!(
            read(&both).unwrap_err(),
            [
                "args.minCandidateNodesPercentage: Invalid value: 0: cannot be zero at the same time as minCandidateNodesAbsolute",
                "args.minCandidateNodesAbsolute: Invalid value: 0: cannot be zero at the same time as minCandidateNodesPercentage",
            ]
        );
        let range =
            json!({"minCandidateNodesPercentage": 101, "minCandidateNodesAbsolute": -1, "x": 1});
        assert_eq!(
            read(&range).unwrap_err(),
            [
                "args.minCandidateNodesPercentage: Invalid value: 101: not in valid range [0, 100]",
                "args.minCandidateNodesAbsolute: Invalid value: -1: not in valid range [0, inf)",
                "args.x: unknown field",
            ]
        );
    }
}
