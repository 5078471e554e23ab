//! Reads the configuration files that the flags name.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use plimsoll_config::plimsoll::PlimsollConfig;
use plimsoll_framework::{FieldError, Registry};

use crate::app::AppOptions;
use crate::args::Args;
use plimsoll_cluster::ClientOptions;

impl AppOptions {
    /// Options from flags and the files they name.
    ///
    /// # Errors
    /// A file cannot be read, or has mistakes: all of them are named, each with its path.
    pub fn from_args(args: &Args, registry: &Registry) -> anyhow::Result<Self> {
        let scheduler = match &args.config {
            Some(path) => checked(path, plimsoll_config::load(&text(path)?, registry))?,
            None => plimsoll_config::default_config(registry).map_err(|errors| listed(&errors))?,
        };
        let plimsoll = match &args.plimsoll_config {
            Some(path) => checked(path, plimsoll_config::plimsoll::load(&text(path)?))?,
            None => PlimsollConfig::default(),
        };
        let access = access(
            args.kubeconfig.clone(),
            &scheduler.client_connection.kubeconfig,
        );
        let instance = args.instance.clone();
        let insecure_plaintext = args.insecure_plaintext;
        Ok(Self {
            access,
            scheduler,
            plimsoll,
            insecure_plaintext,
            instance,
        })
    }
}

/// The flag wins over the file, as both do over the pod's service account.
fn access(flag: Option<PathBuf>, from_file: &str) -> ClientOptions {
    let from_file = (!from_file.is_empty()).then(|| PathBuf::from(from_file));
    match flag.or(from_file) {
        Some(path) => ClientOptions::Kubeconfig {
            path,
            context: None,
        },
        None => ClientOptions::InCluster,
    }
}

fn text(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))
}

fn checked<T>(path: &Path, loaded: Result<T, Vec<FieldError>>) -> anyhow::Result<T> {
    match loaded {
        Ok(value) => Ok(value),
        Err(errors) => bail!("{}: {}", path.display(), listed(&errors)),
    }
}

fn listed(errors: &[FieldError]) -> anyhow::Error {
    let lines: Vec<String> = errors.iter().map(|error| format!("\n  {error}")).collect();
    let mistakes = match errors.len() {
        1 => "1 mistake".to_owned(),
        count => format!("{count} mistakes"),
    };
    anyhow::anyhow!("{mistakes}:{}", lines.concat())
}
