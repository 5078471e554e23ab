//! The end of the scheduler: in good order, in time, whatever is under way.

use std::time::Duration;

use plimsoll_apiserver::{Fault, Rule, Verb};
use plimsoll_tests::flow::{PLIMSOLL, REQUESTS_ONLY, Scheduler, Stage, node, pod};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Time for everything to end when nothing holds it up: agents have 2 s to leave.
const SOON: Duration = Duration::from_secs(5);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_ends_soon_with_agents_watches_and_pods_that_wait() -> anyhow::Result<()> {
    let stage = Stage::open();
    stage.add(node("a", "8"));
    let scheduler = stage.scheduler(PLIMSOLL).await;
    let _agents = scheduler.measured_nodes(&[("a", 1000.0)]).await;
    stage.add(pod("huge").cpu("100"));
    stage.until_told("huge", "FailedScheduling").await;
    let ports = [scheduler.admin(), scheduler.telemetry()];
    timeout(SOON, scheduler.stop()).await??;
    for port in ports {
        assert!(TcpStream::connect(port).await.is_err(), "{port} is free");
    }
    stage.close().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_binding_under_way_is_waited_for_and_told() -> anyhow::Result<()> {
    let stage = Stage::open();
    stage.add(node("a", "8"));
    let scheduler = stage.scheduler(REQUESTS_ONLY).await;
    let slow = Rule::new(Fault::Delay(Duration::from_secs(1))).resource("pods/binding");
    let slow = stage.faults().add(slow);
    stage.add(pod("web").cpu("1"));
    stage.faults().struck(slow, 1).await;
    timeout(SOON, scheduler.stop()).await??;
    assert_eq!(stage.node_of("web").as_deref(), Some("a"));
    assert_eq!(stage.bindings_made(), 1);
    stage.close().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_binding_that_hangs_is_left_in_good_order_and_the_next_scheduler_makes_it()
-> anyhow::Result<()> {
    let stage = Stage::open();
    stage.add(node("a", "8"));
    let scheduler = stage.scheduler(REQUESTS_ONLY).await;
    let hang = stage
        .faults()
        .add(Rule::new(Fault::Hang).resource("pods/binding"));
    stage.add(pod("web").cpu("1"));
    stage.faults().struck(hang, 1).await;
    scheduler.stop().await?;
    assert_eq!(stage.node_of("web"), None);

    stage.faults().remove(hang);
    let next = stage.scheduler(REQUESTS_ONLY).await;
    assert_eq!(stage.until_bound("web").await, "a");
    assert_eq!(stage.bindings_made(), 1);
    next.stop().await?;
    stage.close().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_scheduler_that_never_reached_its_api_server_ends_soon() -> anyhow::Result<()> {
    let stage = Stage::open();
    let hang = stage.faults().add(Rule::new(Fault::Hang).verb(Verb::List));
    let scheduler = Scheduler::start(&stage.address(), REQUESTS_ONLY, "").await;
    stage.faults().struck(hang, 2).await;
    timeout(SOON, scheduler.stop()).await??;
    stage.close().await;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_say_nothing_do_not_hold_it_up() -> anyhow::Result<()> {
    let stage = Stage::open();
    let scheduler = stage.scheduler(REQUESTS_ONLY).await;
    let _silent = TcpStream::connect(scheduler.admin()).await?;
    let _dumb = TcpStream::connect(scheduler.telemetry()).await?;
    let mut stammers = TcpStream::connect(scheduler.admin()).await?;
    stammers.write_all(b"GET /met").await?;
    assert_eq!(
        scheduler.page("/healthz").await.code,
        200,
        "all three are accepted"
    );
    timeout(SOON, scheduler.stop()).await??;
    stage.close().await;
    Ok(())
}
