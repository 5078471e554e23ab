//! Field selectors: `spec.nodeName=,status.phase!=Failed` (`k8s.io/apimachinery/pkg/fields/selector.go`).
//! A label that the resource does not support is a bad request, as with kube-apiserver.

use crate::{resources::Resource, status::Status, store::Object};

/// A conjunction of terms on fields; without any, it selects everything.
#[derive(Debug, Clone, Default)]
pub(super) struct FieldSelector {
    terms: Vec<Term>,
}

#[derive(Debug, Clone)]
struct Term {
    place: Place,
    equal: bool,
    value: String,
}

/// Where the value of a term stands.
#[derive(Debug, Clone, Copy)]
enum Place {
    Name,
    Namespace,
    /// Index into the resource's `fields`, and so into those that an object keeps.
    Kept(usize),
}

impl FieldSelector {
    pub(super) fn parse(resource: &'static Resource, text: &str) -> Result<Self, Status> {
        let terms = split(text)
            .into_iter()
            .filter(|term| !term.is_empty())
            .map(|term| Term::parse(resource, text, term))
            .collect::<Result<_, _>>()?;
        Ok(Self { terms })
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    pub(super) fn matches(&self, object: &Object) -> bool {
        self.terms.iter().all(|term| {
            let value = match term.place {
                Place::Name => object.name(),
                Place::Namespace => object.namespace(),
                Place::Kept(at) => object.field(at),
            };
            (value == term.value) == term.equal
        })
    }
}

impl Term {
    fn parse(resource: &'static Resource, text: &str, term: &str) -> Result<Self, Status> {
        let unreadable = || {
            Status::bad_request(format!(
                "invalid selector: '{text}'; can't understand '{term}'"
            ))
        };
        let at = term.find(['=', '!']).ok_or_else(unreadable)?;
        let (label, rest) = term.split_at(at);
        let (equal, value) = if let Some(value) = rest.strip_prefix("!=") {
            (false, value)
        } else if let Some(value) = rest.strip_prefix("==") {
            (true, value)
        } else if let Some(value) = rest.strip_prefix('=') {
            (true, value)
        } else {
            return Err(unreadable());
        };
        Ok(Self {
            place: place(resource, label)?,
            equal,
            value: unescape(value).ok_or_else(unreadable)?,
        })
    }
}

fn place(resource: &'static Resource, label: &str) -> Result<Place, Status> {
    match label {
        "metadata.name" => return Ok(Place::Name),
        "metadata.namespace" => return Ok(Place::Namespace),
        _ => {}
    }
    let stored = match resource.alias {
        Some(alias) => alias.stored_label(label),
        None => label.to_owned(),
    };
    let known = resource
        .fields
        .iter()
        .position(|field| field.label == stored);
    known.map(Place::Kept).ok_or_else(|| {
        let message = if resource.fields.is_empty() {
            format!("{label:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\"")
        } else {
            format!("field label not supported: {label}")
        };
        Status::bad_request(message)
    })
}

/// Splits at commas that no backslash escapes.
fn split(text: &str) -> Vec<&str> {
    let (mut terms, mut start, mut escaped) = (Vec::new(), 0, false);
    for (at, letter) in text.char_indices() {
        if letter == ',' && !escaped {
            terms.push(&text[start..at]);
            start = at + 1;
        }
        escaped = letter == '\\' && !escaped;
    }
    terms.push(&text[start..]);
    terms
}

/// Resolves `\\`, `\,` and `\=`; a bare sign or another escape has no meaning.
fn unescape(value: &str) -> Option<String> {
    let mut out = String::with_capacity(value.len());
    let mut letters = value.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => out.push(
                letters
                    .next()
                    .filter(|next| matches!(next, '\\' | ',' | '='))?,
            ),
            ',' | '=' => return None,
            other => out.push(other),
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pods() -> &'static Resource {
        Resource::named("pods").unwrap()
    }

    fn pod() -> Object {
        Object::new(
            pods(),
            json!({"metadata": {"name": "a", "namespace": "n"}, "spec": {"nodeName": "x,y"}, "status": {"phase": "Running"}}),
            1,
        )
    }

    #[test]
    fn a_selector_matches_on_equal_and_unequal_values() {
        let cases = [
            ("", true),
            ("metadata.name=a,metadata.namespace==n", true),
            ("metadata.name!=a", false),
            ("status.phase!=Succeeded,status.phase!=Failed", true),
            ("spec.nodeName=", false),
            ("spec.nodeName!=", true),
            ("spec.nodeName=x\\,y", true),
            ("spec.schedulerName=", true),
        ];
        for (text, expected) in cases {
            let selector = FieldSelector::parse(pods(), text).unwrap();
            assert_eq!(selector.matches(&pod()), expected, "{text}");
        }
    }

    #[test]
    fn an_unknown_label_and_an_unreadable_term_are_told_apart() {
        let message = |resource, text| {
            let status = FieldSelector::parse(resource, text).unwrap_err();
            assert_eq!(status.code, 400);
            status.message
        };
        assert_eq!(
            message(pods(), "spec.foo=1"),
            "field label not supported: spec.foo"
        );
        assert_eq!(
            message(pods(), "status.phase"),
            "invalid selector: 'status.phase'; can't understand 'status.phase'"
        );
        assert_eq!(
            message(Resource::named("configmaps").unwrap(), "data.a=1"),
            "\"data.a\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
        );
        assert!(FieldSelector::parse(pods(), "spec.nodeName=a=b").is_err());
        assert!(FieldSelector::parse(pods(), "spec.nodeName!a").is_err());
    }

    #[test]
    fn an_alias_is_selected_by_its_own_labels() {
        let events = Resource::named("events.events.k8s.io").unwrap();
        assert!(FieldSelector::parse(events, "regarding.name=a").is_ok());
        assert!(FieldSelector::parse(pods(), "regarding.name=a").is_err());
    }
}
