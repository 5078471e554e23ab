//! Zones of a volume, by labels or affinity -> affinity with a CSI driver's topology key
//! (`csi-translation-lib` `translateTopologyFromInTreeToCSI`).

use std::collections::BTreeSet;

use super::ZONE_DELIMITER;
use crate::selector::RawRequirement;

const ZONE: &str = "topology.kubernetes.io/zone";
const REGION: &str = "topology.kubernetes.io/region";
const BETA_ZONE: &str = "failure-domain.beta.kubernetes.io/zone";
const BETA_REGION: &str = "failure-domain.beta.kubernetes.io/region";

/// A term of a node selector as the wire has it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in super::super) struct RawTerm<'a> {
    /// `matchExpressions`.
    pub(in super::super) expressions: Vec<RawRequirement<'a>>,
    /// `matchFields`.
    pub(in super::super) fields: Vec<RawRequirement<'a>>,
}

/// The terms of a translated volume. `terms` are those of the disk, `None` where it has no
/// required affinity; `label` gives its labels; `key` is the driver's key for a zone.
pub(in super::super) fn translate<'a>(
    mut terms: Option<Vec<RawTerm<'a>>>,
    label: impl Fn(&str) -> Option<&'a str>,
    key: &'static str,
) -> Option<Vec<RawTerm<'a>>> {
    let known = |key: &str| names(terms.as_deref(), key);
    let is_beta =
        !known(ZONE) && (known(BETA_ZONE) || label(ZONE).is_none() && label(BETA_ZONE).is_some());
    let zone = if is_beta { BETA_ZONE } else { ZONE };
    if has_values(terms.as_deref(), zone) {
        replace(&mut terms, zone, key);
    } else if let Some(zones) = label(zone) {
        add(&mut terms, key, zones);
    }
    if is_beta && has_values(terms.as_deref(), BETA_REGION) {
        replace(&mut terms, BETA_REGION, REGION);
    }
    terms
}

fn of_key<'t, 'a>(
    terms: Option<&'t [RawTerm<'a>]>,
    key: &str,
) -> impl Iterator<Item = &'t RawRequirement<'a>> {
    let terms = terms.into_iter().flatten();
    let expressions = terms.flat_map(|term| &term.expressions);
    expressions.filter(move |raw| raw.key == key)
}

/// Whether some term names `key`.
fn names(terms: Option<&[RawTerm<'_>]>, key: &str) -> bool {
    of_key(terms, key).next().is_some()
}

/// Whether some term names values of `key`.
fn has_values(terms: Option<&[RawTerm<'_>]>, key: &str) -> bool {
    let has_any = |raw: &RawRequirement<'_>| raw.values.as_ref().is_some_and(|v| !v.is_empty());
    of_key(terms, key).any(has_any)
}

fn replace(terms: &mut Option<Vec<RawTerm<'_>>>, old: &str, new: &'static str) {
    let terms = terms.iter_mut().flatten();
    for raw in terms.flat_map(|term| &mut term.expressions) {
        if raw.key == old {
            raw.key = new;
        }
    }
}

/// Adds the zones of a label to every term, or makes the only one.
fn add<'a>(terms: &mut Option<Vec<RawTerm<'a>>>, key: &'static str, zones: &'a str) {
    let zones: BTreeSet<&str> = zones.split(ZONE_DELIMITER).map(str::trim).collect();
    let zones: Vec<&str> = zones.into_iter().filter(|zone| !zone.is_empty()).collect();
    if zones.is_empty() {
        return;
    }
    let terms = terms.get_or_insert_default();
    if terms.is_empty() {
        terms.push(RawTerm::default());
    }
    for term in terms {
        term.expressions.push(RawRequirement {
            key,
            operator: "In",
            values: Some(zones.clone()),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::{BETA_REGION, BETA_ZONE, REGION, RawTerm, ZONE, translate};
    use crate::selector::RawRequirement;

    const KEY: &str = "topology.gke.io/zone";

    fn term(expressions: &[(&'static str, &[&'static str])]) -> RawTerm<'static> {
        let expressions = expressions.iter();
        RawTerm {
            expressions: expressions
                .map(|(key, values)| RawRequirement {
                    key,
                    operator: "In",
                    values: Some(values.to_vec()),
                })
                .collect(),
            fields: Vec::new(),
        }
    }

    fn translated(
        terms: Option<Vec<RawTerm<'static>>>,
        labels: &[(&str, &'static str)],
    ) -> Option<Vec<RawTerm<'static>>> {
        let label = |key: &str| {
            let mut labels = labels.iter();
            labels
                .find(|(name, _)| *name == key)
                .map(|(_, value)| *value)
        };
        translate(terms, label, KEY)
    }

    #[test]
    fn a_zone_in_the_affinity_gets_the_key_of_the_driver() {
        let terms = vec![term(&[(ZONE, &["a"]), ("disk", &["ssd"])])];
        let expected = vec![term(&[(KEY, &["a"]), ("disk", &["ssd"])])];
        assert_eq!(translated(Some(terms), &[(ZONE, "b")]), Some(expected));
    }

    #[test]
    fn beta_keys_become_those_of_today() {
        let terms = vec![term(&[(BETA_ZONE, &["a"]), (BETA_REGION, &["r"])])];
        let expected = vec![term(&[(KEY, &["a"]), (REGION, &["r"])])];
        assert_eq!(translated(Some(terms), &[]), Some(expected));
    }

    #[test]
    fn zones_of_a_label_are_added_to_every_term() {
        let zones = ["a", "b"];
        let labels = [(ZONE, "b__ a__")];
        assert_eq!(
            translated(None, &labels),
            Some(vec![term(&[(KEY, &zones)])])
        );
        let terms = vec![term(&[("disk", &["ssd"])]), term(&[])];
        let expected = vec![
            term(&[("disk", &["ssd"]), (KEY, &zones)]),
            term(&[(KEY, &zones)]),
        ];
        assert_eq!(translated(Some(terms), &labels), Some(expected));
        assert_eq!(
            translated(None, &[(BETA_ZONE, "a")]),
            Some(vec![term(&[(KEY, &["a"])])])
        );
    }

    #[test]
    fn a_volume_without_zones_stays_as_it_is() {
        assert_eq!(translated(None, &[("app", "db")]), None);
        assert_eq!(translated(None, &[(ZONE, "")]), None);
    }
}
