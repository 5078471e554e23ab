//! The say of extenders in a cycle: which nodes they leave, what they add to scores, which
//! candidates of preemption they leave (kube-scheduler `findNodesThatPassExtenders`,
//! `prioritizeNodes`, `callExtenders`).
//!
//! Takes the answers that there are; where one is missing, gives the question.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_framework::{NodeId, Rejection, Snapshot};

use crate::extender::{Answers, Ask, Extenders, NAME, Stage, Turn};
use crate::question::{Question, RefusedNode, Reply};

/// From an extender's 0..10 to 0..100 (`MaxNodeScore / MaxExtenderPriority`).
const SCALE: i64 = 10;

/// The extenders of one cycle and what they have answered.
#[derive(Clone, Copy)]
pub(crate) struct Consult<'a> {
    pub(crate) extenders: &'a Extenders,
    /// Those that the pod has to do with, in order.
    pub(crate) wanted: &'a [usize],
    pub(crate) answers: &'a Answers,
}

/// Why a cycle does not go on.
#[derive(Debug)]
pub(crate) enum Halt {
    /// For want of answers.
    Ask(Vec<Ask>),
    /// An extender that may not be ignored failed.
    Failed(String),
}

// === impl Consult ===

impl<'a> Consult<'a> {
    /// Those of `turn`; `None` if no extender has a say.
    pub(crate) fn of(extenders: &'a Extenders, turn: &'a Turn) -> Option<Self> {
        let (wanted, answers) = (turn.wanted.as_slice(), &turn.answers);
        (!wanted.is_empty()).then_some(Self {
            extenders,
            wanted,
            answers,
        })
    }

    /// Lets every extender strike nodes out of `nodes`, and put the rest in its own order; what
    /// they say of these goes to `rejected`. A node that has become feasible since the question
    /// was asked is struck out too.
    ///
    /// # Errors
    /// An answer is missing, or an extender failed.
    pub(crate) fn filter(
        &self,
        stage: &Stage,
        snapshot: &Snapshot,
        nodes: &mut Vec<NodeId>,
        rejected: &mut Vec<(NodeId, Rejection)>,
    ) -> Result<(), Halt> {
        for index in self.wanted {
            let Some(extender) = self.extenders.get(*index) else {
                continue;
            };
            if extender.filter_verb.is_none() || nodes.is_empty() {
                continue;
            }
            let question = || Question::Filter {
                nodes: names(snapshot, nodes),
            };
            match self.answer(*index, stage, question)? {
                Ok(Reply::Filtered { kept, refused }) => {
                    let mut known = by_name(snapshot, nodes);
                    nodes.clear();
                    nodes.extend(kept.iter().filter_map(|name| known.remove(&**name)));
                    rejected.extend(refused.iter().filter_map(|one| rejection(&known, one)));
                }
                Ok(other) => return Err(mismatch(other)),
                Err(_) if extender.ignorable => {}
                Err(text) => return Err(Halt::Failed(text.to_owned())),
            }
        }
        Ok(())
    }

    /// What all extenders together add to the total of each of `nodes`. One that fails adds
    /// nothing. Sums stop at the ends of `i64` (`Differs:` kube-scheduler's wrap around).
    ///
    /// # Errors
    /// Answers are missing.
    pub(crate) fn scores(&self, snapshot: &Snapshot, nodes: &[NodeId]) -> Result<Vec<i64>, Halt> {
        let mut missing = Vec::new();
        let mut sums: BTreeMap<&str, i64> = BTreeMap::new();
        for index in self.wanted {
            let Some(extender) = self.extenders.get(*index) else {
                continue;
            };
            if extender.prioritize_verb.is_none() {
                continue;
            }
            match self.answers.get(*index, &Stage::Prioritize) {
                None => missing.push(Ask {
                    extender: *index,
                    stage: Stage::Prioritize,
                    question: Question::Prioritize {
                        nodes: names(snapshot, nodes),
                    },
                }),
                Some(Ok(Reply::Scores(scores))) => {
                    for (host, score) in scores {
                        let sum = sums.entry(&**host).or_default();
                        let more = score.saturating_mul(extender.weight).saturating_mul(SCALE);
                        *sum = sum.saturating_add(more);
                    }
                }
                Some(_) => {}
            }
        }
        if !missing.is_empty() {
            return Err(Halt::Ask(missing));
        }
        let sum = |node: &NodeId| {
            let info = snapshot.get(*node);
            let sum = info.and_then(|info| sums.get(&**info.name()));
            sum.copied().unwrap_or_default()
        };
        Ok(nodes.iter().map(sum).collect())
    }

    pub(super) fn answer(
        &self,
        extender: usize,
        stage: &Stage,
        question: impl FnOnce() -> Question,
    ) -> Result<Result<&'a Reply, &'a str>, Halt> {
        self.answers.get(extender, stage).ok_or_else(|| {
            Halt::Ask(vec![Ask {
                extender,
                stage: stage.clone(),
                question: question(),
            }])
        })
    }
}

fn names(snapshot: &Snapshot, nodes: &[NodeId]) -> Vec<Arc<str>> {
    let infos = nodes.iter().filter_map(|node| snapshot.get(*node));
    infos.map(|info| Arc::clone(info.name())).collect()
}

/// `nodes` by name.
pub(super) fn by_name<'s>(snapshot: &'s Snapshot, nodes: &[NodeId]) -> BTreeMap<&'s str, NodeId> {
    let named = |node: &NodeId| Some((&**snapshot.get(*node)?.name(), *node));
    nodes.iter().filter_map(named).collect()
}

/// What an extender has against one of the nodes that it struck out; of others it does not
/// count.
fn rejection(struck: &BTreeMap<&str, NodeId>, one: &RefusedNode) -> Option<(NodeId, Rejection)> {
    let id = struck.get(&*one.node)?;
    let message = one.message.clone();
    let rejection = if one.unresolvable {
        Rejection::unresolvable(message)
    } else {
        Rejection::unschedulable(message)
    };
    Some((*id, rejection.by(NAME)))
}

pub(super) fn mismatch(reply: &Reply) -> Halt {
    Halt::Failed(format!(
        "internal error: {reply:?} answers another question"
    ))
}
