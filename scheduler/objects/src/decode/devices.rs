//! JSON of the API server -> devices, their classes and claims.
//!
//! Selectors are parsed here; what cannot be parsed stays in them as a value. Words that
//! this version does not know are kept: the allocator refuses what it does not understand.

mod claim;
mod offer;

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::values::{Items, Text};
use super::{DecodeError, convert, parse, wire};
use crate::device::{DeviceClass, DeviceSelector, DeviceToleration, NodesSelector};
use crate::device::{ResourceClaim, ResourceSlice, SelectorRequirement, SelectorTerm};
use crate::intern::intern;
use crate::selector::NodeSelector;

/// Decodes a `resource.k8s.io/v1.ResourceClaim`.
///
/// # Errors
/// The first mistake in the object, with its path.
pub(crate) fn resource_claim(json: &[u8]) -> Result<ResourceClaim, DecodeError> {
    claim::convert(&parse(json)?)
}

/// Decodes a `resource.k8s.io/v1.ResourceSlice`.
///
/// # Errors
/// The first mistake in the object, with its path.
pub(crate) fn resource_slice(json: &[u8]) -> Result<ResourceSlice, DecodeError> {
    offer::convert(&parse(json)?)
}

/// Decodes a `resource.k8s.io/v1.DeviceClass`.
///
/// # Errors
/// The first mistake in the object, with its path.
pub(crate) fn device_class(json: &[u8]) -> Result<DeviceClass, DecodeError> {
    let wire: WireClass<'_> = parse(json)?;
    let spec = wire.spec.unwrap_or_default();
    Ok(DeviceClass {
        meta: convert::meta(wire.metadata.as_ref(), "")?,
        selectors: selectors(&spec.selectors),
        config: spec.config.0.iter().map(WireConfig::opaque).collect(),
        extended_resource: spec.extended_resource_name.as_ref().map(shared),
    })
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireClass<'a> {
    #[serde(borrow)]
    metadata: Option<wire::Metadata<'a>>,
    #[serde(borrow)]
    spec: Option<WireClassSpec<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireClassSpec<'a> {
    #[serde(borrow)]
    selectors: Items<WireSelector<'a>>,
    #[serde(borrow)]
    config: Items<WireConfig<'a>>,
    #[serde(borrow)]
    extended_resource_name: Option<Text<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireSelector<'a> {
    #[serde(borrow)]
    cel: Option<WireCel<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireCel<'a> {
    #[serde(borrow)]
    expression: Text<'a>,
}

/// A configuration of a class or of a claim.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireConfig<'a> {
    #[serde(borrow)]
    requests: Items<Text<'a>>,
    opaque: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireToleration<'a> {
    #[serde(borrow)]
    key: Text<'a>,
    #[serde(borrow)]
    operator: Text<'a>,
    #[serde(borrow)]
    value: Text<'a>,
    #[serde(borrow)]
    effect: Text<'a>,
    toleration_seconds: Option<i64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct WireNodeSelector<'a> {
    #[serde(borrow)]
    node_selector_terms: Items<wire::Term<'a>>,
}

// === impl WireConfig ===

impl WireConfig<'_> {
    fn opaque(&self) -> Option<Arc<Value>> {
        self.opaque.clone().map(Arc::new)
    }
}

fn selectors(wire: &Items<WireSelector<'_>>) -> Box<[DeviceSelector]> {
    let expressions = wire.0.iter().map(|one| one.cel.as_ref());
    expressions
        .map(|cel| cel.map(|cel| Arc::from(&*cel.expression.0)))
        .collect()
}

fn tolerations(wire: &Items<WireToleration<'_>>) -> Box<[DeviceToleration]> {
    let tolerations = wire.0.iter().map(|one| DeviceToleration {
        key: shared(&one.key),
        operator: shared(&one.operator),
        value: shared(&one.value),
        effect: shared(&one.effect),
        seconds: one.toleration_seconds,
    });
    tolerations.collect()
}

/// A selector of nodes, parsed and as it was.
fn nodes_selector(wire: &WireNodeSelector<'_>) -> Arc<NodesSelector> {
    let terms = &wire.node_selector_terms.0;
    let parsed = NodeSelector {
        terms: terms.iter().map(convert::term).collect(),
    };
    let terms = terms.iter().map(|term| SelectorTerm {
        fields: term.match_fields.0.iter().map(requirement).collect(),
        expressions: term.match_expressions.0.iter().map(requirement).collect(),
    });
    Arc::new(NodesSelector {
        parsed,
        terms: terms.collect(),
    })
}

fn requirement(wire: &wire::Requirement<'_>) -> SelectorRequirement {
    SelectorRequirement {
        key: shared(&wire.key),
        operator: shared(&wire.operator),
        values: wire.values.as_ref().map(texts),
    }
}

fn texts(wire: &Items<Text<'_>>) -> Box<[Arc<str>]> {
    wire.0.iter().map(shared).collect()
}

fn shared(text: &Text<'_>) -> Arc<str> {
    intern(&text.0)
}

/// The text, unless it is empty.
fn named(text: &Text<'_>) -> Option<Arc<str>> {
    (!text.0.is_empty()).then(|| shared(text))
}

#[cfg(test)]
mod tests;
