//! Connections to the API server.
//!
//! Takes a kubeconfig file, an address, or the pod's own service account; gives two
//! clients with pools of their own, so that a burst of writes never waits behind a watch.

use std::path::PathBuf;
use std::time::Duration;

use http::header::{HeaderValue, USER_AGENT};
use kube::config::{InClusterError, KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};

use crate::extender::ClientError;

/// How we sign requests: what an administrator sees in audit logs and in flow schemas.
pub(crate) const AGENT: &str = concat!("plimsoll-scheduler/", env!("CARGO_PKG_VERSION"));
/// Longest time to open a connection: one lost SYN (1 s) and its repeat (2 s) fit.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

/// Where the API server is, and who we are there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ClientOptions {
    /// The service account of the pod that this process runs in.
    #[default]
    InCluster,
    /// A kubeconfig file and, where it is not the current one, a context of it.
    Kubeconfig {
        /// The file.
        path: PathBuf,
        /// The context.
        context: Option<String>,
    },
    /// An address without credentials, such as `http://127.0.0.1:8001`: the embedded API
    /// server, or `kubectl proxy`.
    Address(String),
}

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// Not in a pod, or its service account is not mounted.
    #[error("no service account of a pod found; outside a cluster a kubeconfig is needed")]
    InCluster(#[source] InClusterError),
    /// The kubeconfig cannot be read or says nothing of use.
    #[error("kubeconfig `{path}` cannot be used")]
    Kubeconfig {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: KubeconfigError,
    },
    /// The address is none.
    #[error("`{address}` is not an address such as http://127.0.0.1:8001")]
    Address {
        /// The address.
        address: String,
        /// What is wrong with it.
        #[source]
        source: http::uri::InvalidUri,
    },
    /// Certificates, keys or a proxy setting cannot be used.
    #[error("the client of the API server cannot be built")]
    Build(#[source] kube::Error),
    /// Certificates or keys of an extender cannot be used.
    #[error("extenders[{index}].tlsConfig cannot be used")]
    Extender {
        /// Its place in the file.
        index: usize,
        /// What is wrong with it.
        #[source]
        source: ClientError,
    },
}

/// The clients, each with its own connections.
pub(crate) struct Clients {
    /// For lists and watches.
    pub(crate) watches: Client,
    /// For everything else.
    pub(crate) writes: Client,
    /// Host and port of the API server.
    pub(crate) host: String,
}

// === impl Clients ===

impl Clients {
    /// Prepares the clients. Opens no connection yet. To be called inside a tokio runtime.
    ///
    /// # Errors
    /// The options lead to no server, or to credentials that cannot be used.
    pub(crate) async fn prepare(options: &ClientOptions) -> Result<Self, ConnectError> {
        let config = with_our_limits(config(options).await?);
        let authority = config.cluster_url.authority();
        Ok(Self {
            host: authority.map(ToString::to_string).unwrap_or_default(),
            watches: Client::try_from(config.clone()).map_err(ConnectError::Build)?,
            writes: Client::try_from(config).map_err(ConnectError::Build)?,
        })
    }
}

async fn config(options: &ClientOptions) -> Result<Config, ConnectError> {
    match options {
        ClientOptions::InCluster => Config::incluster().map_err(ConnectError::InCluster),
        ClientOptions::Kubeconfig { path, context } => {
            let failed = |source| ConnectError::Kubeconfig {
                path: path.clone(),
                source,
            };
            let file = Kubeconfig::read_from(path).map_err(failed)?;
            let choice = KubeConfigOptions {
                context: context.clone(),
                ..Default::default()
            };
            Config::from_custom_kubeconfig(file, &choice)
                .await
                .map_err(failed)
        }
        ClientOptions::Address(address) => {
            let uri = address.parse().map_err(|source| ConnectError::Address {
                address: address.clone(),
                source,
            })?;
            Ok(Config::new(uri))
        }
    }
}

fn with_our_limits(mut config: Config) -> Config {
    config.connect_timeout = Some(CONNECT_LIMIT);
    // Each call and each watch has a limit of its own; one for all would end quiet watches.
    config.read_timeout = None;
    // kube would repeat a write that was answered by 429, 503 or 504 and hide the answer.
    config.default_retry = false;
    config
        .headers
        .push((USER_AGENT, HeaderValue::from_static(AGENT)));
    config
}

#[cfg(test)]
mod tests;
