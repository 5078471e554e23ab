//! Checks how a plugin reads its args.

use serde_json::Value;

use crate::spec::PluginSpec;
use crate::test_util::trial::decode;

/// Decodes `args` (`null` for none): the effective args with defaults filled in, or every
/// mistake as `path: problem`, with paths that begin at `args`.
///
/// # Errors
/// The mistakes.
pub fn check_args(spec: &PluginSpec, args: &Value) -> Result<Value, Vec<String>> {
    match decode(spec, args) {
        Ok(args) => Ok(args.effective().clone()),
        Err(errors) => Err(errors.iter().map(ToString::to_string).collect()),
    }
}
