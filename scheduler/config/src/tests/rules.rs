//! Rules that are not kube-scheduler's, and what the parity files do not show.

use std::time::Duration;

use plimsoll_framework::{Point, Registry};
use proptest::prelude::*;

use super::{at, errors, file, load, mistakes, plugins, warnings};
use crate::NodesToScore;

#[test]
fn a_file_that_says_nothing_looks_at_all_nodes() {
    assert_eq!(load("").percentage_of_nodes_to_score, NodesToScore::All);
    assert_eq!(
        load("percentageOfNodesToScore: 0\n").percentage_of_nodes_to_score,
        NodesToScore::Adaptive
    );
    let config = load(
        "percentageOfNodesToScore: 40\nprofiles:\n- schedulerName: a\n- {schedulerName: b, percentageOfNodesToScore: 100}\n- {schedulerName: c, percentageOfNodesToScore: 0}\n",
    );
    let own: Vec<_> = config
        .profiles
        .iter()
        .map(|p| (p.percentage_of_nodes_to_score, p.percentage_is_own))
        .collect();
    let expected = [
        (NodesToScore::Percent(40), false),
        (NodesToScore::Percent(100), true),
        (NodesToScore::Adaptive, true),
    ];
    assert_eq!(own, expected);
}

#[test]
fn defaults_are_those_of_the_documentation() {
    let config = load("");
    assert_eq!((config.parallelism, config.profiles.len()), (16, 1));
    assert_eq!(config.pod_initial_backoff, Duration::from_secs(1));
    assert_eq!(config.pod_max_backoff, Duration::from_secs(10));
    assert_eq!(
        config.leader_election.lease_duration.to_std(),
        Duration::from_secs(15)
    );
    assert_eq!(&*config.profiles[0].scheduler_name, "default-scheduler");
    assert_eq!(
        (config.warnings.len(), config.missing_defaults.len()),
        (0, 0)
    );
}

#[test]
fn extenders_have_their_defaults() {
    let config = load(
        "extenders:\n- {urlPrefix: 'http://e', filterVerb: f, bindVerb: '', httpTimeout: 0s, tlsConfig: {}}\n",
    );
    let extender = &config.extenders[0];
    assert_eq!(extender.http_timeout, Duration::from_secs(5));
    assert_eq!(
        (
            extender.filter_verb.as_deref(),
            extender.bind_verb.as_deref()
        ),
        (Some("f"), None)
    );
    assert!(extender.tls.is_some());
}

#[test]
fn default_plugins_that_a_build_lacks_are_left_out_and_listed() {
    let registry = plugins::without(&["VolumeZone", "ImageLocality"]);
    let text = file(
        "profiles:\n- schedulerName: a\n- schedulerName: b\n- {schedulerName: c, plugins: {multiPoint: {disabled: [{name: VolumeZone}]}}}\n",
    );
    let config = crate::load(&text, &registry).unwrap();
    assert_eq!(config.missing_defaults, ["ImageLocality", "VolumeZone"]);
    assert!(!at(&config, Point::Filter).contains(&"VolumeZone=1".to_owned()));
    assert_eq!(config.warnings, []);
}

#[test]
fn a_plugin_of_kube_scheduler_that_a_build_lacks_cannot_be_asked_for() {
    let registry = plugins::without(&["VolumeZone"]);
    for set in ["multiPoint", "filter"] {
        let text = file(&format!(
            "profiles:\n- plugins: {{{set}: {{enabled: [{{name: VolumeZone}}]}}}}\n"
        ));
        let errors = crate::load(&text, &registry).unwrap_err();
        assert_eq!(errors.len(), 1);
        assert_eq!(
            errors[0].to_string(),
            format!(
                "profiles[0].plugins.{set}.enabled[0]: plugin `VolumeZone` of kube-scheduler is not part of this build"
            )
        );
    }
    let config = crate::load(
        &file("profiles:\n- pluginConfig: [{name: VolumeZone, args: {}}]\n"),
        &registry,
    );
    assert_eq!(
        warnings(&config.unwrap()),
        [
            "profiles[0].pluginConfig[0]: plugin `VolumeZone` of kube-scheduler is not part of this build: its args are not read"
        ]
    );
}

#[test]
fn a_registry_without_order_and_binder_makes_no_scheduler() {
    let errors = crate::default_config(&Registry::default()).unwrap_err();
    let paths: Vec<_> = errors.iter().map(|error| error.path.as_str()).collect();
    assert_eq!(
        paths,
        ["profiles[0].plugins.queueSort", "profiles[0].plugins.bind"]
    );
    assert_eq!(
        crate::default_config(&plugins::registry())
            .unwrap()
            .profiles
            .len(),
        1
    );
}

#[test]
fn mistakes_of_all_stages_are_reported_at_once() {
    let seen = mistakes(
        "parallelism: 0\npodMaxBackoffSeconds: [1]\nleaderElection: {leaseDuration: 15}\nprofiles:\n\
         - schedulerName: ''\n  pluginConfig: [{name: InterPodAffinity, args: {hardPodAffinityWeight: 101}}]\n  \
         plugins: {filter: {enabled: [{name: NodePort}, {name: ImageLocality}]}, scores: {}}\nextenders: 5\n",
    );
    let paths: Vec<&str> = seen.iter().filter_map(|m| m.split(": ").next()).collect();
    assert_eq!(
        paths,
        [
            "leaderElection.leaseDuration",
            "podMaxBackoffSeconds",
            "profiles[0].plugins.scores",
            "extenders",
            "parallelism",
            "profiles[0].schedulerName",
            "profiles[0].pluginConfig[0].args.hardPodAffinityWeight",
            "profiles[0].plugins.filter.enabled[0]",
            "profiles[0].plugins.filter.enabled[1]",
        ]
    );
    assert!(seen[2].contains("did you mean `score`"));
    assert!(seen[8].contains("does not serve this point, but score"));
}

#[test]
fn a_field_that_cannot_be_read_does_not_break_a_rule_as_well() {
    assert_eq!(
        mistakes("profiles:\n- schedulerName: [a]\n- schedulerName: b\n").len(),
        1
    );
}

#[test]
fn a_nested_object_has_no_kind_and_version() {
    let seen = mistakes("profiles:\n- {schedulerName: a, kind: Profile}\n");
    assert_eq!(seen.len(), 1);
    assert!(seen[0].starts_with("profiles[0].kind: unknown field"));
}

#[test]
fn resources_of_extenders_are_ignored_by_fit_in_every_profile() {
    let config = load(
        "profiles:\n- schedulerName: a\n- schedulerName: b\n  pluginConfig: [{name: NodeResourcesFit, args: {ignoredResources: [x.com/y]}}]\n\
         extenders:\n- {urlPrefix: u, managedResources: [{name: example.com/fpga, ignoredByScheduler: true}, {name: example.com/gpu}]}\n",
    );
    for profile in &config.profiles {
        let args = profile.args["NodeResourcesFit"].effective();
        assert_eq!(
            args["ignoredResources"],
            serde_json::json!(["example.com/fpga"])
        );
    }
    let seen = mistakes(
        "profiles:\n- plugins: {multiPoint: {disabled: [{name: NodeResourcesFit}]}}\n\
         extenders:\n- {urlPrefix: u, managedResources: [{name: example.com/fpga, ignoredByScheduler: true}]}\n",
    );
    assert_eq!(seen.len(), 1);
    assert!(seen[0].starts_with("extenders: "));
}

#[test]
fn args_of_a_plugin_that_is_not_made_are_not_checked_for_being_made() {
    let fit = "pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: {type: Wrong}}}]";
    let off = "plugins: {multiPoint: {disabled: [{name: NodeResourcesFit}]}}";
    assert_eq!(errors(&format!("profiles:\n- {fit}\n")).len(), 1);
    assert!(errors(&format!("profiles:\n- {fit}\n  {off}\n")).is_empty());
    let affinity = "pluginConfig: [{name: InterPodAffinity, args: {hardPodAffinityWeight: 101}}]";
    let off = "plugins: {multiPoint: {disabled: [{name: InterPodAffinity}]}}";
    assert_eq!(
        errors(&format!("profiles:\n- {affinity}\n  {off}\n")).len(),
        1
    );
}

#[test]
fn every_enabled_plugin_has_args() {
    let config = load("");
    let profile = &config.profiles[0];
    for (_, list) in profile.points.iter() {
        assert!(
            list.iter()
                .all(|plugin| profile.args.contains_key(plugin.spec.name))
        );
    }
    assert!(!profile.args.contains_key("LoadAware"));
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,80}") {
        let result = crate::load(&text, &plugins::registry());
        prop_assert!(result.is_err_and(|errors| !errors.is_empty()));
    }

    #[test]
    fn no_value_in_any_field_panics(
        field in prop::sample::select(vec![
            "parallelism", "profiles", "extenders", "leaderElection", "clientConnection", "podMaxBackoffSeconds",
        ]),
        value in prop::sample::select(vec![
            "null", "-1", "1e99", "[]", "{}", "[null]", "[[]]", "x", "[{plugins: [], pluginConfig: {}}]",
            "[{plugins: {score: {enabled: [null, {weight: 1e9}]}}}]", "{leaseDuration: x, burst: 1.5, qps: -1}",
            "[{managedResources: [null], tlsConfig: 3, weight: 99999999999999999999}]",
        ]),
    ) {
        match crate::load(&file(&format!("{field}: {value}\n")), &plugins::registry()) {
            Ok(config) => prop_assert!(!config.profiles.is_empty()),
            Err(errors) => prop_assert!(!errors.is_empty()),
        }
    }
}
