//! Typed storage of one cycle: what a plugin's `PreFilter` or `PreScore` computed, for its
//! own later hooks.
//!
//! A key is a type, so two plugins cannot meet by accident and nothing is cast by hand. A
//! clone (preemption dry runs, nominated pods) is deep for what a plugin then changes.

use std::any::{Any, TypeId};
use std::fmt;

/// Values by type. A plugin stores types of its own.
#[derive(Clone, Default)]
pub struct CycleState {
    // A cycle has a handful of entries: a scan beats a tree.
    entries: Vec<(TypeId, Box<dyn Entry>)>,
}

trait Entry: Send + Sync {
    fn clone_box(&self) -> Box<dyn Entry>;
    fn as_any(&self) -> &dyn Any;
    fn as_any_mut(&mut self) -> &mut dyn Any;
}

// === impl CycleState ===

impl CycleState {
    /// An empty state.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stores `value`, replacing one of the same type.
    pub fn insert<T: Clone + Send + Sync + 'static>(&mut self, value: T) {
        let key = TypeId::of::<T>();
        match self.entries.iter_mut().find(|(entry, _)| *entry == key) {
            Some((_, stored)) => *stored = Box::new(value),
            None => self.entries.push((key, Box::new(value))),
        }
    }

    /// The stored value of type `T`.
    pub fn get<T: 'static>(&self) -> Option<&T> {
        let key = TypeId::of::<T>();
        let (_, stored) = self.entries.iter().find(|(entry, _)| *entry == key)?;
        // Not `stored.as_any()`: a box of an entry is an entry too, of another type.
        (**stored).as_any().downcast_ref()
    }

    /// The stored value of type `T`, to change.
    pub fn get_mut<T: 'static>(&mut self) -> Option<&mut T> {
        let key = TypeId::of::<T>();
        let (_, stored) = self.entries.iter_mut().find(|(entry, _)| *entry == key)?;
        (**stored).as_any_mut().downcast_mut()
    }
}

impl fmt::Debug for CycleState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CycleState")
            .field("entries", &self.entries.len())
            .finish()
    }
}

// === impl Entry ===

impl<T: Clone + Send + Sync + 'static> Entry for T {
    fn clone_box(&self) -> Box<dyn Entry> {
        Box::new(self.clone())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}

impl Clone for Box<dyn Entry> {
    fn clone(&self) -> Self {
        (**self).clone_box()
    }
}

#[cfg(test)]
mod tests {
    use super::CycleState;

    #[derive(Debug, Clone, PartialEq)]
    struct Counts(Vec<u32>);

    #[derive(Debug, Clone, PartialEq)]
    struct Names(Vec<String>);

    #[test]
    fn values_are_found_by_their_type() {
        let mut state = CycleState::new();
        state.insert(Counts(vec![1]));
        state.insert(Names(vec!["a".to_owned()]));
        assert_eq!(state.get(), Some(&Counts(vec![1])));
        assert_eq!(state.get(), Some(&Names(vec!["a".to_owned()])));
        assert_eq!(state.get::<u32>(), None);
    }

    #[test]
    fn a_second_value_of_a_type_replaces_the_first() {
        let mut state = CycleState::new();
        state.insert(Counts(vec![1]));
        state.insert(Counts(vec![2]));
        assert_eq!(state.get(), Some(&Counts(vec![2])));
        assert_eq!(format!("{state:?}"), "CycleState { entries: 1 }");
    }

    #[test]
    fn a_clone_is_deep() {
        let mut state = CycleState::new();
        state.insert(Counts(vec![1]));
        let mut dry_run = state.clone();
        dry_run.get_mut::<Counts>().expect("stored above").0.push(2);
        assert_eq!(state.get(), Some(&Counts(vec![1])));
        assert_eq!(dry_run.get(), Some(&Counts(vec![1, 2])));
    }
}
