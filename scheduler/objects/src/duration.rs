//! Durations as the API writes them: `1m30s`, `500ms`, `-1.5h`.
//!
//! Takes text by the grammar of Go's `time.ParseDuration`, gives whole nanoseconds that
//! print the way Go prints them.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::de::{self, Deserialize, Deserializer, Visitor};

/// Nanoseconds per unit; the micro sign has two code points.
const UNITS: [(&str, i128); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("\u{b5}s", 1_000),
    ("\u{3bc}s", 1_000),
    ("ms", 1_000_000),
    ("s", SECOND),
    ("m", MINUTE),
    ("h", HOUR),
];
/// Nanoseconds in a second.
const SECOND: i128 = 1_000_000_000;
/// Nanoseconds in a minute.
const MINUTE: i128 = 60 * SECOND;
/// Nanoseconds in an hour.
const HOUR: i128 = 60 * MINUTE;

/// A `metav1.Duration`: signed, since a file may hold a negative one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ApiDuration {
    nanos: i64,
}

/// Text that is no duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a duration: expected numbers with units (ns us ms s m h), such as 1m30s")]
pub struct DurationError {
    /// The text as it was found.
    pub text: Box<str>,
}

// === impl ApiDuration ===

impl ApiDuration {
    /// No time.
    pub const ZERO: Self = Self { nanos: 0 };

    /// `seconds` seconds, capped.
    pub const fn from_secs(seconds: i64) -> Self {
        Self {
            nanos: seconds.saturating_mul(1_000_000_000),
        }
    }

    /// `length`, capped.
    pub fn from_std(length: Duration) -> Self {
        Self {
            nanos: i64::try_from(length.as_nanos()).unwrap_or(i64::MAX),
        }
    }

    /// The length; a negative one is zero.
    pub fn to_std(self) -> Duration {
        Duration::from_nanos(u64::try_from(self.nanos).unwrap_or(0))
    }

    /// Whether it is longer than nothing.
    pub fn is_positive(self) -> bool {
        self.nanos > 0
    }

    fn parse(text: &str) -> Option<Self> {
        let (sign, mut rest) = match text.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, text.strip_prefix('+').unwrap_or(text)),
        };
        if rest == "0" {
            return Some(Self::ZERO);
        }
        let mut nanos = 0_i128;
        loop {
            let (term, after) = parse_term(rest)?;
            nanos = nanos.checked_add(term)?;
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
        Some(Self {
            nanos: i64::try_from(sign * nanos).ok()?,
        })
    }
}

/// One number with its unit in nanoseconds, and what follows it.
fn parse_term(text: &str) -> Option<(i128, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, rest) = text.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
        return None;
    }
    let unit_end = rest
        .find(|c: char| c.is_ascii_digit() || c == '.')
        .unwrap_or(rest.len());
    let (unit, after) = rest.split_at(unit_end);
    let nanos = UNITS.iter().find(|(name, _)| *name == unit)?.1;
    let whole: i128 = if whole.is_empty() {
        0
    } else {
        whole.parse().ok()?
    };
    let mut total = whole.checked_mul(nanos)?;
    let mut place = nanos;
    for digit in fraction.bytes() {
        // Below a nanosecond Go cuts off.
        place /= 10;
        total = total.checked_add(i128::from(digit - b'0') * place)?;
    }
    Some((total, after))
}

impl FromStr for ApiDuration {
    type Err = DurationError;

    fn from_str(text: &str) -> Result<Self, DurationError> {
        Self::parse(text).ok_or_else(|| DurationError { text: text.into() })
    }
}

/// As Go prints it: `1m0s`, `1.5s`, `250ms`, `0s`.
impl fmt::Display for ApiDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = i128::from(self.nanos).abs();
        if self.nanos < 0 {
            f.write_str("-")?;
        }
        match total {
            0 => f.write_str("0s"),
            1..1_000 => write!(f, "{total}ns"),
            1_000..1_000_000 => write!(f, "{}\u{b5}s", Decimal(total, 1_000)),
            1_000_000..SECOND => write!(f, "{}ms", Decimal(total, 1_000_000)),
            SECOND..MINUTE => write!(f, "{}s", Decimal(total, SECOND)),
            MINUTE..HOUR => write!(f, "{}m{}s", total / MINUTE, Decimal(total % MINUTE, SECOND)),
            _ => {
                let (hours, rest) = (total / HOUR, total % HOUR);
                write!(
                    f,
                    "{hours}h{}m{}s",
                    rest / MINUTE,
                    Decimal(rest % MINUTE, SECOND)
                )
            }
        }
    }
}

/// An amount in a unit, with only as many decimals as it has.
struct Decimal(i128, i128);

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(amount, unit) = *self;
        write!(f, "{}", amount / unit)?;
        if amount % unit == 0 {
            return Ok(());
        }
        let width = usize::try_from(unit.ilog10()).unwrap_or(0);
        let decimals = format!("{:0width$}", amount % unit);
        write!(f, ".{}", decimals.trim_end_matches('0'))
    }
}

impl<'de> Deserialize<'de> for ApiDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(DurationVisitor)
    }
}

struct DurationVisitor;

impl Visitor<'_> for DurationVisitor {
    type Value = ApiDuration;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a duration, such as \"1m30s\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<ApiDuration, E> {
        text.parse().map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::ApiDuration;

    #[test]
    fn texts_read_and_print_as_in_go() {
        for (text, nanos, printed) in [
            ("0", 0, "0s"),
            ("0s", 0, "0s"),
            ("15s", 15_000_000_000, "15s"),
            ("1m", 60_000_000_000, "1m0s"),
            ("90s", 90_000_000_000, "1m30s"),
            ("1h15m30.918s", 4_530_918_000_000, "1h15m30.918s"),
            ("100h", 360_000_000_000_000, "100h0m0s"),
            ("1.5s", 1_500_000_000, "1.5s"),
            (".5s", 500_000_000, "500ms"),
            ("1.s", 1_000_000_000, "1s"),
            ("-1.5h", -5_400_000_000_000, "-1h30m0s"),
            ("+5ms", 5_000_000, "5ms"),
            ("1500us", 1_500_000, "1.5ms"),
            ("2\u{b5}s", 2_000, "2\u{b5}s"),
            ("2\u{3bc}s7ns", 2_007, "2.007\u{b5}s"),
            ("1ns", 1, "1ns"),
            ("1.0000000009s", 1_000_000_000, "1s"),
        ] {
            let read: ApiDuration = text.parse().unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(
                (read.nanos, read.to_string()),
                (nanos, printed.to_owned()),
                "{text}"
            );
        }
    }

    #[test]
    fn text_outside_the_grammar_is_refused() {
        for text in [
            "",
            "-",
            "+",
            "s",
            ".",
            ".s",
            "15",
            "1 s",
            "1d",
            "1..5s",
            "1s5",
            "--1s",
            "9999999999h",
            "1sm",
        ] {
            assert!(text.parse::<ApiDuration>().is_err(), "{text}");
        }
        let error = "15".parse::<ApiDuration>().unwrap_err().to_string();
        assert!(error.starts_with("`15` is not a duration"), "{error}");
    }

    #[test]
    fn json_holds_a_string_and_no_number() {
        assert_eq!(
            serde_json::from_str::<ApiDuration>("\"2s\"").unwrap(),
            ApiDuration::from_secs(2)
        );
        assert!(serde_json::from_str::<ApiDuration>("15").is_err());
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(nanos in any::<i64>()) {
            let duration = ApiDuration { nanos };
            prop_assert_eq!(duration.to_string().parse::<ApiDuration>().unwrap(), duration);
        }

        #[test]
        fn no_text_panics(text in "[-+]?[0-9.]{0,40}[a-z\u{b5}]{0,3}[0-9.]{0,5}[a-z]{0,2}") {
            if let Ok(duration) = text.parse::<ApiDuration>() {
                prop_assert_eq!(duration.to_string().parse::<ApiDuration>().unwrap(), duration);
            }
        }
    }
}
