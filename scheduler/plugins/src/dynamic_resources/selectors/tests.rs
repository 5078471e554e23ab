//! Expressions over one device, as a table.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_objects::device::{Attribute, Device, DeviceCapacity, NodeChoice};

use super::{Selectors, address, amount, bind, version};

const DRIVER: &str = "gpu.example.com";

fn device() -> Device {
    let text = |text: &str| Attribute::Text(Arc::from(text));
    let attributes = [
        ("model", text("large")),
        ("cores", Attribute::Int(8)),
        ("ecc", Attribute::Bool(true)),
        ("firmware", Attribute::Version(Arc::from("1.2.3"))),
        ("other.com/address", text("10.0.0.7")),
    ];
    let attributes = attributes.into_iter();
    let memory = DeviceCapacity {
        value: "40Gi".parse().unwrap(),
        policy: None,
    };
    Device {
        name: Arc::from("gpu-0"),
        attributes: attributes
            .map(|(name, value)| (Arc::from(name), value))
            .collect(),
        capacity: BTreeMap::from([(Arc::from("memory"), memory)]),
        consumes: Box::default(),
        nodes: NodeChoice::default(),
        taints: Box::default(),
        binds_to_node: false,
        binding_conditions: None,
        binding_failure_conditions: Box::default(),
        shareable: true,
    }
}

/// `true`, `false`, or why not.
fn judge(expression: &str) -> String {
    let selectors = Selectors::default();
    let selector = selectors.get(&Arc::from(expression));
    match selectors.matches(&selector, DRIVER, &device()) {
        Ok(matches) => matches.to_string(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn every_extension_can_be_added() {
    let mut env = cel::Env::stdlib();
    env.add_extension(cel::extensions::strings).unwrap();
    env.add_extension(cel::extensions::lists).unwrap();
    for extension in [
        amount::extension,
        version::extension,
        address::extension,
        bind::extension,
    ] {
        env.add_extension(extension).unwrap();
    }
}

#[test]
fn expressions_that_hold() {
    for expression in [
        r#"device.driver == "gpu.example.com""#,
        r#"device.attributes["gpu.example.com"].model == "large""#,
        r#"device.attributes["gpu.example.com"]["cores"] >= 8"#,
        r#"device.attributes["gpu.example.com"].ecc"#,
        r#"device.attributes["gpu.example.com"].firmware.isGreaterThan(semver("1.0.0"))"#,
        r#"device.attributes["gpu.example.com"].firmware == semver("1.2.3+build")"#,
        r#"semver("v1.02", true).compareTo(semver("1.2.0")) == 0"#,
        r#"isSemver("1.2.3") && !isSemver("1.2") && isSemver("1.2", true)"#,
        r#"semver("1.2.3").major() + semver("1.2.3").minor() + semver("1.2.3").patch() == 6"#,
        r#"device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0"#,
        r#"device.capacity["gpu.example.com"].memory == quantity("40960Mi")"#,
        r#"device.capacity["gpu.example.com"].memory.isGreaterThan(quantity("1"))"#,
        r#"quantity("1500m").add(1).sub(quantity("500m")) == quantity("2")"#,
        r#"sign(quantity("-1")) == -1 && quantity("1k").asInteger() == 1000"#,
        r#"!quantity("1m").isInteger() && quantity("500m").asApproximateFloat() == 0.5"#,
        r#"isQuantity("1Gi") && !isQuantity("1Zi")"#,
        r#"!("none.com" in device.attributes)"#,
        r#"!has(device.attributes["none.com"].x)"#,
        r#"!has(device.attributes["gpu.example.com"].x)"#,
        r#"device.attributes["gpu.example.com"].?x.orValue("d") == "d""#,
        r#"device.attributes["gpu.example.com"].?model.orValue("d") == "large""#,
        r#"device.attributes["gpu.example.com"].x == 1 || true"#,
        "device.allowMultipleAllocations",
        r#"cel.bind(dra, device.attributes["gpu.example.com"], dra.ecc && dra.cores == 8)"#,
        r#"device.attributes.exists(domain, domain == "other.com")"#,
        r#"device.attributes["gpu.example.com"].all(name, name.size() > 2)"#,
        r#"size(device.attributes["gpu.example.com"]) == 4"#,
        r#"device.attributes["gpu.example.com"].model.matches("^l.*e$")"#,
        r#"device.attributes["gpu.example.com"].model.upperAscii() == "LARGE""#,
        r#"device.attributes["gpu.example.com"].model in ["small", "large"]"#,
        r#"device.attributes["gpu.example.com"].cores == 8.0"#,
        r#"ip(device.attributes["other.com"].address).family() == 4"#,
        r#"cidr("10.0.0.0/8").containsIP(device.attributes["other.com"].address)"#,
        r#"isIP("::1") && !isIP("1.2.3") && cidr("10.1.0.0/16").prefixLength() == 16"#,
    ] {
        assert_eq!(judge(expression), "true", "{expression}");
    }
}

#[test]
fn expressions_that_fail_say_why() {
    let hint = "consider using CEL optional chaining (.? followed by orValue()) or guarding \
                the check with has() for optional fields";
    let cases = [
        (
            r#"device.attributes["gpu.example.com"].x == 1"#,
            format!("CEL runtime error: no such key: x. {hint}"),
        ),
        (
            "device.driver",
            "CEL runtime error: CEL result of type string could not be converted to bool".into(),
        ),
        (
            "device.driver > 1",
            "CEL runtime error: no such overload".into(),
        ),
    ];
    for (expression, expected) in cases {
        assert_eq!(judge(expression), expected, "{expression}");
    }
    assert!(judge("device.driver ==").starts_with("CEL compile error: "));
    assert!(judge(r#"quantity("x") == quantity("1")"#).starts_with("CEL runtime error: "));
}

#[test]
fn an_expression_can_use_up_neither_the_stack_nor_the_day() {
    let long = format!("device.driver == \"{}\"", "x".repeat(11_000));
    let deep = format!("{}true{}", "(!".repeat(3_000), ")".repeat(3_000));
    let chain = format!("0{} == 0", " + 0".repeat(2_000));
    let inner = (0..6).fold("true".to_owned(), |inner, level| {
        format!("device.attributes.all(v{level}, {inner})")
    });
    for expression in [long, deep, chain, inner] {
        let said = judge(&expression);
        assert!(said.starts_with("CEL compile error: "), "{said:.200}");
    }
    let wide = format!("true{}", " && true".repeat(1_000));
    assert_eq!(judge(&wide), "true");
    let nested = format!("{}true{}", "(!".repeat(20), ")".repeat(20));
    assert_eq!(judge(&nested), "true");
}

#[test]
fn a_device_whose_attribute_has_no_value_is_an_error_not_a_mismatch() {
    let selectors = Selectors::default();
    let selector = selectors.get(&Arc::from("true"));
    for (value, expected) in [
        (
            Attribute::Unknown,
            "CEL runtime error: attribute a: unsupported attribute value",
        ),
        (
            Attribute::Version(Arc::from("1")),
            "CEL runtime error: attribute a: parse semantic version: unexpected end of input \
             while parsing major version number",
        ),
    ] {
        let mut device = device();
        device.attributes.insert(Arc::from("a"), value);
        let error = selectors.matches(&selector, DRIVER, &device).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn compiled_expressions_are_kept_up_to_a_bound() {
    let selectors = Selectors::default();
    let first = selectors.get(&Arc::from("true"));
    assert!(Arc::ptr_eq(&first, &selectors.get(&Arc::from("true"))));
    for number in 0..super::KEPT_MAX {
        selectors.get(&Arc::from(format!("{number} == 0")));
    }
    assert!(!Arc::ptr_eq(&first, &selectors.get(&Arc::from("true"))));
    assert_eq!(selectors.kept.lock().len(), super::KEPT_MAX);
}
