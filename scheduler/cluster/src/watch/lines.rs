//! Lines of a stream that comes in pieces.
//!
//! Takes chunks of bytes as the connection gives them, gives whole lines. A line that is
//! too long is passed over, so that one monstrous object cannot fill the memory.

/// Longest line taken. etcd refuses objects over 1.5 MiB; as JSON some grow by half.
pub(super) const LINE_MAX: usize = 16 << 20;

/// A line, or a place where there was one.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A line without its end.
    Whole(Vec<u8>),
    /// A line over the limit, left out.
    TooLong,
}

/// Puts chunks together.
#[derive(Debug)]
pub(super) struct Lines {
    limit: usize,
    partial: Vec<u8>,
    skipping: bool,
}

// === impl Lines ===

impl Lines {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            partial: Vec::new(),
            skipping: false,
        }
    }

    /// Adds a chunk and gives the lines that it completes; empty ones are left out.
    pub(super) fn push(&mut self, chunk: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        let mut rest = chunk;
        while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
            self.keep(&rest[..end]);
            rest = &rest[end + 1..];
            let line = std::mem::take(&mut self.partial);
            if std::mem::take(&mut self.skipping) {
                lines.push(Line::TooLong);
            } else if !line.is_empty() {
                lines.push(Line::Whole(line));
            }
        }
        self.keep(rest);
        lines
    }

    fn keep(&mut self, piece: &[u8]) {
        if self.skipping || self.partial.len() + piece.len() > self.limit {
            self.skipping = true;
            self.partial = Vec::new();
        } else {
            self.partial.extend_from_slice(piece);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Line, Lines};

    fn whole(text: &str) -> Line {
        Line::Whole(text.as_bytes().to_vec())
    }

    #[test]
    fn lines_are_whole_however_the_chunks_fall() {
        let text = b"one\ntwo\n\nthree\nfo";
        for size in 1..=text.len() {
            let mut lines = Lines::new(100);
            let found: Vec<Line> = text
                .chunks(size)
                .flat_map(|chunk| lines.push(chunk))
                .collect();
            assert_eq!(
                found,
                [whole("one"), whole("two"), whole("three")],
                "chunks of {size}"
            );
        }
    }

    #[test]
    fn a_line_over_the_limit_is_passed_over_and_the_next_one_is_whole() {
        let text = b"abcdefgh\nok\n";
        for size in 1..=text.len() {
            let mut lines = Lines::new(4);
            let found: Vec<Line> = text
                .chunks(size)
                .flat_map(|chunk| lines.push(chunk))
                .collect();
            assert_eq!(found, [Line::TooLong, whole("ok")], "chunks of {size}");
        }
    }
}
