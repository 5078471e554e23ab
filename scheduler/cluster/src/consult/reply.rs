//! From the body of an answer to what it means for the engine.

use std::sync::Arc;

use plimsoll_config::Extender;
use plimsoll_core::{Question, RefusedNode, Reply, SparedOn};
use plimsoll_extender::{
    AnswerError, BindingResult, Filtered, PreemptionResult, WireError, read_scores,
};
use plimsoll_objects::Uid;

use crate::call::chain;

/// Reads the answer of `extender` to `question`.
///
/// # Errors
/// It cannot be read, says an error itself, or names a node that was not offered: the text is
/// kube-scheduler's where it has one.
pub(super) fn read(extender: &Extender, question: &Question, body: &[u8]) -> Result<Reply, String> {
    match question {
        Question::Filter { nodes } => {
            let offered: Vec<String> = nodes.iter().map(ToString::to_string).collect();
            let filtered = Filtered::read(extender, &offered, body);
            filtered.map(of_filter).map_err(|error| text(&error))
        }
        Question::Prioritize { .. } => {
            let scores = read_scores(body).map_err(|error| unreadable(&error))?;
            let score = |score: plimsoll_extender::HostPriority| (score.host.into(), score.score);
            Ok(Reply::Scores(scores.into_iter().map(score).collect()))
        }
        Question::Preempt { .. } => {
            let result = PreemptionResult::read(body).map_err(|error| unreadable(&error))?;
            let left = result.node_name_to_meta_victims.into_iter();
            let spared = left.map(|(node, victims)| SparedOn {
                node: node.into(),
                victims: victims
                    .pods
                    .into_iter()
                    .map(|pod| Uid(pod.uid.into()))
                    .collect(),
                pdb_violations: victims.num_pdb_violations,
            });
            Ok(Reply::Candidates(spared.collect()))
        }
        Question::Bind { .. } => {
            let result = BindingResult::read(body).map_err(|error| unreadable(&error))?;
            if result.error.is_empty() {
                Ok(Reply::Bound)
            } else {
                Err(result.error)
            }
        }
    }
}

fn of_filter(filtered: Filtered) -> Reply {
    let refused = filtered.refused.into_iter().map(|refused| RefusedNode {
        node: refused.node.into(),
        message: refused.message,
        unresolvable: refused.unresolvable,
    });
    Reply::Filtered {
        kept: filtered.kept.into_iter().map(Arc::from).collect(),
        refused: refused.collect(),
    }
}

fn text(error: &AnswerError) -> String {
    chain(error)
}

fn unreadable(error: &WireError) -> String {
    format!("the answer cannot be read: {}", chain(error))
}
