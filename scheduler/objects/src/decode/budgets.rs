//! JSON of the API server -> disruption budgets.

use serde::Deserialize;

use super::{DecodeError, convert, parse, wire};
use crate::budget::PodDisruptionBudget;
use crate::intern::intern;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Budget<'a> {
    #[serde(borrow)]
    metadata: Option<wire::Metadata<'a>>,
    #[serde(borrow)]
    spec: Option<Spec<'a>>,
    #[serde(borrow)]
    status: Option<Status<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Spec<'a> {
    #[serde(borrow)]
    selector: Option<wire::LabelSelector<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Status<'a> {
    disruptions_allowed: Option<i32>,
    #[serde(borrow)]
    disrupted_pods: Option<wire::Texts<'a>>,
}

/// Decodes a `policy/v1.PodDisruptionBudget`.
///
/// # Errors
/// The first mistake in the object, with its path.
pub(crate) fn pod_disruption_budget(json: &[u8]) -> Result<PodDisruptionBudget, DecodeError> {
    let wire: Budget<'_> = parse(json)?;
    let status = wire.status.unwrap_or_default();
    let selector = wire.spec.as_ref().and_then(|spec| spec.selector.as_ref());
    let disrupted = status.disrupted_pods.iter().flat_map(|pods| &pods.0);
    Ok(PodDisruptionBudget {
        meta: convert::meta(wire.metadata.as_ref(), "default")?,
        selector: convert::label_selector(selector),
        disruptions_allowed: status.disruptions_allowed.unwrap_or(0),
        disrupted: disrupted.map(|(name, _)| intern(&name.0)).collect(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::pod_disruption_budget;

    fn decode(json: &Value) -> Result<(i32, Vec<String>), String> {
        let budget = pod_disruption_budget(json.to_string().as_bytes());
        let budget = budget.map_err(|error| error.to_string())?;
        let names = budget.disrupted.iter().map(ToString::to_string);
        Ok((budget.disruptions_allowed, names.collect()))
    }

    #[test]
    fn a_budget_says_how_many_pods_may_go_and_which_are_going() {
        let full = json!({
            "metadata": {"name": "b"},
            "spec": {"minAvailable": "50%", "selector": {"matchLabels": {"app": "web"}}},
            "status": {
                "disruptionsAllowed": 2, "currentHealthy": 4,
                "disruptedPods": {"web-2": "2026-01-31T12:00:00Z", "web-1": null},
            },
        });
        let names = vec!["web-1".to_owned(), "web-2".to_owned()];
        assert_eq!(decode(&full), Ok((2, names)));
    }

    #[test]
    fn a_budget_without_a_status_lets_no_pod_go() {
        for odd in [json!({}), json!({"status": null}), json!({"spec": null})] {
            assert_eq!(decode(&odd), Ok((0, Vec::new())), "{odd}");
        }
        let wrong = json!({"status": {"disruptionsAllowed": "2"}});
        assert_eq!(
            decode(&wrong),
            Err("status.disruptionsAllowed: unexpected JSON".to_owned())
        );
    }
}
