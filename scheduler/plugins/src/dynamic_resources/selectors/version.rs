//! Semantic versions in CEL (`apiserver/pkg/cel/library/semverlib.go`).

use std::any::Any;

use cel::common::types::{CelBool, CelInt, CelString, Type};
use cel::common::value::{StaticVal, Val};
use cel::{DeclarationError, Env, ExecutionError, add_member_overload, add_overload};

use super::amount::ordering;

static SEMVER: Type = Type::new_unspecified_type("kubernetes.Semver");

/// A semantic version; build metadata does not count.
#[derive(Debug, Clone)]
pub(super) struct Version(semver::Version);

// === impl Version ===

impl Version {
    /// A strict semantic version.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let parsed = semver::Version::parse(text);
        parsed.map(Self).map_err(|error| error.to_string())
    }

    /// The same for a text that may begin with `v`, lack parts and have leading zeros.
    fn parse_loosely(text: &str) -> Result<Self, String> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let mut parts: Vec<String> = text.splitn(3, '.').map(without_zeros).collect();
        let last = parts.last().map_or("", String::as_str);
        if parts.len() < 3 && last.contains(['+', '-']) {
            return Err("short version cannot contain PreRelease/Build meta data".to_owned());
        }
        parts.resize(3, "0".to_owned());
        Self::parse(&parts.join("."))
    }
}

fn without_zeros(part: &str) -> String {
    let rest = part.trim_start_matches('0');
    match rest.bytes().next() {
        _ if part.len() <= 1 => part.to_owned(),
        Some(first) if first.is_ascii_digit() => rest.to_owned(),
        _ => format!("0{rest}"),
    }
}

impl Val for Version {
    fn get_type(&self) -> &Type {
        &SEMVER
    }

    fn cel_type() -> &'static Type {
        &SEMVER
    }

    fn equals(&self, other: &dyn Val) -> bool {
        let other = other.downcast_ref::<Self>();
        other.is_some_and(|other| self.0.cmp_precedence(&other.0).is_eq())
    }

    fn clone_as_boxed<'v>(&self) -> Box<dyn Val + 'v> {
        Box::new(self.clone())
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

impl StaticVal for Version {}

pub(super) fn extension(env: &mut Env) -> Result<(), DeclarationError> {
    env.add_type(SEMVER.to_owned())?;
    add_overload!(env, fn semver: (CelString) -> Result<Version>)?;
    add_overload!(env, fn semver_loosely: (CelString, CelBool) -> Result<Version>, name = "semver")?;
    add_overload!(env, fn is_semver: (CelString) -> CelBool)?;
    add_overload!(env, fn is_semver_loosely: (CelString, CelBool) -> CelBool, name = "isSemver")?;
    add_member_overload!(env, fn major: (Version) -> CelInt)?;
    add_member_overload!(env, fn minor: (Version) -> CelInt)?;
    add_member_overload!(env, fn patch: (Version) -> CelInt)?;
    add_member_overload!(env, fn is_greater_than: (Version, Version) -> CelBool)?;
    add_member_overload!(env, fn is_less_than: (Version, Version) -> CelBool)?;
    add_member_overload!(env, fn compare_to: (Version, Version) -> CelInt)
}

fn semver(text: &CelString<'_>) -> Result<Version, ExecutionError> {
    failing(Version::parse(text.inner()))
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "functions of the crate `cel` take references"
)]
fn semver_loosely(text: &CelString<'_>, loosely: &CelBool) -> Result<Version, ExecutionError> {
    failing(parse(text, *loosely.inner()))
}

fn is_semver(text: &CelString<'_>) -> CelBool {
    CelBool::from(Version::parse(text.inner()).is_ok())
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "functions of the crate `cel` take references"
)]
fn is_semver_loosely(text: &CelString<'_>, loosely: &CelBool) -> CelBool {
    CelBool::from(parse(text, *loosely.inner()).is_ok())
}

fn parse(text: &CelString<'_>, loosely: bool) -> Result<Version, String> {
    if loosely {
        Version::parse_loosely(text.inner())
    } else {
        Version::parse(text.inner())
    }
}

fn failing(version: Result<Version, String>) -> Result<Version, ExecutionError> {
    version.map_err(|error| ExecutionError::function_error("semver", error))
}

fn major(version: &Version) -> CelInt {
    number(version.0.major)
}

fn minor(version: &Version) -> CelInt {
    number(version.0.minor)
}

fn patch(version: &Version) -> CelInt {
    number(version.0.patch)
}

fn is_greater_than(one: &Version, other: &Version) -> CelBool {
    CelBool::from(one.0.cmp_precedence(&other.0).is_gt())
}

fn is_less_than(one: &Version, other: &Version) -> CelBool {
    CelBool::from(one.0.cmp_precedence(&other.0).is_lt())
}

fn compare_to(one: &Version, other: &Version) -> CelInt {
    ordering(one.0.cmp_precedence(&other.0))
}

fn number(part: u64) -> CelInt {
    CelInt::from(i64::try_from(part).unwrap_or(i64::MAX))
}
