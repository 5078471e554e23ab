//! Where in a file a path is: `profiles[0].plugins` to the number of its line.

use std::collections::BTreeMap;

use plimsoll_framework::FieldPath;

use crate::yaml;

/// The lines of a file's keys and list elements.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lines {
    by_path: BTreeMap<String, u64>,
}

// === impl Lines ===

impl Lines {
    /// Reads a file; without lines where it is no YAML.
    pub fn of(text: &str) -> Self {
        let mut lines = Self::default();
        yaml::parse_with_lines(text, &mut Vec::new(), &mut lines);
        lines
    }

    /// The line of `path`, from 1, or of the nearest part of the file that holds it; `None`
    /// where that is the file as a whole.
    pub fn line(&self, path: &FieldPath) -> Option<u64> {
        let mut path = path.as_str();
        loop {
            if let Some(line) = self.by_path.get(path) {
                return Some(*line);
            }
            path = &path[..path.rfind(['.', '['])?];
        }
    }

    /// Of a path that is there twice the last counts: it is the one too many.
    pub(crate) fn insert(&mut self, path: &FieldPath, line: u64) {
        if line > 0 {
            self.by_path.insert(path.as_str().to_owned(), line);
        }
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_framework::FieldPath;

    use super::Lines;

    const FILE: &str = "\
# a comment
kind: X
profiles:
- schedulerName: a
  plugins:
    score:
      enabled:
      - name: A
      - {name: B,
         weight: 2}
- schedulerName: b
kind: Y
";

    #[test]
    fn a_path_has_the_line_of_its_key() {
        let lines = Lines::of(FILE);
        for (path, line) in [
            ("profiles", Some(3)),
            ("profiles[0]", Some(4)),
            ("profiles[0].plugins.score", Some(6)),
            ("profiles[0].plugins.score.enabled[1].name", Some(9)),
            ("profiles[0].plugins.score.enabled[1].weight", Some(10)),
            ("profiles[1].schedulerName", Some(11)),
            ("kind", Some(12)),
        ] {
            assert_eq!(lines.line(&FieldPath::new(path)), line, "{path}");
        }
    }

    #[test]
    fn a_path_that_is_not_there_has_the_line_of_what_holds_it() {
        let lines = Lines::of(FILE);
        for (path, line) in [
            ("profiles[0].plugins.queueSort.enabled", Some(5)),
            ("profiles[1].pluginConfig[3].args", Some(11)),
            ("parallelism", None),
            ("", None),
        ] {
            assert_eq!(lines.line(&FieldPath::new(path)), line, "{path}");
        }
    }

    #[test]
    fn what_is_no_yaml_has_no_lines() {
        assert_eq!(Lines::of("a: b: c"), Lines::default());
        assert_eq!(Lines::of(""), Lines::default());
    }
}
