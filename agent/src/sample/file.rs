//! A file that is opened once and read again and again: takes a path and a buffer that all
//! files share, gives the bytes of this moment. No allocation once the buffer has grown to
//! the largest file.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// Room for the CPU lines of some 150 CPUs; a larger machine grows it once.
const FIRST_BUFFER: usize = 16 * 1024;
/// Room for the CPU lines of some 10,000 CPUs: a file above that is not what we think.
const LARGEST_BUFFER: usize = 1024 * 1024;

/// The one buffer of a sampler.
#[derive(Debug)]
pub(crate) struct Buffer(Vec<u8>);

impl Buffer {
    pub(crate) fn new() -> Self {
        Self(vec![0; FIRST_BUFFER])
    }

    /// Doubles the room; false at the limit.
    fn grow(&mut self) -> bool {
        let larger = self.0.len() * 2;
        if larger > LARGEST_BUFFER {
            return false;
        }
        self.0.resize(larger, 0);
        true
    }
}

/// How to know that a file was read to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The kernel gives the file in one piece: one read that does not fill the buffer.
    OnePiece,
    /// Only the lines before the first that does not begin with `cpu` are wanted; the
    /// interrupt lines after them can be longer than any buffer.
    CpuLines,
    /// The kernel gives the file record by record: until a read returns nothing.
    Records,
}

/// Why there are no bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// There is no such file; it is not looked for again before [`KeptFile::point_at`].
    Absent,
    /// It could not be opened or read; the next read opens it anew.
    Unreadable,
}

/// A file with its descriptor, kept open between reads.
#[derive(Debug)]
pub(crate) struct KeptFile {
    path: PathBuf,
    extent: Extent,
    state: State,
}

#[derive(Debug)]
enum State {
    Closed,
    Absent,
    Open(File),
}

impl KeptFile {
    pub(crate) fn new(path: PathBuf, extent: Extent) -> Self {
        Self {
            path,
            extent,
            state: State::Closed,
        }
    }

    /// Sets the path. A descriptor of the same path is kept, an absent file is looked for
    /// again.
    pub(crate) fn point_at(&mut self, path: PathBuf) {
        let keeps = matches!(self.state, State::Open(_)) && self.path == path;
        if !keeps {
            self.path = path;
            self.state = State::Closed;
        }
    }

    /// Gives the descriptor back; the next read opens the file anew.
    pub(crate) fn close(&mut self) {
        if matches!(self.state, State::Open(_)) {
            self.state = State::Closed;
        }
    }

    /// The bytes of this moment. A descriptor whose file is gone (`ENODEV` from sysfs and
    /// cgroups) is dropped, so that the next read finds a file of the same name anew.
    pub(crate) fn read<'b>(&mut self, buffer: &'b mut Buffer) -> Result<&'b [u8], Failure> {
        self.open()?;
        let State::Open(file) = &self.state else {
            return Err(Failure::Absent);
        };
        if let Some(length) = fill(file, buffer, self.extent) {
            return buffer.0.get(..length).ok_or(Failure::Unreadable);
        }
        self.state = State::Closed;
        Err(Failure::Unreadable)
    }

    fn open(&mut self) -> Result<(), Failure> {
        match self.state {
            State::Open(_) => return Ok(()),
            State::Absent => return Err(Failure::Absent),
            State::Closed => {}
        }
        match File::open(&self.path) {
            Ok(file) => {
                self.state = State::Open(file);
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.state = State::Absent;
                Err(Failure::Absent)
            }
            Err(_) => Err(Failure::Unreadable),
        }
    }
}

/// Reads from offset 0 as far as `extent` asks; gives the length, `None` if a read failed
/// or the file is larger than the largest buffer.
fn fill(file: &File, buffer: &mut Buffer, extent: Extent) -> Option<usize> {
    let mut length = 0;
    loop {
        let got = read_at(file, buffer.0.get_mut(length..)?, length).ok()?;
        length += got;
        let full = length == buffer.0.len();
        let done = match extent {
            Extent::OnePiece => !full,
            Extent::CpuLines => !full || holds_all_cpu_lines(&buffer.0),
            Extent::Records => got == 0 && !full,
        };
        if done {
            return Some(length);
        }
        if full {
            if !buffer.grow() {
                return None;
            }
            // A later piece of a file rendered in one go would be of another moment.
            if extent != Extent::Records {
                length = 0;
            }
        }
    }
}

fn read_at(file: &File, into: &mut [u8], offset: usize) -> io::Result<usize> {
    loop {
        match file.read_at(into, offset as u64) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

fn holds_all_cpu_lines(text: &[u8]) -> bool {
    text.split_inclusive(|byte| *byte == b'\n')
        .any(|line| line.len() >= b"cpu".len() && !line.starts_with(b"cpu"))
}

#[cfg(test)]
mod tests;
