//! The memory figure: takes `/proc/meminfo` and the ZFS statistics, gives the bytes that
//! cannot be had back: `MemTotal - MemAvailable`, less what the ZFS cache would give back
//! (`MemAvailable` does not know of it).

use serde::Serialize;

use super::counters::Counters;
use super::file::{Buffer, Extent, Failure, KeptFile};
use super::parse::keyed;
use super::root::HostRoot;

/// `/proc/meminfo` says kB and means KiB.
const KIB: u64 = 1024;
/// Below `/proc`; there where the ZFS module is loaded.
const ARCSTATS: &str = "spl/kstat/zfs/arcstats";

/// What one tick found, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MemoryReading {
    /// In use.
    pub used_bytes: Option<u64>,
    /// `MemTotal`, the denominator.
    pub total_bytes: Option<u64>,
    /// What the ZFS cache would give back, taken off `used_bytes`; `None` without ZFS.
    pub arc_reclaimable_bytes: Option<u64>,
}

/// The reader.
#[derive(Debug)]
pub(crate) struct Memory {
    meminfo: KeptFile,
    arcstats: KeptFile,
}

impl Memory {
    pub(crate) fn new(root: &HostRoot) -> Self {
        Self {
            meminfo: KeptFile::new(root.proc.join("meminfo"), Extent::OnePiece),
            arcstats: KeptFile::new(root.proc.join(ARCSTATS), Extent::Records),
        }
    }

    pub(crate) fn apply(&mut self, root: &HostRoot) {
        self.meminfo.point_at(root.proc.join("meminfo"));
        self.arcstats.point_at(root.proc.join(ARCSTATS));
    }

    pub(crate) fn step(&mut self, buffer: &mut Buffer, counters: &mut Counters) -> MemoryReading {
        let arc_reclaimable_bytes = self.arc_reclaimable(buffer, counters);
        let Some((total, available)) = self.read_meminfo(buffer) else {
            counters.unreadable.meminfo += 1;
            return MemoryReading {
                arc_reclaimable_bytes,
                ..MemoryReading::default()
            };
        };
        let used = total.checked_sub(available);
        counters.implausible += u64::from(used.is_none());
        MemoryReading {
            used_bytes: used.map(|used| used.saturating_sub(arc_reclaimable_bytes.unwrap_or(0))),
            total_bytes: Some(total),
            arc_reclaimable_bytes,
        }
    }

    /// Total and available bytes.
    fn read_meminfo(&mut self, buffer: &mut Buffer) -> Option<(u64, u64)> {
        let text = self.meminfo.read(buffer).ok()?;
        let total = keyed(text, b"MemTotal:", 1)?.checked_mul(KIB)?;
        let available = keyed(text, b"MemAvailable:", 1)?.checked_mul(KIB)?;
        Some((total, available))
    }

    /// Size less the size that the cache keeps in any case, never negative.
    fn arc_reclaimable(&mut self, buffer: &mut Buffer, counters: &mut Counters) -> Option<u64> {
        let text = match self.arcstats.read(buffer) {
            Ok(text) => text,
            Err(Failure::Absent) => return None,
            Err(Failure::Unreadable) => {
                counters.unreadable.arcstats += 1;
                return None;
            }
        };
        let size = keyed(text, b"size", 2)?;
        let kept = keyed(text, b"c_min", 2)?;
        Some(size.saturating_sub(kept))
    }
}
