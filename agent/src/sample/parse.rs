//! The formats of `/proc`, `/sys` and cgroup files: takes bytes, gives numbers. Nothing
//! here allocates, fails loudly or panics; what is not as expected is `None`.

/// The lines of a text, without their ends.
pub(crate) fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n')
}

/// The words of a line.
pub(crate) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
}

/// A whole word of decimal digits.
pub(crate) fn number(word: &[u8]) -> Option<u64> {
    if word.is_empty() {
        return None;
    }
    word.iter().try_fold(0_u64, |value, byte| {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

/// A file that holds one number and nothing else.
pub(crate) fn single_number(text: &[u8]) -> Option<u64> {
    number(text.trim_ascii())
}

/// The word at `column` (0 = the key itself) of the first line that begins with the word
/// `key`, as a number: `usage_usec 12` at 1, `MemTotal: 12 kB` at 1, `size 4 12` at 2.
pub(crate) fn keyed(text: &[u8], key: &[u8], column: usize) -> Option<u64> {
    let line = lines(text).find(|line| words(line).next() == Some(key))?;
    number(words(line).nth(column)?)
}

/// Microseconds of the `some` line of a `/proc/pressure` file.
pub(crate) fn pressure_total(text: &[u8]) -> Option<u64> {
    let line = lines(text).find(|line| words(line).next() == Some(b"some"))?;
    words(line).find_map(|word| number(word.strip_prefix(b"total=")?))
}

/// How many CPUs a list such as `0-1,8-9,16-17` names.
pub(crate) fn cpu_list(text: &[u8]) -> Option<u32> {
    let mut count = 0_u32;
    for range in text.trim_ascii().split(|byte| *byte == b',') {
        let mut ends = range.splitn(2, |byte| *byte == b'-');
        let first = number(ends.next()?)?;
        let last = ends.next().map_or(Some(first), number)?;
        let length = last.checked_sub(first)?.checked_add(1)?;
        count = count.checked_add(u32::try_from(length).ok()?)?;
    }
    Some(count)
}

/// One line of `/proc/net/dev`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NetDevLine<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) rx_bytes: u64,
    pub(crate) tx_bytes: u64,
}

/// The interfaces of `/proc/net/dev`; the two head lines hold no number and fall away.
pub(crate) fn net_dev(text: &[u8]) -> impl Iterator<Item = NetDevLine<'_>> {
    lines(text).filter_map(|line| {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let (name, fields) = line.split_at_checked(colon)?;
        let mut fields = words(fields.strip_prefix(b":")?);
        let rx_bytes = number(fields.next()?)?;
        let tx_bytes = number(fields.nth(7)?)?;
        Some(NetDevLine {
            name: name.trim_ascii(),
            rx_bytes,
            tx_bytes,
        })
    })
}

#[cfg(test)]
mod tests;
