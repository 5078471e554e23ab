//! CEL selectors: which devices an expression means.
//!
//! Takes the text of an expression, gives a compiled one that judges devices
//! (`dynamic-resource-allocation/cel`). The language is the crate `cel`; what Kubernetes
//! adds to it is beside this file: quantities, versions, addresses, `cel.bind`, and maps of
//! devices that have an empty map for every domain.
//!
//! Differs: types are not checked before an expression runs (the API server does that when
//! the object is stored), so a mistake of type shows on the first device. `sets.`, `url`,
//! `format.`, `find`, list sums and macros of two variables are not known.

mod address;
mod amount;
mod bind;
mod check;
mod device;
mod table;
mod version;

use std::sync::Arc;
use std::thread;

use cel::common::types::CelBool;
use cel::{Context, Env, ExecutionError, Program, Value};
use plimsoll_framework::Kept;
use plimsoll_objects::device::Device;

/// Expressions kept compiled: kube-scheduler keeps 10; a cluster has a handful of classes
/// and rarely many different requests.
const KEPT_MAX: usize = 64;
/// Longest expression in bytes (`CELSelectorExpressionMaxLength`).
const EXPRESSION_BYTES_MAX: usize = 10 * 1024;
/// Stack for parsing: the deepest expression that the parser takes needs some 8 MiB without
/// optimisation. Only what is touched is ever real memory.
const PARSER_STACK_BYTES: usize = 32 * 1024 * 1024;

/// What is known of expressions, shared by all cycles.
pub(super) struct Selectors {
    env: Arc<Env>,
    kept: Kept<Vec<Arc<Selector>>>,
}

/// A compiled expression.
#[derive(Debug)]
pub(super) struct Selector {
    text: Arc<str>,
    program: Result<Program, String>,
}

/// Why an expression does not judge a device.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum SelectorError {
    /// It cannot be compiled.
    #[error("CEL compile error: compilation failed: {0}")]
    Compile(String),
    /// It fails on a device.
    #[error("CEL runtime error: {0}")]
    Run(String),
}

// === impl Selectors ===

impl Default for Selectors {
    fn default() -> Self {
        let mut env = Env::stdlib();
        let extensions = [
            cel::extensions::strings,
            cel::extensions::lists,
            amount::extension,
            version::extension,
            address::extension,
            bind::extension,
        ];
        for extension in extensions {
            // Names differ, which a test holds: none of them can fail.
            drop(env.add_extension(extension));
        }
        Self {
            env: Arc::new(env),
            kept: Kept::default(),
        }
    }
}

impl Selectors {
    /// The expression `text`, compiled now or before.
    pub(super) fn get(&self, text: &Arc<str>) -> Arc<Selector> {
        let mut kept = self.kept.lock();
        if let Some(at) = kept.iter().position(|selector| selector.text == *text) {
            // The last one used is the last one dropped.
            kept[at..].rotate_left(1);
            return kept.last().map_or_else(|| self.compile(text), Arc::clone);
        }
        let selector = self.compile(text);
        if kept.len() >= KEPT_MAX {
            kept.remove(0);
        }
        kept.push(Arc::clone(&selector));
        selector
    }

    fn compile(&self, text: &Arc<str>) -> Arc<Selector> {
        Arc::new(Selector {
            text: Arc::clone(text),
            program: self.parse(text),
        })
    }

    /// Parses on a stack that the deepest expression cannot use up.
    fn parse(&self, text: &str) -> Result<Program, String> {
        if text.len() > EXPRESSION_BYTES_MAX {
            return Err(format!("too long: more than {EXPRESSION_BYTES_MAX} bytes"));
        }
        let parse = || {
            let program = self
                .env
                .compile(text)
                .map_err(|errors| errors.to_string())?;
            match check::refusal(program.expression()) {
                Some(refusal) => Err(refusal.to_owned()),
                None => Ok(program),
            }
        };
        thread::scope(|scope| {
            let thread = thread::Builder::new().stack_size(PARSER_STACK_BYTES);
            let parsed = thread.spawn_scoped(scope, parse);
            let parsed = parsed.map_err(|error| format!("no thread to parse on: {error}"))?;
            let answer = parsed.join();
            answer.unwrap_or_else(|_| Err("the parser gave up".to_owned()))
        })
    }

    /// Whether `selector` means `device` of `driver`.
    ///
    /// # Errors
    /// It cannot be compiled, or fails on this device.
    pub(super) fn matches(
        &self,
        selector: &Selector,
        driver: &str,
        device: &Device,
    ) -> Result<bool, SelectorError> {
        let program = selector.program.as_ref();
        let program = program.map_err(|error| SelectorError::Compile(error.clone()))?;
        let value = device::value(driver, device).map_err(SelectorError::Run)?;
        let mut context = Context::with_env(Arc::clone(&self.env));
        context.add_variable_as_val(device::NAME, Box::new(value));
        let answer = Value::resolve_val(program.expression(), &context);
        let answer = answer.map_err(|error| SelectorError::Run(runtime_text(&error)))?;
        match answer.downcast_ref::<CelBool>() {
            Some(matches) => Ok(*matches.inner()),
            None => Err(SelectorError::Run(format!(
                "CEL result of type {} could not be converted to bool",
                answer.get_type().name()
            ))),
        }
    }
}

impl std::fmt::Debug for Selectors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kept = self.kept.lock().len();
        f.debug_struct("Selectors")
            .field("kept", &kept)
            .finish_non_exhaustive()
    }
}

/// The text of a failure as kube-scheduler has it, as far as the two languages agree.
fn runtime_text(error: &ExecutionError) -> String {
    match error {
        ExecutionError::NoSuchKey(key) => format!(
            "no such key: {key}. consider using CEL optional chaining (.? followed by \
             orValue()) or guarding the check with has() for optional fields"
        ),
        ExecutionError::NoSuchOverload(_) => "no such overload".to_owned(),
        ExecutionError::FunctionError { message, .. } => message.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests;
