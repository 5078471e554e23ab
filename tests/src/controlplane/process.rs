//! A program under test: started with a log, ended by its number, and gone with its owner.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use rustix::process::{Pid, kill_process};

/// Time between two looks at something that is waited for.
const LOOK: Duration = Duration::from_millis(20);

/// What a process can be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// End in good order.
    Terminate,
    /// End at once.
    Kill,
    /// Stand still.
    Freeze,
    /// Go on.
    Thaw,
    /// Write to the log what it holds.
    Dump,
}

/// A process that ends when it is dropped.
#[derive(Debug)]
pub struct Process {
    child: Child,
    log: PathBuf,
}

// === impl Process ===

impl Process {
    /// Starts a program whose output goes to the end of `log`.
    ///
    /// # Errors
    /// The log cannot be written, or the program cannot be started.
    pub fn start(mut command: Command, log: &Path) -> anyhow::Result<Self> {
        command.stdin(Stdio::null());
        Self::spawn(command, log)
    }

    /// The same for a program of the control plane, which ends once its standard input does:
    /// also if this process is killed.
    ///
    /// # Errors
    /// As [`Self::start`].
    pub fn start_tied(mut command: Command, log: &Path) -> anyhow::Result<Self> {
        command.env("END_WITH_INPUT", "1").stdin(Stdio::piped());
        Self::spawn(command, log)
    }

    fn spawn(mut command: Command, log: &Path) -> anyhow::Result<Self> {
        let out = File::options().create(true).append(true).open(log)?;
        command.stdout(out.try_clone()?).stderr(out);
        let what = command.get_program().to_string_lossy().into_owned();
        let child = command
            .spawn()
            .with_context(|| format!("{what} cannot be started"))?;
        let log = log.to_owned();
        Ok(Self { child, log })
    }

    /// Its number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Where it logs.
    pub fn log(&self) -> &Path {
        &self.log
    }

    /// Whether it still runs.
    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Sends a signal.
    ///
    /// # Errors
    /// It has ended.
    pub fn send(&self, signal: Signal) -> anyhow::Result<()> {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let pid = pid.context("no number")?;
        let number = match signal {
            Signal::Terminate => rustix::process::Signal::TERM,
            Signal::Kill => rustix::process::Signal::KILL,
            Signal::Freeze => rustix::process::Signal::STOP,
            Signal::Thaw => rustix::process::Signal::CONT,
            Signal::Dump => rustix::process::Signal::USR2,
        };
        Ok(kill_process(pid, number)?)
    }

    /// Sends a signal that ends it, and waits for its end.
    ///
    /// # Errors
    /// It does not end within `bound`.
    pub fn end(mut self, signal: Signal, bound: Duration) -> anyhow::Result<()> {
        self.send(signal)?;
        if wait(bound, || !self.is_running()) {
            return Ok(());
        }
        bail!("does not end within {bound:?}: {}", self.log.display());
    }

    /// Waits for its own end, and gives its exit status; `None` if a signal ended it.
    ///
    /// # Errors
    /// It does not end within `bound`.
    pub fn ended(mut self, bound: Duration) -> anyhow::Result<Option<i32>> {
        if wait(bound, || !self.is_running()) {
            return Ok(self.child.wait()?.code());
        }
        bail!("does not end within {bound:?}: {}", self.log.display());
    }

    /// Looks again and again until something holds; gives whether it did before the bound and
    /// the end of the process.
    pub fn until(&mut self, bound: Duration, mut holds: impl FnMut() -> bool) -> bool {
        let mut held = false;
        wait(bound, || {
            held = holds();
            held || !self.is_running()
        });
        held
    }

    /// Resident memory in bytes now; `None` once it has ended.
    pub fn resident_bytes(&self) -> Option<u64> {
        self.memory("VmRSS:")
    }

    /// The most resident memory in bytes since its start; `None` once it has ended.
    pub fn peak_resident_bytes(&self) -> Option<u64> {
        self.memory("VmHWM:")
    }

    /// CPU time of all its threads, user and system, so far; `None` once it has ended.
    /// Linux counts it in ticks of 10 ms.
    pub fn cpu(&self) -> Option<Duration> {
        cpu_of(self.id())
    }

    fn memory(&self, field: &str) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.id())).ok()?;
        let line = status.lines().find(|line| line.starts_with(field))?;
        let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
        Some(kib * 1024)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself: either way it is gone afterwards.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// CPU time of a process so far, in ticks of 10 ms; `None` once it has ended.
pub fn cpu_of(process: u32) -> Option<Duration> {
    const TICK: Duration = Duration::from_millis(10);
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name may have spaces; what follows its bracket is numbered from the third field.
    let mut fields = text.rsplit_once(')')?.1.split_whitespace().skip(11);
    let user: u32 = fields.next()?.parse().ok()?;
    let system: u32 = fields.next()?.parse().ok()?;
    Some(TICK * user.saturating_add(system))
}

/// Looks again and again until something holds.
///
/// # Errors
/// It does not within `bound`.
pub fn until(what: &str, bound: Duration, holds: impl FnMut() -> bool) -> anyhow::Result<()> {
    ensure!(wait(bound, holds), "not within {bound:?}: {what}");
    Ok(())
}

/// Real time, for waits on other processes, outside any runtime.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(Instant);

// === impl Stopwatch ===

impl Stopwatch {
    /// Starts to count.
    #[expect(
        clippy::disallowed_methods,
        reason = "the clock of waits on other processes"
    )]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Time since the start.
    pub fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

/// A new folder below the system's folder for temporary files.
///
/// # Errors
/// It cannot be made.
pub fn new_folder(what: &str) -> anyhow::Result<PathBuf> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("plimsoll-{what}-{}-{number}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    if folder.exists() {
        // Of an earlier process with the same number.
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

fn wait(bound: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let watch = Stopwatch::start();
    loop {
        if holds() {
            return true;
        }
        if watch.elapsed() > bound {
            return false;
        }
        thread::sleep(LOOK);
    }
}
