//! Preemption where extenders have a say: they strike candidates out, and the plugin that
//! named them chooses again (kube-scheduler `framework/preemption` `callExtenders`,
//! `SelectCandidate`).

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_framework::{Preemption, Rejection, Snapshot};
use plimsoll_objects::{Pod, Uid};

use super::consult::{Consult, Halt, by_name, mismatch};
use super::decide::{Decided, Deciding};
use super::nowhere::Nowhere;
use crate::command::PodRef;
use crate::extender::Stage;
use crate::question::{Question, Reply, SparedOn, VictimsOn};
use crate::runtime::post_filter::{PostFiltered, Promised};

/// What is said where extenders leave none (kube-scheduler `evaluate`).
const NO_CANDIDATE: &str = "preemption: no candidate node for preemption";

/// Candidates of preemption by the name of their node.
type Candidates = BTreeMap<Arc<str>, Preemption>;

// === impl Deciding ===

impl Deciding<'_> {
    /// Holds what the `PostFilter`s want against what extenders say.
    ///
    /// # Errors
    /// Extenders are to be asked first.
    pub(super) fn with_extenders(&self, mut nowhere: Nowhere) -> Result<Decided, Halt> {
        let Some(consult) = self.consult else {
            return Ok(Decided::Nowhere(nowhere));
        };
        let promised = nowhere.help.as_ref().and_then(PostFiltered::promised);
        let Some(promised) = promised else {
            return Ok(Decided::Nowhere(nowhere));
        };
        let by = promised.by;
        let help = match consult.preempt(self.cycle.snapshot, candidates(promised)) {
            Ok(None) => None,
            Ok(Some(left)) if left.is_empty() => Some(PostFiltered::nothing(
                Rejection::unschedulable(NO_CANDIDATE).by(by),
            )),
            Ok(Some(left)) => Some(self.framework.choose(by, &self.cycle, left)),
            Err(Halt::Failed(text)) => {
                let text = format!("preemption: {text}");
                Some(PostFiltered::nothing(Rejection::error(text).by(by)))
            }
            Err(halt) => return Err(halt),
        };
        if help.is_some() {
            nowhere.help = help;
        }
        Ok(Decided::Nowhere(nowhere))
    }
}

// === impl Consult ===

impl Consult<'_> {
    /// What is left of `candidates`, in the order of their nodes' names; `None` if no
    /// extender has a say.
    ///
    /// # Errors
    /// An answer is missing, or an extender failed.
    pub(crate) fn preempt(
        &self,
        snapshot: &Snapshot,
        candidates: Vec<Preemption>,
    ) -> Result<Option<Vec<Preemption>>, Halt> {
        let says = |index: &&usize| {
            let extender = self.extenders.get(**index);
            extender.is_some_and(|extender| extender.preempt_verb.is_some())
        };
        let asked: Vec<usize> = self.wanted.iter().filter(says).copied().collect();
        if asked.is_empty() {
            return Ok(None);
        }
        let named = candidates.into_iter().filter_map(|candidate| {
            let info = snapshot.get(candidate.node)?;
            Some((Arc::clone(info.name()), candidate))
        });
        let mut left: Candidates = named.collect();
        for index in asked {
            if left.is_empty() {
                break;
            }
            let ignorable = self.extenders.get(index).is_some_and(|one| one.ignorable);
            let question = || Question::Preempt {
                candidates: left.iter().map(victims_on).collect(),
            };
            let spared = match self.answer(index, &Stage::Preempt, question)? {
                Ok(Reply::Candidates(spared)) => self.checked(index, snapshot, spared),
                Ok(other) => return Err(mismatch(other)),
                Err(text) => Err(text.to_owned()),
            };
            match spared {
                Ok(spared) => left = spared,
                Err(_) if ignorable => {}
                Err(text) => return Err(Halt::Failed(text)),
            }
        }
        Ok(Some(left.into_values().collect()))
    }

    /// The answer of an extender with its pods in place of their uids.
    fn checked(
        &self,
        index: usize,
        snapshot: &Snapshot,
        spared: &[SparedOn],
    ) -> Result<Candidates, String> {
        let extender = self.extenders.get(index);
        let (prefix, ignorable) =
            extender.map_or(("", false), |one| (one.url_prefix.as_str(), one.ignorable));
        let mut left = Candidates::new();
        let known = by_name(snapshot, snapshot.order());
        for one in spared {
            let id = known.get(&*one.node);
            let Some(info) = id.and_then(|id| snapshot.get(*id)) else {
                return Err(format!("nodeinfo not found for node name {:?}", &*one.node));
            };
            let find = |uid: &Uid| {
                let pod = info.pods.iter().find(|pod| pod.uid() == uid);
                pod.map(Arc::clone).ok_or_else(|| {
                    format!(
                        "extender: {prefix} claims to preempt pod (UID: &{{{}}}) on node: {}, but the \
                         pod is not found on that node",
                        uid.0, one.node
                    )
                })
            };
            let victims: Vec<Arc<Pod>> = one.victims.iter().map(find).collect::<Result<_, _>>()?;
            if victims.is_empty() && ignorable {
                continue;
            }
            if victims.is_empty() {
                return Err(format!(
                    "expected at least one victim pod on node {:?}",
                    &*one.node
                ));
            }
            let candidate = Preemption {
                node: info.id,
                victims,
                pdb_violations: usize::try_from(one.pdb_violations).unwrap_or(0),
            };
            left.insert(Arc::clone(&one.node), candidate);
        }
        Ok(left)
    }
}

fn victims_on((node, candidate): (&Arc<str>, &Preemption)) -> VictimsOn {
    VictimsOn {
        node: Arc::clone(node),
        victims: candidate
            .victims
            .iter()
            .map(|pod| PodRef::of(pod))
            .collect(),
        pdb_violations: candidate.pdb_violations,
    }
}

/// What the plugin named; where it did not tell, what it chose.
fn candidates(promised: &Promised) -> Vec<Preemption> {
    if !promised.candidates.is_empty() {
        return promised.candidates.clone();
    }
    let victims = promised.victims.clone();
    vec![Preemption {
        node: promised.node,
        victims,
        pdb_violations: 0,
    }]
}
