//! The `continue` token of a list: where the next page begins, and the revision that all pages show.

use std::fmt;

use crate::status::Status;

/// The first field of every token: a token of another form is refused, not misread.
const FORM: &str = "p1";

/// A place in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::routes) struct Token {
    /// The revision of the first page; absent where the rest of the list shows the present.
    pub(in crate::routes) revision: Option<u64>,
    /// How many objects follow, known where nothing is selected.
    pub(in crate::routes) remaining: Option<u64>,
    /// The key of the last object of the page before.
    pub(in crate::routes) after: (String, String),
}

impl Token {
    pub(in crate::routes) fn parse(text: &str) -> Result<Self, Status> {
        Self::read(text).ok_or_else(|| {
            Status::bad_request(format!(
                "continue key is not valid: {text:?} is no token of this server"
            ))
        })
    }

    fn read(text: &str) -> Option<Self> {
        let fields: Vec<&str> = text.split('/').collect();
        let [FORM, revision, remaining, namespace, name] = fields.as_slice() else {
            return None;
        };
        let number = |text: &str| match text {
            "-" => Some(None),
            text => text.parse().ok().map(Some),
        };
        Some(Self {
            revision: number(revision)?,
            remaining: number(remaining)?,
            after: ((*namespace).to_owned(), (*name).to_owned()),
        })
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |it: Option<u64>| it.map_or("-".to_owned(), |it| it.to_string());
        let (revision, remaining) = (number(self.revision), number(self.remaining));
        let (namespace, name) = &self.after;
        write!(f, "{FORM}/{revision}/{remaining}/{namespace}/{name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_as_it_was_written() {
        for (revision, remaining) in [(Some(7), Some(3)), (None, None)] {
            let after = ("n".to_owned(), "a.b".to_owned());
            let token = Token {
                revision,
                remaining,
                after,
            };
            assert_eq!(Token::parse(&token.to_string()), Ok(token));
        }
    }

    #[test]
    fn another_text_is_no_token() {
        for text in [
            "",
            "x",
            "p1/1/1/n",
            "p1/x/1/n/a",
            "p2/1/1/n/a",
            "p1/1/1/n/a/b",
        ] {
            assert_eq!(Token::parse(text).unwrap_err().code, 400, "{text}");
        }
    }
}
