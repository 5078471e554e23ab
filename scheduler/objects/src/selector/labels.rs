//! Which objects a label selector means: the one parser and matcher of `metav1.LabelSelector`.
//!
//! apimachinery `LabelSelectorAsSelector`. A mistake is kept as a value, in kube-scheduler's
//! words: a selector with one matches nothing.

use std::sync::Arc;

use super::mistake::message;
use super::requirement::{LabelRequirement, RawRequirement};
use crate::meta::Labels;

/// The operators of `matchExpressions`.
const OPERATORS: [&str; 4] = ["In", "NotIn", "Exists", "DoesNotExist"];

/// A `metav1.LabelSelector`, parsed. The default matches nothing, as a selector that is not
/// there; one without requirements matches everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct LabelSelector(Meaning);

#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Meaning {
    #[default]
    Nothing,
    All(Box<[LabelRequirement]>),
    Mistake(Box<str>),
}

// === impl LabelSelector ===

impl LabelSelector {
    /// Matches every object.
    pub fn everything() -> Self {
        Self(Meaning::All(Box::default()))
    }

    /// A selector of `matchLabels` and `matchExpressions`.
    pub fn new<'a>(
        labels: impl IntoIterator<Item = (&'a str, &'a str)>,
        expressions: &[RawRequirement<'_>],
    ) -> Self {
        let mut requirements = Vec::new();
        for (key, value) in labels {
            let raw = RawRequirement {
                key,
                operator: "In",
                values: Some(vec![value]),
            };
            match requirement(&raw) {
                Ok(requirement) => requirements.push(requirement),
                Err(mistake) => return Self(Meaning::Mistake(mistake)),
            }
        }
        for raw in expressions {
            match requirement(raw) {
                Ok(requirement) => requirements.push(requirement),
                Err(mistake) => return Self(Meaning::Mistake(mistake)),
            }
        }
        Self(Meaning::All(requirements.into()))
    }

    /// The same with one more requirement; what matches nothing stays so.
    #[must_use]
    pub fn and(self, raw: &RawRequirement<'_>) -> Self {
        let Meaning::All(requirements) = self.0 else {
            return self;
        };
        match requirement(raw) {
            Ok(requirement) => {
                let mut all = requirements.into_vec();
                all.push(requirement);
                Self(Meaning::All(all.into()))
            }
            Err(mistake) => Self(Meaning::Mistake(mistake)),
        }
    }

    /// Whether every requirement is met by `labels`.
    pub fn matches(&self, labels: &Labels) -> bool {
        match &self.0 {
            Meaning::All(requirements) => requirements.iter().all(|one| one.matches(labels)),
            Meaning::Nothing | Meaning::Mistake(_) => false,
        }
    }

    /// Keys and values of its requirements that name the values they are met by: what it
    /// matches has one of the values of each, by which an index can find it.
    pub fn one_of(&self) -> impl Iterator<Item = (&str, &[Arc<str>])> {
        let requirements = match &self.0 {
            Meaning::All(requirements) => &requirements[..],
            Meaning::Nothing | Meaning::Mistake(_) => &[],
        };
        requirements.iter().filter_map(LabelRequirement::one_of)
    }

    /// Whether it has no requirement (Go `Selector.Empty`): it matches everything.
    pub fn is_empty(&self) -> bool {
        matches!(&self.0, Meaning::All(requirements) if requirements.is_empty())
    }

    /// Whether it stands for a selector that is not there.
    pub fn is_nothing(&self) -> bool {
        self.0 == Meaning::Nothing
    }

    /// The mistake in it.
    pub fn mistake(&self) -> Option<&str> {
        match &self.0 {
            Meaning::Mistake(mistake) => Some(mistake),
            Meaning::Nothing | Meaning::All(_) => None,
        }
    }
}

fn requirement(raw: &RawRequirement<'_>) -> Result<LabelRequirement, Box<str>> {
    if !OPERATORS.contains(&raw.operator) {
        let text = format!("{:?} is not a valid label selector operator", raw.operator);
        return Err(text.into());
    }
    // Go copies the list: a copy of an empty one is none.
    let values = raw.values.clone().filter(|values| !values.is_empty());
    let raw = RawRequirement { values, ..*raw };
    LabelRequirement::parse(&raw, "").map_err(|mut mistakes| {
        for mistake in &mut mistakes {
            mistake.path = mistake.path.trim_start_matches('.').to_owned();
        }
        message(&mistakes).into()
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{LabelSelector, RawRequirement};
    use crate::meta::Labels;

    fn labels(pairs: &[(&str, &str)]) -> Labels {
        let pairs = pairs.iter();
        pairs
            .map(|(key, value)| (Arc::from(*key), Arc::from(*value)))
            .collect()
    }

    fn raw<'a>(key: &'a str, operator: &'a str, values: &[&'a str]) -> RawRequirement<'a> {
        RawRequirement {
            key,
            operator,
            values: (!values.is_empty()).then(|| values.to_vec()),
        }
    }

    #[test]
    fn one_without_requirements_matches_everything_one_that_is_not_there_nothing() {
        let everything = LabelSelector::new([], &[]);
        assert!(everything.is_empty() && everything.matches(&labels(&[])));
        let nothing = LabelSelector::default();
        assert!(nothing.is_nothing() && !nothing.matches(&labels(&[])));
    }

    #[test]
    fn all_requirements_must_be_met() {
        let expressions = [raw("tier", "NotIn", &["db"]), raw("app", "Exists", &[])];
        let selector = LabelSelector::new([("app", "web")], &expressions);
        let cases = [
            (labels(&[("app", "web")]), true),
            (labels(&[("app", "web"), ("tier", "db")]), false),
            (labels(&[("app", "api")]), false),
            (labels(&[]), false),
        ];
        for (labels, matches) in cases {
            assert_eq!(selector.matches(&labels), matches, "{labels:?}");
        }
        let named: Vec<_> = selector.one_of().collect();
        assert_eq!(named, [("app", &[Arc::from("web")][..])]);
        let narrower = selector.and(&raw("version", "In", &["2"]));
        assert!(!narrower.matches(&labels(&[("app", "web")])));
        assert!(narrower.matches(&labels(&[("app", "web"), ("version", "2")])));
    }

    #[test]
    fn an_empty_list_of_values_is_told_as_none() {
        let empty = RawRequirement {
            values: Some(Vec::new()),
            ..raw("app", "NotIn", &[])
        };
        assert_eq!(
            LabelSelector::new([], &[empty]).mistake(),
            Some(
                "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"
            )
        );
    }

    #[test]
    fn a_mistake_matches_nothing_and_is_told() {
        let cases = [
            (
                raw("app", "Gt", &["1"]),
                "\"Gt\" is not a valid label selector operator",
            ),
            (
                raw("app", "In", &[]),
                "values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
            ),
        ];
        for (raw, mistake) in cases {
            let selector = LabelSelector::new([], &[raw]);
            assert_eq!(selector.mistake(), Some(mistake));
            assert!(!selector.matches(&labels(&[("app", "web")])));
        }
    }
}
