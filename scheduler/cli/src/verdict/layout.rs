//! Lays JSON out in lines: what lies deep stays on one line.
//!
//! The layout is that of the oracle's files, so that `diff` compares them.

/// Lays `compact` out: everything down to `depth` stands on its own line, indented by one
/// space per level. Line separators are escaped, as Go does.
pub(super) fn lines(compact: &str, depth: usize) -> String {
    let mut lines = Lines {
        out: String::with_capacity(compact.len() * 5 / 4),
        depth,
        level: 0,
    };
    let (mut in_string, mut escaped) = (false, false);
    let mut before = ' ';
    let mut rest = compact.chars().peekable();
    while let Some(c) = rest.next() {
        if in_string {
            lines.push_text(c);
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
        } else {
            in_string = c == '"';
            let empty = match c {
                '{' | '[' => matches!(rest.peek(), Some('}' | ']')),
                _ => matches!(before, '{' | '['),
            };
            lines.push_mark(c, empty);
        }
        before = c;
    }
    lines.out.push('\n');
    lines.out
}

struct Lines {
    out: String,
    depth: usize,
    level: usize,
}

// === impl Lines ===

impl Lines {
    fn push_text(&mut self, c: char) {
        match c {
            '\u{2028}' => self.out.push_str("\\u2028"),
            '\u{2029}' => self.out.push_str("\\u2029"),
            other => self.out.push(other),
        }
    }

    /// `empty`: the bracket that opens or closes here has nothing inside.
    fn push_mark(&mut self, c: char, empty: bool) {
        match c {
            '{' | '[' => {
                self.out.push(c);
                self.level += 1;
                if self.level <= self.depth && !empty {
                    self.new_line();
                }
            }
            '}' | ']' => {
                self.level = self.level.saturating_sub(1);
                if self.level < self.depth && !empty {
                    self.new_line();
                }
                self.out.push(c);
            }
            ',' => {
                self.out.push(c);
                if self.level <= self.depth {
                    self.new_line();
                }
            }
            ':' => self.out.push_str(": "),
            other => self.out.push(other),
        }
    }

    fn new_line(&mut self) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n(' ', self.level));
    }
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn what_lies_deeper_stays_on_one_line() {
        let compact = r#"{"a":[{"b":1,"c":[]},{"d":{}}],"e":"x"}"#;
        assert_eq!(
            lines(compact, 2),
            "{\n \"a\": [\n  {\"b\": 1,\"c\": []},\n  {\"d\": {}}\n ],\n \"e\": \"x\"\n}\n"
        );
        assert_eq!(
            lines(r#"{"a":[{"b":[]}]}"#, 2),
            "{\n \"a\": [\n  {\"b\": []}\n ]\n}\n"
        );
        assert_eq!(lines(r#"{"a":[]}"#, 3), "{\n \"a\": []\n}\n");
    }

    #[test]
    fn texts_stay_as_they_are() {
        let compact = r#"["a,b:{\"c\\","d"]"#;
        assert_eq!(lines(compact, 0), "[\"a,b:{\\\"c\\\\\",\"d\"]\n");
        assert_eq!(lines("\"\u{2028}\"", 0), "\"\\u2028\"\n");
    }
}
