//! Label selectors: `a=b,c!=d,e in (f,g),h notin (i),j,!k,l>5,m<7`, and the object form of
//! `spec.selector` (`k8s.io/apimachinery/pkg/labels/selector.go`).

mod scan;
mod show;

use serde_json::Value;

use crate::{json, names, status::Status};
use scan::{Token, scan};

/// A conjunction of requirements on labels; without any, it selects everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LabelSelector {
    requirements: Vec<Requirement>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Requirement {
    key: String,
    test: Test,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Test {
    Exists,
    Absent,
    In(Vec<String>),
    NotIn(Vec<String>),
    Greater(i64),
    Less(i64),
}

impl LabelSelector {
    /// Reads the text form.
    pub(crate) fn parse(text: &str) -> Result<Self, Status> {
        let tokens = scan(text);
        let mut rest = tokens.as_slice();
        let mut requirements = Vec::new();
        while !rest.is_empty() {
            let (requirement, after) = requirement(rest)?;
            requirements.push(requirement);
            rest = match after {
                [] => after,
                [Token::Comma, next @ ..] if !next.is_empty() => next,
                [Token::Comma] => return Err(unreadable("", "identifier after ','")),
                [other, ..] => return Err(unreadable(other.text(), "',' or 'end of string'")),
            };
        }
        Ok(Self { requirements })
    }

    /// Reads the object form (`matchLabels`, `matchExpressions`); `None` where an operator is unknown.
    pub(crate) fn from_object(object: &Value) -> Option<Self> {
        let mut requirements = Vec::new();
        if let Some(pairs) = json::at(object, &["matchLabels"]).and_then(Value::as_object) {
            for (key, value) in pairs {
                let test = Test::In(vec![value.as_str()?.to_owned()]);
                requirements.push(Requirement {
                    key: key.clone(),
                    test,
                });
            }
        }
        for expression in json::list(object, &["matchExpressions"]) {
            let values = || {
                let values = json::list(expression, &["values"]).iter();
                values
                    .filter_map(Value::as_str)
                    .map(ToOwned::to_owned)
                    .collect()
            };
            let test = match json::text(expression, &["operator"])? {
                "In" => Test::In(values()),
                "NotIn" => Test::NotIn(values()),
                "Exists" => Test::Exists,
                "DoesNotExist" => Test::Absent,
                _ => return None,
            };
            let key = json::text(expression, &["key"])?.to_owned();
            requirements.push(Requirement { key, test });
        }
        Some(Self { requirements })
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Tells whether labels, given as a look-up, meet every requirement.
    pub(crate) fn matches<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.requirements
            .iter()
            .all(|requirement| requirement.test.holds(label(&requirement.key)))
    }
}

impl Test {
    fn holds(&self, value: Option<&str>) -> bool {
        match (self, value) {
            (Self::Exists, value) => value.is_some(),
            (Self::Absent, value) => value.is_none(),
            (Self::In(values), Some(value)) => values.iter().any(|it| it == value),
            (Self::NotIn(values), Some(value)) => !values.iter().any(|it| it == value),
            (Self::NotIn(_), None) => true,
            (Self::Greater(bound), Some(value)) => value.parse().is_ok_and(|it: i64| it > *bound),
            (Self::Less(bound), Some(value)) => value.parse().is_ok_and(|it: i64| it < *bound),
            (Self::In(_) | Self::Greater(_) | Self::Less(_), None) => false,
        }
    }
}

fn requirement(tokens: &[Token]) -> Result<(Requirement, &[Token]), Status> {
    let (key, test, rest) = match tokens {
        [Token::Not, Token::Word(key), rest @ ..] => (key, Test::Absent, rest),
        [Token::Word(key), Token::Word(word), rest @ ..] if word == "in" => {
            let (values, rest) = values(rest)?;
            (key, Test::In(values), rest)
        }
        [Token::Word(key), Token::Word(word), rest @ ..] if word == "notin" => {
            let (values, rest) = values(rest)?;
            (key, Test::NotIn(values), rest)
        }
        [Token::Word(key), Token::Equal(_), rest @ ..] => {
            let (value, rest) = value(rest);
            (key, Test::In(vec![value]), rest)
        }
        [Token::Word(key), Token::NotEqual, rest @ ..] => {
            let (value, rest) = value(rest);
            (key, Test::NotIn(vec![value]), rest)
        }
        [Token::Word(key), Token::Greater, rest @ ..] => {
            let (bound, rest) = bound(rest)?;
            (key, Test::Greater(bound), rest)
        }
        [Token::Word(key), Token::Less, rest @ ..] => {
            let (bound, rest) = bound(rest)?;
            (key, Test::Less(bound), rest)
        }
        [Token::Word(key)] => (key, Test::Exists, &[][..]),
        [Token::Word(key), rest @ ..] if rest.first() == Some(&Token::Comma) => {
            (key, Test::Exists, rest)
        }
        [Token::Word(_), other, ..] => {
            let expected = "in, notin, =, ==, !=, gt, lt";
            return Err(unfit(&format!(
                "found '{}', expected: {expected}",
                other.text()
            )));
        }
        [other, ..] => {
            return Err(unreadable(
                other.text(),
                "!, identifier, or 'end of string'",
            ));
        }
        [] => return Err(unreadable("", "identifier")),
    };
    check(key, &test)?;
    let key = key.clone();
    Ok((Requirement { key, test }, rest))
}

fn value(tokens: &[Token]) -> (String, &[Token]) {
    match tokens {
        [Token::Word(value), rest @ ..] => (value.clone(), rest),
        rest => (String::new(), rest),
    }
}

fn bound(tokens: &[Token]) -> Result<(i64, &[Token]), Status> {
    let (value, rest) = value(tokens);
    let bound = value
        .parse()
        .map_err(|_| Status::bad_request(format!("unable to parse requirement: values[0][gt/lt]: Invalid value: {value:?}: for 'Gt', 'Lt' operators, the value must be an integer")))?;
    Ok((bound, rest))
}

fn values(tokens: &[Token]) -> Result<(Vec<String>, &[Token]), Status> {
    let [Token::Open, rest @ ..] = tokens else {
        let found = tokens.first().map_or("", Token::text);
        return Err(unfit(&format!("found '{found}' expected: '('")));
    };
    let mut values = Vec::new();
    let mut rest = rest;
    loop {
        let (value, after) = value(rest);
        values.push(value);
        rest = match after {
            [Token::Comma, next @ ..] => next,
            [Token::Close, next @ ..] => return Ok((values, next)),
            other => {
                let found = other.first().map_or("", Token::text);
                return Err(unfit(&format!("found '{found}', expected: ',' or ')'")));
            }
        };
    }
}

fn unreadable(found: &str, expected: &str) -> Status {
    Status::bad_request(format!("found '{found}', expected: {expected}"))
}

/// The refusal of something inside a requirement.
fn unfit(why: &str) -> Status {
    Status::bad_request(format!("unable to parse requirement: {why}"))
}

/// Checks the key and the values of a requirement.
fn check(key: &str, test: &Test) -> Result<(), Status> {
    let refuse = |field: &str, text: &str, wrong: Vec<String>| match wrong.as_slice() {
        [] => Ok(()),
        wrong => Err(unfit(&format!(
            "{field}: Invalid value: {text:?}: {}",
            wrong.join("; ")
        ))),
    };
    refuse("<nil>", key, names::qualified(key))?;
    if let Test::In(values) | Test::NotIn(values) = test {
        for (at, value) in values.iter().enumerate() {
            let field = format!("values[{at}][{key}]");
            refuse(&field, value, names::label_value(value))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn labels(key: &str) -> Option<&'static str> {
        match key {
            "app" => Some("web"),
            "rank" => Some("5"),
            "empty" => Some(""),
            _ => None,
        }
    }

    #[test]
    fn a_selector_matches_as_the_grammar_says() {
        let cases = [
            ("", true),
            ("app", true),
            ("!app", false),
            ("!none", true),
            ("app=web,rank=5", true),
            ("app == web", true),
            ("app!=web", false),
            ("none!=web", true),
            ("empty=", true),
            ("none=", false),
            ("app in (api, web)", true),
            ("app notin (api,web)", false),
            ("none notin (x)", true),
            ("rank>4,rank<6", true),
            ("rank>5", false),
            ("app>1", false),
            ("none in (x)", false),
            ("in in (in)", false),
        ];
        for (text, expected) in cases {
            let selector = LabelSelector::parse(text).unwrap();
            assert_eq!(selector.matches(labels), expected, "{text}");
        }
    }

    #[test]
    fn a_text_outside_the_grammar_is_a_bad_request() {
        for text in [
            "=", "a b", "a in x", "a in (x", "a,", ",a", "a=b c", "a>x", "(a)",
        ] {
            assert_eq!(LabelSelector::parse(text).unwrap_err().code, 400, "{text}");
        }
    }

    #[test]
    fn the_object_form_means_the_same_as_the_text_form() {
        let object = json!({
            "matchLabels": {"app": "web"},
            "matchExpressions": [
                {"key": "rank", "operator": "NotIn", "values": ["6"]},
                {"key": "none", "operator": "DoesNotExist"},
            ],
        });
        assert_eq!(
            LabelSelector::from_object(&object),
            Some(LabelSelector::parse("app=web,rank!=6,!none").unwrap())
        );
        let unknown = json!({"matchExpressions": [{"key": "a", "operator": "Near"}]});
        assert_eq!(LabelSelector::from_object(&unknown), None);
    }
}
