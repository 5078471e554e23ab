//! Reads the query of a request, and the options of a list or watch in it.

mod token;

use axum::extract::Query as Pairs;
use http::Uri;

pub(super) use token::Token;

use crate::{
    schema::Strictness,
    status::{Cause, Status},
};

const EXACT: &str = "Exact";
const NOT_OLDER: &str = "NotOlderThan";

/// The parameters of a request.
#[derive(Debug)]
pub(super) struct Query {
    pairs: Vec<(String, String)>,
}

/// Which state a list or a watch shall show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    /// The newest.
    Newest,
    /// Any; the server's state is always the newest.
    Any,
    /// That of this revision or a newer one.
    NotOlder(u64),
    /// That of this revision.
    Exact(u64),
}

impl Query {
    pub(super) fn parse(uri: &Uri) -> Result<Self, Status> {
        let Pairs(pairs) = Pairs::try_from_uri(uri)
            .map_err(|_| Status::bad_request("the query of the request cannot be decoded"))?;
        Ok(Self { pairs })
    }

    /// Gives a parameter, empty if it is missing.
    pub(super) fn text(&self, name: &str) -> &str {
        let found = self.pairs.iter().find(|(key, _)| key == name);
        found.map_or("", |(_, value)| value)
    }

    /// Tells whether a flag is set: any value but `false` and `0`, no value included.
    pub(super) fn flag(&self, name: &str) -> bool {
        let found = self.pairs.iter().find(|(key, _)| key == name);
        found.is_some_and(|(_, value)| is_set(value))
    }

    /// Gives a flag that may be left open.
    pub(super) fn optional_flag(&self, name: &str) -> Option<bool> {
        let found = self
            .pairs
            .iter()
            .find(|(key, value)| key == name && !value.is_empty());
        found.map(|(_, value)| is_set(value))
    }

    /// Gives a number; zero and negative ones count as missing, as in Go's zero values.
    pub(super) fn number(&self, name: &str) -> Result<Option<u64>, Status> {
        match self.text(name) {
            "" => Ok(None),
            text => match text.parse::<i64>() {
                Ok(number) => Ok(u64::try_from(number).ok().filter(|it| *it > 0)),
                Err(_) => Err(Status::bad_request(format!(
                    "strconv.ParseInt: parsing {text:?}: invalid syntax"
                ))),
            },
        }
    }

    /// Gives what happens to fields that a kind does not have.
    pub(super) fn strictness(&self) -> Result<Strictness, Status> {
        match self.text("fieldValidation") {
            "" | "Warn" => Ok(Strictness::Warn),
            "Ignore" => Ok(Strictness::Ignore),
            "Strict" => Ok(Strictness::Strict),
            other => {
                let known = ["Ignore", "Strict", "Warn"];
                let cause = Cause::unsupported("fieldValidation", other, &known);
                let kind = "CreateOptions.meta.k8s.io";
                Err(Status::invalid(kind, "", vec![cause]))
            }
        }
    }

    /// Tells whether a write shall change nothing.
    pub(super) fn dry_run(&self) -> Result<bool, Status> {
        match self.text("dryRun") {
            "" => Ok(false),
            "All" => Ok(true),
            other => {
                let cause = Cause::unsupported("dryRun", other, &["All"]);
                Err(Status::invalid(
                    "CreateOptions.meta.k8s.io",
                    "",
                    vec![cause],
                ))
            }
        }
    }

    /// Checks the options of a list (`ValidateListOptions` of kube-apiserver) and gives the state to show.
    pub(super) fn list_version(&self) -> Result<Version, Status> {
        let (version, wanted) = (
            self.text("resourceVersion"),
            self.text("resourceVersionMatch"),
        );
        let field = "resourceVersionMatch";
        let mut causes = Vec::new();
        if !wanted.is_empty() {
            if version.is_empty() {
                causes.push(Cause::forbidden(
                    field,
                    "resourceVersionMatch is forbidden unless resourceVersion is provided",
                ));
            }
            if !self.text("continue").is_empty() {
                causes.push(Cause::forbidden(
                    field,
                    "resourceVersionMatch is forbidden when continue is provided",
                ));
            }
            if wanted != EXACT && wanted != NOT_OLDER {
                causes.push(Cause::unsupported(field, wanted, &[EXACT, NOT_OLDER, ""]));
            }
            if wanted == EXACT && version == "0" {
                causes.push(Cause::forbidden(
                    field,
                    "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"",
                ));
            }
        }
        if self.optional_flag("sendInitialEvents").is_some() {
            causes.push(Cause::forbidden(
                "sendInitialEvents",
                "sendInitialEvents is forbidden for list",
            ));
        }
        refuse(causes)?;
        // A limit with a version and no match means the state of that very version.
        let exact = wanted == EXACT || (wanted.is_empty() && self.number("limit")?.is_some());
        Ok(
            match parse_version(version).map_err(|why| unread_list_version(&why))? {
                None => Version::Newest,
                Some(0) => Version::Any,
                Some(revision) if exact => Version::Exact(revision),
                Some(revision) => Version::NotOlder(revision),
            },
        )
    }

    /// Checks the options of a watch (`validateWatchOptions`) and gives the revision to begin behind, and
    /// whether initial events are wanted.
    pub(super) fn watch_version(&self) -> Result<(Option<u64>, Option<bool>), Status> {
        let wanted = self.text("resourceVersionMatch");
        let initial = self.optional_flag("sendInitialEvents");
        let field = "resourceVersionMatch";
        let mut causes = Vec::new();
        if initial.is_some() && wanted != NOT_OLDER {
            causes.push(Cause::forbidden(
                field,
                "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
            ));
        }
        if !wanted.is_empty() {
            if initial.is_none() {
                causes.push(Cause::forbidden(field, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"));
            }
            if wanted != NOT_OLDER {
                causes.push(Cause::unsupported(field, wanted, &[NOT_OLDER]));
            }
            if !self.text("continue").is_empty() {
                causes.push(Cause::forbidden(
                    field,
                    "resourceVersionMatch is forbidden when continue is provided",
                ));
            }
        }
        refuse(causes)?;
        let version = parse_version(self.text("resourceVersion")).map_err(Status::unknown)?;
        Ok((version, initial))
    }
}

fn refuse(causes: Vec<Cause>) -> Result<(), Status> {
    if causes.is_empty() {
        return Ok(());
    }
    Err(Status::invalid("ListOptions.meta.k8s.io", "", causes))
}

/// Reads a resource version; an empty one is none.
fn parse_version(text: &str) -> Result<Option<u64>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| {
        let why = format!("strconv.ParseUint: parsing {text:?}: invalid syntax");
        Cause::invalid("resourceVersion", text, &why).to_string()
    })
}

fn unread_list_version(why: &str) -> Status {
    Status::bad_request(format!("invalid resource version: {why}"))
}

fn is_set(value: &str) -> bool {
    value != "0" && !value.eq_ignore_ascii_case("false")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str) -> Query {
        Query::parse(&format!("/x?{text}").parse().unwrap()).unwrap()
    }

    #[test]
    fn a_list_shows_the_state_that_its_options_mean() {
        let cases = [
            ("", Ok(Version::Newest)),
            ("resourceVersion=0", Ok(Version::Any)),
            ("resourceVersion=0&limit=5", Ok(Version::Any)),
            ("resourceVersion=7", Ok(Version::NotOlder(7))),
            ("resourceVersion=7&limit=5", Ok(Version::Exact(7))),
            (
                "resourceVersion=7&limit=5&resourceVersionMatch=NotOlderThan",
                Ok(Version::NotOlder(7)),
            ),
            (
                "resourceVersion=7&resourceVersionMatch=Exact",
                Ok(Version::Exact(7)),
            ),
            ("resourceVersion=0&resourceVersionMatch=Exact", Err(422)),
            ("resourceVersionMatch=Exact", Err(422)),
            ("resourceVersion=7&resourceVersionMatch=Near", Err(422)),
            ("resourceVersion=x", Err(400)),
            ("sendInitialEvents=true", Err(422)),
            ("limit=x", Err(400)),
        ];
        for (text, expected) in cases {
            let query = query(text);
            let got = query.number("limit").and_then(|_| query.list_version());
            assert_eq!(got.map_err(|it| it.code), expected, "{text}");
        }
    }

    #[test]
    fn a_watch_with_initial_events_must_say_not_older_than() {
        let cases = [
            ("", Ok((None, None))),
            ("resourceVersion=5", Ok((Some(5), None))),
            (
                "sendInitialEvents=true&resourceVersionMatch=NotOlderThan",
                Ok((None, Some(true))),
            ),
            ("sendInitialEvents=true", Err(422)),
            ("resourceVersionMatch=NotOlderThan", Err(422)),
            (
                "sendInitialEvents=true&resourceVersionMatch=Exact",
                Err(422),
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(
                query(text).watch_version().map_err(|it| it.code),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn a_flag_is_set_by_all_but_false_and_zero() {
        for (text, expected) in [
            ("watch", true),
            ("watch=", true),
            ("watch=1", true),
            ("watch=true", true),
            ("watch=0", false),
            ("watch=False", false),
            ("", false),
        ] {
            assert_eq!(query(text).flag("watch"), expected, "{text}");
        }
    }
}
