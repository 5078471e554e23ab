//! The plugin as the engine runs it.

use plimsoll_framework::test_util::{
    Cluster, PodBuilder, Trial, check_filter, check_hint, cluster, node, pod,
};
use plimsoll_framework::{Actions, Change, ClusterEvent, CycleState, EventResource, Hint};
use serde_json::{Value, json};

use super::{REASON_CLAIM, REASON_DISK, spec};
use crate::volume_fixtures::{claim, object, with_claims, with_volumes};

fn disk(name: &str, read_only: bool) -> Value {
    json!([{"name": "v", "gcePersistentDisk": {"pdName": name, "readOnly": read_only}}])
}

fn exclusive(name: &str) -> Value {
    let mut claim = claim(name, "fast");
    claim["spec"]["accessModes"] = json!(["ReadWriteOnce", "ReadWriteOncePod"]);
    claim
}

fn verdicts(cluster: &Cluster, pod: &PodBuilder) -> Vec<String> {
    check_filter(&spec(), &Value::Null, cluster, pod)
}

/// Two nodes; a pod on the first uses the claim `one`, which is for one pod, and a disk.
fn in_use() -> Cluster {
    let volumes = json!([
        {"name": "a", "persistentVolumeClaim": {"claimName": "one"}},
        {"name": "b", "gcePersistentDisk": {"pdName": "d"}},
    ]);
    cluster([node("n1"), node("n2")])
        .pods([with_volumes("p", &volumes).on("n1")])
        .objects([exclusive("one"), claim("many", "fast")])
}

#[test]
fn a_pod_with_nothing_that_conflicts_is_not_judged() {
    let skip = ["PreFilter: Skip"];
    assert_eq!(verdicts(&in_use(), &pod("a")), skip);
    assert_eq!(verdicts(&in_use(), &with_claims("a", &["many"])), skip);
    let ephemeral =
        json!([{"name": "v", "ephemeral": {}}, {"name": "w", "cinder": {"volumeID": "c"}}]);
    assert_eq!(verdicts(&in_use(), &with_volumes("a", &ephemeral)), skip);
}

#[test]
fn a_disk_in_use_rejects_the_node() {
    let taken = format!("n1: Unschedulable: {REASON_DISK}");
    let wanted = with_volumes("a", &disk("d", true));
    assert_eq!(verdicts(&in_use(), &wanted), [&taken, "n2: Pass"]);
    let other = with_volumes("a", &disk("e", false));
    assert_eq!(verdicts(&in_use(), &other), ["n1: Pass", "n2: Pass"]);
}

#[test]
fn a_claim_for_one_pod_that_another_uses_rejects_every_node() {
    let expected = ["n1", "n2"].map(|name| format!("{name}: Unschedulable: {REASON_CLAIM}"));
    assert_eq!(verdicts(&in_use(), &with_claims("a", &["one"])), expected);
    let elsewhere = with_claims("a", &["one"]).namespace("other");
    let cluster = in_use().objects([{
        let mut claim = exclusive("one");
        claim["metadata"]["namespace"] = "other".into();
        claim
    }]);
    assert_eq!(verdicts(&cluster, &elsewhere), ["PreFilter: Skip"]);
}

#[test]
fn a_claim_that_is_not_there_ends_the_attempt() {
    let expected =
        "PreFilter: UnschedulableAndUnresolvable: persistentvolumeclaim \"gone\" not found";
    assert_eq!(
        verdicts(&in_use(), &with_claims("a", &["gone"])),
        [expected]
    );
}

#[test]
fn a_dry_run_without_the_user_of_the_claim_lets_the_node_pass() {
    let trial = Trial::new(&spec(), &Value::Null);
    let scene = in_use().scene(&with_claims("a", &["one"]));
    let (cycle, mut state) = (scene.cycle(), CycleState::new());
    trial.pre_filter(&cycle, &mut state).expect("it is ready");
    let hook = trial.hooks.pre_filter.as_ref().expect("it has one");
    let (user, mut info) = (with_claims("p", &["one"]).build(), scene.node("n1").clone());
    info.remove_pod(user.uid());
    hook.remove_pod(&cycle, &mut state, &user, &info)
        .expect("it cannot fail");
    trial
        .filter(&cycle, &state, &info)
        .expect("nobody uses the claim");
    hook.add_pod(&cycle, &mut state, &user, &info)
        .expect("it cannot fail");
    let rejection = trial
        .filter(&cycle, &state, &info)
        .expect_err("it is in use again");
    assert_eq!(rejection.message(), REASON_CLAIM);
}

fn hint(
    pod: &PodBuilder,
    resource: EventResource,
    actions: Actions,
    change: &Change<'_>,
) -> Option<Hint> {
    check_hint(
        &spec(),
        &Value::Null,
        pod,
        ClusterEvent::new(resource, actions),
        change,
    )
}

#[test]
fn a_pod_that_goes_wakes_those_that_want_its_disk_or_claim() {
    let waiting = with_volumes(
        "a",
        &json!([
            {"name": "a", "persistentVolumeClaim": {"claimName": "one"}},
            {"name": "b", "gcePersistentDisk": {"pdName": "d"}},
        ]),
    );
    let cases = [
        (with_claims("p", &["one"]), Hint::Queue),
        (with_claims("p", &["one"]).namespace("other"), Hint::Skip),
        (with_claims("p", &["two"]), Hint::Skip),
        (with_volumes("p", &disk("d", true)), Hint::Queue),
        (
            with_volumes("p", &disk("d", true)).namespace("other"),
            Hint::Queue,
        ),
        (with_volumes("p", &disk("e", false)), Hint::Skip),
        (pod("p"), Hint::Skip),
    ];
    for (gone, expected) in cases {
        let built = gone.on("n1").build();
        let change = Change::Pod {
            old: Some(&built),
            new: None,
        };
        let answer = hint(
            &waiting,
            EventResource::AssignedPod,
            Actions::DELETE,
            &change,
        );
        assert_eq!(answer, Some(expected), "{:?}", built.volumes());
    }
}

#[test]
fn a_claim_that_comes_wakes_the_pods_that_name_it() {
    for (name, expected) in [("one", Hint::Queue), ("two", Hint::Skip)] {
        let new = object(&claim(name, "fast"));
        let change = Change::Object {
            old: None,
            new: Some(&new),
        };
        let kind = EventResource::PersistentVolumeClaim;
        let waiting = with_claims("a", &["one"]);
        assert_eq!(hint(&waiting, kind, Actions::ADD, &change), Some(expected));
        assert_eq!(hint(&waiting, kind, Actions::UPDATE, &change), None);
    }
}
