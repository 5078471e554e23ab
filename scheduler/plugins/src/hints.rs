//! Hints that several plugins share: changes of the waiting pod itself.

use plimsoll_framework::{Change, Hint};
use plimsoll_objects::Pod;

/// Wakes `pod` for a change of itself after which `helps`; of another pod never. A change
/// that names no pod wakes it: better in vain than never.
pub(crate) fn own_change(pod: &Pod, change: &Change<'_>, helps: impl Fn(&Pod) -> bool) -> Hint {
    match change {
        Change::Pod { new: Some(new), .. } => when(new.uid() == pod.uid() && helps(new)),
        Change::Pod { new: None, .. } => Hint::Skip,
        Change::Node { .. } | Change::Object { .. } | Change::Load { .. } | Change::None => {
            Hint::Queue
        }
    }
}

/// `Queue` if the change helps.
pub(crate) fn when(helps: bool) -> Hint {
    if helps { Hint::Queue } else { Hint::Skip }
}
