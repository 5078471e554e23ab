//! Disks of plugins that were moved to CSI drivers -> the CSI volumes that stand for them.
//!
//! `csi-translation-lib` v0.37: handles, and node affinity with the driver's topology keys.
//! Mistakes keep its words.

mod topology;

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::Deserialize;

pub(super) use self::topology::{RawTerm, translate};
use super::values::Text;

/// What a handle has in place of a part that is not known.
const UNSPECIFIED: &str = "UNSPECIFIED";
/// Between the zones in a label of a volume in several zones.
const ZONE_DELIMITER: &str = "__";

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct GcePd<'a> {
    #[serde(borrow)]
    pub(super) pd_name: Text<'a>,
    pub(super) read_only: Option<bool>,
}

/// A source that is known by its id.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ById<'a> {
    #[serde(borrow, rename = "volumeID")]
    pub(super) volume_id: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct AzureDisk<'a> {
    #[serde(borrow, rename = "diskURI")]
    pub(super) disk_uri: Text<'a>,
    #[serde(borrow)]
    pub(super) kind: Option<Text<'a>>,
}

/// The handle of a GCE disk in no known zone.
pub(super) fn unzoned_gce_handle<'a>(disk: &GcePd<'_>) -> Cow<'a, str> {
    let name = &disk.pd_name.0;
    format!("projects/{UNSPECIFIED}/zones/{UNSPECIFIED}/disks/{name}").into()
}

/// The handle of a GCE disk in the zones of its label: one, or several of one region.
pub(super) fn gce_handle<'a>(disk: &GcePd<'_>, zones: &str) -> Result<Cow<'a, str>, String> {
    let name = &disk.pd_name.0;
    let zones: Vec<&str> = zones.split(ZONE_DELIMITER).collect();
    match &*zones {
        [] | [""] => Ok(unzoned_gce_handle(disk)),
        [zone] => Ok(format!("projects/{UNSPECIFIED}/zones/{zone}/disks/{name}").into()),
        zones => {
            let region =
                gce_region(zones).map_err(|e| format!("failed to get region from zones: {e}"))?;
            Ok(format!("projects/{UNSPECIFIED}/regions/{region}/disks/{name}").into())
        }
    }
}

/// The region that zones such as `europe-west1-b` lie in.
fn gce_region(zones: &[&str]) -> Result<String, String> {
    let mut regions = BTreeSet::new();
    for zone in zones {
        let parts: Vec<&str> = zone.split('-').collect();
        let [locale, region, _] = &*parts else {
            return Err(format!(
                "zone in unexpected format, expected: {{locale}}-{{region}}-{{zone}}, got: {zone}"
            ));
        };
        regions.insert(format!("{locale}-{region}"));
    }
    if regions.len() == 1 {
        return Ok(regions.into_iter().collect());
    }
    let regions: Vec<String> = regions.iter().map(|name| format!("{name}:{{}}")).collect();
    Err(format!(
        "multiple or no regions gotten from zones, got: map[{}]",
        regions.join(" ")
    ))
}

/// The handle of an EBS volume: its id, also out of `aws://zone/vol-id`.
pub(super) fn ebs_handle(id: &str) -> Result<Cow<'_, str>, String> {
    let Some(rest) = id.strip_prefix("aws://") else {
        return Ok(id.into());
    };
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let path = rest.split_once('/').map_or("", |(_, path)| path);
    let volume = path.trim_matches('/');
    if volume.starts_with("vol-") && !volume.contains('/') {
        Ok(volume.into())
    } else {
        Err(format!(
            "failed to translate Kubernetes ID to EBS Volume ID \
             Invalid format for AWS volume ({id})"
        ))
    }
}

/// The handle of an Azure disk: only managed ones have one.
pub(super) fn azure_handle<'a>(disk: &'a AzureDisk<'_>) -> Result<Cow<'a, str>, String> {
    match &disk.kind {
        Some(kind) if !kind.0.eq_ignore_ascii_case("managed") => Err(format!(
            "kind({}) is not supported in csi migration",
            kind.0
        )),
        _ => Ok((*disk.disk_uri.0).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::{AzureDisk, GcePd, azure_handle, ebs_handle, gce_handle};
    use crate::decode::values::Text;

    #[test]
    fn an_ebs_volume_is_known_by_its_id() {
        let mistake = |id: &str| {
            Err(format!(
                "failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume ({id})"
            ))
        };
        let cases = [
            ("vol-1", Ok("vol-1".into())),
            ("anything", Ok("anything".into())),
            ("aws://us-east-1/vol-02", Ok("vol-02".into())),
            ("aws:///vol-02", Ok("vol-02".into())),
            ("aws://us-east-1/disk", mistake("aws://us-east-1/disk")),
            ("aws://vol-1", mistake("aws://vol-1")),
            ("aws:///a/vol-1", mistake("aws:///a/vol-1")),
        ];
        for (id, handle) in cases {
            assert_eq!(ebs_handle(id), handle, "{id}");
        }
    }

    #[test]
    fn a_gce_disk_lies_in_a_zone_a_region_or_nowhere_known() {
        let disk = GcePd {
            pd_name: Text("d".into()),
            read_only: None,
        };
        let cases = [
            ("", Ok("projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d")),
            (
                "eu-west1-b",
                Ok("projects/UNSPECIFIED/zones/eu-west1-b/disks/d"),
            ),
            (
                "eu-west1-b__eu-west1-c",
                Ok("projects/UNSPECIFIED/regions/eu-west1/disks/d"),
            ),
            (
                "b__c",
                Err(
                    "failed to get region from zones: zone in unexpected format, expected: {locale}-{region}-{zone}, got: b",
                ),
            ),
            (
                "eu-west1-b__eu-west2-c",
                Err(
                    "failed to get region from zones: multiple or no regions gotten from zones, got: map[eu-west1:{} eu-west2:{}]",
                ),
            ),
        ];
        for (zones, handle) in cases {
            let ours = gce_handle(&disk, zones);
            let ours = ours.as_ref().map(AsRef::as_ref).map_err(String::as_str);
            assert_eq!(ours, handle, "{zones}");
        }
    }

    #[test]
    fn only_managed_azure_disks_are_translated() {
        let of_kind = |kind: Option<&'static str>| AzureDisk {
            disk_uri: Text("/subscriptions/x".into()),
            kind: kind.map(|kind| Text(kind.into())),
        };
        for kind in [None, Some("Managed"), Some("managed")] {
            assert_eq!(
                azure_handle(&of_kind(kind)).as_deref(),
                Ok("/subscriptions/x")
            );
        }
        assert_eq!(
            azure_handle(&of_kind(Some("Dedicated"))),
            Err("kind(Dedicated) is not supported in csi migration".to_owned())
        );
    }
}
