//! What falls due in evictions: no answer may be waited for without end.

use super::store::Due;
use crate::engine::Engine;

impl Engine {
    /// Does what is due now.
    pub(crate) fn fire_evictions(&mut self) {
        while let Some(due) = self.evictions.take_due(self.now.mono) {
            match due {
                Due::Victim(uid) => self.victim_overdue(&uid),
                Due::Rested(preemptor) => {
                    if self.evictions.rested(&preemptor, self.now.mono) {
                        self.wake_preemptor(&preemptor);
                    }
                }
                Due::Spared(uid) => {
                    let evictions = &mut self.snapshot.catalog_mut().evictions;
                    evictions.set_spared(&uid, false);
                }
            }
        }
    }
}
