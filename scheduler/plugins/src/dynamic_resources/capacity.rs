//! Capacity of a device that many claims share: what a request consumes and whether it fits.
//!
//! `consumable_capacity.go` of the allocator, with whole numbers: the gate of fractions
//! (`DRAFractionalCapacityRange`) is off.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_objects::Quantity;
use plimsoll_objects::device::{CapacityPolicy, CapacityRange, DeviceCapacity};

use super::ledger::Amounts;

/// The capacities of a device by name.
pub(super) type Capacities = BTreeMap<Arc<str>, DeviceCapacity>;

/// Largest amount that can be rounded.
const WHOLE_MAX: i128 = i64::MAX as i128;

/// Whether `request` fits beside what is consumed and being taken.
///
/// # Errors
/// An amount that cannot be represented, or is negative: the request is wrong, not the
/// device.
pub(super) fn fits(
    capacities: &Capacities,
    request: Option<&Amounts>,
    taken: [Option<&Amounts>; 2],
) -> Result<bool, String> {
    let mut asked = request.into_iter().flat_map(BTreeMap::keys);
    if asked.any(|name| !capacities.contains_key(name)) {
        return Ok(false);
    }
    let wanted = consumed(capacities, request)?;
    if let Some((name, _)) = wanted.iter().find(|(_, amount)| **amount < Quantity::ZERO) {
        return Err(format!("capacity {name:?}: capacity value is negative"));
    }
    Ok(capacities.iter().all(|(name, capacity)| {
        let amount = wanted.get(name).copied().unwrap_or_default();
        let others = taken
            .into_iter()
            .flatten()
            .filter_map(|taken| taken.get(name));
        let sum = others.fold(amount, |sum, other| sum.saturating_add(*other));
        !violates(amount, capacity.policy.as_deref()) && sum <= capacity.value
    }))
}

/// What `request` consumes of each capacity.
///
/// # Errors
/// An amount that cannot be represented.
pub(super) fn consumed(
    capacities: &Capacities,
    request: Option<&Amounts>,
) -> Result<Amounts, String> {
    let amounts = capacities.iter().map(|(name, capacity)| {
        let requested = request.and_then(|request| request.get(name)).copied();
        let amount = rounded(requested, capacity);
        let amount = amount.map_err(|why| format!("capacity {name:?}: {why}"))?;
        Ok((Arc::clone(name), amount))
    });
    amounts.collect()
}

/// A requested amount as the device gives it.
fn rounded(requested: Option<Quantity>, capacity: &DeviceCapacity) -> Result<Quantity, String> {
    let policy = capacity.policy.as_deref();
    let Some(requested) = requested else {
        let default = policy.and_then(|policy| policy.default);
        return Ok(default.unwrap_or(capacity.value));
    };
    let Some(policy) = policy else {
        return Ok(requested);
    };
    match (&policy.valid_range, &policy.valid_values) {
        (Some(range @ CapacityRange { min: Some(min), .. }), _) => {
            rounded_in(requested, *min, range.step)
        }
        (_, Some(values)) => {
            let fitting = values.iter().find(|value| requested <= **value);
            Ok(fitting.copied().unwrap_or(requested))
        }
        _ => Ok(requested),
    }
}

/// The next step from `min` that is not below `requested`.
fn rounded_in(
    requested: Quantity,
    min: Quantity,
    step: Option<Quantity>,
) -> Result<Quantity, String> {
    if requested < min {
        return Ok(min);
    }
    let Some(step) = step else {
        return Ok(requested);
    };
    let problem = |what: &str| {
        format!("capacity request cannot be represented in the device's range arithmetic: {what}")
    };
    if requested > Quantity::from_units(i64::MAX) {
        return Err(problem(&format!("request {requested} exceeds MaxInt64")));
    }
    let (min, step) = (i128::from(min.value()), i128::from(step.value()));
    if step <= 0 {
        return Ok(requested);
    }
    let over = i128::from(requested.value()) - min;
    let steps = over / step + i128::from(over % step != 0);
    let whole = min + steps * step;
    match i64::try_from(whole) {
        Ok(whole) => Ok(Quantity::from_units(whole)),
        Err(_) if whole > WHOLE_MAX => Err(problem(&format!(
            "rounding request {requested} up to the next step passes MaxInt64"
        ))),
        Err(_) => Ok(requested),
    }
}

/// Whether the device does not give this amount.
fn violates(amount: Quantity, policy: Option<&CapacityPolicy>) -> bool {
    let Some(policy) = policy else {
        return false;
    };
    if policy.default == Some(amount) {
        return false;
    }
    match (&policy.valid_range, &policy.valid_values) {
        (Some(range), _) => violates_range(amount, range),
        (None, Some(values)) if !values.is_empty() => !values.contains(&amount),
        _ => false,
    }
}

fn violates_range(amount: Quantity, range: &CapacityRange) -> bool {
    if range.max.is_some_and(|max| amount > max) {
        return true;
    }
    let Some(step) = range.step.map(|step| i128::from(step.value())) else {
        return false;
    };
    let min = range.min.map_or(0, |min| i128::from(min.value()));
    step != 0 && (i128::from(amount.value()) - min) % step != 0
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use plimsoll_objects::Quantity;
    use plimsoll_objects::device::{CapacityPolicy, CapacityRange, DeviceCapacity};

    use super::{Amounts, Capacities, consumed, fits};

    fn q(text: &str) -> Quantity {
        text.parse().unwrap()
    }

    fn amounts(text: &str) -> Amounts {
        BTreeMap::from([(Arc::from("memory"), q(text))])
    }

    fn memory(value: &str, policy: Option<CapacityPolicy>) -> Capacities {
        let capacity = DeviceCapacity {
            value: q(value),
            policy: policy.map(Box::new),
        };
        BTreeMap::from([(Arc::from("memory"), capacity)])
    }

    fn in_steps(min: &str, step: &str, max: Option<&str>) -> CapacityPolicy {
        CapacityPolicy {
            default: None,
            valid_values: None,
            valid_range: Some(CapacityRange {
                min: Some(q(min)),
                max: max.map(q),
                step: Some(q(step)),
            }),
        }
    }

    #[test]
    fn a_request_without_amount_takes_the_default_or_everything() {
        let policy = CapacityPolicy {
            default: Some(q("1Gi")),
            valid_values: None,
            valid_range: None,
        };
        assert_eq!(consumed(&memory("8Gi", None), None), Ok(amounts("8Gi")));
        assert_eq!(
            consumed(&memory("8Gi", Some(policy)), None),
            Ok(amounts("1Gi"))
        );
    }

    #[test]
    fn an_amount_is_rounded_up_to_what_the_device_gives() {
        let values = CapacityPolicy {
            default: None,
            valid_values: Some([q("1"), q("2"), q("4")].into()),
            valid_range: None,
        };
        let cases = [
            (Some(in_steps("2", "3", None)), "1", "2"),
            (Some(in_steps("2", "3", None)), "3", "5"),
            (Some(in_steps("2", "3", None)), "5", "5"),
            (Some(values.clone()), "3", "4"),
            (Some(values), "5", "5"),
            (None, "3", "3"),
        ];
        for (policy, requested, expected) in cases {
            let capacities = memory("8", policy);
            let given = consumed(&capacities, Some(&amounts(requested)));
            assert_eq!(given, Ok(amounts(expected)), "{requested}");
        }
    }

    #[test]
    fn what_others_have_counts() {
        let capacities = memory("8", None);
        let cases = [("3", true), ("4", false)];
        for (requested, expected) in cases {
            let (request, others, mine) = (amounts(requested), amounts("3"), amounts("2"));
            let fit = fits(&capacities, Some(&request), [Some(&others), Some(&mine)]);
            assert_eq!(fit, Ok(expected), "{requested}");
        }
        let unknown = BTreeMap::from([(Arc::from("cores"), q("1"))]);
        assert_eq!(fits(&capacities, Some(&unknown), [None, None]), Ok(false));
    }

    #[test]
    fn an_amount_that_the_device_does_not_give_does_not_fit() {
        let cases = [
            (in_steps("2", "3", Some("6")), "6", false),
            (in_steps("2", "3", Some("8")), "6", true),
            (
                CapacityPolicy {
                    default: None,
                    valid_values: Some([q("1"), q("2")].into()),
                    valid_range: None,
                },
                "3",
                false,
            ),
        ];
        for (policy, requested, expected) in cases {
            let capacities = memory("100", Some(policy));
            let fit = fits(&capacities, Some(&amounts(requested)), [None, None]);
            assert_eq!(fit, Ok(expected), "{requested}");
        }
    }

    #[test]
    fn huge_and_negative_amounts_are_mistakes() {
        let capacities = memory("8", Some(in_steps("0", "5", None)));
        for requested in ["9223372036854775808", "9223372036854775807"] {
            let fit = fits(&capacities, Some(&amounts(requested)), [None, None]);
            assert!(fit.is_err(), "{requested}: {fit:?}");
        }
        let negative = fits(&memory("8", None), Some(&amounts("-1")), [None, None]);
        assert_eq!(
            negative,
            Err("capacity \"memory\": capacity value is negative".to_owned())
        );
        let no_step = memory("8", Some(in_steps("0", "0", None)));
        assert_eq!(fits(&no_step, Some(&amounts("1")), [None, None]), Ok(true));
    }
}
