//! Reads the speed of links from a flag, in bit/s as links are sold: `10G`, `2.5G`, `400M`.

/// Bits of a byte.
const BITS: u64 = 8;
/// Units of the flag and how many times a thousand they are.
const UNITS: [(char, u32); 4] = [('K', 1), ('M', 2), ('G', 3), ('T', 4)];
/// Digits after the point: enough for any link that is sold.
const DIGITS: usize = 3;

/// Why a speed was refused.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a speed above zero in bit/s with a unit, as 10G, 2.5G or 400M")]
pub(super) struct NoSpeed;

/// Gives bytes per second.
///
/// # Errors
/// [`NoSpeed`] if the text is none.
pub(super) fn parse_link_speed(text: &str) -> Result<u64, NoSpeed> {
    let unit = text.chars().next_back().ok_or(NoSpeed)?;
    let (_, thousands) = UNITS
        .iter()
        .find(|(name, _)| *name == unit)
        .ok_or(NoSpeed)?;
    let number = text.strip_suffix(unit).ok_or(NoSpeed)?;
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits(whole) || !is_digits(part) || part.len() > DIGITS {
        return Err(NoSpeed);
    }
    let thousandths: u64 = format!("{whole}{part:0<DIGITS$}")
        .parse()
        .map_err(|_| NoSpeed)?;
    let bits = 1000_u64
        .checked_pow(thousands - 1)
        .and_then(|unit| thousandths.checked_mul(unit))
        .ok_or(NoSpeed)?;
    Some(bits / BITS).filter(|bytes| *bytes > 0).ok_or(NoSpeed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speed_is_in_bits_and_given_in_bytes() {
        for (text, bytes) in [
            ("10G", 1_250_000_000),
            ("2.5G", 312_500_000),
            ("400M", 50_000_000),
            ("1.6T", 200_000_000_000),
            ("0.125M", 15_625),
            ("8K", 1_000),
        ] {
            assert_eq!(parse_link_speed(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn what_is_no_speed_is_refused() {
        for text in [
            "",
            "G",
            "10",
            "10g",
            "-1",
            "-1G",
            "0G",
            ".5G",
            "5.G",
            "1e3M",
            "2.5555G",
            "10Gi",
            "10 G",
            "1.2.3G",
            "99999999999999999T",
            "\u{e4}",
        ] {
            assert_eq!(parse_link_speed(text), Err(NoSpeed), "{text}");
        }
    }
}
