//! What is reserved, written and waited for.

use std::time::Duration;

use plimsoll_framework::test_util::{Cluster, Scene, Trial, check_pre_bind, check_reserve, pod};
use plimsoll_framework::{
    Catalog, CycleState, Effect, Now, PreBindOutcome, PreBindStep, Rejection, WriteVerb,
};
use plimsoll_objects::Object;
use serde_json::{Value, json};

use super::super::spec;
use super::{storage, verdicts};
use crate::volume_fixtures::{bound_claim, claim, local, object, volume, with_claims};

/// A claim that takes a local volume, and one whose volume is to be made.
fn both() -> Cluster {
    storage().objects([
        claim("l", "local"),
        claim("f", "fast"),
        local("pv", "6Gi", ("host", "n1")),
    ])
}

/// A pod that has `n1` reserved, and the cluster as it goes on.
struct Story {
    trial: Trial,
    scene: Scene,
    state: CycleState,
    catalog: Catalog,
    at: Duration,
    attempt: u32,
}

impl Story {
    fn new(cluster: &Cluster, claims: &[&str], args: &Value) -> Self {
        let trial = Trial::new(&spec(), args);
        let scene = cluster.scene(&with_claims("a", claims));
        let mut state = CycleState::new();
        trial
            .pre_filter(&scene.cycle(), &mut state)
            .expect("it is ready");
        let hook = trial.hooks.reserve.as_ref().expect("it reserves");
        let assumed = hook.reserve(&scene.cycle(), &mut state, scene.node("n1"));
        let mut catalog = scene.snapshot.catalog().clone();
        for object in assumed.expect("it can be reserved") {
            catalog.assume(object);
        }
        Self {
            trial,
            scene,
            state,
            catalog,
            at: Duration::ZERO,
            attempt: 0,
        }
    }

    /// The next answer of `PreBind`.
    fn step(&mut self) -> Result<PreBindOutcome, Rejection> {
        let step = PreBindStep {
            pod: &self.scene.pod,
            node: "n1",
            attempt: self.attempt,
            catalog: &self.catalog,
            now: Now::at(self.at),
        };
        self.attempt += 1;
        let hook = self
            .trial
            .hooks
            .pre_bind
            .as_ref()
            .expect("it has a PreBind");
        hook.pre_bind(&step, &mut self.state)
    }

    /// `PreBind` has written and waits.
    fn waits(&mut self) -> bool {
        matches!(self.step(), Ok(PreBindOutcome::WaitUntil { .. }))
    }

    fn fails(&mut self) -> String {
        self.step().expect_err("it fails").message()
    }

    /// The API server has a new version of an object.
    fn set(&mut self, mut json: Value) {
        json["metadata"]["resourceVersion"] = format!("{}", 100 + self.attempt).into();
        self.catalog.set(object(&json));
    }

    fn remove(&mut self, json: &Value) {
        let object = object(json);
        self.catalog.remove(object.kind(), object.key());
    }
}

fn written() -> Value {
    let mut volume = local("pv", "6Gi", ("host", "n1"));
    volume["spec"]["claimRef"] = json!({"namespace": "default", "name": "l", "uid": "uid-l"});
    volume
}

fn chosen() -> Value {
    let mut claim = claim("f", "fast");
    claim["metadata"]["annotations"] = json!({"volume.kubernetes.io/selected-node": "n1"});
    claim
}

#[test]
fn volumes_and_claims_are_reserved_as_they_will_be() {
    let pod = with_claims("a", &["l", "f", "f"]);
    let answer = check_reserve(&spec(), &Value::Null, &both(), &pod, "n1");
    assert_eq!(
        answer,
        "Reserved, PersistentVolume pv, PersistentVolumeClaim default/f"
    );
    let story = Story::new(&both(), &["l", "f"], &Value::Null);
    let taken = story
        .catalog
        .persistent_volumes
        .named("pv")
        .expect("it is there");
    let Object::PersistentVolumeClaim(claim) = object(&claim("l", "local")) else {
        panic!("a claim");
    };
    assert!(taken.is_bound_to(&claim) && taken.bound_by_controller);
    // Nobody else can take the volume, and the claim has its node.
    let mut snapshot = both().snapshot();
    *snapshot.catalog_mut() = story.catalog;
    let chosen = snapshot.catalog().persistent_volume_claims.iter();
    let nodes: Vec<_> = chosen
        .filter_map(|claim| claim.selected_node.as_deref())
        .collect();
    assert_eq!(nodes, ["n1"]);
}

#[test]
fn a_pod_with_nothing_to_bind_reserves_and_writes_nothing() {
    let cluster = storage().objects([volume("pv", "fast"), bound_claim("c", "fast", "pv")]);
    for pod in [pod("a"), with_claims("a", &["c"])] {
        assert_eq!(
            check_reserve(&spec(), &Value::Null, &cluster, &pod, "n1"),
            "Reserved"
        );
        assert_eq!(
            check_pre_bind(&spec(), &Value::Null, &cluster, &pod, "n1"),
            ["Done"]
        );
    }
}

#[test]
fn the_writes_hold_only_for_the_versions_that_were_looked_at() {
    let mut story = Story::new(&both(), &["l", "f"], &Value::Null);
    let Ok(PreBindOutcome::Do(effects)) = story.step() else {
        panic!("the first step writes");
    };
    let patches = effects.iter().map(|effect| match effect {
        Effect::Write(write) => match &write.verb {
            WriteVerb::MergePatch(patch) => (
                write.api_version.as_str(),
                write.kind.as_str(),
                write.key.to_string(),
                patch.clone(),
            ),
            other => panic!("{other:?}"),
        },
        other @ Effect::AnnotatePod(_) => panic!("{other:?}"),
    });
    let to_volume = json!({
        "metadata": {
            "resourceVersion": "1", "annotations": {"pv.kubernetes.io/bound-by-controller": "yes"}},
        "spec": {"claimRef": {
            "apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": "default",
            "name": "l", "uid": "uid-l", "resourceVersion": "1"}},
    });
    let to_claim = json!({"metadata": {
        "resourceVersion": "1", "annotations": {"volume.kubernetes.io/selected-node": "n1"}}});
    let expected = [
        ("v1", "PersistentVolume", "pv".to_owned(), to_volume),
        (
            "v1",
            "PersistentVolumeClaim",
            "default/f".to_owned(),
            to_claim,
        ),
    ];
    assert_eq!(patches.collect::<Vec<_>>(), expected);
}

#[test]
fn the_pod_waits_until_every_claim_is_bound() {
    let mut story = Story::new(&both(), &["l", "f"], &Value::Null);
    story.step().expect("it writes");
    assert!(story.waits(), "nothing of it is seen");
    story.set(written());
    assert!(story.waits(), "the claim is not bound");
    story.set(bound_claim("l", "local", "pv"));
    assert!(story.waits(), "the other claim is as it was");
    story.set(chosen());
    assert!(story.waits(), "it has no volume");
    let mut bound = bound_claim("f", "fast", "made");
    bound["metadata"]["annotations"]["volume.kubernetes.io/selected-node"] = "n1".into();
    story.set(bound);
    assert!(story.waits(), "its volume is not seen");
    story.set(volume("made", "fast"));
    assert_eq!(story.step(), Ok(PreBindOutcome::Done));
}

#[test]
fn what_was_undone_fails_the_binding() {
    let fail = |objects: Vec<Value>| {
        let mut story = Story::new(&both(), &["l", "f"], &Value::Null);
        story.step().expect("it writes");
        story.set(written());
        story.set(bound_claim("l", "local", "pv"));
        story.set(chosen());
        for object in objects {
            story.set(object);
        }
        story.fails()
    };
    let mut other_node = chosen();
    other_node["metadata"]["annotations"]["volume.kubernetes.io/selected-node"] = "n2".into();
    let mut far = bound_claim("f", "fast", "made");
    far["metadata"]["annotations"]["volume.kubernetes.io/selected-node"] = "n1".into();
    let cases = [
        (
            vec![local("pv", "6Gi", ("host", "n1"))],
            "ClaimRef got reset for pv \"pv\"",
        ),
        (vec![other_node], "provisioning failed for PVC \"f\""),
        (
            vec![claim("f", "fast")],
            "selectedNode annotation reset for PVC \"f\"",
        ),
        (
            vec![far, local("made", "6Gi", ("host", "n2"))],
            "pv \"made\" node affinity doesn't match node \"n1\": no matching NodeSelectorTerms",
        ),
    ];
    for (objects, text) in cases {
        assert_eq!(fail(objects), format!("binding volumes: {text}"));
    }
}

#[test]
fn what_is_gone_fails_the_binding() {
    let cases = [
        (
            written(),
            "failed to check binding: persistentvolumes \"pv\" not found",
        ),
        (
            claim("l", "local"),
            "failed to check binding: persistentvolumeclaims \"default/l\" not found",
        ),
        (
            claim("f", "fast"),
            "failed to check provisioning pvc: persistentvolumeclaims \"default/f\" not found",
        ),
    ];
    for (gone, text) in cases {
        let mut story = Story::new(&both(), &["l", "f"], &Value::Null);
        story.step().expect("it writes");
        story.set(written());
        story.set(bound_claim("l", "local", "pv"));
        story.remove(&gone);
        assert_eq!(story.fails(), format!("binding volumes: {text}"));
    }
}

#[test]
fn the_wait_ends_after_the_time_of_the_args() {
    let mut story = Story::new(&both(), &["l"], &json!({"bindTimeoutSeconds": 30}));
    story.at = Duration::from_secs(5);
    story.step().expect("it writes");
    story.at = Duration::from_secs(7);
    let Ok(PreBindOutcome::WaitUntil { deadline, .. }) = story.step() else {
        panic!("it waits");
    };
    assert_eq!(deadline, Duration::from_secs(37));
    story.at = Duration::from_secs(36);
    assert!(story.waits());
    story.at = deadline;
    assert_eq!(story.fails(), "binding volumes: context deadline exceeded");
}

#[test]
fn what_the_api_server_has_already_is_not_written_again() {
    let mut aside = written();
    aside["metadata"]["annotations"]["pv.kubernetes.io/bound-by-controller"] = "yes".into();
    let cluster = storage().objects([claim("l", "local"), chosen(), aside]);
    let mut story = Story::new(&cluster, &["l", "f"], &Value::Null);
    assert!(story.waits());
    story.set(bound_claim("l", "local", "pv"));
    let mut bound = bound_claim("f", "fast", "pv");
    bound["metadata"]["annotations"]["volume.kubernetes.io/selected-node"] = "n1".into();
    story.set(bound);
    assert_eq!(story.step(), Ok(PreBindOutcome::Done));
}

#[test]
fn the_next_pod_sees_what_is_reserved() {
    let story = Story::new(&both(), &["l", "f"], &Value::Null);
    let mut snapshot = both().objects([claim("k", "local")]).snapshot();
    for object in [
        story
            .catalog
            .persistent_volumes
            .named("pv")
            .cloned()
            .map(Object::PersistentVolume),
        story
            .catalog
            .persistent_volume_claims
            .iter()
            .next()
            .cloned()
            .map(Object::PersistentVolumeClaim),
    ] {
        snapshot.catalog_mut().assume(object.expect("it is there"));
    }
    let scene = Scene {
        snapshot,
        ..both().scene(&with_claims("b", &["k"]))
    };
    let trial = Trial::new(&spec(), &Value::Null);
    let mut state = CycleState::new();
    trial
        .pre_filter(&scene.cycle(), &mut state)
        .expect("it is ready");
    let verdict = trial.filter(&scene.cycle(), &state, scene.node("n1"));
    assert_eq!(
        verdict.expect_err("no volume is left").message(),
        super::NO_VOLUME
    );
    let free = verdicts(
        &both().objects([claim("k", "local")]),
        &with_claims("b", &["k"]),
    );
    assert_eq!(free[0], "n1: Pass");
}
