//! How a strategic merge patch merges each list: the `patchStrategy` and `patchMergeKey` tags of the
//! Kubernetes types, by the name of the list and, where one name means two things, of what holds it.

/// How a list is merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strategy {
    /// The patch's list replaces the present one.
    Replace,
    /// Items with the same value of this field are merged.
    ByKey(&'static str),
    /// Values that are missing are added.
    Union,
}

/// Gives the strategy of the list `field` inside the field `holder`.
pub(super) fn strategy(holder: &str, field: &str) -> Strategy {
    match field {
        "containers"
        | "initContainers"
        | "ephemeralContainers"
        | "env"
        | "volumes"
        | "imagePullSecrets"
        | "schedulingGates"
        | "resourceClaims"
        | "secrets"
        | "drivers" => Strategy::ByKey("name"),
        "conditions" | "addresses" => Strategy::ByKey("type"),
        "ports" if holder.to_ascii_lowercase().ends_with("containers") => {
            Strategy::ByKey("containerPort")
        }
        "ports" => Strategy::ByKey("port"),
        "volumeMounts" => Strategy::ByKey("mountPath"),
        "volumeDevices" => Strategy::ByKey("devicePath"),
        "hostAliases" | "podIPs" | "hostIPs" => Strategy::ByKey("ip"),
        "topologySpreadConstraints" => Strategy::ByKey("topologyKey"),
        "ownerReferences" => Strategy::ByKey("uid"),
        "finalizers" | "podCIDRs" => Strategy::Union,
        _ => Strategy::Replace,
    }
}
