//! Watches that end, and lists that expire: nothing is missed, and nothing is listed twice
//! without need.

use std::time::Duration;

use plimsoll_apiserver::{Fault, Rule, Verb};
use plimsoll_tests::flow::{REQUESTS_ONLY, Scheduler, Stage, node, pod};
use tokio::time::timeout;

/// Within which a resumed watch must have brought a pod to its node.
const AT_ONCE: Duration = Duration::from_secs(2);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_that_is_closed_goes_on_at_once_without_a_list() -> anyhow::Result<()> {
    let stage = Stage::open();
    stage.add(node("a", "8"));
    let scheduler = stage.scheduler(REQUESTS_ONLY).await;
    let watches = || stage.stats().requests_of(Verb::Watch, "pods");
    stage.until("pods are watched", || watches() == 1).await;
    for round in 0..5 {
        stage.faults().close_watches(None);
        let name = format!("web-{round}");
        stage.add(pod(&name).cpu("100m"));
        timeout(AT_ONCE, stage.until_bound(&name)).await?;
    }
    for resource in ["pods", "nodes"] {
        assert_eq!(
            stage.stats().requests_of(Verb::List, resource),
            1,
            "{resource}"
        );
    }
    assert!(watches() >= 6, "each was closed and begun again");
    assert_eq!(stage.bindings_made(), 5);
    scheduler.stop().await?;
    stage.close().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_deleted_while_the_watch_was_lost_is_gone_after_a_410() -> anyhow::Result<()> {
    let stage = Stage::open();
    stage.add(node("small", "1"));
    stage.add(node("large", "8"));
    let scheduler = stage.scheduler(REQUESTS_ONLY).await;
    let faults = stage.faults();
    let on_nodes = |fault, verb| Rule::new(fault).verb(verb).resource("nodes").times(1);
    faults.add(on_nodes(Fault::expired(), Verb::Watch));
    let list = faults.add(on_nodes(Fault::Hang, Verb::List));
    faults.close_watches(Some("nodes"));
    faults.struck(list, 1).await;
    // No watch is open, so only the list can tell.
    stage.delete_node("large");
    faults.remove(list);
    scheduler.until_node("large", false).await;

    stage.add(pod("big").cpu("4"));
    let told = stage.until_told("big", "FailedScheduling").await;
    assert_eq!(
        told.note,
        "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 \
         Preemption is not helpful for scheduling."
    );
    stage.add(pod("web").cpu("500m"));
    assert_eq!(stage.until_bound("web").await, "small");
    assert_eq!(stage.stats().requests_of(Verb::List, "nodes"), 2);
    assert_eq!(
        scheduler
            .series("plimsoll_cluster_relists_total{kind=\"nodes\"}")
            .await,
        1.0
    );
    assert_eq!(
        scheduler.page("/readyz").await.code,
        200,
        "it was never blind"
    );
    scheduler.stop().await?;
    stage.close().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pods_that_came_and_went_while_the_watch_was_lost_are_known_after_a_410()
-> anyhow::Result<()> {
    let stage = Stage::open();
    stage.add(node("a", "1"));
    stage.add(pod("tenant").cpu("800m").on("a"));
    let scheduler = stage.scheduler(REQUESTS_ONLY).await;
    let faults = stage.faults();
    let on_pods = |fault, verb| Rule::new(fault).verb(verb).resource("pods").times(1);
    faults.add(on_pods(Fault::expired(), Verb::Watch));
    let list = faults.add(on_pods(Fault::Hang, Verb::List));
    faults.close_watches(Some("pods"));
    faults.struck(list, 1).await;
    stage.delete_pod("tenant");
    stage.add(pod("web").cpu("800m"));
    faults.remove(list);
    assert_eq!(stage.until_bound("web").await, "a");
    assert_eq!(stage.bindings_made(), 1);
    scheduler.stop().await?;
    stage.close().await;
    Ok(())
}

/// More pods than a page of a list holds (500).
const MANY: usize = 620;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_list_that_expires_between_two_pages_is_begun_anew_and_whole() -> anyhow::Result<()> {
    let stage = Stage::open();
    stage.add(node("a", "64"));
    for index in 0..MANY {
        stage.add(pod(&format!("tenant-{index}")).cpu("100m").on("a"));
    }
    let second_page = Rule::new(Fault::expired())
        .verb(Verb::List)
        .resource("pods")
        .nth(2);
    stage.faults().add(second_page);
    let scheduler = stage.scheduler(REQUESTS_ONLY).await;
    assert_eq!(stage.answers(Verb::List, "pods", 410), 1);

    // 64 less 62 CPUs are left: all tenants count, each once.
    stage.add(pod("too-big").cpu("2100m"));
    stage.until_told("too-big", "FailedScheduling").await;
    stage.add(pod("fits").cpu("2"));
    assert_eq!(stage.until_bound("fits").await, "a");
    scheduler.stop().await?;
    stage.close().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_lost_is_asked_for_again_when_nothing_else_can_tell() -> anyhow::Result<()> {
    let stage = Stage::open();
    let scheduler = stage.scheduler(REQUESTS_ONLY).await;
    stage.add(pod("web").cpu("1"));
    stage.until_told("web", "FailedScheduling").await;
    // The watch of pods is lost, the answer to the binding too, and the pod cannot be read.
    let faults = stage.faults();
    let watch = faults.add(Rule::new(Fault::Hang).verb(Verb::Watch).resource("pods"));
    faults.close_watches(Some("pods"));
    faults.struck(watch, 1).await;
    let binding = Rule::new(Fault::LoseAnswer)
        .verb(Verb::Create)
        .resource("pods/binding");
    faults.add(binding.times(1));
    let blind = Rule::new(Fault::internal_error())
        .verb(Verb::Get)
        .resource("pods");
    faults.add(blind.times(3));

    stage.add(node("a", "4"));
    stage.until_told("web", "Scheduled").await;
    assert_eq!(stage.node_of("web").as_deref(), Some("a"));
    assert_eq!((stage.bindings_made(), stage.bindings_tried()), (1, 2));
    faults.clear();
    stage.add(pod("next").cpu("1"));
    assert_eq!(stage.until_bound("next").await, "a");
    assert_eq!(stage.bindings_made(), 2);
    scheduler.stop().await?;
    stage.close().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_scheduler_that_starts_before_the_api_server_answers_waits_for_it() -> anyhow::Result<()>
{
    let stage = Stage::open();
    stage.add(node("a", "4"));
    stage.add(pod("web").cpu("1"));
    for resource in ["pods", "nodes"] {
        let down = Rule::new(Fault::internal_error()).verb(Verb::List);
        stage.faults().add(down.resource(resource).times(2));
    }
    let scheduler = Scheduler::start(&stage.address(), REQUESTS_ONLY, "").await;
    assert_eq!(stage.until_bound("web").await, "a");
    for resource in ["pods", "nodes"] {
        assert_eq!(stage.answers(Verb::List, resource, 500), 2, "{resource}");
    }
    scheduler.stop().await?;
    stage.close().await;
    Ok(())
}
