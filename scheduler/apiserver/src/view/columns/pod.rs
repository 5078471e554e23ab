//! The columns of pods: what a pod's containers make of its phase.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{AGE, Column, NAME, age, count, shown, text, wide};
use crate::json;

pub(super) static POD: &[Column] = &[
    NAME,
    text("Ready", |it, _| json!(Summary::of(it).ready(it))),
    text("Status", |it, _| json!(Summary::of(it).reason)),
    text("Restarts", |it, now| json!(Summary::of(it).restarts(now))),
    AGE,
    wide("IP", |it, _| shown(it, &["status", "podIP"])),
    wide("Node", |it, _| shown(it, &["spec", "nodeName"])),
    wide("Nominated Node", |it, _| {
        shown(it, &["status", "nominatedNodeName"])
    }),
    wide("Readiness Gates", |it, _| json!(readiness_gates(it))),
];

/// What the statuses of a pod's containers come to.
#[derive(Debug, Default)]
struct Summary {
    ready: usize,
    restarts: i64,
    /// When the last container ended that was started anew.
    last_restart: Option<Timestamp>,
    reason: String,
}

impl Summary {
    fn of(pod: &Value) -> Self {
        let mut summary = Self {
            reason: phase(pod),
            ..Self::default()
        };
        let initializing = summary.initialize(pod);
        if !initializing || has_condition(pod, "Initialized") {
            summary.run(pod);
        }
        if json::text(pod, &["metadata", "deletionTimestamp"]).is_some() {
            let terminal = matches!(
                json::text(pod, &["status", "phase"]),
                Some("Succeeded" | "Failed")
            );
            if json::text(pod, &["status", "reason"]) == Some("NodeLost") {
                "Unknown".clone_into(&mut summary.reason);
            } else if !terminal {
                "Terminating".clone_into(&mut summary.reason);
            }
        }
        summary
    }

    fn ready(&self, pod: &Value) -> String {
        let init = json::list(pod, &["spec", "initContainers"]).iter();
        let sidecars = init.filter(|it| it["restartPolicy"] == "Always").count();
        let all = json::list(pod, &["spec", "containers"]).len() + sidecars;
        format!("{}/{all}", self.ready)
    }

    fn restarts(&self, now: Timestamp) -> String {
        match self.last_restart.filter(|_| self.restarts != 0) {
            Some(last) => {
                let ago = age::since(Some(&last.to_string()), now);
                format!("{} ({ago} ago)", self.restarts)
            }
            None => self.restarts.to_string(),
        }
    }

    /// Reads the init containers; tells whether one of them is not done.
    fn initialize(&mut self, pod: &Value) -> bool {
        let specs = json::list(pod, &["spec", "initContainers"]);
        let statuses = json::list(pod, &["status", "initContainerStatuses"]);
        let (mut restarts, mut last) = (0, None);
        for (at, status) in statuses.iter().enumerate() {
            let is_sidecar = specs
                .iter()
                .any(|it| it["name"] == status["name"] && it["restartPolicy"] == "Always");
            self.count(status);
            if is_sidecar {
                restarts += count(status, &["restartCount"]);
                last = last.max(ended(status));
            }
            let terminated = &status["state"]["terminated"];
            let waiting = json::text(status, &["state", "waiting", "reason"]);
            if terminated.is_object() && count(terminated, &["exitCode"]) == 0 {
                continue;
            }
            if is_sidecar && status["started"] == true {
                self.ready += usize::from(status["ready"] == true);
                continue;
            }
            self.reason = match (terminated.is_object(), waiting) {
                (true, _) => format!("Init:{}", end_reason(terminated)),
                (_, Some(reason)) if reason != "PodInitializing" => format!("Init:{reason}"),
                _ => format!("Init:{at}/{}", specs.len()),
            };
            return true;
        }
        // Once the pod runs, only what still runs counts.
        self.restarts = restarts;
        self.last_restart = last;
        false
    }

    fn run(&mut self, pod: &Value) {
        let (mut has_running, mut error) = (false, None);
        let statuses = json::list(pod, &["status", "containerStatuses"]);
        for status in statuses.iter().rev() {
            self.count(status);
            let terminated = &status["state"]["terminated"];
            if let Some(reason) = json::text(status, &["state", "waiting", "reason"]) {
                reason.clone_into(&mut self.reason);
            } else if terminated.is_object() {
                self.reason = end_reason(terminated);
                if count(terminated, &["exitCode"]) != 0 {
                    error = Some(self.reason.clone());
                }
            } else if status["ready"] == true && status["state"]["running"].is_object() {
                has_running = true;
                self.ready += 1;
            }
        }
        if self.reason != "Completed" {
            return;
        }
        if has_running && has_condition(pod, "Ready") {
            "Running".clone_into(&mut self.reason);
        } else if let Some(error) = error {
            self.reason = error;
        } else if has_running {
            "NotReady".clone_into(&mut self.reason);
        }
    }

    fn count(&mut self, status: &Value) {
        self.restarts = self
            .restarts
            .saturating_add(count(status, &["restartCount"]));
        self.last_restart = self.last_restart.max(ended(status));
    }
}

fn phase(pod: &Value) -> String {
    let gated = json::list(pod, &["status", "conditions"])
        .iter()
        .any(|it| it["type"] == "PodScheduled" && it["reason"] == "SchedulingGated");
    if gated {
        return "SchedulingGated".to_owned();
    }
    let text = |field| json::text(pod, &["status", field]);
    text("reason").or(text("phase")).unwrap_or("").to_owned()
}

fn ended(status: &Value) -> Option<Timestamp> {
    json::text(status, &["lastState", "terminated", "finishedAt"])?
        .parse()
        .ok()
}

fn end_reason(terminated: &Value) -> String {
    match (
        json::text(terminated, &["reason"]),
        count(terminated, &["signal"]),
    ) {
        (Some(reason), _) => reason.to_owned(),
        (None, 0) => format!("ExitCode:{}", count(terminated, &["exitCode"])),
        (None, signal) => format!("Signal:{signal}"),
    }
}

fn has_condition(pod: &Value, kind: &str) -> bool {
    json::list(pod, &["status", "conditions"])
        .iter()
        .any(|it| it["type"] == kind && it["status"] == "True")
}

fn readiness_gates(pod: &Value) -> String {
    let gates = json::list(pod, &["spec", "readinessGates"]);
    if gates.is_empty() {
        return "<none>".to_owned();
    }
    let passed = gates.iter().filter(|gate| {
        json::text(gate, &["conditionType"]).is_some_and(|kind| has_condition(pod, kind))
    });
    format!("{}/{}", passed.count(), gates.len())
}
