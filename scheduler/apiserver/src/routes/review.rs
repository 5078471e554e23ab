//! Questions about oneself: may I, what may I, who am I. Everyone on this server may do everything.

use axum::body::Body;
use http::{Method, Request, Response};
use serde_json::{Value, json};

use super::{answer, request};
use crate::{kubeconfig, status::Status};

/// A kind of question.
#[derive(Debug)]
pub(crate) struct Review {
    pub(super) group: &'static str,
    pub(super) plural: &'static str,
    pub(super) kind: &'static str,
    status: fn() -> Value,
}

/// The version of every review.
pub(super) const VERSION: &str = "v1";

pub(super) static REVIEWS: &[Review] = &[
    Review {
        group: "authorization.k8s.io",
        plural: "selfsubjectaccessreviews",
        kind: "SelfSubjectAccessReview",
        status: || json!({"allowed": true}),
    },
    Review {
        group: "authorization.k8s.io",
        plural: "selfsubjectrulesreviews",
        kind: "SelfSubjectRulesReview",
        status: || {
            json!({
                "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
                "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
                "incomplete": false,
            })
        },
    },
    Review {
        group: "authentication.k8s.io",
        plural: "selfsubjectreviews",
        kind: "SelfSubjectReview",
        status: || {
            let groups = ["system:masters", "system:authenticated"];
            json!({"userInfo": {"username": kubeconfig::NAME, "groups": groups}})
        },
    },
];

impl Review {
    /// Finds a review by its address.
    pub(super) fn at(group: &str, version: &str, plural: &str) -> Option<&'static Self> {
        REVIEWS
            .iter()
            .find(|it| it.group == group && version == VERSION && it.plural == plural)
    }

    /// Answers a question.
    pub(super) async fn answer(&self, request: Request<Body>) -> Result<Response<Body>, Status> {
        if request.method() != Method::POST {
            return Err(Status::method_not_allowed());
        }
        let body = request::Entity::read(request).await?;
        let api_version = format!("{}/{VERSION}", self.group);
        let asked = body.object(&api_version, self.kind)?;
        Ok(answer::json(
            201,
            &json!({
                "kind": self.kind,
                "apiVersion": api_version,
                "metadata": asked.get("metadata").cloned().unwrap_or(json!({})),
                "spec": asked.get("spec").cloned().unwrap_or(json!({})),
                "status": (self.status)(),
            }),
        ))
    }
}
