//! Pods and nodes that go, or come anew, while a pod is on its way to its node.

use plimsoll_apiserver::{Fault, FaultId, Rule, Verb};
use plimsoll_core::Outcome;
use plimsoll_tests::flow::{REQUESTS_ONLY, Scheduler, Stage, node, pod};

const BINDING: &str = "pods/binding";

/// One node of one CPU, and `web`, which takes most of it and whose binding hangs: the pod
/// is assumed on the node, and the API server has been asked.
async fn assumed() -> (Stage, Scheduler, FaultId) {
    let stage = Stage::open();
    stage.add(node("a", "1"));
    let scheduler = stage.scheduler(REQUESTS_ONLY).await;
    let held = stage.faults().add(held("web"));
    stage.add(pod("web").cpu("800m"));
    stage
        .until("the binding is asked for", || {
            stage.faults().hits(held) == 1
        })
        .await;
    (stage, scheduler, held)
}

/// A watch tells of changes in order: once a pod that comes now is bound, all that happened to
/// pods before is known.
async fn until_pods_are_known(stage: &Stage) {
    stage.add(pod("probe").cpu("100m"));
    stage.until_bound("probe").await;
}

fn held(pod: &str) -> Rule {
    Rule::new(Fault::Hang)
        .verb(Verb::Create)
        .resource(BINDING)
        .name(pod)
        .times(1)
}

fn chosen(scheduler: &Scheduler, pod: &str) -> Option<String> {
    match &scheduler.decisions(pod).last()?.outcome {
        Outcome::Chosen { node, .. } => Some(node.to_string()),
        Outcome::Unschedulable { .. } | Outcome::Failed { .. } => None,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pod_deleted_while_it_is_bound_leaves_its_place_to_the_next() -> anyhow::Result<()> {
    let (stage, scheduler, held) = assumed().await;
    stage.delete_pod("web");
    until_pods_are_known(&stage).await;
    stage.faults().remove(held);
    stage
        .until("the binding is refused", || {
            stage.answers(Verb::Create, BINDING, 404) == 1
        })
        .await;

    stage.add(pod("next").cpu("800m"));
    assert_eq!(stage.until_bound("next").await, "a");
    assert_eq!(stage.bindings_made(), 2, "of the probe and the next");
    assert_eq!(
        scheduler.decisions("web").len(),
        1,
        "what is gone is not tried again"
    );
    assert!(stage.told("web").is_empty(), "nor spoken of");
    scheduler.stop().await?;
    stage.close().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pod_created_anew_under_the_name_is_not_bound_by_the_old_decision() -> anyhow::Result<()>
{
    let (stage, scheduler, held) = assumed().await;
    let first = stage.pod("web")["metadata"]["uid"].clone();
    stage.delete_pod("web");
    stage.add(pod("web").cpu("900m"));
    let second = stage.pod("web")["metadata"]["uid"].clone();
    assert_ne!(first, second);
    until_pods_are_known(&stage).await;
    stage.faults().remove(held);

    assert_eq!(stage.until_bound("web").await, "a");
    assert_eq!(stage.pod("web")["metadata"]["uid"], second);
    assert_eq!(
        stage.answers(Verb::Create, BINDING, 409),
        1,
        "the old uid was refused"
    );
    assert_eq!(stage.bindings_made(), 2, "of the probe and the second life");
    scheduler.stop().await?;
    stage.close().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_deleted_after_the_binding_was_asked_for_keeps_the_pod() -> anyhow::Result<()> {
    let (stage, scheduler, held) = assumed().await;
    stage.delete_node("a");
    scheduler.until_node("a", false).await;
    stage.add(node("b", "1"));
    stage.add(pod("next").cpu("100m"));
    assert_eq!(stage.until_bound("next").await, "b");
    assert_eq!(
        scheduler.decisions("web").len(),
        1,
        "the question is open, so nobody moves it"
    );

    stage.faults().remove(held);
    assert_eq!(
        stage.until_bound("web").await,
        "a",
        "what the API server was asked for"
    );
    stage.until_told("web", "Scheduled").await;
    assert_eq!((stage.bindings_made(), stage.bindings_tried()), (2, 2));
    scheduler.stop().await?;
    stage.close().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_deleted_before_the_binding_was_asked_for_loses_the_pod() -> anyhow::Result<()> {
    let stage = Stage::open();
    stage.add(node("a", "1"));
    stage.add(node("b", "1"));
    let one_at_a_time = "binding: {maxInFlight: 1}\n";
    let scheduler = Scheduler::start(&stage.address(), REQUESTS_ONLY, one_at_a_time).await;
    scheduler.until_ready().await;
    let rule = stage.faults().add(held("first"));
    stage.add(pod("first").cpu("800m"));
    stage
        .until("the binding is asked for", || {
            stage.faults().hits(rule) == 1
        })
        .await;
    stage.add(pod("second").cpu("800m"));
    stage
        .until("the second is decided", || {
            chosen(&scheduler, "second").is_some()
        })
        .await;

    let left = chosen(&scheduler, "second").unwrap_or_default();
    stage.delete_node(&left);
    stage.until_told("second", "FailedScheduling").await;
    stage.faults().remove(rule);
    stage.until_bound("first").await;
    stage.add(node("c", "1"));
    assert_eq!(stage.until_bound("second").await, "c");
    assert_eq!(
        stage.bindings_tried(),
        2,
        "nobody asked for the node that is gone"
    );
    scheduler.stop().await?;
    stage.close().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pod_bound_by_another_hand_meanwhile_stays_where_it_is() -> anyhow::Result<()> {
    let (stage, scheduler, held) = assumed().await;
    stage.add(node("b", "1"));
    let binding = plimsoll_apiserver::Binding {
        node: "b".to_owned(),
        ..plimsoll_apiserver::Binding::default()
    };
    stage.store().bind("default", "web", &binding)?;
    stage.faults().remove(held);
    stage
        .until("ours is refused", || {
            stage.answers(Verb::Create, BINDING, 409) == 1
        })
        .await;

    // The place on `a` is free again, that on `b` is taken.
    stage.add(pod("next").cpu("800m"));
    assert_eq!(stage.until_bound("next").await, "a");
    assert_eq!(stage.node_of("web").as_deref(), Some("b"));
    assert_eq!(stage.bindings_made(), 1, "of ours");
    assert!(stage.told("web").is_empty());
    scheduler.stop().await?;
    stage.close().await;
    Ok(())
}
