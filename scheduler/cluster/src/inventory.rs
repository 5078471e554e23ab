//! What the API server has now, by name: to be compared with what the engine holds.
//!
//! Takes nothing, gives names of nodes and pods by whole lists, a page at a time. Asked for
//! by people only.

use std::sync::Arc;

use http::Request;
use http::header::ACCEPT;
use plimsoll_objects::Uid;
use serde::Deserialize;

use crate::call::{Api, Call, CallError, chain};

/// Objects per request: as for the first lists.
const PAGE: usize = 500;
/// The pods that the engine is told of.
const PODS: &str = "/api/v1/pods?fieldSelector=status.phase!%3DSucceeded%2Cstatus.phase!%3DFailed&";
const NODES: &str = "/api/v1/nodes?";

/// Lists what there is.
#[derive(Clone)]
pub struct Inventory {
    api: Api,
}

/// All nodes and all pods that have not ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listed {
    /// Names of nodes.
    pub nodes: Vec<Arc<str>>,
    /// Pods.
    pub pods: Vec<ListedPod>,
}

/// One pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedPod {
    /// `metadata.uid`.
    pub uid: Uid,
    /// `spec.schedulerName`.
    pub scheduler_name: String,
    /// Whether it has a node.
    pub is_bound: bool,
}

/// Why there is no list.
#[derive(Debug, thiserror::Error)]
#[error("{what} cannot be listed: {why}")]
pub struct InventoryError {
    what: &'static str,
    why: String,
}

#[derive(Deserialize)]
struct Page {
    #[serde(default)]
    metadata: PageMeta,
    items: Vec<Item>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PageMeta {
    r#continue: String,
}

#[derive(Deserialize)]
struct Item {
    metadata: Meta,
    #[serde(default)]
    spec: Spec,
}

#[derive(Deserialize)]
struct Meta {
    name: Arc<str>,
    uid: Arc<str>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Spec {
    node_name: String,
    scheduler_name: String,
}

// === impl Inventory ===

impl Inventory {
    pub(crate) fn new(api: Api) -> Self {
        Self { api }
    }

    /// Lists all nodes and pods.
    ///
    /// # Errors
    /// The API server refuses, does not answer, or answers what cannot be understood.
    pub async fn take(&self) -> Result<Listed, InventoryError> {
        let nodes = self.list("nodes", NODES).await?;
        let pods = self.list("pods", PODS).await?;
        Ok(Listed {
            nodes: nodes.into_iter().map(|item| item.metadata.name).collect(),
            pods: pods.into_iter().map(ListedPod::of).collect(),
        })
    }

    async fn list(&self, what: &'static str, path: &str) -> Result<Vec<Item>, InventoryError> {
        let mut items = Vec::new();
        let mut token = String::new();
        loop {
            let uri = format!("{path}limit={PAGE}&continue={token}");
            let page = self.page(what, &uri).await;
            let page = page.map_err(|why| InventoryError { what, why })?;
            items.extend(page.items);
            token = page.metadata.r#continue;
            if token.is_empty() {
                return Ok(items);
            }
        }
    }

    async fn page(&self, what: &'static str, uri: &str) -> Result<Page, String> {
        let request = Request::get(uri).header(ACCEPT, "application/json");
        let request = request.body(Vec::new()).map_err(CallError::Build);
        let call = Call::new("list", what, request.map_err(|error| chain(&error))?);
        let answer = self.api.call(call).await.map_err(|error| chain(&error))?;
        if !answer.code().is_success() {
            return Err(format!("answer {}", answer.code()));
        }
        serde_json::from_slice(answer.body()).map_err(|error| error.to_string())
    }
}

impl std::fmt::Debug for Inventory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inventory").finish_non_exhaustive()
    }
}

impl ListedPod {
    fn of(item: Item) -> Self {
        Self {
            uid: Uid(item.metadata.uid),
            scheduler_name: item.spec.scheduler_name,
            is_bound: !item.spec.node_name.is_empty(),
        }
    }
}
