//! Mistakes and how they are told, kind by kind.

use serde_json::{Value, json};

use super::*;

fn told(kind: &str, value: &Value) -> Vec<String> {
    let resource = Resource::all().iter().find(|it| it.kind == kind).unwrap();
    texts(&create(resource, value))
}

fn texts(causes: &[Cause]) -> Vec<String> {
    let texts = causes.iter().map(ToString::to_string);
    texts
        .map(|text| text.split(" (e.g. ").next().unwrap().to_owned())
        .collect()
}

fn pod(spec: Value) -> Vec<String> {
    let mut spec = spec;
    if spec.get("containers").is_none() {
        spec["containers"] = json!([{"name": "a", "image": "i"}]);
    }
    told("Pod", &json!({"metadata": {"name": "x"}, "spec": spec}))
}

#[test]
fn a_pod_without_containers_names_or_images_is_refused() {
    assert_eq!(
        told("Pod", &json!({"metadata": {"name": "x"}, "spec": {}})),
        ["spec.containers: Required value"]
    );
    let containers = json!([{"name": "a"}, {"name": "a", "image": "i"}, {"image": " i"}]);
    assert_eq!(
        pod(json!({"containers": containers})),
        [
            "spec.containers[0].image: Required value",
            "spec.containers[1].name: Duplicate value: \"a\"",
            "spec.containers[2].name: Required value",
            "spec.containers[2].image: Invalid value: \" i\": must not have leading or trailing whitespace",
        ]
    );
}

#[test]
fn labels_annotations_and_names_are_checked() {
    let metadata =
        json!({"name": "X", "labels": {"a b": "c", "d": "e f"}, "annotations": {"g h": ""}});
    let causes = told("ConfigMap", &json!({"metadata": metadata}));
    let fields: Vec<&str> = causes
        .iter()
        .filter_map(|it| it.split(": must").next())
        .collect();
    assert_eq!(fields.len(), 4);
    assert!(causes[1].starts_with("metadata.labels: Invalid value: \"a b\": name part must"));
    assert!(causes[2].starts_with("metadata.labels: Invalid value: \"e f\": a valid label must"));
    assert!(causes[3].starts_with("metadata.annotations: Invalid value: \"g h\""));
}

#[test]
fn amounts_are_of_known_resources_whole_positive_and_within_their_limits() {
    let resources =
        |resources| json!({"containers": [{"name": "a", "image": "i", "resources": resources}]});
    let at = "spec.containers[0].resources";
    for (given, expected) in [
        (
            json!({"requests": {"cpu": "1"}, "limits": {"cpu": "1"}}),
            vec![],
        ),
        (
            json!({"requests": {"cpu": "-1"}}),
            vec![format!(
                "{at}.requests[cpu]: Invalid value: \"-1\": must be greater than or equal to 0"
            )],
        ),
        (
            json!({"requests": {"cpu": "2"}, "limits": {"cpu": "500m"}}),
            vec![format!(
                "{at}.requests: Invalid value: \"2\": must be less than or equal to cpu limit of 500m"
            )],
        ),
        (
            json!({"requests": {"a.org/gpu": "1"}}),
            vec![format!(
                "{at}.limits: Required value: Limit must be set for non overcommitable resources"
            )],
        ),
        (
            json!({"limits": {"a.org/gpu": "1500m"}}),
            vec![format!(
                "{at}.limits[a.org/gpu]: Invalid value: \"1500m\": must be an integer"
            )],
        ),
        (
            json!({"limits": {"gpu": "1"}}),
            vec![
                format!(
                    "{at}.limits[gpu]: Invalid value: \"gpu\": must be a standard resource type or fully qualified"
                ),
                format!(
                    "{at}.limits[gpu]: Invalid value: \"gpu\": must be a standard resource for containers"
                ),
            ],
        ),
    ] {
        assert_eq!(pod(resources(given.clone())), expected, "{given}");
    }
}

#[test]
fn ports_have_names_numbers_and_a_host_of_their_own() {
    let ports = json!([{"name": "web", "containerPort": 80, "hostPort": 80, "protocol": "TCP"},
        {"name": "web", "containerPort": 70000, "protocol": "ICMP"}]);
    let side = json!([{"containerPort": 81, "hostPort": 80, "protocol": "TCP"}]);
    let containers = json!([{"name": "a", "image": "i", "ports": ports}, {"name": "b", "image": "i", "ports": side}]);
    assert_eq!(
        pod(json!({"containers": containers})),
        [
            "spec.containers[0].ports[1].name: Duplicate value: \"web\"",
            "spec.containers[0].ports[1].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive",
            "spec.containers[0].ports[1].protocol: Unsupported value: \"ICMP\": supported values: \"SCTP\", \"TCP\", \"UDP\"",
            "spec.containers[1].ports[0].hostPort: Duplicate value: \"TCP//80\"",
        ]
    );
}

#[test]
fn where_a_pod_wants_to_be_is_checked() {
    let terms = json!([{"matchExpressions": [{"key": "zone", "operator": "In"}, {"key": "zone", "operator": "Near"}]}]);
    let required = json!({"nodeSelectorTerms": terms});
    let affinity = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required},
        "podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 101,
            "podAffinityTerm": {"topologyKey": "zone"}}]}});
    let causes = pod(json!({"affinity": affinity,
        "tolerations": [{"key": "a", "operator": "Exists", "value": "b"}, {"key": "c", "effect": "Never"}],
        "topologySpreadConstraints": [{"maxSkew": 0, "whenUnsatisfiable": "Never"}]}));
    let at = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions";
    let spread = "spec.topologySpreadConstraints[0]";
    assert_eq!(
        causes,
        [
            format!("{at}[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'"),
            format!("{at}[1].operator: Invalid value: \"Near\": not a valid selector operator"),
            "spec.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 101: must be in the range 1-100".to_owned(),
            format!("{spread}.maxSkew: Invalid value: 0: must be greater than zero"),
            format!("{spread}.topologyKey: Required value: can not be empty"),
            format!("{spread}.whenUnsatisfiable: Unsupported value: \"Never\": supported values: \"DoNotSchedule\", \"ScheduleAnyway\""),
            "spec.tolerations[0].operator: Invalid value: \"b\": value must be empty when `operator` is 'Exists'".to_owned(),
            "spec.tolerations[1].effect: Unsupported value: \"Never\": supported values: \"NoSchedule\", \"PreferNoSchedule\", \"NoExecute\"".to_owned(),
        ]
    );
}

#[test]
fn gates_may_go_and_may_not_come_and_the_rest_of_a_pod_stays() {
    let pods = Resource::named("pods").unwrap();
    let pod = |node: &str, gates: Value, image: &str| {
        json!({"metadata": {"name": "x"}, "spec": {"nodeName": node, "schedulingGates": gates,
            "containers": [{"name": "a", "image": image}]}})
    };
    let (none, one) = (json!([]), json!([{"name": "g"}]));
    let changed = |old: &Value, new: &Value| texts(&update(pods, old, new));
    let gated = pod("", one.clone(), "i");
    assert!(changed(&gated, &pod("", none.clone(), "i2")).is_empty());
    assert_eq!(
        changed(&pod("", none.clone(), "i"), &gated),
        [
            "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'g'"
        ]
    );
    let moved = changed(&pod("a", none.clone(), "i"), &pod("b", none.clone(), "i"));
    assert!(moved[0].starts_with("spec: Forbidden: pod updates may not change fields other than"));
    let mut more = pod("a", none.clone(), "i");
    more["spec"]["containers"] = json!([{"name": "a", "image": "i"}, {"name": "b", "image": "i"}]);
    assert_eq!(
        changed(&pod("a", none, "i"), &more),
        ["spec.containers: Forbidden: pod updates may not add or remove containers"]
    );
}

#[test]
fn a_pod_with_gates_may_narrow_its_node_selector_and_add_tolerations() {
    let pods = Resource::named("pods").unwrap();
    let pod = |selector: Value, tolerations: Value| {
        json!({"metadata": {"name": "x"}, "spec": {"schedulingGates": [{"name": "g"}], "nodeSelector": selector,
            "tolerations": tolerations, "containers": [{"name": "a", "image": "i"}]}})
    };
    let (few, many) = (json!({"a": "b"}), json!({"a": "b", "c": "d"}));
    let tolerated = json!([{"key": "k", "operator": "Exists"}]);
    assert!(
        update(
            pods,
            &pod(few.clone(), json!([])),
            &pod(many.clone(), tolerated.clone())
        )
        .is_empty()
    );
    assert_eq!(
        update(
            pods,
            &pod(many, tolerated.clone()),
            &pod(few.clone(), tolerated.clone())
        )
        .len(),
        1
    );
    assert_eq!(
        texts(&update(
            pods,
            &pod(few.clone(), tolerated),
            &pod(few, json!([]))
        )),
        [
            "spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds"
        ]
    );
}

#[test]
fn nodes_have_unique_taints_positive_amounts_and_a_lasting_identity() {
    let nodes = Resource::named("nodes").unwrap();
    let taints = json!([{"key": "c", "effect": "NoSchedule"}, {"key": "c", "effect": "NoSchedule"}, {"key": "d"}]);
    assert_eq!(
        told(
            "Node",
            &json!({"metadata": {"name": "n"}, "spec": {"taints": taints}, "status": {"capacity": {"cpu": "-1"}}})
        ),
        [
            "metadata.taints[1]: Duplicate value: {\"Key\":\"c\",\"Value\":\"\",\"Effect\":\"NoSchedule\",\"TimeAdded\":null}: taints must be unique by key and effect pair",
            "metadata.taints[2].effect: Required value",
            "status.capacity.cpu: Invalid value: \"-1\": must be greater than or equal to 0",
        ]
    );
    let node = |provider: &str, range: &str| json!({"spec": {"providerID": provider, "podCIDRs": [range]}});
    assert_eq!(
        texts(&update(
            nodes,
            &node("a", "10.0.0.0/24"),
            &node("b", "10.1.0.0/24")
        )),
        [
            "spec.podCIDRs: Forbidden: node updates may not change podCIDR except from \"\" to valid",
            "spec.providerID: Invalid value: null: field cannot be modified once set",
        ]
    );
}

#[test]
fn the_other_kinds_are_checked_by_their_own_rules() {
    let named = |mut value: Value| {
        value["metadata"] = json!({"name": "x", "namespace": "n"});
        value
    };
    for (kind, value, expected) in [
        (
            "PriorityClass",
            json!({"value": 2_000_000_001_i64}),
            "value: Forbidden: maximum allowed value of a user defined priority is 1000000000",
        ),
        (
            "ConfigMap",
            json!({"data": {"..": "a"}}),
            "data[..]: Invalid value: \"..\": must not be '..'",
        ),
        (
            "Lease",
            json!({"spec": {"leaseDurationSeconds": 0}}),
            "spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0",
        ),
        ("Service", json!({"spec": {}}), "spec.ports: Required value"),
        (
            "PodDisruptionBudget",
            json!({"spec": {"minAvailable": -1}}),
            "spec.minAvailable: Invalid value: -1: must be greater than or equal to 0",
        ),
        (
            "PodDisruptionBudget",
            json!({"spec": {"minAvailable": "101%"}}),
            "spec.minAvailable: Invalid value: \"101%\": must not be greater than 100%",
        ),
        (
            "Event",
            json!({"involvedObject": {"kind": "Pod", "apiVersion": "v1"}}),
            "involvedObject.namespace: Invalid value: \"\": does not match event.namespace",
        ),
    ] {
        assert_eq!(told(kind, &named(value)), [expected], "{kind}");
    }
    let template = json!({"metadata": {"labels": {"a": "c"}}, "spec": {"containers": [{"name": "m", "image": "i"}]}});
    assert_eq!(
        told(
            "Deployment",
            &named(
                json!({"spec": {"replicas": -1, "selector": {"matchLabels": {"a": "b"}}, "template": template}})
            )
        ),
        [
            "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
            "spec.template.metadata.labels: Invalid value: {\"a\":\"c\"}: `selector` does not match template `labels`",
        ]
    );
}
