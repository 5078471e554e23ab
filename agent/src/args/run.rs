//! Flags of `plimsoll-agent run`, and of the process as a whole.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{Args, ValueEnum};
use rustls::pki_types::ServerName;

use super::Measuring;
use super::duration::parse_duration;
use super::node_name::parse_node_name;
use crate::app::{Options, StreamOptions};
use crate::sample::{BackEnd, HostRoot};
use crate::stream::{Target, TlsOptions};

/// Least time between two samples: several network drivers refresh their counters once a
/// second, so that faster rates alias between zero and double.
const SHORTEST_PERIOD: Duration = Duration::from_secs(1);
/// Longest time between two samples: beyond it no scheduler would call the figures fresh.
const LONGEST_PERIOD: Duration = Duration::from_mins(1);

const PLAINTEXT_HELP: &str = "\
Accepts http schedulers: figures travel without encryption, to whoever answers. For tests and \
demonstrations; https with --tls-ca needs no such consent";

/// What stands between an operator and an unencrypted stream.
const PLAINTEXT_ERROR: &str = "\
an http scheduler is plain text: use https://host:port with --tls-ca FILE, or pass \
--insecure-plaintext to accept that";

/// What an https scheduler needs beside its URL.
const AUTHORITY_ERROR: &str = "\
an https scheduler needs --tls-ca FILE, the certificates that may have signed the scheduler's: \
the authorities of the system are not believed";

/// What `run` is to do.
#[derive(Debug)]
pub struct Run {
    /// What the process is made of.
    pub options: Options,
    /// How the node is read.
    pub sampler: BackEnd,
    /// Where, by the native sampler.
    pub root: HostRoot,
    /// Speed of its links in bytes per second, as the operator says.
    pub link_speed: Option<u64>,
    /// How the process logs.
    pub log: LogArguments,
}

/// How the process logs, to standard error.
#[derive(Debug, Clone, Copy, Args)]
pub struct LogArguments {
    /// Form of the log lines.
    #[arg(long, value_name = "FORM", default_value = "text")]
    pub log_format: LogFormat,

    /// Least severity that is logged.
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    pub log_level: LogLevel,
}

/// Form of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// One line of text per event.
    Text,
    /// One JSON object per event.
    Json,
}

/// Severity of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogLevel {
    /// Faults that end something.
    Error,
    /// And those that the agent survives.
    Warn,
    /// And what an operator wants to know.
    Info,
    /// And every attempt.
    Debug,
    /// And everything.
    Trace,
}

/// Flags of `run`.
#[derive(Debug, Args)]
pub(super) struct RunArguments {
    /// Name of this node, as its Node object has it.
    // Optional in type only: it is not there when another subcommand was given.
    #[arg(
        long,
        env = "NODE_NAME",
        value_name = "NAME",
        value_parser = parse_node_name,
        required = true
    )]
    node_name: Option<String>,

    /// Telemetry service of a scheduler, as https://host:port (port 7443 if left out). Every
    /// address of the host gets a stream of its own, at most five. Repeat the flag, or separate
    /// with commas, for several schedulers.
    #[arg(
        long = "scheduler",
        env = "PLIMSOLL_SCHEDULERS",
        value_name = "URL",
        value_delimiter = ',',
        required = true
    )]
    schedulers: Vec<Target>,

    /// PEM file of the authorities that may have signed an https scheduler's certificate; read
    /// anew at each connection.
    #[arg(long, value_name = "FILE")]
    tls_ca: Option<PathBuf>,

    /// Name that the certificate of an https scheduler must have, where that is not the URL's
    /// host.
    #[arg(long, value_name = "NAME", value_parser = parse_server_name, requires = "tls_ca")]
    tls_server_name: Option<ServerName<'static>>,

    #[arg(long, help = PLAINTEXT_HELP)]
    insecure_plaintext: bool,

    #[command(flatten)]
    measuring: Measuring,

    /// Time between two samples, 1s to 60s, as 1s or 1500ms.
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = parse_period)]
    period: Duration,

    /// Address of /metrics, /healthz and /readyz.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "0.0.0.0:9464")]
    listen: SocketAddr,

    #[command(flatten)]
    log: LogArguments,
}

impl RunArguments {
    /// Gives what is to be done.
    ///
    /// # Errors
    /// In words, if a flag is missing or plain text was not agreed to.
    pub(super) fn checked(self) -> Result<Run, (ErrorKind, &'static str)> {
        let missing = |words| (ErrorKind::MissingRequiredArgument, words);
        let node_name = self
            .node_name
            .ok_or_else(|| missing("--node-name is missing"))?;
        let is_secure = |target: &Target| target.is_secure();
        if !self.insecure_plaintext && !self.schedulers.iter().all(is_secure) {
            return Err(missing(PLAINTEXT_ERROR));
        }
        if self.tls_ca.is_none() && self.schedulers.iter().any(is_secure) {
            return Err(missing(AUTHORITY_ERROR));
        }
        let server_name = self.tls_server_name;
        let tls = self.tls_ca.map(|ca| TlsOptions { ca, server_name });
        let (sampler, root, link_speed) = self.measuring.checked()?;
        let stream = StreamOptions {
            tls,
            ..StreamOptions::new(node_name, self.schedulers, self.period)
        };
        Ok(Run {
            options: Options {
                stream,
                listen: self.listen,
            },
            sampler,
            root,
            link_speed,
            log: self.log,
        })
    }
}

fn parse_server_name(text: &str) -> Result<ServerName<'static>, String> {
    let name = ServerName::try_from(text.to_owned());
    name.map_err(|_| "not a name or address that a certificate can have".to_owned())
}

fn parse_period(text: &str) -> Result<Duration, String> {
    let period = parse_duration(text).map_err(|error| error.to_string())?;
    if (SHORTEST_PERIOD..=LONGEST_PERIOD).contains(&period) {
        return Ok(period);
    }
    Err(format!(
        "must be {} to {} s, since network drivers refresh their counters about once a second",
        SHORTEST_PERIOD.as_secs(),
        LONGEST_PERIOD.as_secs()
    ))
}
