//! Commands of the running step, and the numbers that answers will name.

use crate::command::{Command, CommandId, PodEvent};

#[derive(Debug, Default)]
pub(crate) struct Outbox {
    commands: Vec<Command>,
    next: u64,
}

impl Outbox {
    /// A number that no earlier command has.
    pub(crate) fn id(&mut self) -> CommandId {
        self.next += 1;
        CommandId(self.next)
    }

    pub(crate) fn push(&mut self, command: Command) {
        self.commands.push(command);
    }

    pub(crate) fn record(&mut self, event: PodEvent) {
        self.push(Command::RecordEvent(event));
    }

    /// What the step gives out.
    pub(crate) fn take(&mut self) -> Vec<Command> {
        std::mem::take(&mut self.commands)
    }
}
