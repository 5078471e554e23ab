//! Situations that real clusters were in, by the id of their case.

use plimsoll_framework::{Point, Stage};

use super::{at, errors, file, load, mistakes, plugins, warnings};

#[test]
fn cfg_a1_a_file_of_an_old_version_is_refused_with_what_to_write() {
    for old in ["v1beta1", "v1beta2", "v1beta3"] {
        let text = file("profiles:\n- schedulerName: my-scheduler\n").replacen(
            "/v1\n",
            &format!("/{old}\n"),
            1,
        );
        let errors = crate::load(&text, &plugins::registry()).unwrap_err();
        let [error] = errors.as_slice() else {
            panic!("{errors:?}")
        };
        assert_eq!(crate::as_kube_scheduler(&errors), [error]);
        assert_eq!(
            (error.stage, error.path.as_str()),
            (Stage::Decode, "apiVersion")
        );
        for part in [
            old,
            "write kubescheduler.config.k8s.io/v1,",
            "nested `args`",
        ] {
            assert!(error.problem.contains(part), "{}", error.problem);
        }
    }
}

#[test]
fn cfg_a1_nested_args_of_an_old_version_are_refused_with_their_path() {
    let seen = mistakes(
        "profiles:\n- pluginConfig:\n  - name: NodeResourcesFit\n    args: \
         {apiVersion: kubescheduler.config.k8s.io/v1beta2, kind: NodeResourcesFitArgs}\n",
    );
    assert_eq!(seen.len(), 1);
    assert!(seen[0].starts_with(
        "profiles[0].pluginConfig[0].args.apiVersion: `kubescheduler.config.k8s.io/v1beta2`"
    ));
}

#[test]
fn cfg_a1_disabling_a_plugin_that_is_gone_is_a_warning() {
    let config = load(
        "profiles:\n- plugins: {score: {disabled: [{name: NodeResourcesLeastAllocated}, {name: '*'}]}}\n",
    );
    assert_eq!(
        warnings(&config),
        [
            "profiles[0].plugins.score.disabled[0]: nothing is disabled: unknown plugin `NodeResourcesLeastAllocated`: it is gone since v1beta3: set `scoringStrategy.type` in the args of `NodeResourcesFit`"
        ]
    );
}

#[test]
fn cfg_a2_another_order_of_the_queue_in_one_profile_is_refused_there() {
    let seen = errors(
        "profiles:\n- schedulerName: default-scheduler\n- schedulerName: gang-scheduler\n  \
         plugins:\n    queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: '*'}]}\n",
    );
    let error = &seen[0];
    assert_eq!(
        (error.stage, error.path.as_str()),
        (Stage::Validate, "profiles[1].plugins.queueSort")
    );
    assert!(error.problem.contains("must be the same for all profiles"));
}

#[test]
fn cfg_a2_two_sorters_and_two_kinds_of_args_are_refused() {
    let two = mistakes(
        "profiles:\n- plugins: {queueSort: {enabled: [{name: PrioritySort}, {name: ByDeadline}]}}\n",
    );
    assert_eq!(
        two[0],
        "profiles[0].plugins.queueSort.Enabled: only one plugin can sort the queue, not 2"
    );
    let sort = "plugins: {queueSort: {enabled: [{name: PrioritySort}]}}";
    let config = |x| format!("pluginConfig: [{{name: PrioritySort, args: {{x: {x}}}}}]");
    let profile = |name, x| format!("- schedulerName: {name}\n  {sort}\n  {}\n", config(x));
    let differ = mistakes(&format!(
        "profiles:\n{}{}",
        profile("a", 1),
        profile("b", 2)
    ));
    assert_eq!(differ.len(), 1);
    assert!(differ[0].starts_with("profiles[1].pluginConfig.args: "));
    assert!(
        errors(&format!(
            "profiles:\n{}{}",
            profile("a", 1),
            profile("b", 1)
        ))
        .is_empty()
    );
}

#[test]
fn cfg_a3_a_weight_survives_the_plugin_being_listed_elsewhere() {
    let config = load(
        "profiles:\n- schedulerName: s\n  plugins:\n    score: {enabled: [{name: LoadAware, weight: 6}, {name: WindowTransfer}]}\n    \
         postBind: {enabled: [{name: LoadAware}]}\n",
    );
    let score = at(&config, Point::Score);
    assert_eq!(
        score[score.len() - 2..],
        ["LoadAware=6", "WindowTransfer=1"]
    );
    assert_eq!(at(&config, Point::PostBind), ["LoadAware=1"]);
}

#[test]
fn cfg_a3_weight_0_is_1_and_a_negative_one_is_refused_before_another_plugin() {
    let score = |weights: &str| {
        format!(
            "profiles:\n- plugins: {{multiPoint: {{disabled: [{{name: ImageLocality}}]}}, score: {{enabled: [{weights}]}}}}\n"
        )
    };
    assert!(
        at(&load(&score("{name: LoadAware, weight: 0}")), Point::Score)
            .contains(&"LoadAware=1".to_owned())
    );
    let refused = errors(&score("{name: LoadAware, weight: -1}"));
    assert_eq!(refused[0].path.as_str(), "profiles[0].plugins.score");
    let huge = load(&score(
        "{name: LoadAware, weight: 2147483647}, {name: WindowTransfer, weight: 2147483647}",
    ));
    assert!(at(&huge, Point::Score).contains(&"WindowTransfer=2147483647".to_owned()));
}

#[test]
fn cfg_a3_a_negative_weight_on_the_last_plugin_counts_as_in_kube_scheduler_and_is_warned_of() {
    let config =
        load("profiles:\n- plugins: {multiPoint: {enabled: [{name: LoadAware, weight: -3}]}}\n");
    assert_eq!(at(&config, Point::Score).last().unwrap(), "LoadAware=-3");
    assert!(warnings(&config)[0].starts_with("profiles[0].plugins.multiPoint.enabled[0].weight: "));
}

#[test]
fn cfg_a3_a_weight_at_a_point_without_scores_is_warned_of() {
    let config =
        load("profiles:\n- plugins: {postBind: {enabled: [{name: LoadAware, weight: 2}]}}\n");
    assert_eq!(
        warnings(&config),
        [
            "profiles[0].plugins.postBind.enabled[0].weight: the weight of `LoadAware` has no effect here: set it at `score`"
        ]
    );
}

#[test]
fn cfg_a4_a_misspelt_plugin_and_misplaced_extenders_are_both_named_with_a_hint() {
    let seen = mistakes(
        "profiles:\n- schedulerName: edge-scheduler\n  plugins:\n    score: {enabled: [{name: BalancedAllocation, weight: 1}]}\n  \
         extenders:\n  - {urlPrefix: 'http://localhost:8000/api/v1', filterVerb: filter}\n",
    );
    assert_eq!(
        seen,
        [
            "profiles[0].extenders: unknown field: `extenders` belongs to the top level of a KubeSchedulerConfiguration",
            "profiles[0].plugins.score.enabled[0]: unknown plugin `BalancedAllocation` (did you mean `NodeResourcesBalancedAllocation`?)",
        ]
    );
}

#[test]
fn a_file_with_ten_mistakes_is_told_all_ten_at_once() {
    let seen = mistakes(
        "parallelism: 0\npercentageOfNodesToScore: 101\npodInitialBackoffSeconds: 0\n\
         clientConnection: {burst: -1}\nleaderElection: {resourceLock: endpoints}\ntypo: 1\n\
         profiles:\n\
         - schedulerName: one\n  percentageOfNodesToScore: 200\n  extenders: []\n\
         - schedulerName: one\n  plugins: {filter: {enabled: [{name: NodeNames}]}}\n",
    );
    let paths: Vec<&str> = seen
        .iter()
        .filter_map(|mistake| mistake.split(": ").next())
        .collect();
    for path in [
        "typo",
        "profiles[0].extenders",
        "parallelism",
        "percentageOfNodesToScore",
        "podInitialBackoffSeconds",
        "clientConnection.burst",
        "leaderElection.resourceLock",
        "profiles[0].percentageOfNodesToScore",
        "profiles[1].schedulerName",
        "profiles[1].plugins.filter.enabled[0]",
    ] {
        assert!(paths.contains(&path), "{path} is not among {seen:#?}");
    }
    assert_eq!(seen.len(), 10, "{seen:#?}");
}

#[test]
fn a_second_document_is_told_of_and_not_read() {
    let second = "---\nkind: PlimsollConfiguration\n";
    let config = load(&format!("parallelism: 4\n{second}"));
    assert_eq!(
        warnings(&config),
        [
            "<file>: the file has more than one YAML document: only the first is read, as by \
             kube-scheduler"
        ]
    );
    assert_eq!(load("parallelism: 4\n").warnings, []);
}
