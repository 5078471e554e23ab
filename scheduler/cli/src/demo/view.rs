//! What is on the terminal while the story runs: a progress bar and the nodes' load.
//!
//! Where the output is not a terminal, one plain line per stage.

use std::cell::RefCell;
use std::io::Write;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::cast::HOT;

/// Nodes in one line of the live view.
const NODES_PER_LINE: usize = 8;
/// What the cells mean.
const LEGEND: &str = "CPU demand of each simulated node, ! over 80 %:";

/// Where progress goes.
#[derive(Debug)]
pub(crate) enum View {
    /// A terminal that redraws.
    Live {
        /// Owner of the lines.
        screen: MultiProgress,
        /// Progress of the run.
        bar: ProgressBar,
        /// Lines of nodes.
        lines: Vec<ProgressBar>,
    },
    /// One line per stage, on standard error; the last one told.
    Plain(RefCell<String>),
    /// Nothing.
    Silent,
}

// === impl View ===

impl View {
    /// A live view of `nodes` nodes.
    pub(crate) fn live(nodes: usize) -> Self {
        let screen = MultiProgress::new();
        let bar = screen.add(ProgressBar::new(1000));
        let style = ProgressStyle::with_template("{prefix:>13} [{bar:24}] {percent:>3}% {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let plain = ProgressStyle::with_template("  {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_spinner());
        let legend = screen.add(ProgressBar::new_spinner());
        legend.set_style(plain.clone());
        legend.set_message(LEGEND);
        let lines = (0..nodes.div_ceil(NODES_PER_LINE))
            .map(|_| {
                let line = screen.add(ProgressBar::new_spinner());
                line.set_style(plain.clone());
                line
            })
            .collect();
        Self::Live { screen, bar, lines }
    }

    /// A view of plain lines.
    pub(crate) fn plain() -> Self {
        Self::Plain(RefCell::default())
    }

    /// A stage of the run `policy` begins.
    pub(crate) fn stage(&self, policy: &str, stage: &str) {
        match self {
            Self::Live { bar, .. } => {
                bar.set_prefix(policy.to_owned());
                bar.set_message(stage.to_owned());
            }
            Self::Plain(told) => {
                let line = format!("{policy}: {stage}");
                if *told.borrow() == line {
                    return;
                }
                // Where standard error is gone nobody watches the progress.
                drop(writeln!(std::io::stderr(), "{line}"));
                told.replace(line);
            }
            Self::Silent => {}
        }
    }

    /// So much of the run is done; `loads` are the nodes' names and loads now.
    pub(crate) fn show(&self, done: Duration, of: Duration, loads: &[(String, f64)]) {
        let Self::Live { bar, lines, .. } = self else {
            return;
        };
        let share = done.as_secs_f64() / of.as_secs_f64().max(f64::EPSILON);
        bar.set_position((share.min(1.0) * 1000.0) as u64);
        for (line, chunk) in lines.iter().zip(loads.chunks(NODES_PER_LINE)) {
            let cells: Vec<String> = chunk.iter().map(|(name, load)| cell(name, *load)).collect();
            line.set_message(cells.join("  "));
        }
    }

    /// Takes the lines off the screen.
    pub(crate) fn clear(&self) {
        if let Self::Live { screen, .. } = self {
            // The lines go with the story; a terminal that cannot be cleared keeps them.
            drop(screen.clear());
        }
    }
}

fn cell(name: &str, load: f64) -> String {
    let number = name.rsplit('-').next().unwrap_or(name);
    let mark = if load > HOT { '!' } else { ' ' };
    format!("{number}:{:>3.0}%{mark}", load * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hot_node_is_marked() {
        assert_eq!(cell("node-07", 0.84), "07: 84%!");
        assert_eq!(cell("node-08", 0.41), "08: 41% ");
    }
}
