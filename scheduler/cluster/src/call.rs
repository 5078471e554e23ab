//! One request to the API server and what came of it.
//!
//! Takes a [`Call`], gives the server's [`Answer`] whatever its code, or a [`CallError`]
//! that says whether the request may have been carried out. Every call has a time limit;
//! nothing is retried here.

mod answer;
mod error;

use std::borrow::Cow;
use std::time::Duration;

use http::header::{ACCEPT, CONTENT_TYPE};
use http::{Method, Request, Response};
use kube::Client;
use kube::client::Body;
use serde_json::Value;
use tokio::time::{Instant, timeout};

pub(crate) use self::answer::Answer;
pub(crate) use self::error::{CallError, accepted, chain};
use crate::lease::Leadership;
use crate::metrics::Metrics;

/// Longest a write or the reading of one object may take. The API server's own goal for
/// them is 1 s at the 99th percentile; after ten times that the answer is taken as lost.
pub(crate) const CALL_LIMIT: Duration = Duration::from_secs(10);
const JSON: &str = "application/json";
const MERGE_PATCH: &str = "application/merge-patch+json";
const STRATEGIC_PATCH: &str = "application/strategic-merge-patch+json";

/// Sends requests over one pool of connections.
#[derive(Clone)]
pub(crate) struct Api {
    client: Client,
    metrics: Metrics,
    leadership: Leadership,
}

/// One request, with what the metrics call it.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    verb: &'static str,
    resource: Cow<'static, str>,
    request: Request<Vec<u8>>,
}

// === impl Call ===

impl Call {
    /// Names a request that was built elsewhere (lists and watches).
    pub(crate) fn new(
        verb: &'static str,
        resource: impl Into<Cow<'static, str>>,
        request: Request<Vec<u8>>,
    ) -> Self {
        Self {
            verb,
            resource: resource.into(),
            request,
        }
    }

    pub(crate) fn get(
        resource: impl Into<Cow<'static, str>>,
        path: &str,
    ) -> Result<Self, CallError> {
        Self::build("get", Method::GET, resource.into(), path, None)
    }

    pub(crate) fn create(
        resource: impl Into<Cow<'static, str>>,
        path: &str,
        body: &Value,
    ) -> Result<Self, CallError> {
        Self::build(
            "create",
            Method::POST,
            resource.into(),
            path,
            Some((JSON, body)),
        )
    }

    pub(crate) fn update(
        resource: impl Into<Cow<'static, str>>,
        path: &str,
        body: &Value,
    ) -> Result<Self, CallError> {
        Self::build(
            "update",
            Method::PUT,
            resource.into(),
            path,
            Some((JSON, body)),
        )
    }

    pub(crate) fn merge_patch(
        resource: impl Into<Cow<'static, str>>,
        path: &str,
        body: &Value,
    ) -> Result<Self, CallError> {
        Self::build(
            "patch",
            Method::PATCH,
            resource.into(),
            path,
            Some((MERGE_PATCH, body)),
        )
    }

    pub(crate) fn strategic_patch(
        resource: impl Into<Cow<'static, str>>,
        path: &str,
        body: &Value,
    ) -> Result<Self, CallError> {
        Self::build(
            "patch",
            Method::PATCH,
            resource.into(),
            path,
            Some((STRATEGIC_PATCH, body)),
        )
    }

    pub(crate) fn delete(
        resource: impl Into<Cow<'static, str>>,
        path: &str,
        body: &Value,
    ) -> Result<Self, CallError> {
        Self::build(
            "delete",
            Method::DELETE,
            resource.into(),
            path,
            Some((JSON, body)),
        )
    }

    fn build(
        verb: &'static str,
        method: Method,
        resource: Cow<'static, str>,
        path: &str,
        body: Option<(&'static str, &Value)>,
    ) -> Result<Self, CallError> {
        let mut builder = Request::builder()
            .method(method)
            .uri(path)
            .header(ACCEPT, JSON);
        if let Some((media_type, _)) = body {
            builder = builder.header(CONTENT_TYPE, media_type);
        }
        let bytes = body
            .map(|(_, value)| value.to_string().into_bytes())
            .unwrap_or_default();
        let request = builder.body(bytes).map_err(CallError::Build)?;
        Ok(Self {
            verb,
            resource,
            request,
        })
    }
}

// === impl Api ===

impl Api {
    pub(crate) fn new(client: Client, metrics: Metrics) -> Self {
        Self {
            client,
            metrics,
            leadership: Leadership::always(),
        }
    }

    /// The same, but nothing is sent except while this replica leads.
    pub(crate) fn while_leading(&self, leadership: Leadership) -> Self {
        Self {
            leadership,
            ..self.clone()
        }
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Sends a request and reads its whole answer, within [`CALL_LIMIT`].
    pub(crate) async fn call(&self, call: Call) -> Result<Answer, CallError> {
        self.call_within(call, CALL_LIMIT).await
    }

    /// Sends a request and reads its whole answer, within `limit`.
    pub(crate) async fn call_within(
        &self,
        call: Call,
        limit: Duration,
    ) -> Result<Answer, CallError> {
        let Call {
            verb,
            resource,
            request,
        } = call;
        let method = request.method().clone();
        let started = Instant::now();
        let answer = match timeout(limit, self.exchange(request)).await {
            Ok(answer) => answer,
            Err(_) => Err(CallError::Silent(limit)),
        };
        self.metrics
            .duration(verb, resource.clone(), started.elapsed());
        let code = match &answer {
            Ok(answer) => Cow::Owned(answer.code().as_str().to_owned()),
            Err(error) => Cow::Borrowed(error.label()),
        };
        let took = Some(started.elapsed());
        let rest = answer.as_ref().ok().map(Answer::code);
        self.metrics.rest().asked(&method, rest, took);
        self.metrics.request(verb, resource, code);
        answer
    }

    /// Sends a request whose answer is read as it comes. The head of the answer must be
    /// here within `limit`.
    pub(crate) async fn open(
        &self,
        call: Call,
        limit: Duration,
    ) -> Result<Response<Body>, CallError> {
        let Call {
            verb,
            resource,
            request,
        } = call;
        let method = request.method().clone();
        let sending = self.client.send(request.map(Body::from));
        let response = match timeout(limit, sending).await {
            Ok(response) => response.map_err(CallError::from_kube),
            Err(_) => Err(CallError::Silent(limit)),
        };
        let code = match &response {
            Ok(response) => Cow::Owned(response.status().as_str().to_owned()),
            Err(error) => Cow::Borrowed(error.label()),
        };
        let rest = response.as_ref().ok().map(Response::status);
        self.metrics.rest().asked(&method, rest, None);
        self.metrics.request(verb, resource, code);
        response
    }

    async fn exchange(&self, request: Request<Vec<u8>>) -> Result<Answer, CallError> {
        let sending = self.client.send(request.map(Body::from));
        let response = self.leadership.while_leading(sending).await;
        let response = response.ok_or(CallError::NotLeading)?;
        Answer::read(response.map_err(CallError::from_kube)?).await
    }
}

#[cfg(test)]
mod tests;
