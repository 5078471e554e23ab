//! The plain form of an answer: what must differ between two servers, or two runs, is named instead of
//! shown. Takes text, gives text.

use std::collections::BTreeMap;

use serde_json::Value;

/// The length of a UUID.
const UUID: usize = 36;
/// The length of `Mon, 02 Jan 2006 15:04:05 +0000`, as kubectl describes times.
const DESCRIBED: usize = 31;

/// What is known of the run.
pub(super) struct Plain<'a> {
    /// The server's address, with its scheme.
    pub(super) server: &'a str,
    /// Values that steps kept, by name.
    pub(super) kept: &'a BTreeMap<String, String>,
}

impl Plain<'_> {
    /// Gives the plain form.
    pub(super) fn of(&self, text: &str) -> String {
        let host = self.server.rsplit('/').next().unwrap_or(self.server);
        let text = text.replace(self.server, "SERVER").replace(host, "HOST");
        let mut lines = Vec::new();
        let mut in_comparison = false;
        for line in text.lines() {
            // kube-apiserver adds a comparison of its internal types to a refusal.
            in_comparison = (in_comparison && !line.trim().is_empty()) || line.starts_with("@@ -");
            if !in_comparison {
                lines.push(self.line(line));
            }
        }
        // Mistakes found in a map are told in no certain order.
        for mistakes in lines.chunk_by_mut(|one, two| is_mistake(one) && is_mistake(two)) {
            mistakes.sort();
        }
        while lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
        lines.join("\n")
    }

    fn line(&self, line: &str) -> String {
        let line = match serde_json::from_str::<Value>(line) {
            Ok(mut value) if value.is_object() => {
                plain_json(&mut value);
                value.to_string()
            }
            _ => version_line(line),
        };
        let line = described_times(&line);
        let line = words(&line, |word, before| self.word(word, before));
        squeeze(&line)
    }

    /// Gives the name of a word that is told by its shape.
    fn word(&self, word: &str, before: Option<char>) -> Option<String> {
        let kept = self.kept.iter().find(|(_, value)| *value == word);
        if let Some((name, _)) = kept.filter(|_| word.len() > 1) {
            return Some(format!("${name}"));
        }
        if is_uuid(word) {
            return Some("UID".to_owned());
        }
        if is_time(word) {
            return Some("TIME".to_owned());
        }
        if before.is_none_or(|it| it.is_whitespace() || it == '(') && is_age(word) {
            return Some("AGE".to_owned());
        }
        for prefix in ["made-", "LIVE-", "MERGED-"] {
            if word.starts_with(prefix) {
                return Some(format!("{prefix}RANDOM"));
            }
        }
        None
    }
}

/// Tells whether a line is one of several mistakes that kubectl lists.
fn is_mistake(line: &str) -> bool {
    line.starts_with("* ")
}

/// Takes versions, tokens and the owners of fields out of an object.
fn plain_json(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.remove("managedFields");
            for (key, value) in map {
                match key.as_str() {
                    "resourceVersion" | "continue" if value.is_string() => {
                        *value = Value::from("VERSION");
                    }
                    _ => plain_json(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(plain_json),
        _ => {}
    }
}

/// Takes the version out of a line that shows one.
fn version_line(line: &str) -> String {
    for mark in [
        "resourceVersion: ",
        "\"resourceVersion\": ",
        "Resource Version: ",
    ] {
        if let Some(at) = line.find(mark) {
            return format!("{}VERSION", &line[..at + mark.len()]);
        }
    }
    line.to_owned()
}

fn described_times(line: &str) -> String {
    let mut line = line.to_owned();
    while let Some(end) = line.find(" +0000") {
        let end = end + " +0000".len();
        let start = end.saturating_sub(DESCRIBED);
        let start = if line.is_char_boundary(start) {
            start
        } else {
            end
        };
        // `diff` shows times in a shorter form, of which words are told by shape.
        let day = line[start..].find(", ").is_some_and(|at| at == 3);
        let start = if day { start } else { end - " +0000".len() };
        line.replace_range(start..end, if day { "TIME" } else { "" });
    }
    line
}

/// Replaces words; each is given with the letter before it.
fn words(line: &str, name: impl Fn(&str, Option<char>) -> Option<String>) -> String {
    let is_part = |letter: char| letter.is_alphanumeric() || "-:.+_".contains(letter);
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let end = if is_part(first) {
            rest.find(|letter| !is_part(letter)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let word = &rest[..end];
        match name(word, out.chars().next_back()) {
            Some(name) => out.push_str(&name),
            None => out.push_str(word),
        }
        rest = &rest[end..];
    }
    out
}

/// Makes the width of columns alike: it follows from ages and names that were replaced.
fn squeeze(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut spaces = 0;
    for letter in line.trim_end().chars() {
        spaces = if letter == ' ' { spaces + 1 } else { 0 };
        if spaces <= 2 {
            out.push(letter);
        }
    }
    out
}

fn is_uuid(word: &str) -> bool {
    word.len() == UUID
        && word.char_indices().all(|(at, letter)| match at {
            8 | 13 | 18 | 23 => letter == '-',
            _ => letter.is_ascii_hexdigit(),
        })
}

/// Tells whether a word is a date, a time of day, or both.
fn is_time(word: &str) -> bool {
    let shape: String = word
        .chars()
        .map(|letter| if letter.is_ascii_digit() { '0' } else { letter })
        .collect();
    let shape = shape.trim_end_matches('Z');
    let shape = shape.split('.').next().unwrap_or(shape);
    matches!(shape, "0000-00-00T00:00:00" | "0000-00-00" | "00:00:00")
}

/// Tells whether a word is an age such as `5s` or `3m20s`. Entries are younger than 100 minutes, and
/// `100m` and more is an amount of CPU.
fn is_age(word: &str) -> bool {
    let mut digits = 0;
    for letter in word.chars() {
        match letter {
            '0'..='9' => digits += 1,
            's' | 'm' | 'h' | 'd' if (1..3).contains(&digits) || (digits == 3 && letter == 's') => {
                digits = 0;
            }
            _ => return false,
        }
    }
    digits == 0 && !word.is_empty()
}

#[test]
fn what_must_differ_is_named() {
    let kept = BTreeMap::from([("rv".to_owned(), "412".to_owned())]);
    let plain = Plain {
        server: "http://127.0.0.1:99",
        kept: &kept,
    };
    for (text, expected) in [
        (
            "a   1/1     Running   2 (5m ago)   119s",
            "a  1/1  Running  2 (AGE ago)  AGE",
        ),
        ("cpu: 100m", "cpu: 100m"),
        ("  uid: 7afc8836-eea9-4e5d-b077-0930d7ac0960", "  uid: UID"),
        ("  resourceVersion: \"17\"", "  resourceVersion: VERSION"),
        (
            "at \"2026-11-30T17:14:21Z\" on http://127.0.0.1:99/api",
            "at \"TIME\" on SERVER/api",
        ),
        ("Start:  Mon, 30 Nov 2026 17:14:21 +0000", "Start:  TIME"),
        ("too old: 412 (500)", "too old: $rv (500)"),
        ("made-x7k2p created\n\n", "made-RANDOM created"),
        ("bad:\n* z\n* a\nz\na", "bad:\n* a\n* z\nz\na"),
        ("invalid:\n@@ -1 +1 @@\n- a\n+ b\n\nend", "invalid:\n\nend"),
        (
            r#"{"b":1,"a":{"managedFields":[],"resourceVersion":"5"}}"#,
            r#"{"a":{"resourceVersion":"VERSION"},"b":1}"#,
        ),
    ] {
        assert_eq!(plain.of(text), expected);
    }
}
