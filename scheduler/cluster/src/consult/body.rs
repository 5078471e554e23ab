//! The bodies of requests, byte for byte as kube-scheduler orders them.
//!
//! Takes a question and the objects as the API server wrote them; copies these as they are.

use plimsoll_config::Extender;
use plimsoll_core::{PodRef, Question, VictimsOn};
use plimsoll_extender::{
    Args, BindingArgs, MetaPod, MetaVictims, NodeList, PreemptionArgs, Victims,
};
use serde::Serialize;

use super::Ask;
use super::originals::{Original, Originals};

/// The body that puts `ask` to `extender`.
///
/// # Errors
/// The watch no longer shows a pod that the question is about.
pub(super) fn of(extender: &Extender, originals: &Originals, ask: &Ask) -> Result<Vec<u8>, String> {
    let by_name = extender.node_cache_capable;
    match &ask.question {
        Question::Filter { nodes } | Question::Prioritize { nodes } => {
            let list = || NodeList::of(originals.nodes(nodes));
            let names = || nodes.iter().map(ToString::to_string).collect();
            to_json(&Args {
                pod: pod(originals, &ask.pod)?,
                nodes: (!by_name).then(list),
                node_names: by_name.then(names),
            })
        }
        Question::Preempt { candidates } => {
            let whole = || {
                let victims = candidates.iter().map(|one| {
                    let pods = one.victims.iter().map(|victim| pod(originals, victim));
                    let victims = Victims {
                        pods: pods.collect::<Result<_, _>>()?,
                        num_pdb_violations: count(one.pdb_violations),
                    };
                    Ok((one.node.to_string(), victims))
                });
                victims.collect::<Result<_, String>>()
            };
            let by_uid = || candidates.iter().map(meta).collect();
            to_json(&PreemptionArgs {
                pod: pod(originals, &ask.pod)?,
                node_name_to_victims: (!by_name).then(whole).transpose()?,
                node_name_to_meta_victims: by_name.then(by_uid),
            })
        }
        Question::Bind { node } => to_json(&BindingArgs {
            pod_name: ask.pod.key.name.to_string(),
            pod_namespace: ask.pod.key.namespace.to_string(),
            pod_uid: ask.pod.uid.0.to_string(),
            node: node.to_string(),
        }),
    }
}

fn pod(originals: &Originals, pod: &PodRef) -> Result<Original, String> {
    let known = originals.pod(&pod.uid);
    known.ok_or_else(|| format!("pod {} is not waiting, or not there, any more", pod.key))
}

fn meta(candidate: &VictimsOn) -> (String, MetaVictims) {
    let uids = candidate.victims.iter().map(|victim| MetaPod {
        uid: victim.uid.0.to_string(),
    });
    let victims = MetaVictims {
        pods: uids.collect(),
        num_pdb_violations: count(candidate.pdb_violations),
    };
    (candidate.node.to_string(), victims)
}

fn count(pods: usize) -> i64 {
    i64::try_from(pods).unwrap_or(i64::MAX)
}

fn to_json(body: &impl Serialize) -> Result<Vec<u8>, String> {
    serde_json::to_vec(body).map_err(|error| format!("the question cannot be written: {error}"))
}

#[cfg(test)]
mod tests;
