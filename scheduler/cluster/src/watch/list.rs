//! A whole list, page by page.
//!
//! Takes the server's pages, gives all objects of a kind and the version they stand for.
//! Each page is decoded into slim objects before the next one is asked for, and what the
//! engine holds already is shared with it: that bounds the memory of listing again.

use std::sync::Arc;
use std::time::Duration;

use http::{Response, StatusCode};
use http_body_util::BodyExt as _;
use kube::api::ListParams;
use kube::client::Body;
use kube::core::Request;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::task::yield_now;
use tokio::time::timeout;
use tracing::warn;

use super::known::Known;
use crate::call::{Answer, Api, Call, CallError, chain};
use crate::kind::{Head, Kind};

/// Objects per page, as client-go asks for: 500 pods of 10 KB are 5 MB of text.
const PAGE: u32 = 500;
/// Page sizes to try in turn when a list expires half-way (410): etcd forgets a version
/// after five minutes, so larger pages, and at last one without end, get through.
const PAGES: [Option<u32>; 3] = [Some(PAGE), Some(10 * PAGE), None];
/// Longest time to the first byte of a page, as the API server's own limit for a request.
const PAGE_LIMIT: Duration = Duration::from_mins(1);
/// Longest pause within a page.
const PAUSE_LIMIT: Duration = Duration::from_secs(30);
/// Objects decoded between two chances for other tasks: 256 pods take some 3 ms.
const YIELD_EVERY: usize = 256;

/// Everything there is, at one version.
pub(super) struct Listing<K: Kind> {
    pub(super) objects: Vec<Arc<K::Object>>,
    pub(super) version: String,
}

/// Why there is no list.
#[derive(Debug, thiserror::Error)]
pub(super) enum ListError {
    /// The server forgot the version of the list before its last page.
    #[error("the list expired before its last page")]
    Expired,
    /// The server refused.
    #[error("{code}: {message}")]
    Refused {
        code: StatusCode,
        message: String,
        retry_after: Option<Duration>,
    },
    /// No answer, or one that broke off.
    #[error("{0}")]
    NoAnswer(String),
    /// The answer is no list.
    #[error("the answer is no list: {0}")]
    NoList(String),
}

#[derive(Deserialize)]
struct Page<'a> {
    #[serde(default)]
    metadata: PageMeta,
    /// `null` in an empty list of some servers.
    #[serde(borrow, default)]
    items: Option<Vec<&'a RawValue>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PageMeta {
    resource_version: String,
    r#continue: String,
}

/// Lists all objects of a kind.
///
/// # Errors
/// The list could not be had. A list that expired was begun anew before.
pub(super) async fn all<K: Kind>(
    api: &Api,
    kind: &K,
    known: &mut Known<K::Object>,
) -> Result<Listing<K>, ListError> {
    for limit in PAGES {
        match pages(api, kind, known, limit).await {
            Err(ListError::Expired) => warn!(kind = kind.name(), ?limit, "list expired half-way"),
            Ok(listing) => {
                known.replace::<K>(&listing.objects);
                return Ok(listing);
            }
            Err(error) => return Err(error),
        }
    }
    Err(ListError::Expired)
}

async fn pages<K: Kind>(
    api: &Api,
    kind: &K,
    known: &Known<K::Object>,
    limit: Option<u32>,
) -> Result<Listing<K>, ListError> {
    let mut objects = Vec::new();
    let mut token = String::new();
    loop {
        let text = fetch(api, kind, limit, &token).await?;
        let page: Page<'_> =
            serde_json::from_slice(&text).map_err(|error| ListError::NoList(error.to_string()))?;
        for (n, raw) in page.items.unwrap_or_default().into_iter().enumerate() {
            if n % YIELD_EVERY == YIELD_EVERY - 1 {
                yield_now().await;
            }
            objects.extend(object(api, kind, known, raw.get()));
        }
        let PageMeta {
            resource_version: version,
            r#continue: next,
        } = page.metadata;
        if next.is_empty() {
            return settled(objects, version);
        }
        if next == token {
            return Err(ListError::NoList(
                "the same page again and again".to_owned(),
            ));
        }
        token = next;
    }
}

fn settled<K: Kind>(
    objects: Vec<Arc<K::Object>>,
    version: String,
) -> Result<Listing<K>, ListError> {
    if version.is_empty() {
        return Err(ListError::NoList(
            "it has no version to watch from".to_owned(),
        ));
    }
    Ok(Listing { objects, version })
}

/// One object, shared with the engine where it has not changed; `None` if it cannot be
/// understood, which is counted and said.
fn object<K: Kind>(
    api: &Api,
    kind: &K,
    known: &Known<K::Object>,
    json: &str,
) -> Option<Arc<K::Object>> {
    if let Some(same) = known.unchanged::<K>(json) {
        return Some(same);
    }
    match kind.decode(json.as_bytes()) {
        Ok(object) => Some(Arc::new(object)),
        Err(error) => {
            skipped(api, kind.name(), Head::of(json).as_ref(), &chain(&error));
            None
        }
    }
}

/// Counts and names an object that cannot be understood.
pub(super) fn skipped(api: &Api, kind: &'static str, head: Option<&Head<'_>>, error: &str) {
    api.metrics().undecodable(kind);
    let object = head.map(|head| head.key().to_string()).unwrap_or_default();
    warn!(kind, object, error, "object not understood, left out");
}

async fn fetch<K: Kind>(
    api: &Api,
    kind: &K,
    limit: Option<u32>,
    token: &str,
) -> Result<Vec<u8>, ListError> {
    let params = ListParams {
        field_selector: kind.field_selector().map(str::to_owned),
        limit,
        continue_token: (!token.is_empty()).then(|| token.to_owned()),
        ..ListParams::default()
    };
    let request = Request::new(kind.path())
        .list(&params)
        .map_err(|error| ListError::NoAnswer(chain(&error)))?;
    let response = api
        .open(Call::new("list", kind.name(), request), PAGE_LIMIT)
        .await
        .map_err(|error| ListError::NoAnswer(chain(&error)))?;
    if response.status().is_success() {
        return read(response).await;
    }
    Err(refusal(response, !token.is_empty()).await)
}

async fn refusal(response: Response<Body>, resumed: bool) -> ListError {
    let code = response.status();
    if code == StatusCode::GONE && resumed {
        return ListError::Expired;
    }
    match timeout(PAUSE_LIMIT, Answer::of_refusal(response)).await {
        Ok(Ok(answer)) => ListError::Refused {
            code,
            message: answer.message(),
            retry_after: answer.retry_after(),
        },
        Ok(Err(_)) | Err(_) => ListError::Refused {
            code,
            message: String::new(),
            retry_after: None,
        },
    }
}

async fn read(response: Response<Body>) -> Result<Vec<u8>, ListError> {
    let mut body = response.into_body();
    let mut text = Vec::new();
    loop {
        match timeout(PAUSE_LIMIT, body.frame()).await {
            Ok(None) => return Ok(text),
            Ok(Some(Ok(frame))) => {
                text.extend_from_slice(frame.data_ref().map_or(&[], |data| &data[..]));
            }
            Ok(Some(Err(error))) => {
                return Err(ListError::NoAnswer(chain(&CallError::Lost(error))));
            }
            Err(_) => return Err(ListError::NoAnswer(chain(&CallError::Silent(PAUSE_LIMIT)))),
        }
    }
}

// === impl ListError ===

impl ListError {
    /// Whether the server knows no such kind.
    pub(super) fn is_not_found(&self) -> bool {
        matches!(self, Self::Refused { code, .. } if *code == StatusCode::NOT_FOUND)
    }

    /// How long the server asks us to wait.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Refused { retry_after, .. } => *retry_after,
            Self::Expired | Self::NoAnswer(_) | Self::NoList(_) => None,
        }
    }
}
