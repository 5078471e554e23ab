//! Amounts of resources: reads `500m`, `1Gi`, `1e3` and gives the canonical form
//! (`k8s.io/apimachinery/pkg/api/resource`).

use std::fmt;

/// The refusal of a text that is no quantity.
pub(crate) const UNREADABLE: &str =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

/// Parts of one in the finest unit, nano.
const NANO: i128 = 1_000_000_000;

/// Decimal suffixes and their powers of ten.
const DECIMAL: [(&str, i32); 10] = [
    ("n", -9),
    ("u", -6),
    ("m", -3),
    ("", 0),
    ("k", 3),
    ("M", 6),
    ("G", 9),
    ("T", 12),
    ("P", 15),
    ("E", 18),
];

/// Binary suffixes and their powers of two.
const BINARY: [(&str, u32); 6] = [
    ("Ki", 10),
    ("Mi", 20),
    ("Gi", 30),
    ("Ti", 40),
    ("Pi", 50),
    ("Ei", 60),
];

/// An amount. Finer parts than nano are rounded away from zero, as Kubernetes does; amounts beyond
/// what an `i64` holds are capped.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quantity {
    nanos: i128,
    form: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Decimal,
    Exponent,
    Binary,
}

impl Quantity {
    /// Reads a quantity.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let end = text
            .find(|letter: char| !matches!(letter, '0'..='9' | '.' | '+' | '-'))
            .unwrap_or(text.len());
        let (number, suffix) = text.split_at(end);
        let (negative, number) = match number.as_bytes().first()? {
            b'-' => (true, &number[1..]),
            b'+' => (false, &number[1..]),
            _ => (false, number),
        };
        let (whole, part) = number.split_once('.').unwrap_or((number, ""));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.len() + part.len() == 0 || !digits(whole) || !digits(part) {
            return None;
        }
        let (form, factor, power) = unit(suffix)?;
        let mut nanos = scaled(whole, part, factor, power)?;
        if negative {
            nanos = -nanos;
        }
        Some(Self { nanos, form })
    }

    /// Gives the amount in nano units.
    pub(crate) const fn nanos(self) -> i128 {
        self.nanos
    }

    /// Tells whether the amount is a whole number.
    pub(crate) const fn is_whole(self) -> bool {
        self.nanos % NANO == 0
    }
}

/// Reads a suffix: the form, a factor, and a power of ten.
fn unit(suffix: &str) -> Option<(Form, i128, i32)> {
    if let Some((_, power)) = DECIMAL.iter().find(|(name, _)| *name == suffix) {
        return Some((Form::Decimal, 1, *power));
    }
    if let Some((_, power)) = BINARY.iter().find(|(name, _)| *name == suffix) {
        return Some((Form::Binary, 1 << power, 0));
    }
    let power = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
    Some((Form::Exponent, 1, power))
}

/// Gives a decimal number times a factor and a power of ten, in nano, rounded up.
fn scaled(whole: &str, part: &str, factor: i128, power: i32) -> Option<i128> {
    const MOST: i128 = i64::MAX as i128 * NANO;
    let text = format!("{whole}{part}");
    let digits = text.trim_start_matches('0');
    if digits.is_empty() {
        return Some(0);
    }
    let shift = power
        .checked_add(9)?
        .checked_sub(i32::try_from(part.len()).ok()?)?;
    // An i128 holds 38 digits; the cap has 28.
    if digits.len() > 37 || shift > 37 {
        return Some(MOST);
    }
    let number = digits.parse::<i128>().ok()?.checked_mul(factor);
    let Some(number) = number else {
        return Some(MOST);
    };
    let amount = if shift >= 0 {
        10_i128
            .checked_pow(shift.unsigned_abs())
            .and_then(|ten| number.checked_mul(ten))
            .unwrap_or(MOST)
    } else {
        match 10_i128.checked_pow(shift.unsigned_abs()) {
            Some(ten) => number / ten + i128::from(number % ten != 0),
            None => 1,
        }
    };
    Some(amount.min(MOST))
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let binary = self.form == Form::Binary && self.nanos.abs() >= 1024 * NANO;
        if binary {
            let whole = self.nanos / NANO + i128::from(self.nanos % NANO > 0);
            let fitting = BINARY
                .iter()
                .rev()
                .find(|(_, power)| whole % (1 << power) == 0);
            return match fitting {
                Some((suffix, power)) => write!(f, "{}{suffix}", whole >> power),
                None => write!(f, "{whole}"),
            };
        }
        let fits = |power: i32| self.nanos % 10_i128.pow((power + 9).unsigned_abs()) == 0;
        let (suffix, power) = DECIMAL
            .iter()
            .rev()
            .find(|(_, power)| fits(*power))
            .copied()
            .unwrap_or(("n", -9));
        if self.nanos == 0 {
            return f.write_str("0");
        }
        let amount = self.nanos / 10_i128.pow((power + 9).unsigned_abs());
        match self.form {
            Form::Exponent if power != 0 => write!(f, "{amount}e{power}"),
            Form::Exponent => write!(f, "{amount}"),
            Form::Decimal | Form::Binary => write!(f, "{amount}{suffix}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantity_is_shown_in_its_canonical_form() {
        for (text, shown) in [
            ("0", "0"),
            ("0.5", "500m"),
            ("500m", "500m"),
            ("1500m", "1500m"),
            ("1000m", "1"),
            ("0.0001", "100u"),
            ("1024Mi", "1Gi"),
            ("1536Mi", "1536Mi"),
            ("1.5Gi", "1536Mi"),
            ("0.5Ki", "512"),
            ("1Ki", "1Ki"),
            ("1000", "1k"),
            ("1500", "1500"),
            ("1e3", "1e3"),
            ("12e6", "12e6"),
            ("-1", "-1"),
            ("+2", "2"),
            (".5", "500m"),
            ("1.", "1"),
            ("0.1n", "1n"),
            ("100000000000000000000", "9223372036854775807"),
        ] {
            let quantity = Quantity::parse(text).unwrap();
            assert_eq!(quantity.to_string(), shown, "{text}");
        }
    }

    #[test]
    fn a_text_that_is_no_quantity_is_refused() {
        for text in [
            "", "lots", "1x", "1..2", "-", "1 Gi", "Gi", "1ee3", "1e", "--1", "1-",
        ] {
            assert!(Quantity::parse(text).is_none(), "{text}");
        }
    }
}
