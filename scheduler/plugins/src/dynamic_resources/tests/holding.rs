//! What is held, written and given back.

use std::time::Duration;

use plimsoll_framework::test_util::{
    Cluster, PodBuilder, Trial, check_post_filter, check_pre_bind, check_reserve,
};
use plimsoll_framework::{
    CycleState, ObjectWrite, PreBindOutcome, PreBindStep, Rejection, WriteVerb,
};
use plimsoll_objects::Object;
use serde_json::{Value, json};

use super::{claim, given, plain, slice, some, spec, two_nodes, using};

/// The bodies of the writes in the order of `PreBind`, and how it ends.
fn bound(cluster: &Cluster, pod: &PodBuilder) -> (Vec<Value>, String) {
    let trial = Trial::new(&spec(), &Value::Null);
    let scene = cluster.scene(pod);
    let mut state = CycleState::new();
    trial.pre_filter(&scene.cycle(), &mut state).unwrap();
    trial
        .filter(&scene.cycle(), &state, scene.node("n1"))
        .unwrap();
    let reserve = trial.hooks.reserve.unwrap();
    reserve
        .reserve(&scene.cycle(), &mut state, scene.node("n1"))
        .unwrap();
    let hook = trial.hooks.pre_bind.unwrap();
    let mut bodies = Vec::new();
    for attempt in 0..4 {
        let step = PreBindStep {
            pod: &scene.pod,
            node: "n1",
            attempt,
            catalog: scene.snapshot.catalog(),
            now: scene.now,
        };
        match hook.pre_bind(&step, &mut state) {
            Ok(PreBindOutcome::Do(effects)) => bodies.extend(effects.into_iter().map(|effect| {
                let plimsoll_framework::Effect::Write(write) = effect else {
                    panic!("only objects are written");
                };
                body(write)
            })),
            Ok(outcome) => return (bodies, format!("{outcome:?}")),
            Err(Rejection { reasons, .. }) => return (bodies, reasons.join(", ")),
        }
    }
    (bodies, "does not end".to_owned())
}

fn body(write: ObjectWrite) -> Value {
    match write.verb {
        WriteVerb::Create(body)
        | WriteVerb::Update(body)
        | WriteVerb::MergePatch(body)
        | WriteVerb::StrategicPatch(body) => body,
        WriteVerb::Delete { uid } => json!({"delete": uid}),
    }
}

#[test]
fn a_claim_is_protected_then_allocated_and_reserved() {
    let mut wanted = claim("c", some(1));
    wanted["spec"]["devices"]["config"] =
        json!([{"opaque": {"driver": "d", "parameters": {"a": 1}}, "requests": ["r"]}]);
    let cluster = two_nodes([wanted, slice("n1", plain(&["a"]))]).at(Duration::from_secs(90));
    let (bodies, end) = bound(&cluster, &using(&["c"]));
    let only_n1 = json!({"nodeSelectorTerms": [
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]},
    ]});
    assert_eq!(
        bodies,
        [
            json!({"metadata": {
                "uid": "uid-c", "resourceVersion": "7",
                "finalizers": ["resource.kubernetes.io/delete-protection"],
            }}),
            json!({
                "metadata": {"uid": "uid-c"},
                "status": {
                    "allocation": {
                        "devices": {
                            "results": [{"request": "r", "driver": "gpu.example.com",
                                "pool": "n1", "device": "a"}],
                            "config": [{"source": "FromClaim",
                                "opaque": {"driver": "d", "parameters": {"a": 1}}}],
                        },
                        "nodeSelector": only_n1,
                        "allocationTimestamp": "1970-01-01T00:01:30Z",
                    },
                    "reservedFor": [{"resource": "pods", "name": "p", "uid": "uid-p"}],
                },
            }),
        ]
    );
    assert_eq!(end, "Done");
}

#[test]
fn an_allocated_claim_is_only_reserved_and_a_reserved_one_not_written() {
    let allocated = given(claim("c", some(1)), "n1", "a");
    let (bodies, end) = bound(&two_nodes([allocated.clone()]), &using(&["c"]));
    let consumer = json!([{"resource": "pods", "name": "p", "uid": "uid-p"}]);
    assert_eq!(
        bodies,
        [json!({"metadata": {"uid": "uid-c"}, "status": {"reservedFor": consumer}})]
    );
    assert_eq!(end, "Done");
    let mut reserved = allocated;
    reserved["status"]["reservedFor"] = consumer;
    let (bodies, end) = bound(&two_nodes([reserved]), &using(&["c"]));
    assert_eq!((bodies.len(), &*end), (0, "Done"));
}

#[test]
fn binding_waits_for_devices_that_must_be_made_ready() {
    let mut allocated = given(claim("c", some(1)), "n1", "a");
    let result = &mut allocated["status"]["allocation"]["devices"]["results"][0];
    result["bindingConditions"] = json!(["ready"]);
    result["bindingFailureConditions"] = json!(["broken"]);
    let with = |kind: &str, status: &str| {
        let mut claim = allocated.clone();
        claim["status"]["devices"] = json!([{
            "driver": "gpu.example.com", "pool": "n1", "device": "a",
            "conditions": [{"type": kind, "status": status, "reason": "R", "message": "m"}],
        }]);
        bound(&two_nodes([claim]), &using(&["c"])).1
    };
    assert_eq!(with("ready", "True"), "Done");
    assert!(with("ready", "False").starts_with("WaitUntil"));
    let lines = check_pre_bind(
        &spec(),
        &Value::Null,
        &two_nodes([given(claim("c", some(1)), "n1", "a")]),
        &using(&["c"]),
        "n1",
    );
    assert_eq!(lines.last().map(String::as_str), Some("Done"));
}

#[test]
fn what_is_reserved_is_taken_until_it_is_given_back() {
    let trial = Trial::new(&spec(), &Value::Null);
    let cluster = two_nodes([
        claim("c", some(1)),
        claim("d", some(1)),
        slice("n1", plain(&["a"])),
    ]);
    let mut scene = cluster.scene(&using(&["c"]));
    let mut state = CycleState::new();
    trial.pre_filter(&scene.cycle(), &mut state).unwrap();
    trial
        .filter(&scene.cycle(), &state, scene.node("n1"))
        .unwrap();
    let reserve = trial.hooks.reserve.clone().unwrap();
    let objects = reserve
        .reserve(&scene.cycle(), &mut state, scene.node("n1"))
        .unwrap();
    let is_allocated =
        |object: &Object| matches!(object, Object::ResourceClaim(claim) if claim.is_allocated());
    assert!(objects.len() == 1 && objects.iter().all(is_allocated));

    // Whether or not the engine still takes the claim as allocated, nobody else gets it.
    for assumed in [true, false] {
        if assumed {
            let catalog = scene.snapshot.catalog_mut();
            objects
                .iter()
                .cloned()
                .for_each(|object| catalog.assume(object));
        } else {
            scene.snapshot.catalog_mut().restore(objects[0].clone());
        }
        let judge = |name: &str| {
            let mut other = scene.clone();
            other.pod = using(&[name]).build();
            let mut state = CycleState::new();
            let ready = trial.pre_filter(&other.cycle(), &mut state);
            let judged = ready.and_then(|_| trial.filter(&other.cycle(), &state, other.node("n1")));
            judged.map_or_else(|rejection| rejection.message(), |_| "Pass".to_owned())
        };
        assert_eq!(judge("d"), "cannot allocate all claims", "{assumed}");
        assert_eq!(
            judge("c"),
            "resource claim default/c is in the process of being allocated"
        );
    }
    assert_eq!(reserve.unreserve(&scene.pod, &mut state, "n1"), []);
    let mut state = CycleState::new();
    let ready = trial.pre_filter(&scene.cycle(), &mut state);
    assert!(
        ready
            .and_then(|_| trial.filter(&scene.cycle(), &state, scene.node("n1")))
            .is_ok()
    );
}

#[test]
fn reserving_without_a_verdict_is_an_error() {
    let cluster = two_nodes([claim("c", some(1)), slice("n1", plain(&["a"]))]);
    assert_eq!(
        check_reserve(&spec(), &Value::Null, &cluster, &using(&["c"]), "n1"),
        "Error: claim allocation not found for node"
    );
}

#[test]
fn a_claim_that_nobody_else_uses_gives_its_devices_back() {
    let allocated = given(claim("c", some(1)), "gone", "a");
    let post = |users: Value| {
        let mut claim = allocated.clone();
        claim["status"]["reservedFor"] = users;
        check_post_filter(&spec(), &Value::Null, &two_nodes([claim]), &using(&["c"]))
    };
    let user = |uid: &str| json!({"resource": "pods", "name": uid, "uid": uid});
    assert_eq!(post(json!([])), "Retry");
    assert_eq!(post(json!([user("uid-p")])), "Retry");
    assert_eq!(post(json!([user("other")])), "Unschedulable: ");
    assert_eq!(
        post(json!([user("uid-p"), user("other")])),
        "Unschedulable: "
    );
}
