//! A pod that has a node reserved is put out for another one before it is bound
//! (kube-scheduler `WaitingPod.Preempt`, `PodInPreBind.CancelPod`).

use plimsoll_framework::Code;
use plimsoll_objects::Uid;

use super::Stage;
use crate::engine::Engine;

impl Engine {
    /// Sends a pod back to the queue that `plugin` wants to be put out; `false` if it is not
    /// on its way to a node, or may be bound already: then it must be deleted.
    pub(crate) fn preempt_binding(&mut self, uid: &Uid, plugin: &str) -> bool {
        let Some(binding) = self.bindings.get(uid) else {
            return false;
        };
        let by = format!("preempted by {plugin}");
        let text = match &binding.stage {
            Stage::Permit(_) => {
                let began = binding.began;
                self.time_permit_wait(began, Code::Error.as_str());
                "waiting on permit for pod: preempted".to_owned()
            }
            Stage::Together => format!("waiting for its group: {by}"),
            Stage::PreBind { plugin, .. } => {
                let framework = self.profiles.get(binding.reserved.item.profile);
                let name = framework.pre_bind_name(*plugin);
                format!("running PreBind plugin \"{name}\": {by}")
            }
            Stage::Request(request) if request.work.binds() && binding.may_be_done() => {
                return false;
            }
            Stage::Request(request) => format!("{}: {by}", request.doing),
        };
        self.give_up(uid, text);
        true
    }
}
