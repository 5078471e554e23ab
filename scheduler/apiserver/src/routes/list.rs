//! GET: one object, a page of a list, or a watch.

use std::time::Duration;

use axum::body::Body;
use http::Response;

use super::{
    App,
    answer::{self, ListHead},
    query::{Token, Version},
    request::Call,
};
use crate::{
    selector::Selection,
    status::Status,
    store::{Page, PageQuery, Target, TooOld},
    watch::{EventStream, Start, WatchRequest},
};

/// How long a watch lasts that asks for no time-out, in seconds: the least that kube-apiserver gives.
const WATCH_TIMEOUT_S: u64 = 1800;

/// What a client is told whose token has expired.
const TOKEN_EXPIRED: &str = "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.";

/// Answers with one object.
pub(super) fn get(app: &App, call: &Call) -> Result<Response<Body>, Status> {
    let place = &call.place;
    let target = Target::new(place.resource, &place.namespace, call.name()?);
    let object = app.store.read(|state| state.get(target).cloned())?;
    Ok(answer::object(200, call.view, &object))
}

/// Answers with a list or a page of one.
pub(super) fn list(app: &App, call: &Call) -> Result<Response<Body>, Status> {
    let place = &call.place;
    let selection = selection(call)?;
    let limit = call.query.number("limit")?;
    let token = match call.query.text("continue") {
        "" => None,
        text => Some(Token::parse(text)?),
    };
    let version = call.query.list_version()?;
    if token.is_some() && !matches!(version, Version::Newest | Version::Any) {
        let message = "specifying resource version is not allowed when using continue";
        return Err(Status::bad_request(message));
    }
    let after = token
        .as_ref()
        .map(|it| (it.after.0.as_str(), it.after.1.as_str()));
    let (page, revision) = app.store.read(|state| {
        let now = state.revision();
        let at = snapshot(version, token.as_ref(), now)?;
        let query = PageQuery {
            namespace: place.scope(),
            after,
            at: at.filter(|at| *at < now),
            limit: limit.map(|it| usize::try_from(it).unwrap_or(usize::MAX)),
            selection: &selection,
        };
        let page = state.collection(place.resource).page(query);
        let page = page.map_err(|too_old| expired(token.as_ref(), at, &too_old))?;
        Ok((page, at.unwrap_or(now)))
    })?;
    let head = head(&page, revision, token.as_ref(), &selection);
    Ok(answer::list(call.view, &page.items, head))
}

/// Answers with a stream of events.
pub(super) fn watch(app: &App, call: &Call) -> Result<Response<Body>, Status> {
    let place = &call.place;
    let (revision, initial) = call.query.watch_version()?;
    let bookmarks = call.query.flag("allowWatchBookmarks");
    let seconds = call
        .query
        .number("timeoutSeconds")?
        .unwrap_or(WATCH_TIMEOUT_S);
    let now = app.store.resource_version();
    if let Some(asked) = revision.filter(|asked| initial.is_some() && *asked > now) {
        return Err(Status::too_large_version(asked, now));
    }
    let start = match (initial, revision) {
        (Some(true), _) => Start::Objects {
            mark_end: bookmarks,
        },
        (None, None | Some(0)) => Start::Objects { mark_end: false },
        (Some(false), None | Some(0)) => Start::Now,
        (_, Some(revision)) => Start::After(revision),
    };
    let request = WatchRequest {
        view: call.view,
        namespace: place.scope().map(str::to_owned),
        selection: selection(call)?,
        start,
        bookmarks,
        bookmark_period: app.bookmark_period,
        timeout: Duration::from_secs(seconds),
    };
    let events = EventStream::new(&app.store, &app.faults, &app.stop, request);
    Ok(answer::stream(Body::from_stream(events)))
}

/// Reads both selectors of a request.
pub(super) fn selection(call: &Call) -> Result<Selection, Status> {
    let (labels, fields) = (
        call.query.text("labelSelector"),
        call.query.text("fieldSelector"),
    );
    Selection::parse(call.place.resource, labels, fields)
}

/// Gives the revision that a list shall show, nothing for the present.
fn snapshot(version: Version, token: Option<&Token>, now: u64) -> Result<Option<u64>, Status> {
    match (token, version) {
        (Some(token), _) => match token.revision {
            Some(revision) if revision > now => Err(Status::too_large_version(revision, now)),
            revision => Ok(revision),
        },
        (None, Version::NotOlder(revision) | Version::Exact(revision)) if revision > now => {
            Err(Status::too_large_version(revision, now))
        }
        (None, Version::Exact(revision)) => Ok(Some(revision)),
        (None, Version::Newest | Version::Any | Version::NotOlder(_)) => Ok(None),
    }
}

fn head(page: &Page, revision: u64, token: Option<&Token>, selection: &Selection) -> ListHead {
    let shown = page.items.len() as u64;
    let known = match token {
        None => Some(page.total as u64),
        Some(token) => token.remaining,
    };
    let remaining = known
        .filter(|_| page.more && selection.is_everything())
        .map(|known| known.saturating_sub(shown));
    let next = page.items.last().filter(|_| page.more).map(|last| Token {
        revision: token.map_or(Some(revision), |token| token.revision),
        remaining,
        after: (last.namespace().to_owned(), last.name().to_owned()),
    });
    ListHead {
        revision,
        token: next.map(|it| it.to_string()),
        remaining,
    }
}

/// The refusal of a list whose state is no longer kept: with a token to go on with, where it was a page.
fn expired(token: Option<&Token>, at: Option<u64>, too_old: &TooOld) -> Status {
    let Some(token) = token else {
        let (asked, oldest) = (at.unwrap_or(0), too_old.oldest);
        return Status::expired(format!(
            "The resourceVersion for the provided list is too old: {asked} ({oldest})."
        ));
    };
    let present = Token {
        revision: None,
        remaining: None,
        after: token.after.clone(),
    };
    Status {
        continue_token: Some(present.to_string()),
        ..Status::expired(TOKEN_EXPIRED)
    }
}
