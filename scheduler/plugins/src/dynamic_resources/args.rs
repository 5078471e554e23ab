//! `DynamicResourcesArgs`: reading, defaults, rules, in kube-scheduler's words.

use std::time::Duration;

use plimsoll_framework::{Args, FieldError, FieldPath, Fields, Stage};
use plimsoll_objects::ApiDuration;
use serde_json::{Value, json};

const FILTER: &str = "filterTimeout";
const BINDING: &str = "bindingTimeout";
/// `DynamicResourcesFilterTimeoutDefault`.
const FILTER_DEFAULT: ApiDuration = ApiDuration::from_secs(10);
/// `DynamicResourcesBindingTimeoutDefault`.
const BINDING_DEFAULT: ApiDuration = ApiDuration::from_secs(600);
/// Shortest wait for a device to become ready.
const BINDING_MIN: ApiDuration = ApiDuration::from_secs(1);

/// What the plugin is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DynamicResourcesArgs {
    /// How long the search for devices on one node may take; `None`: as long as it takes.
    pub(crate) filter_timeout: Option<Duration>,
    /// How long binding waits for devices to become ready; at least a second.
    pub(crate) binding_timeout: Duration,
}

/// Reads the args.
pub(crate) fn decode(args: &Value, path: &FieldPath, errors: &mut Vec<FieldError>) -> Args {
    let mut fields = Fields::new(args, path.clone(), errors);
    let filter: ApiDuration = fields.optional(FILTER).unwrap_or(FILTER_DEFAULT);
    if filter < ApiDuration::ZERO {
        let problem = format!("Invalid value: \"{filter}\": must be zero or positive");
        fields.reject(FILTER, Stage::Validate, problem);
    }
    let binding: ApiDuration = fields.optional(BINDING).unwrap_or(BINDING_DEFAULT);
    if binding < BINDING_MIN {
        let problem = format!("Invalid value: \"{binding}\": must be at least 1 second");
        fields.reject(BINDING, Stage::Validate, problem);
    }
    fields.finish();
    let effective = json!({FILTER: filter.to_string(), BINDING: binding.to_string()});
    Args::new(DynamicResourcesArgs::new(filter, binding), effective)
}

// === impl DynamicResourcesArgs ===

impl DynamicResourcesArgs {
    fn new(filter: ApiDuration, binding: ApiDuration) -> Self {
        Self {
            filter_timeout: filter.is_positive().then(|| filter.to_std()),
            binding_timeout: binding.to_std(),
        }
    }
}

impl Default for DynamicResourcesArgs {
    fn default() -> Self {
        Self::new(FILTER_DEFAULT, BINDING_DEFAULT)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use plimsoll_framework::FieldPath;
    use serde_json::{Value, json};

    use super::{DynamicResourcesArgs, decode};

    /// The typed and the effective args, or the mistakes.
    fn read(args: &Value) -> Result<(DynamicResourcesArgs, Value), Vec<String>> {
        let mut errors = Vec::new();
        let args = decode(args, &FieldPath::new("args"), &mut errors);
        if errors.is_empty() {
            return Ok((*args.get().unwrap(), args.effective().clone()));
        }
        Err(errors.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn the_defaults_are_those_of_kube_scheduler() {
        let effective = json!({"filterTimeout": "10s", "bindingTimeout": "10m0s"});
        assert_eq!(
            read(&Value::Null),
            Ok((DynamicResourcesArgs::default(), effective))
        );
    }

    #[test]
    fn a_filter_timeout_of_zero_means_none() {
        let args = json!({"filterTimeout": "0s", "bindingTimeout": "90s"});
        let typed = DynamicResourcesArgs {
            filter_timeout: None,
            binding_timeout: Duration::from_secs(90),
        };
        let effective = json!({"filterTimeout": "0s", "bindingTimeout": "1m30s"});
        assert_eq!(read(&args), Ok((typed, effective)));
    }

    #[test]
    fn what_is_too_short_or_no_duration_is_refused() {
        let args = json!({"filterTimeout": "-1s", "bindingTimeout": "999ms"});
        assert_eq!(
            read(&args).unwrap_err(),
            [
                "args.filterTimeout: Invalid value: \"-1s\": must be zero or positive",
                "args.bindingTimeout: Invalid value: \"999ms\": must be at least 1 second",
            ]
        );
        let args = json!({"filterTimeout": 5, "timeout": "1s"});
        let paths: Vec<_> = read(&args).unwrap_err();
        assert!(paths[0].starts_with("args.filterTimeout: "), "{paths:?}");
        assert_eq!(paths[1], "args.timeout: unknown field");
    }
}
