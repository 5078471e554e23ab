//! Rules that are not kube-scheduler's, and what the parity files do not show.

use std::time::Duration;

use plimsoll_framework::{Point, Registry};

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
            "profiles[0].pluginConfig[0]: these args are not read: plugin `VolumeZone` of kube-scheduler is not part of this build"
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

#[test]
fn a_score_that_is_lost_among_the_others_is_told_by_whom() {
    let with = |weight| {
        warnings(&load(&format!(
            "profiles:\n- plugins: {{multiPoint: {{enabled: [{{name: LoadAware, weight: {weight}}}]}}}}\n"
        )))
    };
    assert_eq!(
        with(1),
        [
            "profiles[0].plugins.multiPoint.enabled[0]: `LoadAware` is 6 % of the score: its weight 1 is diluted by TaintToleration 3, NodeAffinity 2, PodTopologySpread 2, InterPodAffinity 2, 5 more; a weight of 15 would make it half"
        ]
    );
    assert_eq!(with(5), [""; 0]);
}

#[test]
fn a_profile_that_hardly_any_pod_asks_for_is_warned_of() {
    let seen = warnings(&load(
        "profiles:\n- schedulerName: batch\n- schedulerName: Batch\n- schedulerName: |\n    night\n",
    ));
    assert_eq!(seen.len(), 2, "{seen:#?}");
    assert!(seen[0].starts_with("profiles[1].schedulerName: hardly any pod"));
    assert!(seen[1].starts_with("profiles[2].schedulerName: hardly any pod"));
}

#[test]
fn plugins_of_features_that_are_off_may_be_enabled_and_do_not_run() {
    let registry = plugins::without(&["GangScheduling"]);
    let text = file("profiles:\n- plugins: {permit: {enabled: [{name: GangScheduling}]}}\n");
    let config = crate::load(&text, &registry).unwrap();
    assert_eq!(at(&config, Point::Permit), [""; 0]);
    let permit = config.profiles[0].listing.iter();
    let permit: Vec<_> = permit.filter(|list| list.point == "permit").collect();
    assert_eq!(permit[0].plugins, [("GangScheduling", None)]);
    assert!(warnings(&config)[0].contains("`GangScheduling` does nothing here"));
}

#[test]
fn a_point_of_this_build_alone_runs_and_is_neither_named_nor_listed() {
    let registry = plugins::with_own_point();
    let config = crate::load(&file(""), &registry).unwrap();
    assert!(at(&config, Point::PreScore).contains(&"ImageLocality=1".to_owned()));
    let listed = config.profiles[0].listing.iter();
    let mut listed = listed.filter(|list| list.point == "preScore");
    let names = &listed.next().unwrap().plugins;
    assert!(names.iter().all(|(name, _)| *name != "ImageLocality"));
    let text = file("profiles:\n- plugins: {preScore: {enabled: [{name: ImageLocality}]}}\n");
    let errors = crate::load(&text, &registry).unwrap_err();
    assert_eq!(
        errors[0].problem,
        "plugin `ImageLocality` does not serve this point, but score"
    );
}

#[test]
fn args_that_nobody_reads_may_be_of_any_kind() {
    let seen = mistakes(
        "profiles:\n- pluginConfig: [{name: DefaultBinder, args: {apiVersion: v9, kind: Odd}}]\n",
    );
    assert_eq!(seen, [""; 0]);
}

#[test]
fn args_of_a_plugin_that_does_not_run_are_not_in_effect() {
    let config = load(
        "profiles:\n- plugins: {multiPoint: {disabled: [{name: NodeAffinity}]}}\n  pluginConfig: [{name: NodeAffinity}]\n",
    );
    assert!(!config.profiles[0].args.contains_key("NodeAffinity"));
}

#[test]
fn names_of_other_schedulers_come_with_what_to_use_instead() {
    for (name, said) in [
        (
            "TargetLoadPacking",
            "`ActualLoadScore` with `strategy: pack`",
        ),
        ("LoadAwareScheduling", "`ActualLoadFilter`"),
        ("Coscheduling", "no gang scheduling"),
        ("NodeResourcesMostAllocated", "`scoringStrategy.type`"),
    ] {
        let seen = mistakes(&format!(
            "profiles:\n- plugins: {{permit: {{enabled: [{{name: {name}}}]}}}}\n"
        ));
        assert_eq!(seen.len(), 1);
        assert!(seen[0].contains(said), "{}", seen[0]);
    }
}

#[test]
fn wrong_types_are_told_in_words_of_the_file() {
    assert_eq!(
        mistakes("parallelism: '4'\nenableProfiling: 1\n"),
        [
            "parallelism: invalid type: string \"4\", expected a whole number of 32 bits",
            "enableProfiling: invalid type: integer `1`, expected true or false",
        ]
    );
}

#[test]
fn fields_that_are_gone_come_with_what_became_of_them() {
    let seen = mistakes(
        "featureGates: {DynamicResourceAllocation: true}\nhealthzBindAddress: 0.0.0.0:10251\n\
         seed: 1\nleaderElection: {lockObjectName: x}\n",
    );
    for (seen, said) in seen.iter().zip([
        "featureGates: unknown field: feature gates do not belong",
        "healthzBindAddress: unknown field: it is gone since v1",
        "seed: unknown field: `seed` belongs to a PlimsollConfiguration",
        "leaderElection.lockObjectName: unknown field: it is `resourceName`",
    ]) {
        assert!(seen.starts_with(said), "{seen}");
    }
    assert_eq!(seen.len(), 4);
}

#[test]
fn a_plugin_at_a_point_for_pod_groups_alone_needs_args_of_its_own() {
    let only = |rest: &str| {
        mistakes(&format!(
            "profiles:\n- plugins:\n    multiPoint: {{disabled: [{{name: DefaultPreemption}}]}}\n    \
             podGroupPostFilter: {{enabled: [{{name: DefaultPreemption}}]}}\n{rest}"
        ))
    };
    let seen = only("");
    assert_eq!(seen.len(), 1, "{seen:?}");
    assert!(seen[0].starts_with("profiles[0].pluginConfig: `DefaultPreemption` is enabled at"));
    assert_eq!(
        only("  pluginConfig: [{name: DefaultPreemption, args: {}}]\n"),
        [""; 0]
    );
    assert_eq!(
        only("    postFilter: {enabled: [{name: DefaultPreemption}]}\n"),
        [""; 0]
    );
}

#[test]
fn a_duration_of_null_is_refused_as_by_kube_scheduler() {
    let seen = mistakes("leaderElection: {leaseDuration: null}\nextenders: [{httpTimeout: ~}]\n");
    assert_eq!(seen.len(), 2, "{seen:?}");
    assert!(seen[0].starts_with("leaderElection.leaseDuration: null is no duration"));
    assert!(seen[1].starts_with("extenders[0].httpTimeout: null is no duration"));
}
