//! The search for devices: which devices of a node for which request.
//!
//! `allocateOne` of kube-scheduler's allocator (`structured/internal/incubating`): depth
//! first, devices in the order of pools, slices and their own; the first whole solution is
//! taken. Here the open questions are on a stack of their own, so that a pod of a thousand
//! claims does not use up the thread's, and steps are counted, so that a search ends.

mod counters;
mod device;
mod state;

use plimsoll_objects::Node;
use plimsoll_objects::device::AllocationMode;

pub(super) use self::device::Taken;
use self::device::Undo;
use self::state::Search;
use super::plan::{ClaimPlan, DEVICES_MAX, RequestPlan};
use super::pools::Pools;
use super::selectors::Selectors;
use super::world::View;

/// What a search is over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ground<'a> {
    /// The node.
    pub node: &'a Node,
    /// Its pools.
    pub pools: &'a Pools,
    /// The devices and who has them.
    pub view: &'a View,
    /// The expressions.
    pub selectors: &'a Selectors,
}

/// The devices of one claim.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Solution {
    /// The devices, in the order in which they were taken.
    pub devices: Vec<Taken>,
    /// Which of its options each request got.
    pub chosen: Vec<usize>,
}

/// Why there is no solution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failure {
    /// There is none on this node.
    None,
    /// There is none on this node, and a pool contradicts itself.
    InvalidPools,
    /// The search took too long.
    TooLong,
    /// The claims, the classes or the devices are wrong: no other node needs to be tried.
    Wrong(String),
}

/// Where the search stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct At {
    claim: usize,
    request: usize,
    option: usize,
    device: usize,
}

/// An open question: what is to be done with the answer to the next one.
#[derive(Debug)]
enum Frame {
    /// The claim is done; the answer is about the next ones.
    Claim,
    /// The answer is about the option of `at`.
    Options { at: At, all_too_many: bool },
    /// A device of "all of them" was taken.
    All { at: At, undo: Undo },
    /// A device was taken; `next` is the one to try instead.
    One {
        at: At,
        inside: bool,
        next: usize,
        undo: Undo,
    },
}

#[derive(Debug)]
enum Answer {
    Found,
    NotFound,
    /// More devices than a claim may have.
    TooMany,
    Failed(Failure),
}

#[derive(Debug)]
enum Step {
    Ask { at: At, inside: bool, start: usize },
    Tell(Answer),
}

/// Devices for `plans` on `ground`, within `steps`; the steps that were taken.
pub(super) fn search(
    plans: &[&ClaimPlan],
    ground: Ground<'_>,
    steps: u64,
) -> (Result<Vec<Solution>, Failure>, u64) {
    let mut search = match Search::new(plans, ground, steps) {
        Ok(search) => search,
        Err(failure) => return (Err(failure), 1),
    };
    let answer = search.run();
    let taken = search.steps;
    let invalid = || ground.pools.pools.iter().any(|pool| !pool.state.is_sound());
    let result = match answer {
        Answer::Found => Ok(search.solutions),
        Answer::Failed(failure) => Err(failure),
        Answer::TooMany => Err(Failure::Wrong(state::TOO_MANY.to_owned())),
        Answer::NotFound if invalid() => Err(Failure::InvalidPools),
        Answer::NotFound => Err(Failure::None),
    };
    (result, taken)
}

// === impl Search ===

impl<'a> Search<'a> {
    fn run(&mut self) -> Answer {
        let mut open: Vec<Frame> = Vec::new();
        let mut step = Step::Ask {
            at: At::default(),
            inside: false,
            start: 0,
        };
        loop {
            step = match step {
                Step::Ask { at, inside, start } => self.ask(at, inside, start, &mut open),
                Step::Tell(answer) => match open.pop() {
                    Some(frame) => self.tell(frame, answer, &mut open),
                    None => return answer,
                },
            };
        }
    }

    /// Looks at one question: answers it, or puts it aside and asks the next.
    fn ask(&mut self, at: At, inside: bool, start: usize, open: &mut Vec<Frame>) -> Step {
        if !self.take_step() {
            return Step::Tell(Answer::Failed(Failure::TooLong));
        }
        let Some(plan) = self.plans.get(at.claim) else {
            return Step::Tell(Answer::Found);
        };
        let Some(request) = plan.requests.get(at.request) else {
            open.push(Frame::Claim);
            return Step::ask(At {
                claim: at.claim + 1,
                ..At::default()
            });
        };
        if request.is_alternatives && !inside {
            open.push(Frame::Options {
                at,
                all_too_many: true,
            });
            return Step::Ask {
                at,
                inside: true,
                start: 0,
            };
        }
        self.ask_device(at, request, inside, start, open)
    }

    fn ask_device(
        &mut self,
        at: At,
        request: &'a RequestPlan,
        inside: bool,
        start: usize,
        open: &mut Vec<Frame>,
    ) -> Step {
        let Some(choice) = request.options.get(at.option) else {
            return Step::Tell(Answer::NotFound);
        };
        let wanted = self.wanted(at);
        let takes_all = choice.wish.mode == AllocationMode::All;
        if takes_all && wanted == 0 {
            return Step::Tell(Answer::NotFound);
        }
        if at.device >= wanted {
            return Step::ask(At {
                claim: at.claim,
                request: at.request + 1,
                ..At::default()
            });
        }
        let free = DEVICES_MAX.saturating_sub(self.solutions[at.claim].devices.len());
        if wanted - at.device > free {
            return Step::Tell(Answer::TooMany);
        }
        if !takes_all {
            return self.try_from(at, inside, start, open);
        }
        let device = self.all[at.claim][at.request][at.option][at.device];
        match self.take(at, device, true) {
            Err(failure) => Step::Tell(Answer::Failed(failure)),
            Ok(None) => Step::Tell(Answer::NotFound),
            Ok(Some(undo)) => {
                open.push(Frame::All { at, undo });
                Step::Ask {
                    at: at.next_device(),
                    inside,
                    start: 0,
                }
            }
        }
    }

    /// Tries the devices from number `start` on for one that can be taken.
    fn try_from(&mut self, at: At, inside: bool, start: usize, open: &mut Vec<Frame>) -> Step {
        for device in start..self.ground.pools.devices.len() {
            if !self.take_step() {
                return Step::Tell(Answer::Failed(Failure::TooLong));
            }
            match self.try_one(at, device) {
                Err(failure) => return Step::Tell(Answer::Failed(failure)),
                Ok(None) => {}
                Ok(Some(undo)) => {
                    let next = device + 1;
                    open.push(Frame::One {
                        at,
                        inside,
                        next,
                        undo,
                    });
                    return Step::Ask {
                        at: at.next_device(),
                        inside,
                        start: next,
                    };
                }
            }
        }
        Step::Tell(Answer::NotFound)
    }

    /// What an answer means for the question that waits for it.
    fn tell(&mut self, frame: Frame, answer: Answer, open: &mut Vec<Frame>) -> Step {
        match (frame, answer) {
            // Another choice for an earlier claim may leave this one fewer devices to take.
            (Frame::Claim, Answer::TooMany) => Step::Tell(Answer::NotFound),
            (Frame::Options { at, .. }, Answer::Found) => {
                self.solutions[at.claim].chosen[at.request] = at.option;
                Step::Tell(Answer::Found)
            }
            (Frame::Options { .. }, Answer::Failed(failure)) => Step::Tell(Answer::Failed(failure)),
            (Frame::Options { at, all_too_many }, answer) => {
                let all_too_many = all_too_many && matches!(answer, Answer::TooMany);
                self.next_option(at, all_too_many, open)
            }
            (Frame::Claim | Frame::All { .. } | Frame::One { .. }, Answer::Found) => {
                Step::Tell(Answer::Found)
            }
            (Frame::Claim, answer) => Step::Tell(answer),
            (Frame::All { at, undo }, answer) => {
                self.put_back(at, &undo);
                Step::Tell(answer)
            }
            (
                Frame::One {
                    at,
                    inside,
                    next,
                    undo,
                },
                answer,
            ) => {
                self.put_back(at, &undo);
                match answer {
                    Answer::NotFound => self.try_from(at, inside, next, open),
                    answer => Step::Tell(answer),
                }
            }
        }
    }

    fn next_option(&mut self, at: At, all_too_many: bool, open: &mut Vec<Frame>) -> Step {
        let options = &self.plans[at.claim].requests[at.request].options;
        let option = at.option + 1;
        if option >= options.len() {
            return Step::Tell(if all_too_many {
                Answer::TooMany
            } else {
                Answer::NotFound
            });
        }
        let at = At { option, ..at };
        open.push(Frame::Options { at, all_too_many });
        Step::Ask {
            at,
            inside: true,
            start: 0,
        }
    }
}

// === impl At, Step ===

impl At {
    fn next_device(self) -> Self {
        Self {
            device: self.device + 1,
            ..self
        }
    }
}

impl Step {
    fn ask(at: At) -> Self {
        Self::Ask {
            at,
            inside: false,
            start: 0,
        }
    }
}
