//! What is kept from cycle to cycle behind a shared reference: caches of plugins and of the
//! snapshot. Only speed may depend on it, never a verdict.

#![expect(
    clippy::disallowed_types,
    reason = "one place for the lock, without a crate of locks below the pure crates; a poisoned one is taken over"
)]

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A cache. Held for a look-up at a time.
#[derive(Debug, Default)]
pub struct Kept<T>(Mutex<T>);

// === impl Kept ===

impl<T> Kept<T> {
    /// A cache that begins with `value`.
    pub const fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    /// The cache, to look up and to change.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same for the only one who has it.
    pub fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}
