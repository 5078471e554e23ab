//! Quantities in CEL (`apiserver/pkg/cel/library/quantity.go`).

use std::any::Any;
use std::cmp::Ordering;

use cel::common::types::{CelBool, CelDouble, CelInt, CelString, Type};
use cel::common::value::{StaticVal, Val};
use cel::{DeclarationError, Env, ExecutionError, add_member_overload, add_overload};
use plimsoll_objects::Quantity;

static QUANTITY: Type = Type::new_unspecified_type("kubernetes.Quantity");

/// Billionths in one.
const NANOS_PER_UNIT: f64 = 1e9;

/// A quantity.
#[derive(Debug, Clone, Copy)]
pub(super) struct Amount(pub(super) Quantity);

impl Val for Amount {
    fn get_type(&self) -> &Type {
        &QUANTITY
    }

    fn cel_type() -> &'static Type {
        &QUANTITY
    }

    fn equals(&self, other: &dyn Val) -> bool {
        let other = other.downcast_ref::<Self>();
        other.is_some_and(|other| other.0 == self.0)
    }

    fn clone_as_boxed<'v>(&self) -> Box<dyn Val + 'v> {
        Box::new(*self)
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

impl StaticVal for Amount {}

pub(super) fn extension(env: &mut Env) -> Result<(), DeclarationError> {
    env.add_type(QUANTITY.to_owned())?;
    add_overload!(env, fn quantity: (CelString) -> Result<Amount>)?;
    add_overload!(env, fn is_quantity: (CelString) -> CelBool)?;
    add_overload!(env, fn sign: (Amount) -> CelInt)?;
    add_member_overload!(env, fn sign: (Amount) -> CelInt)?;
    add_member_overload!(env, fn is_greater_than: (Amount, Amount) -> CelBool)?;
    add_member_overload!(env, fn is_less_than: (Amount, Amount) -> CelBool)?;
    add_member_overload!(env, fn compare_to: (Amount, Amount) -> CelInt)?;
    add_member_overload!(env, fn as_approximate_float: (Amount) -> CelDouble)?;
    add_member_overload!(env, fn as_integer: (Amount) -> Result<CelInt>)?;
    add_member_overload!(env, fn is_integer: (Amount) -> CelBool)?;
    add_member_overload!(env, fn add: (Amount, Amount) -> Amount)?;
    add_member_overload!(env, fn add_int: (Amount, CelInt) -> Amount, name = "add")?;
    add_member_overload!(env, fn sub: (Amount, Amount) -> Amount)?;
    add_member_overload!(env, fn sub_int: (Amount, CelInt) -> Amount, name = "sub")
}

fn quantity(text: &CelString<'_>) -> Result<Amount, ExecutionError> {
    let parsed = text.inner().parse();
    parsed
        .map(Amount)
        .map_err(|error| ExecutionError::function_error("quantity", error))
}

fn is_quantity(text: &CelString<'_>) -> CelBool {
    CelBool::from(text.inner().parse::<Quantity>().is_ok())
}

fn sign(amount: &Amount) -> CelInt {
    ordering(amount.0.cmp(&Quantity::ZERO))
}

fn is_greater_than(one: &Amount, other: &Amount) -> CelBool {
    CelBool::from(one.0 > other.0)
}

fn is_less_than(one: &Amount, other: &Amount) -> CelBool {
    CelBool::from(one.0 < other.0)
}

fn compare_to(one: &Amount, other: &Amount) -> CelInt {
    ordering(one.0.cmp(&other.0))
}

fn as_approximate_float(amount: &Amount) -> CelDouble {
    CelDouble::from(amount.0.nanos() as f64 / NANOS_PER_UNIT)
}

fn as_integer(amount: &Amount) -> Result<CelInt, ExecutionError> {
    let whole = whole(*amount).map(CelInt::from);
    whole.ok_or_else(|| {
        ExecutionError::function_error("asInteger", "cannot convert value to integer")
    })
}

fn is_integer(amount: &Amount) -> CelBool {
    CelBool::from(whole(*amount).is_some())
}

fn add(one: &Amount, other: &Amount) -> Amount {
    Amount(one.0.saturating_add(other.0))
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "functions of the crate `cel` take references"
)]
fn add_int(one: &Amount, other: &CelInt) -> Amount {
    Amount(one.0.saturating_add(Quantity::from_units(*other.inner())))
}

fn sub(one: &Amount, other: &Amount) -> Amount {
    Amount(one.0.saturating_sub(other.0))
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "functions of the crate `cel` take references"
)]
fn sub_int(one: &Amount, other: &CelInt) -> Amount {
    Amount(one.0.saturating_sub(Quantity::from_units(*other.inner())))
}

fn whole(amount: Amount) -> Option<i64> {
    let units = amount.0.value();
    (Quantity::from_units(units) == amount.0).then_some(units)
}

pub(super) fn ordering(ordering: Ordering) -> CelInt {
    CelInt::from(i64::from(ordering as i8))
}
