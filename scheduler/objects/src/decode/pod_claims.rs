//! The wire's resource claims and extended resources of a pod -> values.

use std::sync::Arc;

use serde::Deserialize;

use super::values::{Items, Text};
use super::wire::{Container, PodSpec, PodStatus};
use crate::intern::intern;
use crate::pod_claim::{ClaimSource, ExtendedContainer, ExtendedRequest, PodClaim, PodClaims};
use crate::quantity::Quantity;
use crate::resource_name;

/// One of `spec.resourceClaims`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct WireClaim<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    resource_claim_name: Option<Text<'a>>,
    #[serde(borrow)]
    resource_claim_template_name: Option<Text<'a>>,
}

/// One of `status.resourceClaimStatuses`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct WireClaimStatus<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    resource_claim_name: Option<Text<'a>>,
}

/// What the pod claims; `None` if it claims nothing, or has its node.
pub(super) fn claims(spec: &PodSpec<'_>, status: &PodStatus<'_>) -> Option<Box<PodClaims>> {
    if !spec.node_name.0.is_empty() {
        return None;
    }
    let init = spec.init_containers.0.iter().map(|one| (one, true));
    let containers = init.chain(spec.containers.0.iter().map(|one| (one, false)));
    let extended = containers
        .enumerate()
        .filter_map(|(index, (one, is_init))| {
            let short_lived = is_init && one.restart_policy.0 != "Always";
            extended(one, index, short_lived)
        });
    let claims = PodClaims {
        claims: spec
            .resource_claims
            .0
            .iter()
            .map(|claim| pod_claim(claim, &status.resource_claim_statuses))
            .collect(),
        extended: extended.collect(),
        containers: spec.init_containers.0.len() + spec.containers.0.len(),
    };
    let is_empty = claims.claims.is_empty() && claims.extended.is_empty();
    (!is_empty).then(|| Box::new(claims))
}

fn pod_claim(wire: &WireClaim<'_>, statuses: &Items<WireClaimStatus<'_>>) -> PodClaim {
    let mut statuses = statuses.0.iter();
    let source = match (
        &wire.resource_claim_name,
        &wire.resource_claim_template_name,
    ) {
        (Some(name), _) => ClaimSource::Named(intern(&name.0)),
        (None, Some(_)) => match statuses.find(|status| status.name.0 == wire.name.0) {
            Some(status) => {
                let name = status.resource_claim_name.as_ref();
                ClaimSource::Generated(name.map(|name| intern(&name.0)))
            }
            None => ClaimSource::NotYetGenerated,
        },
        (None, None) => ClaimSource::Unknown,
    };
    PodClaim {
        name: intern(&wire.name.0),
        source,
    }
}

/// The extended resources of a container; `None` if it has none.
fn extended(wire: &Container<'_>, index: usize, is_short_lived: bool) -> Option<ExtendedContainer> {
    let requests = &wire.resources.as_ref()?.requests.as_ref()?.0;
    let mut names: Vec<&str> = requests.iter().map(|(name, _)| &*name.0).collect();
    names.sort_unstable();
    names.dedup();
    let counted = names.iter().enumerate().filter_map(|(index, name)| {
        if !resource_name::may_be_devices(name) {
            return None;
        }
        // As in Go, the last of two equal keys is the one that counts.
        let (_, amount) = requests.iter().rev().find(|(one, _)| one.0 == *name)?;
        let count = whole(amount.0.trim().parse().ok()?)?;
        Some(ExtendedRequest {
            resource: intern(name),
            index,
            count,
        })
    });
    let requests: Box<[ExtendedRequest]> = counted.collect();
    let container = ExtendedContainer {
        index,
        name: Arc::from(&*wire.name.0),
        is_short_lived,
        requests,
    };
    (!container.requests.is_empty()).then_some(container)
}

/// A whole number that is not 0 (`Quantity.AsInt64`).
fn whole(amount: Quantity) -> Option<i64> {
    let units = amount.value();
    (units != 0 && Quantity::from_units(units) == amount).then_some(units)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use crate::decode_pod;
    use crate::pod_claim::{ClaimSource, PodClaims};

    fn claims(pod: &Value) -> Option<PodClaims> {
        let pod = decode_pod(pod.to_string().as_bytes()).unwrap();
        let constraints = pod.spec.constraints?;
        constraints.claims.as_deref().cloned()
    }

    #[test]
    fn a_claim_is_named_or_generated() {
        let pod = json!({
            "spec": {"resourceClaims": [
                {"name": "a", "resourceClaimName": "named"},
                {"name": "b", "resourceClaimTemplateName": "t"},
                {"name": "c", "resourceClaimTemplateName": "t"},
                {"name": "d", "resourceClaimTemplateName": "t"},
                {"name": "e"},
            ]},
            "status": {"resourceClaimStatuses": [
                {"name": "b", "resourceClaimName": "made"}, {"name": "c"},
            ]},
        });
        let sources: Vec<ClaimSource> = claims(&pod)
            .unwrap()
            .claims
            .iter()
            .map(|claim| claim.source.clone())
            .collect();
        assert_eq!(
            sources,
            [
                ClaimSource::Named(Arc::from("named")),
                ClaimSource::Generated(Some(Arc::from("made"))),
                ClaimSource::Generated(None),
                ClaimSource::NotYetGenerated,
                ClaimSource::Unknown,
            ]
        );
        let mut placed = pod;
        placed["spec"]["nodeName"] = json!("n1");
        assert_eq!(claims(&placed), None);
    }

    #[test]
    fn extended_resources_have_their_place_among_all_requests() {
        let container = |name: &str, requests: Value| json!({"name": name, "resources": {"requests": requests}});
        let mut sidecar = container("side", json!({"example.com/gpu": "1"}));
        sidecar["restartPolicy"] = json!("Always");
        let found = claims(&json!({"spec": {
            "initContainers": [container("init", json!({"example.com/gpu": "2"})), sidecar],
            "containers": [
                container("plain", json!({"cpu": "1"})),
                container("main", json!({
                    "memory": "1Gi", "cpu": "1", "example.com/gpu": 3, "example.com/none": "0",
                    "deviceclass.resource.kubernetes.io/nic": "1",
                })),
            ],
        }}))
        .unwrap();
        assert_eq!(found.containers, 4);
        let seen = found.extended.iter().map(|one| {
            let requests = one.requests.iter();
            let requests = requests.map(|one| (one.index, one.count));
            let requests: Vec<(usize, i64)> = requests.collect();
            (one.index, one.is_short_lived, requests)
        });
        let seen: Vec<_> = seen.collect();
        let expected = [
            (0, true, vec![(0, 2)]),
            (1, false, vec![(0, 1)]),
            (3, false, vec![(1, 1), (2, 3)]),
        ];
        assert_eq!(seen, expected);
        assert_eq!(
            claims(&json!({"spec": {"containers": [container("a", json!({"cpu": "1"}))]}})),
            None
        );
    }
}
