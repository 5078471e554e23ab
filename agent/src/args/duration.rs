//! Durations as people write them: `500ms`, `1s`, `1.5s`, `2m`. A bare number is refused,
//! since nobody can know its unit.

use std::time::Duration;

/// Units with their length in seconds; a longer name comes before one it ends with.
const UNITS: [(&str, f64); 4] = [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
/// Longest duration that any flag can mean.
const LONGEST: Duration = Duration::from_hours(24);

/// What is wrong with a duration.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Error {
    /// No unit, or one that is not known.
    #[error("has no unit: write 1s, 500ms, 2m or 1h")]
    Unit,
    /// What stands before the unit is not a number.
    #[error("is not a number with a unit, such as 1s, 500ms, 2m or 1h")]
    Number,
    /// Zero, negative or longer than a day.
    #[error("must be more than 0 and at most 24h")]
    Range,
}

/// Reads a duration.
///
/// # Errors
/// See [`Error`].
pub(super) fn parse_duration(text: &str) -> Result<Duration, Error> {
    let text = text.trim();
    let found = UNITS
        .iter()
        .find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)));
    let (number, seconds) = found.ok_or(Error::Unit)?;
    let plain = number
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.');
    if !plain {
        return Err(Error::Number);
    }
    let number: f64 = number.parse().map_err(|_| Error::Number)?;
    let duration = Duration::try_from_secs_f64(number * seconds).map_err(|_| Error::Range)?;
    if duration.is_zero() || duration > LONGEST {
        return Err(Error::Range);
    }
    Ok(duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_with_a_unit_is_a_duration() {
        for (text, millis) in [
            ("500ms", 500),
            ("1s", 1000),
            ("1.5s", 1500),
            (" 2m ", 120_000),
            ("1h", 3_600_000),
        ] {
            assert_eq!(
                parse_duration(text),
                Ok(Duration::from_millis(millis)),
                "{text}"
            );
        }
    }

    #[test]
    fn anything_else_is_refused_with_the_reason() {
        for (text, error) in [
            ("1", Error::Unit),
            ("", Error::Unit),
            ("s", Error::Number),
            ("1 s", Error::Number),
            ("-1s", Error::Number),
            ("1e3s", Error::Number),
            ("infs", Error::Number),
            ("1.2.3s", Error::Number),
            ("0s", Error::Range),
            ("25h", Error::Range),
            ("99999999999999999999999999999h", Error::Range),
        ] {
            assert_eq!(parse_duration(text), Err(error), "{text}");
        }
    }
}
