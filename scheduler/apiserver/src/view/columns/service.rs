//! The columns of services and config maps.

use serde_json::{Value, json};

use super::{AGE, Column, NAME, count, joined, map, number, plain, text, wide};
use crate::json;

pub(super) static CONFIG_MAP: &[Column] = &[
    NAME,
    number("Data", |it, _| {
        json!(entries(it, "data") + entries(it, "binaryData"))
    }),
    AGE,
];

pub(super) static SERVICE: &[Column] = &[
    NAME,
    text("Type", |it, _| plain(it, &["spec", "type"])),
    text("Cluster-IP", |it, _| json!(cluster_ip(it))),
    text("External-IP", |it, _| json!(external_ip(it))),
    text("Port(s)", |it, _| json!(ports(it))),
    AGE,
    wide("Selector", |it, _| json!(map(it, &["spec", "selector"]))),
];

fn entries(config: &Value, part: &str) -> usize {
    config[part].as_object().map_or(0, serde_json::Map::len)
}

fn cluster_ip(service: &Value) -> &str {
    let first = json::list(service, &["spec", "clusterIPs"]).first();
    first.and_then(Value::as_str).unwrap_or("<none>")
}

fn external_ip(service: &Value) -> String {
    let own = joined(service, &["spec", "externalIPs"]);
    match json::text(service, &["spec", "type"]) {
        Some("ClusterIP" | "NodePort") if own.is_empty() => "<none>".to_owned(),
        Some("ClusterIP" | "NodePort") => own,
        Some("LoadBalancer") => {
            let ingress = json::list(service, &["status", "loadBalancer", "ingress"]).iter();
            let mut given: Vec<&str> = ingress
                .filter_map(|it| json::text(it, &["ip"]).or_else(|| json::text(it, &["hostname"])))
                .collect();
            given.sort_unstable();
            given.extend(Some(own.as_str()).filter(|own| !own.is_empty()));
            if given.is_empty() {
                return "<pending>".to_owned();
            }
            given.join(",")
        }
        Some("ExternalName") => {
            let name = json::text(service, &["spec", "externalName"]);
            name.unwrap_or("").to_owned()
        }
        _ => "<unknown>".to_owned(),
    }
}

fn ports(service: &Value) -> String {
    let ports: Vec<String> = json::list(service, &["spec", "ports"])
        .iter()
        .map(|port| {
            let protocol = json::text(port, &["protocol"]).unwrap_or("");
            match count(port, &["nodePort"]) {
                0 => format!("{}/{protocol}", count(port, &["port"])),
                node => format!("{}:{node}/{protocol}", count(port, &["port"])),
            }
        })
        .collect();
    if ports.is_empty() {
        return "<none>".to_owned();
    }
    ports.join(",")
}
