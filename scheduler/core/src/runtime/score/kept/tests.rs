//! What is kept stays within its bounds.

use super::{CHANGED_MAX, KeptScores};
use crate::plugin_set::PluginSet;

#[test]
fn what_changes_while_nobody_scores_costs_no_memory() {
    let mut kept = KeptScores::default();
    for rank in 0..10 * CHANGED_MAX {
        kept.forget(rank);
    }
    assert!(kept.changed.is_empty());
    kept.filled_for = Some((Vec::new(), PluginSet::EMPTY));
    kept.forget(1);
    assert_eq!(kept.changed, [1]);
    for rank in 0..CHANGED_MAX {
        kept.forget(rank);
    }
    assert!(kept.changed.is_empty() && kept.filled_for.is_none());
}
