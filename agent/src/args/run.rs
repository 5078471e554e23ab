//! Flags of `plimsoll-agent run`, and of the process as a whole.

use std::net::SocketAddr;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{Args, ValueEnum};

use super::Roots;
use super::duration::parse_duration;
use super::node_name::parse_node_name;
use crate::app::{Options, StreamOptions};
use crate::sample::HostRoot;
use crate::stream::Target;

/// Least time between two samples: several network drivers refresh their counters once a
/// second, so that faster rates alias between zero and double.
const SHORTEST_PERIOD: Duration = Duration::from_secs(1);
/// Longest time between two samples: beyond it no scheduler would call the figures fresh.
const LONGEST_PERIOD: Duration = Duration::from_mins(1);

const PLAINTEXT_HELP: &str = "\
Sends figures without encryption and without proof of identity. In this version the stream \
is plain text only, so this flag is required; TLS arrives with a later version";

/// What stands between an operator and an unencrypted stream.
const PLAINTEXT_ERROR: &str = "\
the stream would be plain text: in this version it always is, TLS arrives with a later \
version; pass --insecure-plaintext to accept that";

/// What `run` is to do.
#[derive(Debug)]
pub struct Run {
    /// What the process is made of.
    pub options: Options,
    /// Where the node is read.
    pub root: HostRoot,
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

    /// Telemetry service of a scheduler, as http://host:port (port 7443 if left out);
    /// repeat the flag, or separate with commas, for several.
    #[arg(
        long = "scheduler",
        env = "PLIMSOLL_SCHEDULERS",
        value_name = "URL",
        value_delimiter = ',',
        required = true
    )]
    schedulers: Vec<Target>,

    #[arg(long, help = PLAINTEXT_HELP)]
    insecure_plaintext: bool,

    #[command(flatten)]
    roots: Roots,

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
        if !self.insecure_plaintext {
            return Err(missing(PLAINTEXT_ERROR));
        }
        let stream = StreamOptions {
            node_name,
            schedulers: self.schedulers,
            period: self.period,
        };
        Ok(Run {
            options: Options {
                stream,
                listen: self.listen,
            },
            root: self.roots.host_root(),
            log: self.log,
        })
    }
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
