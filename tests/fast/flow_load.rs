//! Load at run time: the switch, caps, pods that wait for load to fall, pods that a kubelet
//! refused.

use plimsoll_tests::flow::{PLIMSOLL, REQUESTS_ONLY, SOFT_CAP, Scheduler, Stage, node, pod};
use serde_json::{Value, json};

/// A node that is busy beyond its requests, and an idle one that has more requests.
async fn busy_and_idle() -> (Stage, Scheduler) {
    let stage = Stage::open();
    stage.add(node("busy", "8"));
    stage.add(node("idle", "8"));
    stage.add(pod("tenant").cpu("3").on("idle"));
    let scheduler = stage.scheduler(PLIMSOLL).await;
    (stage, scheduler)
}

fn mode(text: &str) -> Value {
    serde_json::from_str::<Value>(text).unwrap_or_default()["mode"].take()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn load_is_switched_off_and_on_again_while_the_scheduler_runs() -> anyhow::Result<()> {
    let (stage, scheduler) = busy_and_idle().await;
    let _agents = scheduler
        .measured_nodes(&[("busy", 7000.0), ("idle", 400.0)])
        .await;
    let page = scheduler.page("/load").await;
    assert_eq!((page.code, mode(&page.text)), (200, json!("live")));
    scheduler
        .until_series("plimsoll_load_nodes{state=\"reporting\"}", |n| n == 2.0)
        .await;

    assert_eq!(scheduler.page("/load/history").await.code, 400);
    let page = scheduler.page("/load/history?node=busy").await;
    let history: Value = serde_json::from_str(&page.text)?;
    let cpu = &history["points"][0]["cpuMillicores"];
    assert_eq!(cpu.as_f64().map(f64::round), Some(7000.0), "{history}");

    let page = scheduler.post("/load/off", "").await;
    assert_eq!((page.code, mode(&page.text)), (200, json!("off")));
    stage.add(pod("by-requests").cpu("200m"));
    assert_eq!(stage.until_bound("by-requests").await, "busy");
    scheduler
        .until_series("plimsoll_load_enabled", |value| value == 0.0)
        .await;

    let page = scheduler.post("/load/on", "").await;
    assert_eq!((page.code, mode(&page.text)), (200, json!("live")));
    stage.add(pod("by-load").cpu("200m"));
    assert_eq!(stage.until_bound("by-load").await, "idle");
    scheduler
        .until_series("plimsoll_load_enabled", |value| value == 1.0)
        .await;
    scheduler.stop().await?;
    stage.close().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_switch_is_refused_to_web_pages_and_where_no_agent_is_listened_to() -> anyhow::Result<()>
{
    let stage = Stage::open();
    let scheduler = stage.scheduler(PLIMSOLL).await;
    let page = scheduler
        .post("/load/off", "Origin: http://localhost\r\n")
        .await;
    assert_eq!(page.code, 403);
    assert!(page.text.contains("kubectl port-forward"), "{}", page.text);
    assert_eq!(scheduler.page("/load/off").await.code, 405);
    assert_eq!(mode(&scheduler.page("/load").await.text), json!("live"));
    scheduler.stop().await?;

    let disabled = "load: {enabled: false}\n";
    let scheduler = Scheduler::start(&stage.address(), PLIMSOLL, disabled).await;
    let page = scheduler.post("/load/on", "").await;
    assert_eq!(page.code, 409);
    assert!(page.text.contains("load.enabled"), "{}", page.text);
    assert_eq!(mode(&scheduler.page("/load").await.text), json!("off"));
    scheduler.stop().await?;
    stage.close().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pod_that_was_kept_off_for_load_is_bound_soon_after_it_falls() -> anyhow::Result<()> {
    let stage = Stage::open();
    stage.add(node("a", "8"));
    let hard = SOFT_CAP.replace("soft", "hard");
    let scheduler = stage.scheduler(&hard).await;
    let busy = scheduler.agent("a", 7900.0);
    scheduler.until_measured("a", 7900.0).await;
    stage.add(pod("web").cpu("100m"));
    let told = stage.until_told("web", "FailedScheduling").await;
    assert!(
        told.note.contains("1 node(s) over cpu load 0.85"),
        "{}",
        told.note
    );

    busy.kill().await;
    let _calm = scheduler.agent("a", 400.0);
    // Within the bound of every wait here, far below the five minutes of the safety net.
    assert_eq!(stage.until_bound("web").await, "a");
    scheduler
        .until_page_has("/metrics", "event=\"NodeUpdateLoad\"")
        .await;
    scheduler.stop().await?;
    stage.close().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_every_node_is_over_a_soft_cap_the_pod_is_placed_and_it_is_said() -> anyhow::Result<()>
{
    let stage = Stage::open();
    stage.add(node("worse", "8"));
    stage.add(node("bad", "8"));
    let scheduler = stage.scheduler(SOFT_CAP).await;
    let _agents = scheduler
        .measured_nodes(&[("worse", 7900.0), ("bad", 7400.0)])
        .await;
    stage.add(pod("web").cpu("100m"));
    assert_eq!(stage.until_bound("web").await, "bad");
    let told = stage.until_told("web", "Scheduled").await;
    assert_eq!(told.note, "Successfully assigned default/web to bad");
    let told = stage.until_told("web", "LoadCapExceeded").await;
    assert_eq!(
        (told.kind.as_str(), told.note.as_str()),
        (
            "Warning",
            "placed on bad over its soft cap: node(s) over cpu load 0.85"
        )
    );
    let over = scheduler.decisions("web")[0].over.clone();
    let detail = over.and_then(|over| over.detail);
    let detail = detail.map(|detail| detail.to_string()).unwrap_or_default();
    assert!(detail.contains("measured 0.9"), "{detail}");
    scheduler.stop().await?;
    stage.close().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pod_that_the_kubelet_refused_is_counted_and_leaves_its_room() -> anyhow::Result<()> {
    let stage = Stage::open();
    stage.add(node("a", "1"));
    let scheduler = stage.scheduler(REQUESTS_ONLY).await;
    stage.add(pod("web").cpu("800m"));
    stage.until_bound("web").await;
    stage.add(pod("next").cpu("800m"));
    stage.until_told("next", "FailedScheduling").await;

    // As the kubelet writes it: another scheduler's pods have taken the room.
    stage.store().edit("pods", "default", "web", |pod| {
        pod["status"]["phase"] = json!("Failed");
        pod["status"]["reason"] = json!("OutOfcpu");
    })?;
    assert_eq!(stage.until_bound("next").await, "a");
    let refused = "plimsoll_pods_refused_by_kubelet_total{reason=\"OutOfcpu\"}";
    scheduler.until_series(refused, |count| count == 1.0).await;
    scheduler.stop().await?;
    stage.close().await;
    Ok(())
}
