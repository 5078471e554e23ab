//! The cases CFG of `tests/fixtures/cases/cfg.md`, with files of the form in which people
//! have them.

use super::{example, file, findings, mistakes, says, warnings};

#[test]
fn cfg_a1_files_of_old_versions_are_told_all_that_has_to_change() {
    let trimaran = example("trimaran.yaml");
    let seen = mistakes(&trimaran);
    assert!(
        says(
            &seen,
            &[
                "apiVersion: ",
                "/v1beta1`",
                "write kubescheduler.config.k8s.io/v1"
            ]
        ),
        "{seen:#?}"
    );
    assert!(
        says(
            &seen,
            &["score.enabled[0]", "`TargetLoadPacking`", "`packTarget`"]
        ),
        "{seen:#?}"
    );
    let coscheduling = mistakes(&example("coscheduling.yaml"));
    assert!(
        says(&coscheduling, &["apiVersion: ", "/v1beta3`"]),
        "{coscheduling:#?}"
    );
    let json = trimaran.to_json();
    assert_eq!(json["errors"].as_array().unwrap().len(), 1);
    assert_eq!(json["errors"][0]["field"], "apiVersion");
}

#[test]
fn cfg_a1_a_config_map_is_told_where_its_file_is() {
    let seen = mistakes(&example("koordinator.yaml"));
    assert_eq!(
        seen,
        [
            "apiVersion: a ConfigMap is not the file itself: take what is in its entry `koord-scheduler-config`"
        ]
    );
}

#[test]
fn cfg_a1_nested_versions_and_plugins_of_others_are_all_told_at_once() {
    let seen = mistakes(&example("koordinator-v1.yaml"));
    for parts in [
        [
            "pluginConfig[0].args.apiVersion",
            "/v1beta2` is an old version",
        ],
        ["filter.enabled[0]", "`ActualLoadFilter` takes the place"],
        ["filter.enabled[1]", "NUMA"],
        ["queueSort.enabled[0]", "no gang scheduling"],
        ["bind.enabled[0]", "it is Koordinator's"],
        ["postFilter.enabled[0]", "`ElasticQuota`"],
    ] {
        assert!(says(&seen, &parts), "{parts:?} in {seen:#?}");
    }
}

#[test]
fn cfg_a1_disabling_a_plugin_that_is_gone_is_not_passed_over() {
    let seen = warnings(&example("trimaran-v1.yaml"));
    assert!(
        says(
            &seen,
            &[
                "score.disabled[0]",
                "nothing is disabled",
                "`NodeResourcesLeastAllocated`"
            ]
        ),
        "{seen:#?}"
    );
    assert!(!says(&seen, &["score.disabled[1]"]), "{seen:#?}");
}

#[test]
fn cfg_a1_a_file_of_kube_schedulers_documentation_is_fine() {
    let findings = example("kube-scheduler.yaml");
    assert!(findings.is_ok());
    assert_eq!(warnings(&findings), [""; 0]);
    let profiles = &findings.to_json()["effective"]["profiles"];
    assert!(profiles[1]["plugins"].get("score").is_none());
}

#[test]
fn cfg_a2_another_queue_order_in_one_profile_is_refused_there() {
    let findings = findings(&file(
        "profiles:\n- schedulerName: default-scheduler\n- schedulerName: gang-scheduler\n  plugins:\n    \
         queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: '*'}]}\n",
    ));
    let seen = mistakes(&findings);
    assert!(
        says(
            &seen,
            &["profiles[1].plugins.queueSort: must be the same for all profiles"]
        ),
        "{seen:#?}"
    );
    assert_eq!(
        findings.to_json()["errors"][0]["field"],
        "profiles[1].plugins.queueSort"
    );
    let alone = mistakes(&example("coscheduling-v1.yaml"));
    assert!(
        says(
            &alone,
            &["queueSort.enabled[0]", "no queue order of its own"]
        ),
        "{alone:#?}"
    );
    assert!(!says(&alone, &["exactly one plugin"]), "{alone:#?}");
}

#[test]
fn cfg_a3_a_weight_is_kept_where_the_plugin_is_named_elsewhere_too() {
    let findings = findings(&file(
        "profiles:\n- schedulerName: s\n  plugins:\n    score: {enabled: [{name: ActualLoadScore, weight: 6}]}\n    \
         preScore: {enabled: [{name: ActualLoadScore}]}\n",
    ));
    let effective = findings.to_json();
    let score = effective["effective"]["profiles"][0]["plugins"]["score"].as_array();
    let own = score
        .unwrap()
        .iter()
        .find(|plugin| plugin["name"] == "ActualLoadScore");
    assert_eq!(own.unwrap()["weight"], 6);
    let odd = warnings(&super::findings(&file(
        "profiles:\n- plugins: {preScore: {enabled: [{name: ActualLoadScore, weight: 6}]}}\n",
    )));
    assert!(
        says(&odd, &["preScore.enabled[0].weight", "set it at `score`"]),
        "{odd:#?}"
    );
}

#[test]
fn cfg_a4_a_misspelt_plugin_and_misplaced_extenders_are_both_named() {
    let seen = mistakes(&findings(&file(
        "profiles:\n- schedulerName: edge-scheduler\n  plugins:\n    score: {enabled: [{name: BalancedAllocation, weight: 1}]}\n  \
         extenders:\n  - {urlPrefix: 'http://localhost:8000/api/v1', filterVerb: filter}\n",
    )));
    assert!(
        says(
            &seen,
            &[
                "profiles[0].plugins.score.enabled[0]",
                "`NodeResourcesBalancedAllocation`"
            ]
        ),
        "{seen:#?}"
    );
    assert!(
        says(&seen, &["profiles[0].extenders", "the top level"]),
        "{seen:#?}"
    );
    assert_eq!(seen.len(), 2, "{seen:#?}");
}
