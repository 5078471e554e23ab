//! The containers of a pod (`validateContainers`).

use serde_json::Value;

use super::{amounts, by_rule, choice, number};
use crate::{json, names, status::Cause};

const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];

/// Checks the containers and init containers of a spec that stands at `field`.
pub(super) fn check(field: &str, spec: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let containers = json::list(spec, &["containers"]);
    let mut seen: Vec<&str> = Vec::new();
    if containers.is_empty() {
        causes.push(Cause::required(&format!("{field}.containers"), ""));
    }
    for list in ["containers", "initContainers"] {
        for (at, container) in json::list(spec, &[list]).iter().enumerate() {
            let path = format!("{field}.{list}[{at}]");
            one(&path, container, &mut causes);
            let Some(name) = json::text(container, &["name"]) else {
                continue;
            };
            if seen.contains(&name) {
                causes.push(Cause::duplicate(&format!("{path}.name"), name));
            }
            seen.push(name);
        }
        if list == "containers" {
            images(&format!("{field}.{list}"), containers, &mut causes);
            host_ports(&format!("{field}.{list}"), containers, &mut causes);
        }
    }
    causes
}

fn one(path: &str, container: &Value, causes: &mut Vec<Cause>) {
    let field = |name: &str| format!("{path}.{name}");
    match json::text(container, &["name"]) {
        None => causes.push(Cause::required(&field("name"), "")),
        Some(name) => causes.extend(by_rule(&field("name"), name, names::label(name))),
    }
    if json::text(container, &["image"]).is_none() {
        causes.push(Cause::required(&field("image"), ""));
    }
    causes.extend(choice(
        &field("terminationMessagePolicy"),
        json::text(container, &["terminationMessagePolicy"]),
        &["File", "FallbackToLogsOnError"],
    ));
    ports(&field("ports"), json::list(container, &["ports"]), causes);
    for (at, variable) in json::list(container, &["env"]).iter().enumerate() {
        if json::text(variable, &["name"]).is_none() {
            causes.push(Cause::required(&field(&format!("env[{at}].name")), ""));
        }
    }
    causes.extend(choice(
        &field("imagePullPolicy"),
        json::text(container, &["imagePullPolicy"]),
        &["Always", "IfNotPresent", "Never"],
    ));
    causes.extend(amounts::check(&field("resources"), &container["resources"]));
}

fn images(path: &str, containers: &[Value], causes: &mut Vec<Cause>) {
    for (at, container) in containers.iter().enumerate() {
        if let Some(image) = json::text(container, &["image"])
            && image.trim() != image
        {
            let why = "must not have leading or trailing whitespace";
            causes.push(Cause::invalid(&format!("{path}[{at}].image"), image, why));
        }
    }
}

fn ports(path: &str, ports: &[Value], causes: &mut Vec<Cause>) {
    let mut seen: Vec<&str> = Vec::new();
    for (at, port) in ports.iter().enumerate() {
        let field = |name: &str| format!("{path}[{at}].{name}");
        if let Some(name) = json::text(port, &["name"]) {
            let wrong = names::port_name(name);
            if wrong.is_empty() && seen.contains(&name) {
                causes.push(Cause::duplicate(&field("name"), name));
            }
            causes.extend(by_rule(&field("name"), name, wrong));
            seen.push(name);
        }
        match number(port, &["containerPort"]).unwrap_or(0) {
            0 => causes.push(Cause::required(&field("containerPort"), "")),
            other => causes.extend(port_number(&field("containerPort"), other)),
        }
        match number(port, &["hostPort"]).unwrap_or(0) {
            0 => {}
            other => causes.extend(port_number(&field("hostPort"), other)),
        }
        causes.extend(choice(
            &field("protocol"),
            json::text(port, &["protocol"]),
            &PROTOCOLS,
        ));
    }
}

fn port_number(field: &str, number: i64) -> Option<Cause> {
    Some(Cause::invalid_json(
        field,
        &number,
        &names::port_number(number)?,
    ))
}

/// Refuses a port of the host that two containers ask for.
fn host_ports(path: &str, containers: &[Value], causes: &mut Vec<Cause>) {
    let mut seen = Vec::new();
    for (at, container) in containers.iter().enumerate() {
        for (place, port) in json::list(container, &["ports"]).iter().enumerate() {
            let Some(number) = number(port, &["hostPort"]).filter(|it| *it != 0) else {
                continue;
            };
            let text = |name| json::text(port, &[name]).unwrap_or("");
            let key = format!("{}/{}/{number}", text("protocol"), text("hostIP"));
            if seen.contains(&key) {
                let field = format!("{path}[{at}].ports[{place}].hostPort");
                causes.push(Cause::duplicate(&field, &key));
            }
            seen.push(key);
        }
    }
}
