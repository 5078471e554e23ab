//! Tables from the contract (kube-scheduler.md 2.6): verdicts, strategies, args, wake-up.

mod args;
mod devices;
mod filter;
mod score;
mod wake;
