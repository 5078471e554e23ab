//! Writes the kubeconfig of a running server: its address in, YAML out.

use std::net::SocketAddr;

/// The name of the cluster, the user and the context in the file.
pub(crate) const NAME: &str = "plimsoll-embedded";

/// Gives a kubeconfig that points at a plain HTTP server and needs no credentials.
pub(crate) fn kubeconfig(address: SocketAddr) -> String {
    format!(
        "apiVersion: v1
kind: Config
clusters:
- name: {NAME}
  cluster:
    server: http://{address}
users:
- name: {NAME}
  user: {{}}
contexts:
- name: {NAME}
  context:
    cluster: {NAME}
    user: {NAME}
    namespace: default
current-context: {NAME}
preferences: {{}}
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_names_the_server_and_a_current_context() {
        let text = kubeconfig(SocketAddr::from(([127, 0, 0, 1], 8001)));
        assert!(text.contains("server: http://127.0.0.1:8001\n"));
        assert!(text.contains("current-context: plimsoll-embedded\n"));
        assert!(!text.contains('\t'));
    }
}
