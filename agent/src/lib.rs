//! The node agent: samples what a node really carries and streams it to every scheduler.
//!
//! `sample` measures (`usage::Source`), `window` smooths, `inspect` shows single samples;
//! `ticker` does so once per period, `report` puts figures on the wire, `stream` keeps one
//! stream per scheduler, `http` shows metrics and health. `app` builds all of it.

pub mod app;
pub mod args;
pub mod clock;
pub mod health;
pub mod http;
pub mod inspect;
pub mod logs;
pub mod metrics;
pub mod report;
pub mod sample;
pub mod stream;
pub mod tasks;
mod ticker;
pub mod usage;
pub mod window;
