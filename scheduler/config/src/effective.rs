//! The configuration as it will run, for people and for comparison.
//!
//! Gives JSON in the shape of `kube-scheduler --write-config-to`, except that every profile
//! has one list per point, in run order, and args by plugin name.

use std::time::Duration;

use plimsoll_objects::ApiDuration;
use serde_json::{Map, Value, json};

use crate::extender::Extender;
use crate::profile::Profile;
use crate::scheduler_config::SchedulerConfig;

/// The effective configuration. Empty texts, lists and false flags are left out where
/// kube-scheduler leaves them out.
pub fn effective(config: &SchedulerConfig) -> Value {
    let client = &config.client_connection;
    let election = &config.leader_election;
    let mut file = json!({
        "parallelism": config.parallelism,
        "percentageOfNodesToScore": config.percentage_of_nodes_to_score.to_file(),
        "podInitialBackoffSeconds": config.pod_initial_backoff.as_secs(),
        "podMaxBackoffSeconds": config.pod_max_backoff.as_secs(),
        "enableProfiling": config.enable_profiling,
        "enableContentionProfiling": config.enable_contention_profiling,
        "clientConnection": {
            "kubeconfig": client.kubeconfig,
            "acceptContentTypes": client.accept_content_types,
            "contentType": client.content_type,
            "qps": number(client.qps),
            "burst": client.burst,
        },
        "leaderElection": {
            "leaderElect": election.leader_elect,
            "leaseDuration": election.lease_duration.to_string(),
            "renewDeadline": election.renew_deadline.to_string(),
            "retryPeriod": election.retry_period.to_string(),
            "resourceLock": election.resource_lock,
            "resourceNamespace": election.resource_namespace,
            "resourceName": election.resource_name,
        },
        "profiles": config.profiles.iter().map(profile).collect::<Vec<_>>(),
    });
    if config.delay_cache_until_active {
        file["delayCacheUntilActive"] = true.into();
    }
    if !config.extenders.is_empty() {
        file["extenders"] = config.extenders.iter().map(extender).collect();
    }
    file
}

fn profile(profile: &Profile) -> Value {
    let points = profile.listing.iter();
    let plugins: Map<String, Value> = points
        .map(|listing| (listing.point.to_owned(), plugins(&listing.plugins)))
        .collect();
    let args = profile
        .args
        .iter()
        .filter(|(_, args)| !args.effective().is_null());
    let args: Map<String, Value> = args
        .map(|(name, args)| ((*name).to_owned(), args.effective().clone()))
        .collect();
    let mut json = json!({
        "schedulerName": profile.scheduler_name,
        "plugins": plugins,
        "pluginConfig": args,
    });
    if profile.percentage_is_own {
        let percentage = profile.percentage_of_nodes_to_score.to_file();
        json["percentageOfNodesToScore"] = percentage.into();
    }
    json
}

fn plugins(list: &[(&str, Option<i64>)]) -> Value {
    let entry = |&(name, weight): &(&str, Option<i64>)| match weight {
        Some(weight) => json!({"name": name, "weight": weight}),
        None => json!({"name": name}),
    };
    list.iter().map(entry).collect()
}

fn extender(extender: &Extender) -> Value {
    let text = |text: &Option<String>| json!(text);
    let flag = |flag: bool| if flag { Value::Bool(true) } else { Value::Null };
    let resources = extender.managed_resources.iter().map(|resource| {
        let ignored = flag(resource.ignored_by_scheduler);
        object([
            ("name", json!(resource.name)),
            ("ignoredByScheduler", ignored),
        ])
    });
    let resources: Vec<_> = resources.collect();
    let tls = extender.tls.as_ref().map(|tls| {
        object([
            ("insecure", flag(tls.insecure)),
            ("serverName", text(&tls.server_name)),
            ("certFile", text(&tls.cert_file)),
            ("keyFile", text(&tls.key_file)),
            ("caFile", text(&tls.ca_file)),
            ("certData", text(&tls.cert_data)),
            ("keyData", text(&tls.key_data)),
            ("caData", text(&tls.ca_data)),
        ])
    });
    object([
        ("urlPrefix", json!(extender.url_prefix)),
        ("filterVerb", text(&extender.filter_verb)),
        ("preemptVerb", text(&extender.preempt_verb)),
        ("prioritizeVerb", text(&extender.prioritize_verb)),
        ("bindVerb", text(&extender.bind_verb)),
        (
            "weight",
            if extender.weight == 0 {
                Value::Null
            } else {
                extender.weight.into()
            },
        ),
        ("enableHTTPS", flag(extender.enable_https)),
        ("tlsConfig", json!(tls)),
        ("httpTimeout", duration(extender.http_timeout)),
        ("nodeCacheCapable", flag(extender.node_cache_capable)),
        (
            "managedResources",
            if resources.is_empty() {
                Value::Null
            } else {
                resources.into()
            },
        ),
        ("ignorable", flag(extender.ignorable)),
    ])
}

/// An object of the fields that are not null.
fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let kept = fields.into_iter().filter(|(_, value)| !value.is_null());
    Value::Object(kept.map(|(name, value)| (name.to_owned(), value)).collect())
}

fn duration(duration: Duration) -> Value {
    ApiDuration::from_std(duration).to_string().into()
}

/// A whole number without decimals, as Go prints a float.
fn number(float: f64) -> Value {
    if float.fract() == 0.0 {
        json!(float as i64)
    } else {
        json!(float)
    }
}
