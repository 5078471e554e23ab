//! All tasks together against a scripted server.

use std::sync::Arc;

use plimsoll_core::{Command, CommandId, Event, PodEvent, PodRef};
use plimsoll_objects::{ObjectKey, ObjectKind, Uid};
use serde_json::{Value, json};
use tokio::sync::mpsc::channel;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{Ends, Running, assemble};
use crate::client::{ClientOptions, Clients};
use crate::metrics::Metrics;
use crate::options::Options;
use crate::script::{Reply, Script};

fn list(items: &[Value]) -> Reply {
    Reply::ok(&json!({"metadata": {"resourceVersion": "10"}, "items": items}))
}

fn web() -> PodRef {
    PodRef {
        key: ObjectKey::new("ns", "web"),
        uid: Uid(Arc::from("u1")),
    }
}

fn scheduled() -> PodEvent {
    PodEvent {
        pod: web(),
        scheduler_name: Arc::from("plimsoll"),
        warning: false,
        reason: "Scheduled",
        action: "Binding",
        note: "Successfully assigned ns/web to n1".to_owned(),
    }
}

fn a_cluster_with_one_node_and_one_pod() -> Script {
    let script = Script::default();
    let created = Reply::Answer(201, Vec::new(), "{}".to_owned());
    let metadata = json!({"name": "web", "namespace": "ns", "uid": "u1"});
    script.on(
        "GET /api/v1/nodes",
        list(&[json!({"metadata": {"name": "n1", "uid": "n1"}})]),
    );
    script.on("GET /api/v1/pods", list(&[json!({ "metadata": metadata })]));
    script.on(
        "POST /api/v1/namespaces/ns/pods/web/binding",
        created.clone(),
    );
    script.on("POST /apis/events.k8s.io/v1/namespaces/ns/events", created);
    script
}

/// All tasks but the watches of other kinds.
const TASKS: [&str; 6] = [
    "watch nodes",
    "watch pods",
    "refused pods",
    "commands",
    "events",
    "extenders",
];

#[tokio::test(start_paused = true)]
async fn a_pod_is_seen_bound_and_told_of_and_then_all_tasks_end() {
    let script = a_cluster_with_one_node_and_one_pod();
    let (events, mut told) = channel(16);
    let (command, commands) = channel(16);
    let shutdown = CancellationToken::new();
    let clients = Clients {
        host: "script".to_owned(),
        watches: script.client(),
        writes: script.client(),
    };
    let ends = Ends {
        events,
        commands,
        decided: Box::new(drop),
    };
    let options = Options::new(ClientOptions::InCluster, "host-1".to_owned());
    let Running { ready, tasks, .. } = assemble(
        &options,
        (clients, Vec::new()),
        ends,
        &Metrics::default(),
        &shutdown,
    );
    assert!(!ready.is_ready());
    let names: Vec<&str> = tasks.iter().map(|task| task.name).collect();
    assert_eq!(names[..TASKS.len()], TASKS);
    let others = ObjectKind::ALL.map(ObjectKind::plural);
    assert_eq!(names[TASKS.len()..], others);
    let mut running = JoinSet::new();
    for task in tasks {
        running.spawn(task.run);
    }

    for _ in 0..2 {
        let event = told.recv().await.unwrap();
        assert!(
            matches!(event, Event::NodesListed(_) | Event::PodsListed(_)),
            "{event:?}"
        );
    }
    let bind = Command::Bind {
        id: CommandId(1),
        pod: web(),
        node: Arc::from("n1"),
    };
    command.send(bind).await.unwrap();
    let event = told.recv().await.unwrap();
    assert!(
        matches!(
            event,
            Event::Completed {
                id: CommandId(1),
                outcome: Ok(())
            }
        ),
        "{event:?}"
    );
    assert!(ready.is_ready());

    command
        .send(Command::RecordEvent(scheduled()))
        .await
        .unwrap();
    drop(command);
    shutdown.cancel();
    while let Some(ended) = running.join_next().await {
        assert!(matches!(ended, Ok(Ok(()))), "{ended:?}");
    }
    let event = script
        .seen_on("POST /apis/events.k8s.io/v1/namespaces/ns/events")
        .remove(0);
    assert_eq!(
        event.body["note"],
        json!("Successfully assigned ns/web to n1")
    );
}
