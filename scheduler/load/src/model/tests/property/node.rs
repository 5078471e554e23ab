//! Runs a plan against the model: news of pods, samples of the agent, and a check after
//! every instant in which something happened.

use std::sync::Arc;

use plimsoll_framework::{LoadResource, NodeId, Now};
use plimsoll_objects::Pod;
use proptest::test_runner::TestCaseError;

use super::agent::Agent;
use super::plan::{Plan, PodPlan, ms};
use crate::model::{Applied, LoadModel};
use crate::options::LoadOptions;
use crate::sample::{Figure, Meter, PodSample};
use crate::world::{node, pod, running, sample};

/// What the model said, against the truth.
pub(super) struct Check {
    pub(super) at: u64,
    pub(super) used: f64,
    pub(super) truth: f64,
    pub(super) bound: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Assumed(usize),
    Runs(usize),
    Gone(usize),
    AgentStarts,
    Look,
}

/// The run of a plan.
pub(super) struct SimulatedNode {
    pub(super) plan: Plan,
    pub(super) model: LoadModel,
    pub(super) agent: Agent,
    /// Per pod: whether a report of the agent named it.
    pub(super) reported: Vec<bool>,
    /// Per pod: when this start of the agent last read it.
    read_at: Vec<Option<u64>>,
    /// Per pod: whether the agent said that it ended.
    buried: Vec<bool>,
    /// Per pod: when the model was told of its end, at the earliest.
    pub(super) end_known: Vec<Option<u64>>,
    /// When the newest sample was taken and how old its window was.
    pub(super) newest: Option<(u64, u64)>,
}

pub(super) const ID: NodeId = NodeId(0);

// === impl SimulatedNode: the run ===

impl SimulatedNode {
    pub(super) fn new(mut plan: Plan) -> Self {
        plan.agent.square();
        let mut model = LoadModel::new(LoadOptions::default());
        model.node_set(ID, &node("n", 64_000, 64_000));
        Self {
            model,
            agent: Agent::start(plan.agent.phase, 1, plan.agent.kernel),
            reported: vec![false; plan.pods.len()],
            read_at: vec![None; plan.pods.len()],
            buried: vec![false; plan.pods.len()],
            end_known: vec![None; plan.pods.len()],
            newest: None,
            plan,
        }
    }

    /// Runs the plan and gives a check after every instant in which something happened.
    pub(super) fn run(
        mut self,
        check: &mut dyn FnMut(Check) -> Result<(), TestCaseError>,
    ) -> Result<(), TestCaseError> {
        let mut steps = self.steps();
        steps.sort_unstable();
        let mut next_sample = self.plan.agent.phase + self.plan.agent.period;
        for instant in steps.chunk_by(|(one, _), (other, _)| one == other) {
            let at = instant[0].0;
            while next_sample < at {
                self.sample(next_sample);
                check(self.judge(next_sample))?;
                next_sample += self.plan.agent.period;
            }
            for (_, step) in instant {
                if self.step(at, *step) {
                    next_sample = at + self.plan.agent.period;
                }
            }
            if self.newest.is_some() {
                check(self.judge(at))?;
            }
        }
        Ok(())
    }

    fn steps(&self) -> Vec<(u64, Step)> {
        let mut steps = Vec::new();
        for (index, pod) in self.plan.pods.iter().enumerate() {
            steps.push((pod.assumed, Step::Assumed(index)));
            steps.push((pod.began + self.plan.lag, Step::Runs(index)));
            steps.extend(
                pod.ended
                    .map(|ended| (ended + self.plan.lag, Step::Gone(index))),
            );
        }
        steps.extend(
            self.plan
                .agent
                .restarts
                .iter()
                .map(|at| (*at, Step::AgentStarts)),
        );
        steps.extend(
            (0..self.plan.until)
                .step_by(1_337)
                .map(|at| (at, Step::Look)),
        );
        steps.retain(|(at, _)| *at < self.plan.until);
        steps
    }

    /// Carries out a step; true if the agent began anew.
    fn step(&mut self, at: u64, step: Step) -> bool {
        match step {
            Step::Assumed(index) => self.model.pod_set(ID, &self.object(index), now(at)),
            Step::Runs(index) => self
                .model
                .pod_set(ID, &running(self.object(index)), now(at)),
            Step::Gone(index) => {
                self.model
                    .pod_removed(ID, self.object(index).uid(), now(at));
                self.end_known[index].get_or_insert(at);
            }
            Step::AgentStarts => {
                let start_id = self.agent.start_id + 1;
                self.agent = Agent::start(at, start_id, self.plan.agent.kernel);
                self.read_at.fill(None);
                return true;
            }
            Step::Look => {}
        }
        false
    }

    fn object(&self, index: usize) -> Pod {
        let estimate = self.plan.pods[index].estimate;
        let mut pod = pod(&format!("pod-{index}"), estimate);
        pod.spec.requests.placed.memory = estimate;
        pod
    }

    pub(super) fn resource(&self) -> LoadResource {
        self.plan.agent.resource()
    }
}

// === impl SimulatedNode: the agent's view ===

impl SimulatedNode {
    fn sample(&mut self, at: u64) {
        let (from, span) = (self.agent.read, at - self.agent.read);
        let worked = |pod: &PodPlan| pod.truth * pod.overlap(from, at) as f64;
        let mean = self.plan.pods.iter().map(worked).sum::<f64>() / span as f64;
        let last = self
            .plan
            .pods
            .iter()
            .filter(|pod| pod.runs_at(at))
            .map(|pod| pod.truth);
        let value = self
            .agent
            .take(at, span, (mean, last.sum()), self.plan.agent.kernel);
        let mut report = sample("n", ms(at), 0.0);
        report.start_id = self.agent.start_id;
        report.sequence = at;
        report.period = ms(self.plan.agent.period);
        report.figures = vec![self.figure(value + self.plan.overhead, at - self.agent.started)];
        for index in 0..self.plan.pods.len() {
            report.pods.extend(self.report_pod(index, at));
        }
        assert_eq!(self.model.apply(&report), Applied::Taken);
        self.newest = Some((at, at - self.agent.started));
    }

    fn figure(&self, value: f64, window: u64) -> Figure {
        let meter = match self.resource() {
            LoadResource::Memory => Meter::Memory,
            _ => Meter::Cpu,
        };
        let kernel = self.plan.agent.kernel;
        Figure {
            meter,
            kernel,
            value,
            window: ms(window),
            samples: 1,
        }
    }

    /// The report of a pod in the sample at `at`, if it was read since its last one. A
    /// cgroup that came and went between two readings was never seen.
    fn report_pod(&mut self, index: usize, at: u64) -> Option<PodSample> {
        let (plan, pod) = (self.plan.agent.pods, &self.plan.pods[index]);
        let last = self.read_at[index];
        let read = at - plan.behind(index, at).min(at - self.agent.started);
        let age = read.checked_sub(pod.began)?;
        let ended = pod.ended.is_some_and(|ended| ended <= read);
        let due = plan.is_due(age, last, read) || ended;
        if !due || last.is_some_and(|last| read <= last) || self.buried[index] {
            return None;
        }
        if ended && last.is_none() {
            return None;
        }
        self.read_at[index] = Some(read);
        self.reported[index] = true;
        if ended {
            self.buried[index] = true;
            self.end_known[index] = self.end_known[index].map(|known| known.min(read));
            self.end_known[index].get_or_insert(read);
        }
        let window = age.min(read - self.agent.started);
        let pod = &self.plan.pods[index];
        Some(PodSample {
            uid: Arc::clone(&self.object(index).uid().0),
            age: ms(age),
            behind: ms(at - read),
            figures: vec![self.figure(pod.truth, window)],
            ended,
        })
    }
}

fn now(at: u64) -> Now {
    Now::at(ms(at))
}
