//! What falls due in the binding cycle.

use plimsoll_objects::Uid;

use super::Stage;
use crate::engine::Engine;

impl Engine {
    /// Does what is due now, each binding once: what becomes due by it is done next step.
    pub(crate) fn fire_deadlines(&mut self) {
        for uid in self.bindings.due(self.now.mono) {
            self.fire(&uid);
        }
    }

    fn fire(&mut self, uid: &Uid) {
        let Some(binding) = self.bindings.get(uid) else {
            return;
        };
        match &binding.stage {
            Stage::Permit(_) => self.permit_timed_out(uid),
            Stage::Together => self.bindings.set_deadline(uid, None),
            Stage::PreBind {
                plugin, attempt, ..
            } => {
                let (plugin, attempt) = (*plugin, *attempt);
                self.bindings.set_deadline(uid, None);
                self.run_pre_bind(uid, plugin, attempt);
            }
            Stage::Request(request) => match request.asked() {
                Some(id) => self.answer_overdue(id),
                None => self.rested(uid),
            },
        }
    }
}
