//! Defaults of a container: above all requests, which are the limits where only those are stated.

use serde_json::Value;

use crate::json;

/// Fills in the defaults of one container.
pub(super) fn fill(container: &mut Value, host_network: bool) {
    let policy = pull_policy(json::text(container, &["image"]).unwrap_or(""));
    let map = json::fields(container);
    json::set_default(map, "imagePullPolicy", policy);
    json::set_default(map, "terminationMessagePath", "/dev/termination-log");
    json::set_default(map, "terminationMessagePolicy", "File");
    let resources = json::child(map, "resources");
    if let Some(limits) = resources.get("limits").and_then(Value::as_object).cloned() {
        let requests = json::child(resources, "requests");
        for (name, amount) in limits {
            json::set_default(requests, &name, amount);
        }
    }
    let ports = map.get_mut("ports").and_then(Value::as_array_mut);
    for port in ports.into_iter().flatten() {
        let number = port.get("containerPort").cloned();
        let port = json::fields(port);
        json::set_default(port, "protocol", "TCP");
        if let Some(number) = number.filter(|_| host_network) {
            json::set_default(port, "hostPort", number);
        }
    }
}

/// An image without a tag, or with the tag `latest`, is pulled each time.
fn pull_policy(image: &str) -> &'static str {
    let last = image.rsplit('/').next().unwrap_or(image);
    let moving = !last.contains('@') && last.split_once(':').is_none_or(|(_, tag)| tag == "latest");
    if moving { "Always" } else { "IfNotPresent" }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_limit_stands_in_for_a_missing_request() {
        let mut container = json!({"resources": {"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "1"}}});
        fill(&mut container, false);
        assert_eq!(
            container["resources"]["requests"],
            json!({"cpu": "1", "memory": "1Gi"})
        );
    }

    #[test]
    fn a_port_on_the_host_network_is_a_port_of_the_host() {
        let mut container = json!({"ports": [{"containerPort": 80}]});
        fill(&mut container, true);
        assert_eq!(
            container["ports"][0],
            json!({"containerPort": 80, "hostPort": 80, "protocol": "TCP"})
        );
    }

    #[test]
    fn a_moving_image_is_pulled_each_time() {
        for (image, policy) in [
            ("nginx", "Always"),
            ("host:5000/nginx", "Always"),
            ("nginx:latest", "Always"),
            ("nginx:1.2", "IfNotPresent"),
            ("nginx@sha256:0", "IfNotPresent"),
        ] {
            assert_eq!(pull_policy(image), policy, "{image}");
        }
    }
}
