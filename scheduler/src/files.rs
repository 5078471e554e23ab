//! Reads the configuration files that the flags name.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use plimsoll_config::plimsoll::PlimsollConfig;
use plimsoll_framework::{FieldError, Registry};

use crate::app::AppOptions;
use crate::args::{Args, Switch};
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
        let load_on = load_on(args.load, plimsoll.load_enabled)?;
        let node_load_metrics = args.node_load_metrics;
        Ok(Self {
            access,
            scheduler,
            plimsoll,
            insecure_plaintext,
            load_on,
            node_load_metrics,
            instance,
        })
    }
}

/// The flag may switch off what the file enables, not the other way round.
fn load_on(flag: Option<Switch>, enabled: bool) -> anyhow::Result<bool> {
    if flag == Some(Switch::On) && !enabled {
        bail!(
            "--load=on: load.enabled is false in the PlimsollConfiguration, so no agent is \
             listened to; set it to true"
        );
    }
    Ok(enabled && flag != Some(Switch::Off))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_switches_load_off_and_does_not_open_what_the_file_closes() {
        let cases = [
            (None, true, Some(true)),
            (None, false, Some(false)),
            (Some(Switch::Off), true, Some(false)),
            (Some(Switch::Off), false, Some(false)),
            (Some(Switch::On), true, Some(true)),
            (Some(Switch::On), false, None),
        ];
        for (flag, enabled, expected) in cases {
            assert_eq!(load_on(flag, enabled).ok(), expected, "{flag:?} {enabled}");
        }
    }
}
