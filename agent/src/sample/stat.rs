//! `/proc/stat`: takes the text of two moments, gives the shares of CPU time between them.
//!
//! Busy is user + nice + system + irq + softirq. Guest time is inside user and nice and is
//! never added again; iowait is idle and may go back; steal is neither busy nor free. CPUs
//! are known by their name, never by their position, so that holes and hot-plug do no harm.

use super::counter::Tick;
use super::counters::Counters;
use super::parse::{lines, number, words};

/// Fields of a CPU line that count: user, nice, system, idle, iowait, irq, softirq, steal.
/// The two after them, guest and `guest_nice`, are contained in the first two.
const FIELDS: usize = 8;
const USER: usize = 0;
const NICE: usize = 1;
const SYSTEM: usize = 2;
const IOWAIT: usize = 4;
const IRQ: usize = 5;
const SOFTIRQ: usize = 6;
const STEAL: usize = 7;

/// The number of the line without one, the total; no CPU has it.
const TOTAL: u32 = u32::MAX;

/// Shares (0..=1) of all CPU time between two readings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shares {
    pub(crate) busy: f64,
    pub(crate) system: f64,
    pub(crate) irq: f64,
    pub(crate) steal: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row {
    cpu: u32,
    ticks: [u64; FIELDS],
}

/// The reader: keeps the reading before.
#[derive(Debug, Default)]
pub(crate) struct Stat {
    before: Vec<Row>,
    now: Vec<Row>,
    read_at: Option<std::time::Duration>,
}

impl Stat {
    /// Takes the text of this moment; gives the shares since the one before. `None` at the
    /// first, after a gap, and where a field other than iowait went back: the reading is
    /// then the new base.
    pub(crate) fn step(
        &mut self,
        text: &[u8],
        tick: Tick,
        counters: &mut Counters,
    ) -> Option<Shares> {
        std::mem::swap(&mut self.before, &mut self.now);
        parse(text, &mut self.now);
        let before_at = self.read_at.replace(tick.at)?;
        let over = tick.at.checked_sub(before_at)?;
        if over > tick.longest {
            return None;
        }
        let mut spent = Spent::default();
        for row in &self.now {
            if let Some(before) = find(&self.before, row.cpu) {
                spent.add(before, row);
            }
        }
        counters.clamped_reads += u64::from(spent.clamped);
        counters.rebaselined += u64::from(spent.went_back);
        spent.shares()
    }

    /// CPU lines of the newest reading; `None` where there is only the total.
    pub(crate) fn cpu_lines(&self) -> Option<u32> {
        let count = self.now.iter().filter(|row| row.cpu != TOTAL).count();
        u32::try_from(count).ok().filter(|count| *count > 0)
    }
}

/// What was spent between two readings, over all CPUs that both have.
#[derive(Default)]
struct Spent {
    ticks: [u64; FIELDS],
    clamped: bool,
    went_back: bool,
}

impl Spent {
    fn add(&mut self, before: &Row, now: &Row) {
        let pairs = before.ticks.iter().zip(&now.ticks);
        for (field, (sum, (before, now))) in self.ticks.iter_mut().zip(pairs).enumerate() {
            match now.checked_sub(*before) {
                Some(grown) => *sum = sum.saturating_add(grown),
                None if field == IOWAIT => self.clamped = true,
                None => self.went_back = true,
            }
        }
    }

    fn shares(&self) -> Option<Shares> {
        let total: u64 = self
            .ticks
            .iter()
            .fold(0, |sum, part| sum.saturating_add(*part));
        if self.went_back || total == 0 {
            return None;
        }
        let share = |fields: &[usize]| {
            let part = fields.iter().filter_map(|field| self.ticks.get(*field));
            (part.map(|ticks| *ticks as f64).sum::<f64>() / total as f64).min(1.0)
        };
        Some(Shares {
            busy: share(&[USER, NICE, SYSTEM, IRQ, SOFTIRQ]),
            system: share(&[SYSTEM]),
            irq: share(&[IRQ, SOFTIRQ]),
            steal: share(&[STEAL]),
        })
    }
}

/// Fills `rows` with the CPU lines in order of their number; where there is none, with the
/// total alone. A second line of the same number is left out.
fn parse(text: &[u8], rows: &mut Vec<Row>) {
    rows.clear();
    rows.extend(
        lines(text)
            .map_while(|line| line.strip_prefix(b"cpu"))
            .filter_map(row),
    );
    if rows.iter().any(|row| row.cpu != TOTAL) {
        rows.retain(|row| row.cpu != TOTAL);
    }
    rows.sort_unstable_by_key(|row| row.cpu);
    rows.dedup_by_key(|row| row.cpu);
}

/// A CPU line less its `cpu`. Kernels of old have fewer fields: those are 0.
fn row(rest: &[u8]) -> Option<Row> {
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (name, fields) = rest.split_at_checked(digits)?;
    let cpu = if name.is_empty() {
        TOTAL
    } else {
        u32::try_from(number(name)?)
            .ok()
            .filter(|cpu| *cpu != TOTAL)?
    };
    let mut ticks = [0; FIELDS];
    let mut found = words(fields);
    for field in &mut ticks {
        let Some(word) = found.next() else { break };
        *field = number(word)?;
    }
    Some(Row { cpu, ticks })
}

fn find(rows: &[Row], cpu: u32) -> Option<&Row> {
    let place = rows.binary_search_by_key(&cpu, |row| row.cpu).ok()?;
    rows.get(place)
}

#[cfg(test)]
mod tests;
