//! Args of plugins that have none: kept and never read, as kube-scheduler does, so that a
//! file which carries some loads unchanged.

use plimsoll_framework::{Args, FieldError, FieldPath};
use serde_json::Value;

/// Keeps `args` as they are.
pub(crate) fn keep(args: &Value, _path: &FieldPath, _errors: &mut Vec<FieldError>) -> Args {
    Args::new((), args.clone())
}
