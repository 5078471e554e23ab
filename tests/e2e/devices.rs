//! Devices by claims: a real API server takes what the scheduler writes of them, under the
//! chart's rights and no others.

use std::collections::BTreeSet;
use std::time::Duration;

use plimsoll_cluster::RIGHTS;
use plimsoll_tests::controlplane::{Options, until};
use serde_json::{Value, json};

use crate::rig::{Audit, NODES, PODS, Recorder, Rig, Setup, THEIRS, node, pod, pod_path};

const BOUND: Duration = Duration::from_mins(1);
const GROUP: &str = "resource.k8s.io";
const CLASSES: &str = "/apis/resource.k8s.io/v1/deviceclasses";
const SLICES: &str = "/apis/resource.k8s.io/v1/resourceslices";
const CLAIMS: &str = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims";
const DRIVER: &str = "gpu.example.com";
/// What stands for a device of the class among a container's resources.
const EXTENDED: &str = "example.com/gpu";

#[test]
fn devices_are_allocated_shared_and_given_back_within_the_charts_rights() -> anyhow::Result<()> {
    let audit = Audit::new()?;
    let rig = Rig::start(&Options {
        flags: audit.flags(),
        ..Options::default()
    })?;
    add_devices(&rig)?;
    let mut recorder = Recorder::start(rig.cluster.api())?;
    let scheduler = rig.scheduler(&Setup {
        profiles: THEIRS.to_owned(),
        ..Setup::default()
    })?;

    // Two pods share what one claim is given.
    rig.cluster.api().create(CLAIMS, &claim("shared"))?;
    for stem in ["first", "second"] {
        rig.add_pods(stem, &[with_claim("shared")])?;
        recorder.until_bound(stem, 1, BOUND)?;
        assert_eq!(node_of(&rig, &format!("{stem}-0"))?, "n1", "{stem}");
    }
    let shared = claim_of(&rig, "shared")?;
    let result = &shared["status"]["allocation"]["devices"]["results"][0];
    assert_eq!(
        [&result["request"], &result["driver"], &result["pool"]],
        ["one", DRIVER, "n1"]
    );
    let finalizers = &shared["metadata"]["finalizers"];
    assert_eq!(
        finalizers,
        &json!(["resource.kubernetes.io/delete-protection"])
    );
    let users = shared["status"]["reservedFor"].as_array();
    let users = users.into_iter().flatten().map(|user| &user["name"]);
    let users: BTreeSet<_> = users.filter_map(Value::as_str).collect();
    assert_eq!(users, BTreeSet::from(["first-0", "second-0"]));

    by_extended_resource(&rig, &mut recorder)?;
    stale_claim_goes(&rig)?;
    recorder.assert_sound();
    scheduler.stop()?;
    assert_asked(&audit.asked()?);
    rig.close()?;
    audit.close()
}

/// n1 has two devices, n0 none.
fn add_devices(rig: &Rig) -> anyhow::Result<()> {
    let api = rig.cluster.api();
    for name in ["n0", "n1"] {
        api.create(NODES, &node(name, "8"))?;
    }
    let class = json!({
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": DRIVER},
        "spec": {
            "selectors": [{"cel": {"expression": format!("device.driver == '{DRIVER}'")}}],
            "extendedResourceName": EXTENDED,
        },
    });
    api.create(CLASSES, &class)?;
    let slice = json!({
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": "n1-gpu"},
        "spec": {
            "driver": DRIVER,
            "nodeName": "n1",
            "pool": {"name": "n1", "generation": 1, "resourceSliceCount": 1},
            "devices": [
                {"name": "gpu-0", "attributes": {"model": {"string": "large"}}},
                {"name": "gpu-1", "attributes": {"model": {"string": "large"}}},
            ],
        },
    });
    api.create(SLICES, &slice)?;
    Ok(())
}

/// A container that asks for the resource of a class is given a claim that the pod is told of.
fn by_extended_resource(rig: &Rig, recorder: &mut Recorder) -> anyhow::Result<()> {
    rig.add_pods("extended", &[extended()])?;
    recorder.until_bound("extended", 1, BOUND)?;
    let pod = rig.pod("extended-0")?;
    assert_eq!(pod["spec"]["nodeName"], "n1");
    let told = &pod["status"]["extendedResourceClaimStatus"];
    let mapping = &told["requestMappings"][0];
    assert_eq!(
        [&mapping["containerName"], &mapping["resourceName"]],
        ["main", EXTENDED]
    );
    let name = told["resourceClaimName"].as_str().unwrap_or_default();
    let made = claim_of(rig, name)?;
    assert_eq!(made["status"]["reservedFor"][0]["name"], "extended-0");
    assert_eq!(made["metadata"]["ownerReferences"][0]["name"], "extended-0");
    Ok(())
}

/// No device is left: a claim that an earlier attempt has left behind goes.
fn stale_claim_goes(rig: &Rig) -> anyhow::Result<()> {
    let mut gated = extended();
    gated["spec"]["schedulingGates"] = json!([{"name": "example.com/wait"}]);
    rig.add_pods("late", &[gated])?;
    let owner = rig.pod("late-0")?["metadata"]["uid"].take();
    let mut stale = claim("stale");
    let name = "resource.kubernetes.io/extended-resource-claim";
    stale["metadata"]["annotations"][name] = json!("true");
    stale["metadata"]["ownerReferences"] = json!([{
        "apiVersion": "v1", "kind": "Pod", "name": "late-0", "uid": owner, "controller": true,
    }]);
    let api = rig.cluster.api();
    api.create(CLAIMS, &stale)?;
    let open = json!({"spec": {"schedulingGates": null}});
    api.patch(&pod_path("late-0"), &open)?;
    until("the stale claim is gone", BOUND, || {
        let answer = api.call("GET", &format!("{CLAIMS}/stale"), None);
        answer.is_ok_and(|answer| answer.code == 404)
    })?;
    until("the pod is told that it has no node", BOUND, || {
        rig.condition("late-0")
            .is_ok_and(|condition| condition["reason"] == "Unschedulable")
    })
}

/// Of the group, exactly what is listed; of the others, nothing that is not.
fn assert_asked(asked: &BTreeSet<(String, String, String)>) {
    let listed: BTreeSet<_> = RIGHTS
        .iter()
        .flat_map(|right| {
            let verbs = right.verbs.iter();
            verbs.map(|verb| {
                let (group, resource) = (right.group.to_owned(), right.resource.to_owned());
                (group, resource, (*verb).to_owned())
            })
        })
        // What the API server looks for itself is no request.
        .filter(|(_, resource, _)| resource != "resourceclaims/binding")
        .collect();
    let beyond: Vec<_> = asked.difference(&listed).collect();
    assert!(beyond.is_empty(), "asked and not listed: {beyond:?}");
    let idle = listed.difference(asked);
    let idle: Vec<_> = idle.filter(|(group, ..)| group == GROUP).collect();
    assert!(idle.is_empty(), "listed and not asked: {idle:?}");
}

fn claim(name: &str) -> Value {
    json!({
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name},
        "spec": {"devices": {"requests": [
            {"name": "one", "exactly": {"deviceClassName": DRIVER}},
        ]}},
    })
}

fn with_claim(claim: &str) -> Value {
    let mut pod = pod("plimsoll", "100m");
    pod["spec"]["resourceClaims"] = json!([{"name": "gpu", "resourceClaimName": claim}]);
    pod["spec"]["containers"][0]["resources"]["claims"] = json!([{"name": "gpu"}]);
    pod
}

fn extended() -> Value {
    let mut pod = pod("plimsoll", "100m");
    let resources = &mut pod["spec"]["containers"][0]["resources"];
    for amounts in ["requests", "limits"] {
        resources[amounts][EXTENDED] = json!("1");
    }
    pod
}

fn claim_of(rig: &Rig, name: &str) -> anyhow::Result<Value> {
    rig.cluster.api().get(&format!("{CLAIMS}/{name}"))
}

fn node_of(rig: &Rig, pod: &str) -> anyhow::Result<Value> {
    Ok(rig.cluster.api().get(&format!("{PODS}/{pod}"))?["spec"]["nodeName"].take())
}
