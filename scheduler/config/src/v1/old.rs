//! What to say about files that people still have: old versions, other kinds, fields that
//! are gone.

use serde_json::Value;

use super::{API_GROUP, API_VERSION, KIND};
use crate::plimsoll;

/// Fields of older versions and of `Policy` files, and what became of them.
const FIELDS: [(&str, &str); 23] = [
    ("featureGates", GATES),
    ("healthzBindAddress", ADDRESS),
    ("metricsBindAddress", ADDRESS),
    ("algorithmSource", POLICY),
    ("hardPodAffinitySymmetricWeight", HARD_WEIGHT),
    ("bindTimeoutSeconds", BIND_TIMEOUT),
    ("disablePreemption", PREEMPTION),
    (
        "lockObjectNamespace",
        "it is `resourceNamespace` since v1beta1",
    ),
    ("lockObjectName", "it is `resourceName` since v1beta1"),
    ("predicates", POLICY),
    ("priorities", POLICY),
    ("extenderConfigs", "it is `extenders` since v1beta1"),
    ("alwaysCheckAllPredicates", GONE),
    ("schedulerConfig", WRAPPED),
    ("data", WRAPPED),
    ("metadata", WRAPPED),
    ("unreserve", "it is part of `reserve` since v1beta1"),
    ("preFilterPlugins", LISTS),
    ("filterPlugins", LISTS),
    ("scorePlugins", LISTS),
    ("bindPlugins", LISTS),
    ("usePodTopologySpreadDefaultConstraints", GONE),
    ("postFilters", "it is `postFilter`"),
];

const GATES: &str = "feature gates do not belong into this file: kube-scheduler takes them as \
     `--feature-gates`, and Plimsoll has none (what its version of kube-scheduler has switched \
     on by default is on)";
const ADDRESS: &str = "it is gone since v1: kube-scheduler serves at `--secure-port`, Plimsoll \
     at `admin.listen` of its own file (--plimsoll-config)";
const POLICY: &str = "`Policy` files are gone since Kubernetes 1.23: name plugins and weights in \
     `profiles`";
const HARD_WEIGHT: &str = "it is `hardPodAffinityWeight` in the args of `InterPodAffinity`";
const BIND_TIMEOUT: &str = "it belongs to the args of `VolumeBinding`";
const PREEMPTION: &str = "it is gone: disable `DefaultPreemption` at `postFilter` of the profile";
const GONE: &str = "it is gone, and nothing takes its place";
const WRAPPED: &str = "it looks like part of the object around the file: keep only what is \
     inside";
const LISTS: &str = "lists of plugins are sets with `enabled` and `disabled` under `plugins`";

/// What became of the field `name`, if it once was one.
pub(crate) fn advice(name: &str) -> Option<&'static str> {
    let known = FIELDS.iter().find(|(own, _)| *own == name);
    known.map(|(_, advice)| *advice)
}

/// What to say about a file of another `apiVersion`.
pub(super) fn version(version: &str, kind: &str, file: &Value) -> String {
    match kind {
        "ConfigMap" => config_map(file),
        "Policy" => format!("{POLICY} of a {KIND} ({API_VERSION})"),
        _ if kind == plimsoll::KIND => own_file(),
        KIND if version.starts_with(API_GROUP) => format!(
            "`{version}` is an old version that kube-scheduler no longer reads either: write \
             {API_VERSION}, here and in every nested `args` that carries an apiVersion"
        ),
        KIND => format!("`{version}` is not known: must be {API_VERSION}"),
        _ => format!("a `{kind}` of `{version}` is no {KIND}: must be {API_VERSION}"),
    }
}

/// What to say about another kind of the right version.
pub(super) fn kind(kind: &str) -> String {
    if kind == plimsoll::KIND {
        return own_file();
    }
    format!("`{kind}` is not a kind of {API_VERSION}: must be {KIND}")
}

/// What to say about args of another `apiVersion`.
pub(crate) fn args_version(version: &str) -> String {
    if version.starts_with(API_GROUP) {
        format!("`{version}` is an old version of these args: write {API_VERSION} here too")
    } else {
        format!("`{version}` is not known: must be {API_VERSION}")
    }
}

fn own_file() -> String {
    format!(
        "a {} is a file of its own: it goes to --plimsoll-config, this one to --config",
        plimsoll::KIND
    )
}

/// Names the entries of a `ConfigMap` that hold such a file.
fn config_map(file: &Value) -> String {
    let entries = file.get("data").and_then(Value::as_object);
    let files = entries.into_iter().flatten().filter(|(_, text)| {
        let text = text.as_str().unwrap_or_default();
        text.contains(KIND)
    });
    let names: Vec<String> = files.map(|(name, _)| format!("`{name}`")).collect();
    let inside = match names.as_slice() {
        [] => "none of its entries is one".to_owned(),
        names => format!("take what is in its entry {}", names.join(" or ")),
    };
    format!("a ConfigMap is not the file itself: {inside}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{advice, version};

    #[test]
    fn an_object_around_the_file_is_named_with_its_entries() {
        let file = json!({"data": {"a.yaml": "kind: KubeSchedulerConfiguration", "b": "kind: X"}});
        assert_eq!(
            version("v1", "ConfigMap", &file),
            "a ConfigMap is not the file itself: take what is in its entry `a.yaml`"
        );
        assert!(version("v1", "ConfigMap", &json!({"data": 1})).contains("none of its entries"));
    }

    #[test]
    fn other_files_are_told_from_old_ones() {
        let none = json!({});
        for (api, kind, said) in [
            ("v1", "Policy", "gone since Kubernetes 1.23"),
            (
                "plimsoll.dev/v1alpha1",
                "PlimsollConfiguration",
                "--plimsoll-config",
            ),
            (
                "kubescheduler.config.k8s.io/v1beta3",
                "KubeSchedulerConfiguration",
                "old version",
            ),
            ("example.com/v1", "KubeSchedulerConfiguration", "not known"),
            ("apps/v1", "Deployment", "a `Deployment` of `apps/v1`"),
        ] {
            let text = version(api, kind, &none);
            assert!(text.contains(said), "{text}");
        }
    }

    #[test]
    fn gates_have_a_sentence_and_names_of_today_have_none() {
        assert!(advice("featureGates").unwrap().contains("--feature-gates"));
        assert_eq!(advice("profiles"), None);
    }
}
