//! Kubernetes quantities: `250m`, `1.5Gi`, `1e3`.
//!
//! Takes text by the grammar of `k8s.io/apimachinery/pkg/api/resource`, gives an exact
//! count of billionths (the finest unit Kubernetes keeps) and rounds up only where a
//! whole number is asked for. Amounts beyond the range are capped, never wrapped.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::de::{self, Deserialize, Deserializer, Visitor};

/// Decimal digits of a billionth.
const NANO_DIGITS: i64 = 9;
/// Billionths in a thousandth.
const NANOS_PER_MILLI: i128 = 1_000_000;
/// Billionths in one.
const NANOS_PER_UNIT: i128 = 1_000_000_000;

/// Largest mantissa to which any digit can be appended.
const MANTISSA_MAX: u128 = (u128::MAX - 9) / 10;

/// An exact amount.
///
/// Every quantity that the API server can store is kept exactly; a finer one is rounded
/// up to a billionth and one beyond `i128::MAX` billionths is capped there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quantity {
    nanos: i128,
}

/// Text that is no quantity.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is not a quantity: expected a number and at most one suffix of \
     n u m k M G T P E, Ki Mi Gi Ti Pi Ei, or an exponent such as e3"
)]
pub struct QuantityError {
    /// The text as it was found.
    pub text: Box<str>,
}

/// What follows the number.
enum Suffix {
    /// Times ten to this power.
    Decimal(i64),
    /// Times two to this power.
    Binary(u32),
}

/// The digits of a number: `mantissa x 10^-fraction`, and whether digits were cut off.
#[derive(Default)]
struct Digits {
    mantissa: u128,
    fraction: i64,
    cut: bool,
}

// === impl Quantity ===

impl Quantity {
    /// Nothing.
    pub const ZERO: Self = Self { nanos: 0 };

    /// `units` whole units.
    pub fn from_units(units: i64) -> Self {
        Self {
            nanos: i128::from(units) * NANOS_PER_UNIT,
        }
    }

    /// `millis` thousandths.
    pub fn from_millis(millis: i64) -> Self {
        Self {
            nanos: i128::from(millis) * NANOS_PER_MILLI,
        }
    }

    /// In thousandths, rounded away from zero (`Quantity.MilliValue`), capped to `i64`.
    pub fn milli_value(self) -> i64 {
        self.scaled(NANOS_PER_MILLI)
    }

    /// In whole units, rounded away from zero (`Quantity.Value`), capped to `i64`.
    pub fn value(self) -> i64 {
        self.scaled(NANOS_PER_UNIT)
    }

    /// The sum, capped.
    #[must_use]
    pub fn saturating_add(self, other: Self) -> Self {
        Self {
            nanos: self.nanos.saturating_add(other.nanos),
        }
    }

    /// The difference, capped.
    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        Self {
            nanos: self.nanos.saturating_sub(other.nanos),
        }
    }

    /// In billionths.
    pub fn nanos(self) -> i128 {
        self.nanos
    }

    /// Whether it is nothing.
    pub fn is_zero(self) -> bool {
        self.nanos == 0
    }

    fn scaled(self, unit: i128) -> i64 {
        let whole = self.nanos / unit;
        let rounded = if self.nanos % unit == 0 {
            whole
        } else {
            whole + self.nanos.signum()
        };
        let limit = if rounded < 0 { i64::MIN } else { i64::MAX };
        i64::try_from(rounded).unwrap_or(limit)
    }

    fn parse(text: &str) -> Option<Self> {
        let (negative, unsigned) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let end = unsigned
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(unsigned.len());
        let digits = Digits::parse(&unsigned[..end])?;
        let nanos = match Suffix::parse(&unsigned[end..])? {
            Suffix::Decimal(power) => digits.scale(power.saturating_add(NANO_DIGITS)),
            Suffix::Binary(power) => digits.shift(power).scale(NANO_DIGITS),
        };
        let nanos = i128::try_from(nanos).unwrap_or(i128::MAX);
        Some(Self {
            nanos: if negative { -nanos } else { nanos },
        })
    }
}

impl fmt::Display for Quantity {
    /// The shortest decimal form: `1500m`, `2`, `1n`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(NANOS_PER_UNIT, ""), (NANOS_PER_MILLI, "m"), (1_000, "u")];
        let whole = units.iter().find(|(unit, _)| self.nanos % unit == 0);
        let (unit, suffix) = whole.unwrap_or(&(1, "n"));
        write!(f, "{}{suffix}", self.nanos / unit)
    }
}

impl FromStr for Quantity {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        Self::parse(text).ok_or_else(|| QuantityError { text: text.into() })
    }
}

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = deserializer.deserialize_any(QuantityText)?;
        text.trim().parse().map_err(de::Error::custom)
    }
}

/// A quantity as JSON has it: a string, or a number taken as its text.
pub(crate) struct QuantityText;

impl<'de> Visitor<'de> for QuantityText {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a quantity, such as \"250m\" or 2")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Cow::Owned(number.to_string()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Cow::Owned(number.to_string()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Cow::Owned(number.to_string()))
    }

    /// Go leaves a quantity of `null` at zero.
    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed("0"))
    }
}

// === impl Suffix ===

impl Suffix {
    fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "n" => Self::Decimal(-9),
            "u" => Self::Decimal(-6),
            "m" => Self::Decimal(-3),
            "" => Self::Decimal(0),
            "k" => Self::Decimal(3),
            "M" => Self::Decimal(6),
            "G" => Self::Decimal(9),
            "T" => Self::Decimal(12),
            "P" => Self::Decimal(15),
            "E" => Self::Decimal(18),
            "Ki" => Self::Binary(10),
            "Mi" => Self::Binary(20),
            "Gi" => Self::Binary(30),
            "Ti" => Self::Binary(40),
            "Pi" => Self::Binary(50),
            "Ei" => Self::Binary(60),
            _ => Self::Decimal(text.strip_prefix(['e', 'E'])?.parse().ok()?),
        })
    }
}

// === impl Digits ===

impl Digits {
    /// Reads `12`, `1.5`, `1.` or `.5`; at least one digit is needed.
    fn parse(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
            return None;
        }
        let mut digits = Self::default();
        for digit in whole.bytes() {
            digits.push(digit, 0);
        }
        for digit in fraction.bytes() {
            digits.push(digit, 1);
        }
        Some(digits)
    }

    /// Appends an ASCII digit that adds `places` fractional places. Once the mantissa is
    /// full (after 38 digits) further digits are cut off and only their places are kept.
    fn push(&mut self, digit: u8, places: i64) {
        let value = u128::from(digit - b'0');
        if self.mantissa <= MANTISSA_MAX {
            self.mantissa = self.mantissa * 10 + value;
            self.fraction += places;
        } else {
            self.cut |= value != 0;
            self.fraction -= 1 - places;
        }
    }

    /// Multiplies by two to the power, giving up fractional digits (rounding up) where
    /// the product would not fit.
    fn shift(mut self, power: u32) -> Self {
        let factor = 1_u128 << power;
        loop {
            if let Some(product) = self.mantissa.checked_mul(factor) {
                self.mantissa = product;
                return self;
            }
            self.cut |= !self.mantissa.is_multiple_of(10);
            self.mantissa /= 10;
            self.fraction -= 1;
        }
    }

    /// The amount times ten to the power, rounded up to a whole number and capped.
    fn scale(&self, power: i64) -> u128 {
        let power = power.saturating_sub(self.fraction);
        let exponent = u32::try_from(power.unsigned_abs()).unwrap_or(u32::MAX);
        if self.mantissa == 0 {
            return 0;
        }
        if power >= 0 {
            let factor = 10_u128.checked_pow(exponent).unwrap_or(u128::MAX);
            return self.mantissa.saturating_mul(factor);
        }
        match 10_u128.checked_pow(exponent) {
            Some(divisor) => {
                let rest = self.cut || !self.mantissa.is_multiple_of(divisor);
                self.mantissa / divisor + u128::from(rest)
            }
            None => 1,
        }
    }
}

#[cfg(test)]
mod tests;
