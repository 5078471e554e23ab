//! "A hint may wake in vain and never sleep wrongly": small random clusters in which one
//! plugin turns a pod down, one random change, and the real engine. If a fresh engine would
//! place the pod after the change, the change must have woken it.

mod change;
mod devices;
mod dice;
mod huge;
mod nodes;
mod pods;
mod storage;
mod theme;
mod world;

use std::collections::BTreeMap;

use plimsoll_config::SchedulerConfig;

use crate::dice::Dice;
use crate::theme::Theme;
use crate::world::Life;

/// Clusters for each plugin.
const CASES: u64 = 150;
/// Changes tried of each cluster in which the pod waits.
const CHANGES: usize = 3;

/// What became of the pods.
#[derive(Default)]
struct Tally {
    /// Woken, and placed.
    helped: usize,
    /// Woken in vain.
    in_vain: usize,
    /// Not woken, and rightly so.
    slept: usize,
    /// Not woken though it would be placed, by the change.
    wrongly: BTreeMap<String, Vec<u64>>,
    /// The first of these.
    example: Option<String>,
}

/// Tries `theme`, in which kube-scheduler itself sleeps through the changes `sleeps`.
pub(crate) fn hold(theme: &Theme, sleeps: &[&str]) {
    let config = theme.config();
    let mut tally = Tally::default();
    for seed in 0..CASES {
        one(theme, (&config, sleeps), seed, &mut tally);
    }
    let Tally {
        helped,
        in_vain,
        slept,
        wrongly,
        example,
    } = tally;
    let counts = format!(
        "{}: {helped} helped, {in_vain} in vain, {slept} slept",
        theme.plugin
    );
    let example = example.unwrap_or_default();
    assert!(
        wrongly.is_empty(),
        "{counts}, wrongly: {wrongly:?}\n{example}"
    );
    assert!(helped >= 3 && slept >= 8, "{counts}");
}

fn one(theme: &Theme, (config, sleeps): (&SchedulerConfig, &[&str]), seed: u64, tally: &mut Tally) {
    let mut dice = Dice::new(seed);
    let before = theme.world(&mut dice);
    for _ in 0..CHANGES {
        let mut life = Life::start(config, &before);
        if life.is_placed() || !life.sleeps() {
            return;
        }
        let mut after = before.clone();
        let told = change::change(&mut dice, theme, &mut after);
        let tries = life.tries();
        life.take(before.changes(&after));
        if life.is_placed() {
            tally.helped += 1;
        } else if life.tries() > tries || !life.sleeps() {
            tally.in_vain += 1;
        } else if sleeps.contains(&&*told) {
            tally.slept += 1;
        } else if Life::start(config, &after).is_placed() {
            let example = || format!("{told}:\n{before}then {:?}", before.changes(&after));
            tally.example.get_or_insert_with(example);
            tally.wrongly.entry(told).or_default().push(seed);
        } else {
            tally.slept += 1;
        }
    }
}
