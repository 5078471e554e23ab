//! Defaults of services: of their ports, and what their one address says.

use serde_json::{Value, json};

use crate::json;

/// Fills in the defaults of a service. Differs: no address is allocated where none is stated.
pub(super) fn fill(service: &mut Value) {
    let spec = json::section(service, "spec");
    let ports = spec.get_mut("ports").and_then(Value::as_array_mut);
    for port in ports.into_iter().flatten() {
        let number = port.get("port").cloned();
        let port = json::fields(port);
        json::set_default(port, "protocol", "TCP");
        if let Some(number) = number {
            json::set_default(port, "targetPort", number);
        }
    }
    if spec.get("type").is_some_and(|kind| kind == "ExternalName") {
        return;
    }
    json::set_default(spec, "internalTrafficPolicy", "Cluster");
    json::set_default(spec, "ipFamilyPolicy", "SingleStack");
    json::set_default(spec, "ipFamilies", json!(["IPv4"]));
    if let Some(address) = spec.get("clusterIP").cloned() {
        json::set_default(spec, "clusterIPs", json!([address]));
    }
}
