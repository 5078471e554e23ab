//! `InterPodAffinityArgs`: reading, defaults, rules, in kube-scheduler's words.

use plimsoll_framework::{Args, FieldError, FieldPath, Fields, Stage};
use serde_json::{Value, json};

const WEIGHT: &str = "hardPodAffinityWeight";
const IGNORE: &str = "ignorePreferredTermsOfExistingPods";
/// Weight of a required term of a placed pod (`SetDefaults_InterPodAffinityArgs`).
const WEIGHT_DEFAULT: i32 = 1;
/// Largest such weight.
const WEIGHT_MAX: i32 = 100;

/// What the plugin is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InterPodAffinityArgs {
    /// What a required affinity term of a placed pod counts in the score: 0..=100.
    pub(crate) hard_pod_affinity_weight: i32,
    /// Whether preferred terms of placed pods count only for pods that have terms.
    pub(crate) ignore_preferred_terms_of_existing_pods: bool,
}

/// Reads the args.
pub(crate) fn decode(args: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) -> Args {
    let mut fields = Fields::new(args, path.clone(), errors);
    let weight: i32 = fields.optional(WEIGHT).unwrap_or(WEIGHT_DEFAULT);
    if !(0..=WEIGHT_MAX).contains(&weight) {
        let problem = format!("Invalid value: {weight}: not in valid range [0, {WEIGHT_MAX}]");
        fields.reject(WEIGHT, Stage::Validate, problem);
    }
    let ignore: bool = fields.optional(IGNORE).unwrap_or(false);
    fields.finish();
    let typed = InterPodAffinityArgs {
        hard_pod_affinity_weight: weight,
        ignore_preferred_terms_of_existing_pods: ignore,
    };
    Args::new(typed, json!({WEIGHT: weight, IGNORE: ignore}))
}

impl Default for InterPodAffinityArgs {
    fn default() -> Self {
        Self {
            hard_pod_affinity_weight: WEIGHT_DEFAULT,
            ignore_preferred_terms_of_existing_pods: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_framework::FieldPath;
    use serde_json::{Value, json};

    use super::{InterPodAffinityArgs, decode};

    /// The typed and the effective args, or the mistakes.
    fn read(args: &Value) -> Result<(InterPodAffinityArgs, Value), Vec<String>> {
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
            json!({"hardPodAffinityWeight": 1, "ignorePreferredTermsOfExistingPods": false});
        assert_eq!(
            read(&Value::Null),
            Ok((InterPodAffinityArgs::default(), effective))
        );
    }

    #[test]
    fn everything_that_is_set_is_kept() {
        for weight in [0, 100] {
            let args = json!({"hardPodAffinityWeight": weight, "ignorePreferredTermsOfExistingPods": true});
            let typed = InterPodAffinityArgs {
                hard_pod_affinity_weight: weight,
                ignore_preferred_terms_of_existing_pods: true,
            };
            assert_eq!(read(&args), Ok((typed, args)));
        }
    }

    #[test]
    fn a_weight_out_of_range_and_an_unknown_field_are_refused() {
        let args = json!({"hardPodAffinityWeight": -1, "hardWeight": 1});
        assert_eq!(
            read(&args).unwrap_err(),
            [
                "args.hardPodAffinityWeight: Invalid value: -1: not in valid range [0, 100]",
                "args.hardWeight: unknown field",
            ]
        );
        let args = json!({"hardPodAffinityWeight": 101});
        assert_eq!(read(&args).unwrap_err().len(), 1);
    }
}
