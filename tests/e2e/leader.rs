//! Two replicas that share a lease, on a real API server: the leader is killed, frozen and ended
//! while pods come. Never do two bind at a time, and every pod is bound exactly once.

use std::thread;
use std::time::Duration;

use anyhow::{Context, ensure};
use plimsoll_cluster::LEASE_RIGHTS;
use plimsoll_tests::controlplane::{Options, Signal, until};
use serde_json::{Value, json};

use crate::rig::{Audit, Binding, PODS, Recorder, Rig, Scheduler, Setup, USER, chart_rules, pod};

/// Pods of one burst, which fill the nodes to the last millicore.
const BURST: usize = 1000;
const NODE_COUNT: usize = 10;
const NODE_CPU: &str = "10";
const POD_CPU: &str = "100m";
/// What a burst may take, with a change of the leader.
const BOUND: Duration = Duration::from_mins(2);
/// A lease that is quick to change hands, and long enough for a busy machine.
const PROFILE: &str = "
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection:
  leaseDuration: 6s
  renewDeadline: 5s
  retryPeriod: 500ms
  resourceNamespace: kube-system
  resourceName: plimsoll-scheduler
profiles:
- schedulerName: plimsoll
";
const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/plimsoll-scheduler";
const MASTER: &str = "leader_election_master_status{name=\"plimsoll-scheduler\"}";
const CACHED: &str = "scheduler_cache_size{type=\"pods\"}";
/// Who waits looks after 1 to 2.2 retry periods; the rest is for two requests and a busy machine.
const HANDED_OVER: Duration = Duration::from_secs(2);
/// The user of the second replica, so that the audit log tells them apart.
const SECOND: &str = "system:serviceaccount:plimsoll:second-scheduler";

/// A cluster and two replicas on it, of which the first one leads.
struct Pair {
    rig: Rig,
    audit: Audit,
    recorder: Recorder,
    leader: Scheduler,
    other: Scheduler,
}

// === impl Pair ===

impl Pair {
    fn start() -> anyhow::Result<Self> {
        let audit = Audit::of(&[USER, SECOND])?;
        let options = Options {
            flags: audit.flags(),
            ..Options::default()
        };
        let rig = Rig::start(&options)?;
        rig.cluster.grant(SECOND, &chart_rules()?)?;
        for user in [USER, SECOND] {
            grant_lease(&rig, user)?;
        }
        rig.add_nodes(NODE_COUNT, NODE_CPU)?;
        let recorder = Recorder::start(rig.cluster.api())?;
        let replica = |name: &str, user: &str| {
            let setup = Setup {
                name: name.to_owned(),
                profiles: PROFILE.to_owned(),
            };
            let kubeconfig = rig.cluster.kubeconfig(user, &[])?;
            rig.site.scheduler(&setup, &kubeconfig)
        };
        let leader = replica("first", USER)?;
        leader.until_series(MASTER, |leads| leads == 1.0)?;
        let other = replica("second", SECOND)?;
        Ok(Self {
            rig,
            audit,
            recorder,
            leader,
            other,
        })
    }

    /// Creates a burst of pods, and does something to the leader once so many have a node.
    fn burst(
        &mut self,
        stem: &str,
        at: usize,
        strike: impl FnOnce(&mut Scheduler) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let pods = vec![pod("plimsoll", POD_CPU); BURST];
        let (rig, recorder, leader) = (&self.rig, &mut self.recorder, &mut self.leader);
        let before = thread::scope(|scope| {
            let coming = scope.spawn(|| rig.add_pods(stem, &pods));
            recorder.until_bound(stem, at, BOUND)?;
            strike(leader)?;
            let before = recorder.bound(stem);
            coming.join().ok().context("the pods do not come")??;
            anyhow::Ok(before)
        })?;
        ensure!(before < BURST, "the burst was over before: {before}");
        Ok(())
    }

    /// Every pod of a burst is bound, once, and only one replica bound at a time.
    fn assert_bound_once(&mut self, stem: &str, pods: usize) -> anyhow::Result<()> {
        self.recorder.until_bound(stem, BURST, BOUND)?;
        self.recorder.assert_sound();
        let bindings = self.audit.bindings()?;
        let made = bindings.iter().filter(|binding| binding.code == 201);
        let made = made.count();
        assert!(made <= pods, "{made} bindings of {pods} pods");
        let lease = self.rig.cluster.api().get(LEASE)?;
        let transitions = lease["spec"]["leaseTransitions"].as_u64().unwrap_or(0);
        let turns = turns(&bindings);
        assert!(
            turns.len() as u64 <= transitions + 1,
            "{turns:?} with {transitions} changes"
        );
        Ok(())
    }

    /// The other one leads from now on.
    fn follow(&mut self) -> anyhow::Result<()> {
        self.other.until_series(MASTER, |leads| leads == 1.0)?;
        std::mem::swap(&mut self.leader, &mut self.other);
        Ok(())
    }

    fn close(self) -> anyhow::Result<()> {
        self.leader.stop()?;
        let lease = self.rig.cluster.api().get(LEASE)?;
        assert_eq!(lease["spec"]["holderIdentity"], "", "it is handed over");
        self.audit.close()?;
        self.rig.close()
    }
}

#[test]
fn a_leader_killed_twice_in_mid_burst_is_followed_and_no_pod_is_bound_twice() -> anyhow::Result<()>
{
    let mut pair = Pair::start()?;
    for (round, at) in [(1, 317), (2, 642)] {
        let stem = format!("burst-{round}");
        pair.burst(&stem, at, Scheduler::kill)?;
        pair.follow()?;
        // The one that was killed comes back and waits.
        pair.other.start()?;
        pair.other.until_ready()?;
        pair.assert_bound_once(&stem, BURST * round)?;
        assert_eq!(pair.other.series(MASTER)?, 0.0);
        pair.rig.cluster.api().delete(PODS)?;
        for replica in [&pair.leader, &pair.other] {
            replica.until_series(CACHED, |pods| pods == 0.0)?;
        }
    }
    let Pair { other, .. } = &pair;
    other.has_asked_within_its_rights()?;
    pair.close()
}

/// OPS-A1.
#[test]
fn a_leader_frozen_past_its_lease_binds_nothing_when_it_goes_on_and_ends() -> anyhow::Result<()> {
    let mut pair = Pair::start()?;
    let freeze = |leader: &mut Scheduler| leader.process()?.send(Signal::Freeze);
    pair.burst("burst", 250, freeze)?;
    pair.follow()?;
    // The other one has begun to bind what the frozen one has in its queue, too.
    let at = pair.recorder.bound("burst") + 1;
    pair.recorder.until_bound("burst", at.min(BURST), BOUND)?;
    pair.other.process()?.send(Signal::Thaw)?;
    assert_eq!(pair.other.ended()?, Some(1), "it has lost the lease");
    pair.assert_bound_once("burst", BURST)?;
    assert_eq!(turns(&pair.audit.bindings()?), [USER, SECOND]);
    pair.close()
}

#[test]
fn a_leader_that_is_told_to_end_in_mid_burst_hands_over_within_a_pause() -> anyhow::Result<()> {
    let mut pair = Pair::start()?;
    pair.burst("burst", 400, |leader| {
        leader.process()?.send(Signal::Terminate)?;
        assert_eq!(leader.ended()?, Some(0));
        Ok(())
    })?;
    pair.follow()?;
    pair.assert_bound_once("burst", BURST)?;
    assert_eq!(turns(&pair.audit.bindings()?), [USER, SECOND]);
    // By the clock of this machine: when the lease was given back, and when it was taken.
    let released = event_time(&pair.rig, "first_", "stopped leading")?;
    let taken = event_time(&pair.rig, "second_", "became leader")?;
    let pause = taken.duration_since(released).unsigned_abs();
    assert!(pause <= HANDED_OVER, "{pause:?}");
    pair.close()
}

#[test]
fn a_leader_whose_api_server_is_away_ends_and_they_go_on_when_it_is_back() -> anyhow::Result<()> {
    use plimsoll_tests::controlplane::Program;
    let mut pair = Pair::start()?;
    pair.rig.cluster.kill(Program::ApiServer)?;
    assert_eq!(pair.leader.ended()?, Some(1), "it has lost the lease");
    // As the kubelet would.
    pair.leader.start()?;
    pair.rig.cluster.start_program(Program::ApiServer)?;
    let leads = |replica: &Scheduler| replica.series(MASTER).is_ok_and(|leads| leads == 1.0);
    let mut one = 0;
    until("one of them leads", BOUND, || {
        one = usize::from(leads(&pair.leader)) + usize::from(leads(&pair.other));
        one > 0
    })?;
    assert_eq!(one, 1);
    let pods = [pod("plimsoll", POD_CPU)];
    pair.rig.add_pods("after", &pods)?;
    pair.recorder.until_bound("after", 1, BOUND)?;
    pair.recorder.assert_sound();
    for replica in [pair.leader, pair.other] {
        replica.stop_after_restart()?;
    }
    pair.audit.close()?;
    pair.rig.close()
}

/// Who bound, in turn.
fn turns(bindings: &[Binding]) -> Vec<&str> {
    let mut users: Vec<&str> = bindings.iter().map(|binding| &*binding.by).collect();
    users.dedup();
    users
}

/// When an event about the lease was told, whose note has both parts.
fn event_time(rig: &Rig, who: &str, what: &str) -> anyhow::Result<jiff::Timestamp> {
    let path = "/apis/events.k8s.io/v1/namespaces/kube-system/events";
    let mut time = None;
    until("the event of the lease", BOUND, || {
        let list = rig.cluster.api().get(path).unwrap_or_default();
        let events = list["items"].as_array().cloned().unwrap_or_default();
        let told = events.iter().find(|event| {
            let note = event["note"].as_str().unwrap_or_default();
            event["reason"] == "LeaderElection" && note.starts_with(who) && note.ends_with(what)
        });
        time = told.and_then(|event| event["eventTime"].as_str()?.parse().ok());
        time.is_some()
    })?;
    time.context("no event")
}

/// What the chart's Role gives.
fn grant_lease(rig: &Rig, user: &str) -> anyhow::Result<()> {
    let name = user.rsplit(':').next().unwrap_or(user);
    let group = "rbac.authorization.k8s.io";
    let rules: Vec<Value> = LEASE_RIGHTS
        .iter()
        .map(|right| {
            json!({"apiGroups": [right.group], "resources": [right.resource],
                "verbs": right.verbs})
        })
        .collect();
    let api = rig.cluster.api();
    let path = format!("/apis/{group}/v1/namespaces/kube-system");
    let version = format!("{group}/v1");
    let role = json!({"apiVersion": version, "kind": "Role", "metadata": {"name": name},
        "rules": rules});
    api.create(&format!("{path}/roles"), &role)?;
    let binding = json!({"apiVersion": version, "kind": "RoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": group, "kind": "Role", "name": name},
        "subjects": [{"apiGroup": group, "kind": "User", "name": user}]});
    api.create(&format!("{path}/rolebindings"), &binding)?;
    Ok(())
}
