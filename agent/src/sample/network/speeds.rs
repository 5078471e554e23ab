//! Asks interfaces for their speed: takes their names and what is known of them, gives bytes
//! per second. The kernel answers under its network lock, which a machine that makes and
//! removes many interfaces can hold for seconds, so a thread asks and nobody waits for it
//! longer than a limit. A speed that could not be had is asked for again a minute later,
//! not sooner.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::Builder;
use std::time::Duration;

use crate::clock::Clock;
use crate::sample::parse::single_number;

/// `speed` is in Mbit/s.
const BYTES_PER_MBIT: u64 = 125_000;
/// What drivers say for "unknown", as a 32-bit number without sign.
const UNKNOWN_SPEED: u64 = u32::MAX as u64;
/// Far longer than the lock is held on a calm machine, short against the ten seconds in
/// which the next walk is due.
const TIME_LIMIT: Duration = Duration::from_secs(2);

/// Speeds in bytes per second by interface, as last read; `None` where there is none.
pub(crate) type Speeds = BTreeMap<String, Option<u64>>;

/// What is known of the speeds, and how to ask for more.
#[derive(Clone, Debug, Default)]
pub(crate) struct AskSpeeds {
    /// Of the walk before.
    pub(crate) known: Speeds,
    /// The known ones are asked for again.
    pub(crate) again: bool,
    /// Set while a thread still waits for an answer: a second would only wait beside it.
    pub(crate) waiting: Arc<AtomicBool>,
}

/// What was learnt.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    pub(crate) speeds: Speeds,
    /// Some were not given in time.
    pub(crate) too_slow: bool,
}

// === impl AskSpeeds ===

impl AskSpeeds {
    /// The speeds of `names` below `class`: known ones, new answers, and where there was none
    /// in time, what was known before.
    pub(crate) fn of(&self, class: &Path, names: &[&String]) -> Answers {
        self.of_within(TIME_LIMIT, class, names)
    }

    fn of_within(&self, limit: Duration, class: &Path, names: &[&String]) -> Answers {
        let known = |name: &String| self.known.get(name).copied();
        let mut answers = Answers::default();
        let mut wanted = Vec::new();
        for name in names {
            if let Some(speed) = known(name) {
                answers.speeds.insert((*name).clone(), speed);
            }
            if self.again || known(name).is_none() {
                wanted.push((*name).clone());
            }
        }
        if wanted.is_empty() {
            return answers;
        }
        let missing = self.ask(limit, class.to_owned(), wanted, &mut answers.speeds);
        answers.too_slow = missing > 0;
        answers
    }

    /// Fills in what a thread says within `limit`; gives the number of missing answers.
    fn ask(
        &self,
        limit: Duration,
        class: PathBuf,
        wanted: Vec<String>,
        speeds: &mut Speeds,
    ) -> usize {
        let mut missing = wanted.len();
        if self.waiting.swap(true, Ordering::AcqRel) {
            return missing;
        }
        let (sender, receiver) = sync_channel(wanted.len());
        let waiting = Arc::clone(&self.waiting);
        let asking = Builder::new().name("link-speed".to_owned()).spawn(move || {
            answer(&class, wanted, &sender, &waiting);
        });
        // The thread is never waited for: it may hang in the kernel, and holds nothing.
        if asking.is_err() {
            self.waiting.store(false, Ordering::Release);
            return missing;
        }
        let clock = Clock::start();
        while missing > 0 {
            let left = limit.saturating_sub(clock.mono());
            let Ok((name, speed)) = receiver.recv_timeout(left) else {
                break;
            };
            speeds.insert(name, speed);
            missing -= 1;
        }
        missing
    }
}

/// Reads all, then sends: whoever has the last answer may ask again at once.
fn answer(
    class: &Path,
    wanted: Vec<String>,
    sender: &SyncSender<(String, Option<u64>)>,
    waiting: &AtomicBool,
) {
    let mut left = wanted.len();
    for name in wanted {
        let speed = read(&class.join(&name).join("speed"));
        left -= 1;
        if left == 0 {
            waiting.store(false, Ordering::Release);
        }
        // Who asked may have stopped waiting; the kernel may answer the rest at once.
        drop(sender.try_send((name, speed)));
    }
}

/// Bytes per second; `None` where the driver does not know (-1, an error of the kernel).
fn read(file: &Path) -> Option<u64> {
    let text = fs::read(file).ok()?;
    let megabits = single_number(&text).filter(|speed| *speed > 0 && *speed < UNKNOWN_SPEED)?;
    megabits.checked_mul(BYTES_PER_MBIT)
}

#[cfg(test)]
mod tests;
