//! The files of one pod: takes their paths, keeps them open between readings, gives its
//! working set.

use std::time::Duration;

use super::find::PodFiles;
use crate::sample::cgroup::Version;
use crate::sample::file::{Buffer, Extent, KeptFile};
use crate::sample::parse::{keyed, single_number};

/// `memory.stat` costs nine times what `memory.current` does, and makes the kernel gather
/// statistics of all CPUs.
const INACTIVE_EVERY: Duration = Duration::from_secs(30);

/// Of one pod.
#[derive(Debug)]
pub(super) struct Files {
    pub(super) version: Version,
    pub(super) cpu: KeptFile,
    pub(super) memory: WorkingSet,
    pub(super) events: Option<KeptFile>,
}

/// The working set as the kubelet reckons it: what is in use, less file pages that are given
/// up first.
#[derive(Debug)]
pub(super) struct WorkingSet {
    version: Version,
    current: KeptFile,
    stat: KeptFile,
    inactive: Option<(u64, Duration)>,
}

// === impl Files ===

impl Files {
    pub(super) fn new(files: PodFiles) -> Self {
        Self {
            version: files.version,
            cpu: kept(files.cpu),
            memory: WorkingSet {
                version: files.memory_version,
                current: kept(files.memory),
                stat: kept(files.memory_stat),
                inactive: None,
            },
            events: files.events.map(kept),
        }
    }

    pub(super) fn point_at(&mut self, files: PodFiles) {
        self.version = files.version;
        self.cpu.point_at(files.cpu);
        self.memory.version = files.memory_version;
        self.memory.current.point_at(files.memory);
        self.memory.stat.point_at(files.memory_stat);
        match (&mut self.events, files.events) {
            (Some(kept), Some(path)) => kept.point_at(path),
            (events, found) => *events = found.map(kept),
        }
    }

    pub(super) fn close(&mut self) {
        let memory = &mut self.memory;
        [&mut self.cpu, &mut memory.current, &mut memory.stat]
            .into_iter()
            .chain(&mut self.events)
            .for_each(KeptFile::close);
    }
}

fn kept(path: std::path::PathBuf) -> KeptFile {
    KeptFile::new(path, Extent::OnePiece)
}

// === impl WorkingSet ===

impl WorkingSet {
    /// Bytes; absent without either file.
    pub(super) fn read(&mut self, at: Duration, buffer: &mut Buffer) -> Option<u64> {
        let is_due = |(_, then): (u64, Duration)| at.saturating_sub(then) >= INACTIVE_EVERY;
        if self.inactive.is_none_or(is_due) {
            let key: &[u8] = match self.version {
                Version::V1 => b"total_inactive_file",
                Version::V2 => b"inactive_file",
            };
            let text = self.stat.read(buffer).ok();
            let inactive = text.and_then(|text| keyed(text, key, 1));
            self.inactive = inactive.map(|bytes| (bytes, at));
            self.stat.close();
        }
        let (inactive, _) = self.inactive?;
        let used = single_number(self.current.read(buffer).ok()?)?;
        Some(used.saturating_sub(inactive))
    }
}
