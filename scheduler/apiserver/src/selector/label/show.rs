//! Shows a label selector as text, in the form that is parsed again.

use std::fmt;

use super::{LabelSelector, Requirement, Test};

impl fmt::Display for LabelSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, requirement) in self.requirements.iter().enumerate() {
            if at > 0 {
                f.write_str(",")?;
            }
            requirement.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = &self.key;
        match &self.test {
            Test::Exists => f.write_str(key),
            Test::Absent => write!(f, "!{key}"),
            Test::In(values) if values.len() == 1 => write!(f, "{key}={}", values[0]),
            Test::In(values) => write!(f, "{key} in ({})", values.join(",")),
            Test::NotIn(values) => write!(f, "{key} notin ({})", values.join(",")),
            Test::Greater(bound) => write!(f, "{key}>{bound}"),
            Test::Less(bound) => write!(f, "{key}<{bound}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selector_is_shown_in_a_form_that_is_read_again() {
        for text in ["a=b", "a in (b,c),!d", "e,f notin (g)", "h>4,i<5", ""] {
            assert_eq!(LabelSelector::parse(text).unwrap().to_string(), text);
        }
    }
}
