//! The control plane that the other tests stand on.

use plimsoll_tests::controlplane::{Controlplane, Options, Program};
use serde_json::json;

use crate::rig::{NODES, PODS, Rig, USER};

#[test]
fn a_control_plane_knows_its_users_and_keeps_its_data_over_a_crash() -> anyhow::Result<()> {
    let mut cluster = Controlplane::start(&Options::default())?;
    let version = cluster.kubectl(&["version", "-o", "json"])?;
    let version: serde_json::Value = serde_json::from_slice(&version.stdout)?;
    assert_eq!(version["serverVersion"]["gitVersion"], "v1.37.2");
    assert_eq!(version["clientVersion"]["gitVersion"], "v1.37.2");

    let rules = json!([{"apiGroups": [""], "resources": ["nodes"], "verbs": ["list"]}]);
    cluster.grant("system:serviceaccount:here:reader", &rules)?;
    let reader = cluster.api_as("system:serviceaccount:here:reader", &[])?;
    assert_eq!(reader.call("GET", "/api/v1/nodes", None)?.code, 200);
    assert_eq!(reader.call("GET", "/api/v1/pods", None)?.code, 403);

    let space = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kept"}});
    cluster.apply(&space)?;
    cluster.kill(Program::ApiServer)?;
    cluster.kill(Program::Etcd)?;
    assert!(cluster.api().get("/api/v1/namespaces/kept").is_err());
    cluster.start_program(Program::Etcd)?;
    cluster.start_program(Program::ApiServer)?;
    cluster.api().get("/api/v1/namespaces/kept")?;
    cluster.close()
}

#[test]
fn the_scheduler_may_do_what_the_chart_gives_it_and_nothing_else() -> anyhow::Result<()> {
    let rig = Rig::start(&Options::default())?;
    let api = rig.cluster.api_as(USER, &[])?;
    assert_eq!(api.call("GET", NODES, None)?.code, 200);
    assert_eq!(api.call("GET", PODS, None)?.code, 200);
    for (verb, path) in [
        ("GET", "/api/v1/secrets"),
        ("GET", "/api/v1/configmaps"),
        ("POST", PODS),
        ("DELETE", PODS),
        ("DELETE", "/api/v1/nodes/n0"),
        ("PATCH", "/api/v1/nodes/n0"),
    ] {
        let answer = api.call(verb, path, Some(&json!({})))?;
        assert_eq!(answer.code, 403, "{verb} {path}");
    }
    rig.close()
}
