//! Which nodes pass, and what they are worth.

use plimsoll_framework::test_util::{check_filter, check_score, cluster, node, pod};
use serde_json::{Value, json};

use super::{claim, class, given, judged, plain, slice, some, spec, two_nodes, using};

const NONE: &str = "UnschedulableAndUnresolvable: cannot allocate all claims";
const ELSEWHERE: &str = "UnschedulableAndUnresolvable: resourceclaim not available on the node";

#[test]
fn a_pod_without_claims_is_not_judged() {
    let cluster = two_nodes([slice("n1", plain(&["a"]))]);
    assert_eq!(
        check_filter(&spec(), &Value::Null, &cluster, &pod("p")),
        ["PreFilter: Skip"]
    );
}

#[test]
fn a_node_passes_if_it_has_enough_devices_that_nobody_has() {
    let slices = || [slice("n1", plain(&["a", "b"])), slice("n2", plain(&["a"]))];
    let judge = |count, others: Vec<Value>| {
        let claim = claim("c", some(count));
        judged(slices().into_iter().chain([claim]).chain(others))
    };
    let other = given(claim("other", some(1)), "n1", "a");
    let mut admin = other.clone();
    admin["status"]["allocation"]["devices"]["results"][0]["adminAccess"] = json!(true);
    assert_eq!(judge(1, vec![]), ["n1: Pass", "n2: Pass"]);
    assert_eq!(judge(2, vec![]), ["n1: Pass", &format!("n2: {NONE}")]);
    assert_eq!(
        judge(2, vec![other]),
        [format!("n1: {NONE}"), format!("n2: {NONE}")]
    );
    assert_eq!(judge(2, vec![admin]), ["n1: Pass", &format!("n2: {NONE}")]);
}

#[test]
fn an_allocated_claim_binds_its_pod_to_its_nodes() {
    let claim = given(claim("c", some(1)), "n2", "a");
    assert_eq!(
        judged([claim]),
        [format!("n1: {ELSEWHERE}"), "n2: Pass".to_owned()]
    );
}

#[test]
fn a_claim_that_cannot_be_used_stops_the_pod_before_any_node() {
    let unknown_class = json!([{"name": "r", "exactly": {"deviceClassName": "none"}}]);
    let cases = [
        (
            claim("other", some(1)),
            "could not find ResourceClaim \"default/c\"",
        ),
        (
            claim("c", unknown_class),
            "request r: device class none does not exist",
        ),
        (
            claim("c", json!([{"name": "r"}])),
            "resource claim default/c, request r: unknown request type",
        ),
    ];
    for (object, reason) in cases {
        let expected = format!("PreFilter: UnschedulableAndUnresolvable: {reason}");
        assert_eq!(judged([object]), [expected]);
    }
}

#[test]
fn devices_must_match_be_tolerated_and_agree() {
    let devices = json!([
        {"name": "a", "attributes": {"numa": {"int": 0}}},
        {"name": "b", "attributes": {"numa": {"int": 1}},
            "taints": [{"key": "worn", "effect": "NoSchedule"}]},
        {"name": "c", "attributes": {"numa": {"int": 0}, "model": {"string": "x"}}},
    ]);
    let judge = |exactly: Value, constraint: Option<Value>| {
        let mut claim = claim("c", some(1));
        let request = &mut claim["spec"]["devices"]["requests"][0]["exactly"];
        for (field, value) in exactly.as_object().unwrap() {
            request[field] = value.clone();
        }
        claim["spec"]["devices"]["constraints"] = constraint.into_iter().collect();
        judged([claim, slice("n1", devices.clone())])[0] == "n1: Pass"
    };
    let numa = |kind: &str| Some(json!({kind: "gpu.example.com/numa"}));
    let tolerations = json!([{"key": "worn", "operator": "Exists"}]);
    let model = json!([{"cel": {"expression":
        r#"has(device.attributes["gpu.example.com"].model)"#}}]);
    assert!(judge(json!({"count": 2}), None));
    assert!(!judge(json!({"count": 3}), None));
    assert!(judge(json!({"count": 3, "tolerations": tolerations}), None));
    assert!(!judge(
        json!({"count": 3, "tolerations": tolerations}),
        numa("matchAttribute")
    ));
    assert!(judge(json!({"count": 2}), numa("matchAttribute")));
    assert!(!judge(json!({"count": 2}), numa("distinctAttribute")));
    assert!(judge(
        json!({"count": 2, "tolerations": tolerations}),
        numa("distinctAttribute")
    ));
    assert!(!judge(json!({"count": 2, "selectors": model}), None));
}

#[test]
fn all_devices_are_wanted_only_of_whole_pools() {
    let all =
        json!([{"name": "r", "exactly": {"deviceClassName": "gpu", "allocationMode": "All"}}]);
    let mut half = slice("n1", plain(&["a", "b"]));
    half["spec"]["pool"]["resourceSliceCount"] = json!(2);
    let judge = |slice: &Value| judged([claim("c", all.clone()), slice.clone()])[0].clone();
    assert_eq!(judge(&slice("n1", plain(&["a", "b"]))), "n1: Pass");
    assert_eq!(judge(&slice("n1", json!([]))), format!("n1: {NONE}"));
    assert_eq!(
        judge(&half),
        "n1: Error: claim default/c, request r: asks for all devices, but resource pool \
         gpu.example.com/n1 is currently being updated"
    );
    let twice = slice("n1", plain(&["a", "a"]));
    assert_eq!(
        judged([claim("c", some(1)), twice])[0],
        "n1: UnschedulableAndUnresolvable: invalid resource pools were encountered"
    );
}

#[test]
fn a_newer_generation_of_a_pool_hides_the_older() {
    let mut newer = slice("n1", plain(&["b"]));
    newer["metadata"]["name"] = json!("newer");
    newer["spec"]["pool"]["generation"] = json!(2);
    let judge = |count| {
        judged([
            claim("c", some(count)),
            slice("n1", plain(&["a"])),
            newer.clone(),
        ])[0]
            .clone()
    };
    assert_eq!(judge(1), "n1: Pass");
    assert_eq!(judge(2), format!("n1: {NONE}"));
}

#[test]
fn parts_of_a_card_share_its_counters_and_shares_of_a_device_its_capacity() {
    let part = |name: &str| {
        let counters = json!([{"counterSet": "card", "counters": {"memory": {"value": "3"}}}]);
        json!({"name": name, "consumesCounters": counters})
    };
    let mut counters = slice("n1", json!([]));
    counters["metadata"]["name"] = json!("counters");
    counters["spec"]["sharedCounters"] =
        json!([{"name": "card", "counters": {"memory": {"value": "7"}}}]);
    let mut parts = slice("n1", json!([part("a"), part("b"), part("c")]));
    for slice in [&mut counters, &mut parts] {
        slice["spec"]["pool"]["resourceSliceCount"] = json!(2);
    }
    let taken = given(claim("other", some(1)), "n1", "c");
    let judge = |count, more: Vec<Value>| {
        let objects = [claim("c", some(count)), counters.clone(), parts.clone()];
        judged(objects.into_iter().chain(more))[0] == "n1: Pass"
    };
    assert!(judge(2, vec![]) && !judge(3, vec![]));
    assert!(judge(1, vec![taken.clone()]) && !judge(2, vec![taken]));

    let shared = json!([{"name": "a", "allowMultipleAllocations": true,
        "capacity": {"memory": {"value": "10"}}}]);
    let asks = |memory: &str| {
        let mut claim = claim("c", some(1));
        claim["spec"]["devices"]["requests"][0]["exactly"]["capacity"] =
            json!({"requests": {"memory": memory}});
        claim
    };
    let mut share = given(claim("other", some(1)), "n1", "a");
    let result = &mut share["status"]["allocation"]["devices"]["results"][0];
    result["shareID"] = json!("11111111-1111-4111-8111-111111111111");
    result["consumedCapacity"] = json!({"memory": "6"});
    for (memory, fits) in [("4", true), ("5", false)] {
        let objects = [asks(memory), slice("n1", shared.clone()), share.clone()];
        assert_eq!(judged(objects)[0] == "n1: Pass", fits, "{memory}");
    }
}

#[test]
fn a_selector_that_fails_fails_the_attempt() {
    let mut claim = claim("c", some(1));
    claim["spec"]["devices"]["requests"][0]["exactly"]["selectors"] =
        json!([{"cel": {"expression": r#"device.attributes["gpu.example.com"].x == 1"#}}]);
    let said = &judged([claim, slice("n1", plain(&["a"]))])[0];
    assert_eq!(
        said,
        "n1: Error: claim default/c: selector #0 on device gpu.example.com/n1/a: CEL runtime \
         error: no such key: x. consider using CEL optional chaining (.? followed by orValue()) \
         or guarding the check with has() for optional fields"
    );
}

#[test]
fn the_earlier_alternative_is_worth_more() {
    let wish = |name: &str, count: i64| {
        json!({"name": name, "deviceClassName": "gpu", "allocationMode": "ExactCount",
            "count": count})
    };
    let requests = json!([{"name": "r", "firstAvailable": [wish("two", 2), wish("one", 1)]}]);
    let cluster = two_nodes([
        claim("c", requests),
        slice("n1", plain(&["a"])),
        slice("n2", plain(&["a", "b"])),
    ]);
    let scores = check_score(&spec(), &Value::Null, &cluster, &using(&["c"]));
    assert_eq!(scores, ["n1: 7 -> 87", "n2: 8 -> 100"]);
}

#[test]
fn a_thousand_claims_are_searched_without_using_up_the_stack() {
    let names: Vec<String> = (0..1_000).map(|number| format!("c{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let devices: Vec<String> = (0..1_000).map(|number| format!("d{number}")).collect();
    let devices: Vec<&str> = devices.iter().map(String::as_str).collect();
    let claims = names.iter().map(|name| claim(name, some(1)));
    let objects = claims.chain([slice("n1", plain(&devices))]);
    let cluster = cluster([node("n1")]).objects([class()]).objects(objects);
    let said = check_filter(&spec(), &Value::Null, &cluster, &using(&names));
    assert_eq!(said, ["n1: Pass"]);
}

#[test]
fn a_search_that_does_not_end_fails_the_attempt() {
    let names: Vec<String> = (0..40).map(|number| format!("d{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let args = json!({"filterTimeout": "10ms"});
    let objects = [
        claim("c", some(20)),
        claim("d", some(21)),
        slice("n1", plain(&names)),
    ];
    let said = check_filter(&spec(), &args, &two_nodes(objects), &using(&["c", "d"]));
    assert_eq!(
        said[0],
        "n1: Error: node n1: timed out trying to allocate devices"
    );
}

#[test]
fn an_extended_resource_is_met_by_devices_where_the_node_has_none_itself() {
    let mut class = class();
    class["spec"]["extendedResourceName"] = json!("example.com/gpu");
    let nodes = [
        node("own").resource("example.com/gpu", "2"),
        node("n1"),
        node("n2"),
    ];
    let cluster = cluster(nodes).objects([class, slice("n1", plain(&["a", "b"]))]);
    let judge = |pod| check_filter(&spec(), &Value::Null, &cluster, &pod);
    let asks = |count| pod("p").request("example.com/gpu", count);
    assert_eq!(
        judge(asks("2")),
        ["own: Pass", "n1: Pass", &format!("n2: {NONE}")]
    );
    assert_eq!(judge(asks("3"))[1], format!("n1: {NONE}"));
}
