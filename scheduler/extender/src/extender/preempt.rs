//! What the answer to a preempt call leaves of the candidates (`ProcessPreemption`,
//! `callExtenders`).

use std::collections::BTreeMap;

use plimsoll_config::Extender;

use serde_json::{Value, json};

use super::{AnswerError, bare_pod};
use crate::wire::{MetaPod, MetaVictims, PreemptionArgs, PreemptionResult};

/// Whole pods that would have to go from one node.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WholeVictims {
    /// The pods, most important first.
    pub pods: Vec<Value>,
    /// How many budgets are broken.
    pub budget_violations: i64,
}

/// The victims on one node.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Victims {
    /// Their uids, in the extender's order.
    pub uids: Vec<String>,
    /// How many budgets are broken, as the extender says.
    pub budget_violations: i64,
}

/// What is left, by node.
pub type Candidates = BTreeMap<String, Victims>;

impl PreemptionArgs {
    /// The question which of the candidates `victims` (by node) are left: by uid for an
    /// `extender` that keeps nodes itself, else with whole pods.
    pub fn new(extender: &Extender, pod: &Value, victims: BTreeMap<String, WholeVictims>) -> Self {
        let mut args = Self {
            pod: bare_pod(pod.clone()),
            node_name_to_victims: None,
            node_name_to_meta_victims: None,
        };
        let victims = victims.into_iter();
        if extender.node_cache_capable {
            let meta = victims.map(|(node, victims)| (node, victims.by_uid()));
            args.node_name_to_meta_victims = Some(meta.collect());
        } else {
            let whole = victims.map(|(node, victims)| (node, victims.whole()));
            args.node_name_to_victims = Some(whole.collect());
        }
        args
    }
}

impl WholeVictims {
    fn by_uid(self) -> MetaVictims {
        let uid = |pod: Value| {
            let uid = pod["metadata"]["uid"].as_str().unwrap_or_default();
            MetaPod {
                uid: uid.to_owned(),
            }
        };
        MetaVictims {
            pods: self.pods.into_iter().map(uid).collect(),
            num_pdb_violations: self.budget_violations,
        }
    }

    fn whole(self) -> Value {
        let pods: Vec<Value> = self.pods.into_iter().map(bare_pod).collect();
        json!({"Pods": pods, "NumPDBViolations": self.budget_violations})
    }
}

impl Victims {
    /// Judges the answer of `extender`. `is_on` says whether a node has a pod, by name and
    /// uid: any pod of a node may be named, any node of the snapshot too.
    ///
    /// # Errors
    /// It cannot be read, names a pod that is not there, or a node without victims (an
    /// ignorable extender's node without victims is dropped).
    pub fn read(
        extender: &Extender,
        is_on: impl Fn(&str, &str) -> bool,
        body: &[u8],
    ) -> Result<Candidates, AnswerError> {
        let result = PreemptionResult::read(body)?;
        let mut candidates = Candidates::new();
        for (node, victims) in result.node_name_to_meta_victims {
            let victims = Self::checked(extender, &is_on, (&node, victims))?;
            candidates.insert(node, victims);
        }
        let empty = |(_, victims): &(&String, &Self)| victims.uids.is_empty();
        if extender.ignorable {
            candidates.retain(|_, victims| !victims.uids.is_empty());
        } else if let Some((node, _)) = candidates.iter().find(empty) {
            return Err(AnswerError::NoVictims(node.clone()));
        }
        Ok(candidates)
    }

    fn checked(
        extender: &Extender,
        is_on: impl Fn(&str, &str) -> bool,
        (node, victims): (&str, MetaVictims),
    ) -> Result<Self, AnswerError> {
        let uids: Vec<String> = victims.pods.into_iter().map(|pod| pod.uid).collect();
        if let Some(uid) = uids.iter().find(|uid| !is_on(node, uid)) {
            return Err(AnswerError::NoSuchVictim {
                extender: extender.url_prefix.clone(),
                uid: uid.clone(),
                node: node.to_owned(),
            });
        }
        Ok(Self {
            uids,
            budget_violations: victims.num_pdb_violations,
        })
    }
}
