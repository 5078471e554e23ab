//! Drives the engine on a virtual clock and keeps what it says.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_core::{
    Command, CommandId, Decision, Engine, EngineOptions, EngineStats, Event, Failure, FailureKind,
    Outcome, Question, Reply,
};
use plimsoll_framework::Now;
use plimsoll_framework::test_util::{NodeBuilder, PodBuilder};
use plimsoll_objects::{Condition, ConditionStatus, Pod};

use crate::fakes;

/// Most steps without a pause: more means that the engine runs in circles.
const MAX_STEPS: usize = 10_000;

/// All fakes in their usual order.
pub(crate) const ALL: &str =
    "Sort Gates Fit Match Only Also Odd Label Book Second Hold Rescue Binder";
/// All fakes that serve no `PostFilter`.
pub(crate) const NO_RESCUE: &str =
    "Sort Gates Fit Match Only Also Odd Label Book Second Hold Binder";

pub(crate) struct Harness {
    pub(crate) engine: Engine,
    pub(crate) now: Duration,
    /// All commands so far, in order.
    pub(crate) said: Vec<Command>,
    /// Whether status patches go well by themselves.
    pub(crate) writes_status: bool,
    unanswered: Vec<CommandId>,
}

impl Harness {
    /// An engine with all fakes but `Rescue`, at one minute, that knows no node and no pod.
    pub(crate) fn new() -> Self {
        Self::with(NO_RESCUE, "")
    }

    /// An engine with these fakes and these extra lines of configuration.
    pub(crate) fn with(plugins: &str, extra: &str) -> Self {
        Self::with_options(plugins, extra, EngineOptions::default())
    }

    pub(crate) fn with_options(plugins: &str, extra: &str, options: EngineOptions) -> Self {
        fakes::log();
        let enabled: Vec<String> = plugins
            .split(' ')
            .map(|name| format!("{{name: {name}}}"))
            .collect();
        let enabled = enabled.join(", ");
        let profile = |name: &str| {
            format!(
                "- schedulerName: {name}\n  plugins:\n    multiPoint:\n      disabled: \
                 [{{name: '*'}}]\n      enabled: [{enabled}]\n"
            )
        };
        let text = format!(
            "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n\
             {extra}\nprofiles:\n{}{}",
            profile("default-scheduler"),
            profile("other")
        );
        let config = plimsoll_config::load(&text, &fakes::registry()).expect("a right file");
        let engine = Engine::new(&config, options).expect("profiles that can be built");
        Self {
            engine,
            now: Duration::from_mins(1),
            said: Vec::new(),
            writes_status: true,
            unanswered: Vec::new(),
        }
    }

    /// The first lists: these nodes and no pod.
    pub(crate) fn start(nodes: &[NodeBuilder]) -> Self {
        Self::new().started(nodes)
    }

    pub(crate) fn started(mut self, nodes: &[NodeBuilder]) -> Self {
        self.step(Event::NodesListed(
            nodes.iter().map(NodeBuilder::arc).collect(),
        ));
        self.step(Event::PodsListed(Vec::new()));
        self
    }

    /// One step; gives what it said.
    pub(crate) fn step(&mut self, event: Event) -> Vec<Command> {
        let commands = self.engine.step(Now::at(self.now), event);
        self.said.extend(commands.iter().cloned());
        self.unanswered
            .extend(commands.iter().filter_map(|command| match command {
                Command::PatchStatus { id, .. } if self.writes_status => Some(*id),
                _ => None,
            }));
        commands
    }

    /// Steps until there is nothing to do at this instant.
    pub(crate) fn settle(&mut self) {
        for _ in 0..MAX_STEPS {
            if let Some(id) = self.unanswered.pop() {
                self.step(Event::Completed {
                    id,
                    outcome: Ok(()),
                });
                continue;
            }
            match self.engine.next_wakeup() {
                Some(at) if at <= self.now => self.step(Event::Tick),
                _ => return,
            };
        }
        panic!("the engine runs in circles: {:?}", self.said.last());
    }

    /// Lets time pass, stepping whenever the engine asks for it.
    pub(crate) fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        self.settle();
        while let Some(at) = self.engine.next_wakeup().filter(|at| *at <= end) {
            self.now = at.max(self.now);
            self.step(Event::Tick);
            self.settle();
        }
        self.now = end;
        self.settle();
    }

    pub(crate) fn pass_seconds(&mut self, seconds: u64) {
        self.pass(Duration::from_secs(seconds));
    }

    pub(crate) fn set_node(&mut self, node: &NodeBuilder) {
        self.step(Event::NodeSet(node.arc()));
        self.settle();
    }

    pub(crate) fn node_gone(&mut self, name: &str) {
        self.step(Event::NodeGone(name.into()));
        self.settle();
    }

    pub(crate) fn set_pod(&mut self, pod: &PodBuilder) {
        self.step(Event::PodSet(pod.arc()));
        self.settle();
    }

    pub(crate) fn pod_gone(&mut self, pod: &PodBuilder) {
        let pod = pod.build();
        self.step(Event::PodGone {
            key: pod.key().clone(),
            uid: pod.uid().clone(),
        });
        self.settle();
    }

    pub(crate) fn answer(&mut self, id: CommandId, outcome: Result<(), FailureKind>) {
        let outcome = outcome.map_err(|kind| Failure {
            kind,
            message: "the server says so".into(),
        });
        self.step(Event::Completed { id, outcome });
        self.settle();
    }

    /// Answers the last request of the pod's binding.
    pub(crate) fn answer_bind(&mut self, pod: &str, outcome: Result<(), FailureKind>) {
        let id = self
            .binds()
            .into_iter()
            .rev()
            .find(|(_, name, _)| name == pod);
        self.answer(id.expect("the pod is to be bound").0, outcome);
    }

    /// All questions to extenders: id, pod, the extender's index, the question.
    pub(crate) fn asks(&self) -> Vec<(CommandId, String, usize, Question)> {
        let ask = |command: &Command| match command {
            Command::AskExtender {
                id,
                extender,
                pod,
                question,
            } => Some((*id, pod.key.name.to_string(), *extender, question.clone())),
            _ => None,
        };
        self.said.iter().filter_map(ask).collect()
    }

    /// The last question's answer.
    pub(crate) fn reply(&mut self, reply: Reply) {
        let (id, ..) = self.asks().pop().expect("an extender was asked");
        self.reply_to(id, Ok(reply));
    }

    /// The extender that was asked last fails.
    pub(crate) fn fail(&mut self, text: &str) {
        let (id, ..) = self.asks().pop().expect("an extender was asked");
        self.reply_to(id, Err(text));
    }

    pub(crate) fn reply_to(&mut self, id: CommandId, reply: Result<Reply, &str>) {
        let reply = reply.map_err(str::to_owned);
        self.step(Event::ExtenderAnswered { id, reply });
        self.settle();
    }

    /// All requests for bindings: id, pod, node.
    pub(crate) fn binds(&self) -> Vec<(CommandId, String, String)> {
        let bind = |command: &Command| match command {
            Command::Bind { id, pod, node } => {
                Some((*id, pod.key.name.to_string(), node.to_string()))
            }
            _ => None,
        };
        self.said.iter().filter_map(bind).collect()
    }

    /// The same as `pod -> node`.
    pub(crate) fn bound(&self) -> Vec<String> {
        self.binds()
            .into_iter()
            .map(|(_, pod, node)| format!("{pod} -> {node}"))
            .collect()
    }

    /// All requests for effects: id and the pod.
    pub(crate) fn effects(&self) -> Vec<(CommandId, String)> {
        let effect = |command: &Command| match command {
            Command::Apply { id, pod, .. } | Command::Evict { id, pod, .. } => {
                Some((*id, pod.key.name.to_string()))
            }
            _ => None,
        };
        self.said.iter().filter_map(effect).collect()
    }

    /// All status patches: id and `pod reason: message`, with the nomination if it changes.
    pub(crate) fn patches(&self) -> Vec<(CommandId, String)> {
        let patch = |command: &Command| match command {
            Command::PatchStatus {
                id,
                pod,
                condition,
                nominated_node,
            } => {
                let mut text = pod.key.name.to_string();
                if let Some(condition) = condition {
                    text = format!("{text} {}: {}", condition.reason, condition.message);
                }
                if let Some(node) = nominated_node {
                    text = format!("{text} (nominated: {})", node.as_deref().unwrap_or("none"));
                }
                Some((*id, text))
            }
            _ => None,
        };
        self.said.iter().filter_map(patch).collect()
    }

    /// All events as `reason: note`.
    pub(crate) fn events(&self) -> Vec<String> {
        let event = |command: &Command| match command {
            Command::RecordEvent(event) => Some(format!("{}: {}", event.reason, event.note)),
            _ => None,
        };
        self.said.iter().filter_map(event).collect()
    }

    pub(crate) fn decisions(&self) -> Vec<Decision> {
        let decision = |command: &Command| match command {
            Command::Decided(decision) => Some((**decision).clone()),
            _ => None,
        };
        self.said.iter().filter_map(decision).collect()
    }

    /// How often the pod was tried.
    pub(crate) fn tries(&self, pod: &str) -> usize {
        self.decisions()
            .iter()
            .filter(|decision| &*decision.pod.key.name == pod)
            .count()
    }

    /// The message of the last attempt that failed.
    pub(crate) fn last_message(&self) -> String {
        let message = |decision: &Decision| match &decision.outcome {
            Outcome::Unschedulable { message } | Outcome::Failed { message } => {
                Some(message.clone())
            }
            Outcome::Chosen { .. } => None,
        };
        self.decisions()
            .iter()
            .rev()
            .find_map(message)
            .expect("an attempt failed")
    }

    pub(crate) fn stats(&self) -> EngineStats {
        self.engine.stats()
    }

    /// Forgets what was said.
    pub(crate) fn forget(&mut self) {
        self.said.clear();
    }
}

/// The pod as the API server shows it once a condition was written.
pub(crate) fn with_condition(pod: &PodBuilder, reason: &str, message: &str) -> Arc<Pod> {
    let mut pod = pod.build();
    pod.status.scheduled = Some(Condition {
        status: ConditionStatus::False,
        reason: reason.into(),
        message: message.into(),
    });
    Arc::new(pod)
}
