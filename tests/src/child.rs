//! A child process that a bench measures from outside: CPU, memory, and an end by pid.

use std::fs;
use std::process::{Child, Command};
use std::time::Duration;

/// A process that ends with its owner.
#[derive(Debug)]
pub struct Measured {
    child: Child,
}

// === impl Measured ===

impl Measured {
    /// Starts it.
    ///
    /// # Errors
    /// The program cannot be started.
    pub fn start(command: &mut Command) -> std::io::Result<Self> {
        Ok(Self {
            child: command.spawn()?,
        })
    }

    /// The child, for its pipes.
    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// CPU time of its threads so far; `None` once it has ended.
    pub fn cpu(&self) -> Option<Duration> {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.child.id())).ok()?;
        tasks
            .flatten()
            .map(|task| {
                let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
                text.split_whitespace()
                    .next()?
                    .parse()
                    .ok()
                    .map(Duration::from_nanos)
            })
            .sum()
    }

    /// Resident memory in bytes; `None` once it has ended.
    pub fn resident_bytes(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
        line.split_whitespace()
            .nth(1)?
            .parse::<u64>()
            .ok()
            .map(|kib| kib * 1024)
    }
}

impl Drop for Measured {
    fn drop(&mut self) {
        // It may have ended by itself: either way it is gone afterwards.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
