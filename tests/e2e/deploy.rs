//! What operators install: the chart by a real Helm on a real API server, the programs under
//! the chart's restrictions, the rules and the dashboard in a real Prometheus, and
//! `docs/install.md` from top to bottom.

mod chart;
mod container;
mod documents;
mod helm;
mod install;
mod installation;
mod prometheus;
mod restricted;
