//! Checks what a plugin does once a node is chosen.

use serde_json::Value;

use super::rejection_text;
use crate::cycle_state::CycleState;
use crate::plugin::{
    BindOutcome, PermitOutcome, PermitRequest, PreBindOutcome, PreBindStep, Release,
};
use crate::spec::PluginSpec;
use crate::test_util::cluster::{Cluster, Scene};
use crate::test_util::pod::PodBuilder;
use crate::test_util::trial::Trial;

/// Steps after which `PreBind` is taken never to end.
const STEPS_MAX: u32 = 16;

/// Reserves `node` for `pod`: `Reserved`, or the rejection. Then gives it back twice, since
/// `unreserve` must be idempotent.
///
/// # Panics
/// The test is written wrongly, or the plugin has no `Reserve`.
pub fn check_reserve(
    spec: &PluginSpec,
    args: &Value,
    cluster: &Cluster,
    pod: &PodBuilder,
    node: &str,
) -> String {
    let trial = Trial::new(spec, args);
    let scene = cluster.scene(pod);
    let mut state = prepared(&trial, &scene);
    let hook = trial
        .hooks
        .reserve
        .as_ref()
        .expect("the plugin has a Reserve hook");
    let answer = hook.reserve(&scene.cycle(), &mut state, scene.node(node));
    drop(hook.unreserve(&scene.pod, &mut state, node));
    drop(hook.unreserve(&scene.pod, &mut state, node));
    match answer {
        Ok(assumed) => {
            let names = assumed
                .iter()
                .map(|object| format!(", {:?} {}", object.kind(), object.key()));
            format!("Reserved{}", names.collect::<String>())
        }
        Err(rejection) => rejection_text(&rejection),
    }
}

/// Asks permission for `pod` on `node`: `Allow`, `Allow, release default/b: Allow`,
/// `Wait 30s`, or the rejection. The pods that wait are those of [`Cluster::waiting`].
///
/// # Panics
/// The test is written wrongly, or the plugin has no `Permit`.
pub fn check_permit(
    spec: &PluginSpec,
    args: &Value,
    cluster: &Cluster,
    pod: &PodBuilder,
    node: &str,
) -> String {
    let trial = Trial::new(spec, args);
    let scene = cluster.scene(pod);
    let mut state = prepared(&trial, &scene);
    let hook = trial
        .hooks
        .permit
        .as_ref()
        .expect("the plugin has a Permit hook");
    let request = PermitRequest {
        cycle: &scene.cycle(),
        node: scene.node(node),
        waiting: &cluster.waiting_pods(),
    };
    match hook.permit(&request, &mut state) {
        Ok(PermitOutcome::Wait { timeout }) => format!("Wait {timeout:?}"),
        Ok(PermitOutcome::Allow { release }) => {
            let released = release.iter().map(release_text);
            std::iter::once("Allow".to_owned())
                .chain(released)
                .collect::<Vec<_>>()
                .join(", ")
        }
        Err(rejection) => rejection_text(&rejection),
    }
}

/// Runs `PreBind` for `pod` on `node` until it is done: one line per step, such as
/// `Do [..]`, `WaitUntil 600s`, `Done`, or the rejection. Each change succeeds and each wait
/// ends at once.
///
/// # Panics
/// The test is written wrongly, the plugin has no `PreBind`, or it does not end.
pub fn check_pre_bind(
    spec: &PluginSpec,
    args: &Value,
    cluster: &Cluster,
    pod: &PodBuilder,
    node: &str,
) -> Vec<String> {
    let trial = Trial::new(spec, args);
    let scene = cluster.scene(pod);
    let mut state = prepared(&trial, &scene);
    if let Some(reserve) = &trial.hooks.reserve
        && let Err(rejection) = reserve.reserve(&scene.cycle(), &mut state, scene.node(node))
    {
        return vec![rejection_text(&rejection)];
    }
    let hook = trial
        .hooks
        .pre_bind
        .as_ref()
        .expect("the plugin has a PreBind hook");
    let mut lines = Vec::new();
    for attempt in 0..STEPS_MAX {
        let step = PreBindStep {
            pod: &scene.pod,
            node,
            attempt,
            catalog: scene.snapshot.catalog(),
            now: scene.now,
        };
        let answer = hook.pre_bind(&step, &mut state);
        let ended = matches!(answer, Ok(PreBindOutcome::Done) | Err(_));
        lines.push(match answer {
            Ok(PreBindOutcome::Done) => "Done".to_owned(),
            Ok(PreBindOutcome::Do(effects)) => format!("Do {effects:?}"),
            Ok(PreBindOutcome::WaitUntil { deadline, .. }) => format!("WaitUntil {deadline:?}"),
            Err(rejection) => rejection_text(&rejection),
        });
        if ended {
            return lines;
        }
    }
    panic!("PreBind of {} does not end: {lines:?}", spec.name)
}

/// Asks how `pod` is bound to `node`: `Binding`, `Skip`, `Do [..]`, or the rejection.
///
/// # Panics
/// The test is written wrongly, or the plugin has no `Bind`.
pub fn check_bind(spec: &PluginSpec, args: &Value, pod: &PodBuilder, node: &str) -> String {
    let trial = Trial::new(spec, args);
    let hook = trial
        .hooks
        .bind
        .as_ref()
        .expect("the plugin has a Bind hook");
    match hook.bind(&pod.build(), &CycleState::new(), node) {
        Ok(BindOutcome::Binding) => "Binding".to_owned(),
        Ok(BindOutcome::Skip) => "Skip".to_owned(),
        Ok(BindOutcome::Do(effects)) => format!("Do {effects:?}"),
        Err(rejection) => rejection_text(&rejection),
    }
}

/// The state as the plugin's own `PreFilter` leaves it.
fn prepared(trial: &Trial, scene: &Scene) -> CycleState {
    let mut state = CycleState::new();
    if let Err(rejection) = trial.pre_filter(&scene.cycle(), &mut state) {
        panic!(
            "PreFilter turns the pod down: {}",
            rejection_text(&rejection)
        );
    }
    state
}

fn release_text(release: &Release) -> String {
    match release {
        Release::Allow(uid) => format!("release {uid}: Allow"),
        Release::Reject(uid, reason) => format!("release {uid}: Reject {reason}"),
    }
}
