//! Rows of tables: object in, cells out.

use super::*;

fn cells(kind: &str, object: &Value) -> Vec<Value> {
    let now: Timestamp = "2026-11-30T12:00:00Z".parse().unwrap();
    let resource = Resource::named(kind).unwrap();
    columns(resource)
        .iter()
        .map(|column| (column.cell)(object, now))
        .collect()
}

#[test]
fn a_pod_shows_where_it_is_and_how_it_does() {
    let pod = json!({
        "metadata": {"name": "a", "creationTimestamp": "2026-11-30T11:59:00Z"},
        "spec": {"nodeName": "n", "containers": [{}, {}]},
        "status": {"phase": "Running", "containerStatuses": [{"ready": true, "restartCount": 2,
            "state": {"running": {}}, "lastState": {"terminated": {"finishedAt": "2026-11-30T11:55:00Z"}}}]},
    });
    let expected = json!([
        "a",
        "1/2",
        "Running",
        "2 (5m ago)",
        "60s",
        "<none>",
        "n",
        "<none>",
        "<none>"
    ]);
    assert_eq!(json!(cells("pods", &pod)), expected);
}

#[test]
fn what_a_pods_containers_do_is_its_status() {
    let state = |state: Value| json!([{"name": "m", "restartCount": 0, "state": state}]);
    let init = |state: Value| json!([{"name": "i", "restartCount": 0, "state": state}]);
    for (status, expected) in [
        (json!({"phase": "Pending"}), "Pending"),
        (json!({"phase": "Failed", "reason": "OutOfcpu"}), "OutOfcpu"),
        (
            json!({"phase": "Running", "containerStatuses": state(json!({"waiting": {"reason": "CrashLoopBackOff"}}))}),
            "CrashLoopBackOff",
        ),
        (
            json!({"phase": "Succeeded", "containerStatuses": state(json!({"terminated": {"exitCode": 0, "reason": "Completed"}}))}),
            "Completed",
        ),
        (
            json!({"phase": "Failed", "containerStatuses": state(json!({"terminated": {"exitCode": 3}}))}),
            "ExitCode:3",
        ),
        (
            json!({"phase": "Pending", "initContainerStatuses": init(json!({"running": {}}))}),
            "Init:0/1",
        ),
        (
            json!({"phase": "Pending", "initContainerStatuses": init(json!({"terminated": {"exitCode": 1, "reason": "Error"}}))}),
            "Init:Error",
        ),
        (
            json!({"phase": "Pending", "conditions": [{"type": "PodScheduled", "reason": "SchedulingGated"}]}),
            "SchedulingGated",
        ),
    ] {
        let mut pod = json!({"metadata": {"name": "a"}, "status": status,
            "spec": {"containers": [{"name": "m"}], "initContainers": [{"name": "i"}]}});
        assert_eq!(cells("pods", &pod)[2], expected, "{pod}");
        pod["metadata"]["deletionTimestamp"] = json!("2026-11-30T12:00:00Z");
        let ended = matches!(
            pod["status"]["phase"].as_str(),
            Some("Failed" | "Succeeded")
        );
        let then = if ended { expected } else { "Terminating" };
        assert_eq!(cells("pods", &pod)[2], then, "{pod}");
    }
}

#[test]
fn a_cordoned_node_says_so() {
    let node = json!({
        "metadata": {"name": "n", "labels": {"node-role.kubernetes.io/worker": ""}},
        "spec": {"unschedulable": true},
        "status": {"conditions": [{"type": "Ready", "status": "True"}],
            "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
            "nodeInfo": {"kernelVersion": "6.12", "architecture": "amd64"}},
    });
    let expected = json!([
        "n",
        "Ready,SchedulingDisabled",
        "worker",
        "<unknown>",
        "",
        "10.0.0.1",
        "<none>",
        "<unknown>",
        "6.12 (amd64)",
        "<unknown>"
    ]);
    assert_eq!(json!(cells("nodes", &node)), expected);
}

#[test]
fn an_event_names_its_subject() {
    let event = json!({
        "metadata": {"name": "e"}, "involvedObject": {"kind": "Pod", "name": "a"}, "type": "Normal",
        "reason": "Scheduled", "message": "m", "eventTime": "2026-11-30T11:59:30.123456Z",
        "reportingComponent": "plimsoll", "reportingInstance": "host",
    });
    let expected = json!([
        "30s",
        "Normal",
        "Scheduled",
        "pod/a",
        "",
        "plimsoll, host",
        "m",
        "30s",
        1,
        "e"
    ]);
    assert_eq!(json!(cells("events", &event)), expected);
}

#[test]
fn a_workload_says_how_much_of_it_is_ready() {
    let containers = json!([{"name": "a", "image": "x"}, {"name": "b", "image": "y"}]);
    let deployment = json!({
        "metadata": {"name": "d"},
        "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}},
            "template": {"spec": {"containers": containers}}},
        "status": {"readyReplicas": 1, "updatedReplicas": 2},
    });
    let expected = json!(["d", "1/3", 2, 0, "<unknown>", "a,b", "x,y", "app=web"]);
    assert_eq!(json!(cells("deployments", &deployment)), expected);
}

#[test]
fn a_service_says_how_it_is_reached() {
    let service = json!({
        "metadata": {"name": "s"},
        "spec": {"type": "LoadBalancer", "clusterIPs": ["10.0.0.9"], "selector": {"app": "web"},
            "ports": [{"port": 80, "protocol": "TCP", "nodePort": 30080}]},
    });
    let expected = json!([
        "s",
        "LoadBalancer",
        "10.0.0.9",
        "<pending>",
        "80:30080/TCP",
        "<unknown>",
        "app=web"
    ]);
    assert_eq!(json!(cells("services", &service)), expected);
}

#[test]
fn a_volume_says_whose_it_is() {
    let volume = json!({
        "metadata": {"name": "v"},
        "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteMany", "ReadWriteOnce"],
            "persistentVolumeReclaimPolicy": "Retain", "claimRef": {"namespace": "n", "name": "c"}},
        "status": {"phase": "Bound"},
    });
    let expected = json!([
        "v",
        "1Gi",
        "RWO,RWX",
        "Retain",
        "Bound",
        "n/c",
        "",
        "<unset>",
        "",
        "<unknown>",
        "<unset>"
    ]);
    assert_eq!(json!(cells("persistentvolumes", &volume)), expected);
}
