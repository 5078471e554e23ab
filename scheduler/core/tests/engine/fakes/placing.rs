//! What happens around a chosen node, or where there is none.

use std::collections::BTreeMap;
use std::time::Duration;

use plimsoll_framework::{
    Actions, Bind, BindOutcome, ClusterEvent, Cycle, CycleState, Effect, EventResource, Handle,
    NodeId, NodeInfo, ObjectWrite, Permit, PermitOutcome, PermitRequest, PostBind, PostFilter,
    PostFilterOutcome, PreBind, PreBindOutcome, PreBindStep, Rejection, Release, Reserve,
};
use plimsoll_objects::{Object, Pod, Uid};

use super::{claims, label, note};

/// Keeps a log of what is reserved; `PreBind` does as the pod label `pre-bind` says.
pub(super) struct Book(pub(super) &'static str);

impl Reserve for Book {
    fn reserve(
        &self,
        cycle: &Cycle<'_>,
        _: &mut CycleState,
        _: &NodeInfo,
    ) -> Result<Vec<Object>, Rejection> {
        note(format!("{} reserve", self.0));
        match label(cycle.pod, "reserve") {
            Some("rejects") if self.0 == "Second" => Err(Rejection::unschedulable("taken")),
            Some("error") if self.0 == "Second" => Err(Rejection::error("broken")),
            _ => Ok(Vec::new()),
        }
    }

    fn unreserve(&self, _: &Pod, _: &mut CycleState, node: &str) -> Vec<ObjectWrite> {
        note(format!("{} unreserve {node}", self.0));
        Vec::new()
    }
}

impl PreBind for Book {
    fn pre_bind(
        &self,
        step: &PreBindStep<'_>,
        _: &mut CycleState,
    ) -> Result<PreBindOutcome, Rejection> {
        let booked = BTreeMap::from([("booked".to_owned(), step.node.to_owned())]);
        Ok(match (label(step.pod, "pre-bind"), step.attempt) {
            (Some("annotates"), 0) => PreBindOutcome::Do(vec![Effect::AnnotatePod(booked); 2]),
            (Some("waits"), 0) => PreBindOutcome::WaitUntil {
                events: vec![ClusterEvent::new(EventResource::Node, Actions::ADD)],
                deadline: step.now.mono + Duration::from_secs(100),
            },
            (Some("waits-for-claim"), 0) => PreBindOutcome::WaitUntil {
                events: vec![ClusterEvent::new(
                    EventResource::PersistentVolumeClaim,
                    Actions::ADD,
                )],
                deadline: step.now.mono + Duration::from_secs(100),
            },
            (Some("error"), _) => return Err(Rejection::unschedulable("broken")),
            _ => PreBindOutcome::Done,
        })
    }
}

impl PostBind for Book {
    fn post_bind(&self, pod: &Pod, _: &mut CycleState, node: &str) {
        note(format!("bound {} {node}", pod.key().name));
    }
}

/// Pod label `hold`: seconds to wait; `releases`, `rejects`: a uid; `permit`: an answer.
pub(super) struct Hold;

impl Permit for Hold {
    fn permit(
        &self,
        request: &PermitRequest<'_>,
        _: &mut CycleState,
    ) -> Result<PermitOutcome, Rejection> {
        let pod = request.cycle.pod;
        match label(pod, "permit") {
            Some("rejects") => return Err(Rejection::unschedulable("not now")),
            Some("pending") => return Err(Rejection::pending("somebody else first")),
            Some("error") => return Err(Rejection::error("broken")),
            _ => {}
        }
        if let Some(seconds) = label(pod, "hold") {
            let timeout = Duration::from_secs(seconds.parse().expect("seconds"));
            return Ok(PermitOutcome::Wait { timeout });
        }
        let waiting = request
            .waiting
            .iter()
            .map(|pod| pod.pod.key().name.to_string());
        note(format!(
            "waiting [{}]",
            waiting.collect::<Vec<_>>().join(" ")
        ));
        let uid = |text: &str| Uid(text.replace('_', "/").into());
        let allowed = label(pod, "releases").map(|text| Release::Allow(uid(text)));
        let rejected = label(pod, "turns-down").map(|text| Release::Reject(uid(text), "no".into()));
        Ok(PermitOutcome::Allow {
            release: allowed.into_iter().chain(rejected).collect(),
        })
    }
}

/// A pod label says what `PostFilter` does.
pub(super) struct Rescue(pub(super) &'static str);

impl PostFilter for Rescue {
    fn post_filter(
        &self,
        cycle: &Cycle<'_>,
        state: &CycleState,
        verdicts: &[(NodeId, Rejection)],
        engine: &dyn Handle,
    ) -> Result<PostFilterOutcome, Rejection> {
        note(format!("rescue with {} verdicts", verdicts.len()));
        match label(cycle.pod, self.0) {
            None => Err(Rejection::unschedulable("rescue: no help")),
            Some("unresolvable") => Err(Rejection::unresolvable("rescue: hopeless")),
            Some("retry") => Ok(PostFilterOutcome::Retry {
                writes: vec![claims::write(cycle.pod)],
                reason: Some("rescue: freed a claim".into()),
            }),
            Some("withdraw") => Ok(PostFilterOutcome::Withdraw {
                reason: Some("rescue: no candidates".into()),
            }),
            Some(_) => {
                // Removes every pod of the first node and sees whether that helps.
                let (id, _) = verdicts[0];
                let mut node = NodeInfo::clone(cycle.snapshot.get(id).expect("judged"));
                let mut state = state.clone();
                let victims = node.pods.clone();
                for victim in &victims {
                    engine.remove_pod(cycle, &mut state, victim, &mut node)?;
                }
                drop(engine.filter(cycle, &state, &node)?);
                let reason = Some("rescue: found a place".into());
                Ok(PostFilterOutcome::Nominate {
                    node: id,
                    victims,
                    reason,
                    candidates: Vec::new(),
                    tied: Vec::new(),
                })
            }
        }
    }
}

pub(super) struct Binder;

impl Bind for Binder {
    fn bind(&self, pod: &Pod, _: &CycleState, _: &str) -> Result<BindOutcome, Rejection> {
        match label(pod, "bind") {
            Some("skips") => Ok(BindOutcome::Skip),
            Some("annotates") => {
                let booked = BTreeMap::from([("bound".to_owned(), "yes".to_owned())]);
                Ok(BindOutcome::Do(vec![Effect::AnnotatePod(booked)]))
            }
            Some("annotates-thrice") => {
                let booked = BTreeMap::from([("bound".to_owned(), "yes".to_owned())]);
                Ok(BindOutcome::Do(vec![Effect::AnnotatePod(booked); 3]))
            }
            _ => Ok(BindOutcome::Binding),
        }
    }
}
