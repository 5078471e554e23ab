//! The fields of `spec.affinity` that are read, as the wire has them.

use serde::Deserialize;

use super::topology::WirePodAffinity;
use super::values::{Items, Text};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Affinity<'a> {
    #[serde(borrow, rename = "nodeAffinity")]
    pub(super) nodes: Option<NodeAffinity<'a>>,
    #[serde(borrow, rename = "podAffinity")]
    pub(super) pods: Option<WirePodAffinity<'a>>,
    #[serde(borrow, rename = "podAntiAffinity")]
    pub(super) pods_anti: Option<WirePodAffinity<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct NodeAffinity<'a> {
    #[serde(borrow, rename = "requiredDuringSchedulingIgnoredDuringExecution")]
    pub(super) required: Option<NodeSelector<'a>>,
    #[serde(borrow, rename = "preferredDuringSchedulingIgnoredDuringExecution")]
    pub(super) preferred: Option<Items<Preferred<'a>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct NodeSelector<'a> {
    #[serde(borrow)]
    pub(super) node_selector_terms: Items<Term<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Preferred<'a> {
    pub(super) weight: Option<i32>,
    #[serde(borrow)]
    pub(super) preference: Option<Term<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Term<'a> {
    #[serde(borrow)]
    pub(super) match_expressions: Items<Requirement<'a>>,
    #[serde(borrow)]
    pub(super) match_fields: Items<Requirement<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Requirement<'a> {
    #[serde(borrow)]
    pub(super) key: Text<'a>,
    #[serde(borrow)]
    pub(super) operator: Text<'a>,
    #[serde(borrow)]
    pub(super) values: Option<Items<Text<'a>>>,
}
