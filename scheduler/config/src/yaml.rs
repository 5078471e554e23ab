//! YAML text -> one JSON value, and every key that is written twice.
//!
//! Reads as kube-scheduler does (`sigs.k8s.io/yaml`, strict): YAML 1.1 scalars, the first
//! document only, merge keys; a key that a merge brings as well counts as repeated.

mod node;

use plimsoll_framework::{FieldError, FieldPath, Stage};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use serde_saphyr::{DuplicateKeyPolicy, MergeKeyPolicy, NonFiniteFloatPolicy, Options, Spanned};

use self::node::Node;
use crate::lines::Lines;

/// Deepest nesting of a file: twice what the deepest args need, far below the stack.
const DEPTH_MAX: usize = 64;
/// Most parts of a file, aliases counted as often as they are used: a hundred profiles with
/// a hundred lines each have a tenth of that.
const EVENTS_MAX: usize = 100_000;
/// Key that stands for the entries of its value.
const MERGE_KEY: &str = "<<";
/// Integers up to here are exact in a float.
const EXACT_FLOAT: f64 = 9_007_199_254_740_992.0;

/// How the problem of a key that is there twice begins.
pub(crate) const REPEATED_KEY: &str = "repeated key";

/// A document on its way to a value.
struct Reading<'r> {
    errors: &'r mut Vec<FieldError>,
    lines: &'r mut Lines,
}

/// The value of the first document; `None` where the text is no YAML (then an error is
/// kept). An empty file is `null`.
pub(crate) fn parse(text: &str, errors: &mut Vec<FieldError>) -> Option<Value> {
    parse_with_lines(text, errors, &mut Lines::default())
}

/// The same, and the line of every key and element.
pub(crate) fn parse_with_lines(
    text: &str,
    errors: &mut Vec<FieldError>,
    lines: &mut Lines,
) -> Option<Value> {
    let mut first = None;
    let read = serde_saphyr::with_deserializer_from_str_with_options(text, options(), |document| {
        first = Some(Node::deserialize(document)?);
        Ok(())
    });
    match (first, read) {
        // What follows the first document is not looked at, so its errors do not count.
        (Some(node), _) => Some(Reading { errors, lines }.value(node, &FieldPath::default())),
        (None, Ok(())) => Some(Value::Null),
        (None, Err(error)) => {
            let problem = format!("not YAML: {error}");
            errors.push(FieldError::new(
                Stage::Decode,
                FieldPath::default(),
                problem,
            ));
            None
        }
    }
}

/// Whether something follows the first document, sound or not: nobody reads it.
pub(crate) fn has_more(text: &str) -> bool {
    let mut has_first = false;
    let read = serde_saphyr::with_deserializer_from_str_with_options(text, options(), |document| {
        IgnoredAny::deserialize(document)?;
        has_first = true;
        Ok(())
    });
    has_first && read.is_err()
}

fn options() -> Options {
    serde_saphyr::options! {
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: EVENTS_MAX },
        budget: serde_saphyr::budget! { max_depth: DEPTH_MAX, max_events: EVENTS_MAX },
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        merge_keys: MergeKeyPolicy::AsOrdinary,
        legacy_octal_numbers: true,
        non_finite_float_policy: NonFiniteFloatPolicy::Reject,
        with_snippet: false,
    }
}

/// A float without fraction is an integer, as it is after YAML became JSON in Go.
fn whole(value: Value) -> Value {
    match value.as_f64() {
        Some(float) if value.is_f64() && float.fract() == 0.0 && float.abs() <= EXACT_FLOAT => {
            Value::from(float as i64)
        }
        _ => value,
    }
}

// === impl Reading ===

impl Reading<'_> {
    fn value(&mut self, node: Node, path: &FieldPath) -> Value {
        match node {
            Node::Scalar(value) => whole(value),
            Node::List(items) => {
                let items = items.into_iter().enumerate();
                let items = items.map(|(i, item)| {
                    let path = path.index(i);
                    self.lines.insert(&path, item.referenced.line());
                    self.value(item.value, &path)
                });
                Value::Array(items.collect())
            }
            Node::Map(entries) => {
                let mut map = Map::new();
                for (key, node) in entries {
                    self.add_entry(&mut map, key, node, path);
                }
                Value::Object(map)
            }
        }
    }

    fn add_entry(
        &mut self,
        map: &mut Map<String, Value>,
        key: Spanned<String>,
        node: Node,
        path: &FieldPath,
    ) {
        let line = key.referenced.line();
        match (key.value.as_str(), node) {
            (MERGE_KEY, Node::Map(entries)) => {
                for (key, node) in entries {
                    self.add_entry(map, key, node, path);
                }
            }
            (MERGE_KEY, Node::List(sources)) => {
                for source in sources {
                    self.add_entry(map, key.clone(), source.value, path);
                }
            }
            (MERGE_KEY, Node::Scalar(_)) => {
                let path = path.field(MERGE_KEY);
                self.lines.insert(&path, line);
                self.reject(path, "a merge needs a map, or a list of maps");
            }
            (_, node) => {
                let path = path.field(&key.value);
                self.lines.insert(&path, line);
                let value = self.value(node, &path);
                if map.insert(key.value, value).is_some() {
                    let problem =
                        format!("{REPEATED_KEY}: it is written twice, or once and in a merge");
                    self.reject(path, problem);
                }
            }
        }
    }

    fn reject(&mut self, path: FieldPath, problem: impl Into<String>) {
        self.errors
            .push(FieldError::new(Stage::Decode, path, problem));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{has_more, parse};

    fn read(text: &str) -> Value {
        let mut errors = Vec::new();
        let value = parse(text, &mut errors);
        assert_eq!(errors, []);
        value.unwrap()
    }

    fn mistakes(text: &str) -> Vec<String> {
        let mut errors = Vec::new();
        parse(text, &mut errors);
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn scalars_are_those_of_yaml_1_1() {
        assert_eq!(
            read("{a: 0x10, b: 010, c: off, d: yes, e: ~, f: 'no', g: 4.0, h: 120.5, i: -3}"),
            json!({"a": 16, "b": 8, "c": false, "d": true, "e": null, "f": "no", "g": 4, "h": 120.5, "i": -3})
        );
    }

    #[test]
    fn json_and_empty_files_are_yaml() {
        assert_eq!(read("{\"a\": [1, \"x\"]}"), json!({"a": [1, "x"]}));
        assert_eq!(read(""), Value::Null);
        assert_eq!(read("# nothing\n"), Value::Null);
    }

    #[test]
    fn only_the_first_document_counts() {
        assert_eq!(read("a: 1\n---\na: {"), json!({"a": 1}));
        assert_eq!(read("---\na: 1\n...\nb"), json!({"a": 1}));
    }

    #[test]
    fn what_follows_the_first_document_is_noticed() {
        for text in [
            "a: 1\n---\nb: 2\n",
            "a: 1\n---\na: {",
            "---\na: 1\n...\n---\nb",
            "[]\n---\n1",
        ] {
            assert!(has_more(text), "{text:?}");
        }
        for text in [
            "a: 1\n",
            "---\na: 1\n",
            "a: 1\n...\n",
            "# a\n---\na: 1\n# b\n",
            "",
            "{\"a\": 1}\n",
            "a: [",
        ] {
            assert!(!has_more(text), "{text:?}");
        }
    }

    #[test]
    fn merges_bring_their_entries() {
        assert_eq!(
            read("b: &b {x: 1}\na: {<<: *b, y: 2}")["a"],
            json!({"x": 1, "y": 2})
        );
        assert_eq!(
            read("a: {<<: [{x: 1}, {y: 2}]}")["a"],
            json!({"x": 1, "y": 2})
        );
    }

    #[test]
    fn every_repeated_key_is_named_with_its_path() {
        assert_eq!(
            mistakes("a: 1\nb: [{c: 1, c: 2}, {<<: {d: 1}, d: 2}]\na: 2\n"),
            ["b[0].c", "b[1].d", "a"].map(|path| format!(
                "{path}: repeated key: it is written twice, or once and in a merge"
            ))
        );
    }

    #[test]
    fn broken_yaml_is_named_with_its_line() {
        let message = mistakes("a: 1\nb: c: d\n").join("");
        assert!(
            message.starts_with("<file>: not YAML: ") && message.contains("line 2"),
            "{message}"
        );
        assert_eq!(
            mistakes("a: {<<: 3}"),
            ["a.<<: a merge needs a map, or a list of maps"]
        );
    }

    #[test]
    fn deep_nesting_and_many_aliases_are_refused() {
        assert_eq!(mistakes(&"[".repeat(100_000)).len(), 1);
        assert_eq!(mistakes(&"a: {".repeat(200)).len(), 1);
        let level = |n: usize| {
            let aliases = vec![format!("*a{}", n - 1); 8].join(", ");
            format!("a{n}: &a{n} [{aliases}]\n")
        };
        let bomb = "a0: &a0 [x]\n".to_owned() + &(1..10).map(level).collect::<String>();
        assert_eq!(mistakes(&bomb).len(), 1);
    }
}
