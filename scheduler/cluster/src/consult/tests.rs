//! Questions of the engine against a server on the loopback: what is sent, what comes back.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_config::Extender;
use plimsoll_core::{CommandId, Event, PodRef, Question, RefusedNode, Reply, SparedOn, VictimsOn};
use plimsoll_objects::{ObjectKey, Uid, decode_node, decode_pod};
use serde_json::{Value, json};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{Ask, Consultant, Keeps, Originals};
use crate::cluster::TaskError;
use crate::extender::Client;
use crate::extender::tests::extender;
use crate::extender::tests::server::Server;
use crate::lease::Leadership;
use crate::metrics::Metrics;

struct Rig {
    asks: Sender<Ask>,
    events: Receiver<Event>,
    task: JoinSet<Result<(), TaskError>>,
    next: u64,
}

fn pod_json(name: &str, node: Option<&str>) -> Value {
    json!({"kind": "Pod", "apiVersion": "v1",
        "metadata": {"name": name, "namespace": "ns", "uid": format!("uid-{name}"),
            "managedFields": [{"manager": "kubectl"}]},
        "spec": {"containers": [{"name": "c"}], "nodeName": node}})
}

fn node_json(name: &str) -> Value {
    json!({"metadata": {"name": name, "managedFields": []}, "status": {"images": []}})
}

fn pod(name: &str) -> PodRef {
    PodRef {
        key: ObjectKey::new("ns", name),
        uid: Uid(format!("uid-{name}").into()),
    }
}

fn names(names: &[&str]) -> Vec<Arc<str>> {
    names.iter().map(|name| Arc::from(*name)).collect()
}

fn all_verbs(url: &str, by_name: bool) -> Extender {
    Extender {
        prioritize_verb: Some("prioritize".to_owned()),
        bind_verb: Some("bind".to_owned()),
        preempt_verb: Some("preempt".to_owned()),
        node_cache_capable: by_name,
        ..extender(url)
    }
}

/// Waiting pod `p`, pod `v` on `n1`, nodes `n1` and `n2`.
fn originals(extenders: &[Extender]) -> Originals {
    let originals = Originals::new(Keeps::of(extenders));
    for (name, node) in [("p", None), ("v", Some("n1"))] {
        let json = pod_json(name, node).to_string();
        let pod = decode_pod(json.as_bytes()).unwrap();
        originals.note_pod(&pod, json.as_bytes());
    }
    for name in ["n1", "n2"] {
        let json = node_json(name).to_string();
        let node = decode_node(json.as_bytes()).unwrap();
        originals.note_node(&node, json.as_bytes());
    }
    originals
}

impl Rig {
    fn start(extenders: Vec<Extender>) -> Self {
        Self::of(extenders, Leadership::always())
    }

    fn of(extenders: Vec<Extender>, leadership: Leadership) -> Self {
        let originals = Arc::new(originals(&extenders));
        let client = |extender: Extender| {
            let client = Client::new(&extender, &Metrics::default()).unwrap();
            (extender, client)
        };
        let sides = extenders.into_iter().map(client).collect();
        let (asks, asked) = channel(256);
        let (told, events) = channel(256);
        let done = CancellationToken::new().drop_guard();
        let consultant = Consultant::new(sides, originals, asked, told);
        let consultant = consultant.while_leading(leadership, done);
        let mut task = JoinSet::new();
        task.spawn(consultant.run(CancellationToken::new(), Duration::ZERO));
        Self {
            asks,
            events,
            task,
            next: 0,
        }
    }

    async fn ask(&mut self, extender: usize, about: &str, question: Question) -> CommandId {
        self.next += 1;
        let id = CommandId(self.next);
        let ask = Ask {
            id,
            extender,
            pod: pod(about),
            question,
        };
        self.asks.send(ask).await.unwrap();
        id
    }

    async fn answer(&mut self) -> (CommandId, Result<Reply, String>) {
        match self.events.recv().await {
            Some(Event::ExtenderAnswered { id, reply }) => (id, reply),
            other => panic!("{other:?}"),
        }
    }
}

fn filter() -> Question {
    Question::Filter {
        nodes: names(&["n2", "n1"]),
    }
}

/// Asks one question of a server that answers `body`; gives what was sent and what came.
async fn once(by_name: bool, question: Question, body: &str) -> (Value, Result<Reply, String>) {
    let length = body.len();
    let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{body}");
    let server = Server::start(&[&answer]).await;
    let mut rig = Rig::start(vec![all_verbs(&server.url(), by_name)]);
    rig.ask(0, "p", question).await;
    let (_, reply) = rig.answer().await;
    let sent = server.asked().remove(0);
    let (_, sent) = sent.split_once("\r\n\r\n").unwrap();
    (serde_json::from_str(sent).unwrap(), reply)
}

fn whole_pod(name: &str, node: Option<&str>) -> Value {
    let mut pod = pod_json(name, node);
    pod.as_object_mut()
        .unwrap()
        .retain(|key, _| key != "kind" && key != "apiVersion");
    pod["metadata"]
        .as_object_mut()
        .unwrap()
        .remove("managedFields");
    pod
}

#[tokio::test]
async fn ext_a1_names_or_whole_nodes_are_sent_and_the_answer_is_taken() {
    let kept = Reply::Filtered {
        kept: names(&["n1"]),
        refused: vec![RefusedNode {
            node: "n2".into(),
            message: "full".to_owned(),
            unresolvable: false,
        }],
    };
    let body = r#"{"NodeNames": ["n1"], "FailedNodes": {"n2": "full"}}"#;
    let (sent, reply) = once(true, filter(), body).await;
    let expected = json!({"Pod": whole_pod("p", None), "Nodes": null, "NodeNames": ["n2", "n1"]});
    assert_eq!(sent, expected);
    assert_eq!(reply, Ok(kept.clone()));

    let body =
        r#"{"nodes": {"items": [{"metadata": {"name": "n1"}}]}, "failednodes": {"n2": "full"}}"#;
    let (sent, reply) = once(false, filter(), body).await;
    let node = |name| json!({"metadata": {"name": name}, "status": {"images": []}});
    let list = json!({"metadata": {}, "items": [node("n2"), node("n1")]});
    let expected = json!({"Pod": whole_pod("p", None), "Nodes": list, "NodeNames": null});
    assert_eq!(sent, expected);
    assert_eq!(reply, Ok(kept));
}

#[tokio::test]
async fn scores_bindings_and_victims_are_asked_for_in_their_own_shapes() {
    let question = Question::Prioritize {
        nodes: names(&["n1"]),
    };
    let (_, reply) = once(true, question, r#"[{"Host": "n1", "Score": 7}]"#).await;
    assert_eq!(reply, Ok(Reply::Scores(vec![("n1".into(), 7)])));

    let question = Question::Bind { node: "n1".into() };
    let (sent, reply) = once(true, question.clone(), "{}").await;
    let expected = json!({"PodName": "p", "PodNamespace": "ns", "PodUID": "uid-p", "Node": "n1"});
    assert_eq!((sent, reply), (expected, Ok(Reply::Bound)));
    let (_, reply) = once(true, question, r#"{"Error": "no such device"}"#).await;
    assert_eq!(reply, Err("no such device".to_owned()));

    let preempt = || Question::Preempt {
        candidates: vec![VictimsOn {
            node: "n1".into(),
            victims: vec![pod("v")],
            pdb_violations: 1,
        }],
    };
    let left = r#"{"NodeNameToMetaVictims": {"n1": {"Pods": [{"UID": "uid-v"}]}}}"#;
    let spared = Reply::Candidates(vec![SparedOn {
        node: "n1".into(),
        victims: vec![Uid("uid-v".into())],
        pdb_violations: 0,
    }]);
    let (sent, reply) = once(true, preempt(), left).await;
    let meta = json!({"n1": {"Pods": [{"UID": "uid-v"}], "NumPDBViolations": 1}});
    let expected = json!({"Pod": whole_pod("p", None),
        "NodeNameToVictims": null, "NodeNameToMetaVictims": meta});
    assert_eq!((sent, reply), (expected, Ok(spared.clone())));
    let (sent, reply) = once(false, preempt(), left).await;
    let whole = json!({"n1": {"Pods": [whole_pod("v", Some("n1"))], "NumPDBViolations": 1}});
    let expected = json!({"Pod": whole_pod("p", None),
        "NodeNameToVictims": whole, "NodeNameToMetaVictims": null});
    assert_eq!((sent, reply), (expected, Ok(spared)));
}

#[tokio::test]
async fn lies_and_nonsense_are_errors_that_say_what_is_wrong() {
    let nonsense = [
        ("", "empty"),
        ("<html>", "not JSON"),
        ("[]", "expected an object"),
        (r#"{"NodeNames": ["n9"]}"#, "claims a filtered node \"n9\""),
        (r#"{"Error": "out of order"}"#, "out of order"),
        (r#"{"NodeNames": 5}"#, "NodeNames"),
    ];
    for (body, says) in nonsense {
        let (_, reply) = once(true, filter(), body).await;
        let text = reply.unwrap_err();
        assert!(text.contains(says), "{body}: {text}");
    }
}

#[tokio::test]
async fn a_pod_that_is_gone_meanwhile_is_not_asked_about() {
    let server = Server::start(&[]).await;
    let mut rig = Rig::start(vec![all_verbs(&server.url(), true)]);
    let id = rig.ask(0, "q", filter()).await;
    let text = "pod ns/q is not waiting, or not there, any more".to_owned();
    assert_eq!(rig.answer().await, (id, Err(text)));
    assert!(server.asked().is_empty());
}

#[tokio::test]
async fn bindings_that_hang_hold_up_no_other_question() {
    let hanging = Server::start(&[]).await;
    let length = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
    let working = Server::start(&[length]).await;
    let slow = Extender {
        http_timeout: Duration::from_secs(30),
        ..all_verbs(&hanging.url(), true)
    };
    let mut rig = Rig::start(vec![slow, all_verbs(&working.url(), true)]);
    let bind = || Question::Bind { node: "n1".into() };
    for _ in 0..40 {
        rig.ask(0, "p", bind()).await;
    }
    rig.ask(0, "p", filter()).await;
    for _ in 0..41 {
        hanging.was_asked().await;
    }
    let id = rig.ask(1, "p", bind()).await;
    assert_eq!(rig.answer().await, (id, Ok(Reply::Bound)));
}

#[tokio::test]
async fn nobody_is_asked_to_bind_by_a_replica_that_does_not_lead() {
    let server = Server::start(&["HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"]).await;
    let extenders = vec![all_verbs(&server.url(), true)];
    let mut rig = Rig::of(extenders, Leadership::waits());
    let id = rig.ask(0, "p", Question::Bind { node: "n1".into() }).await;
    let refused = Err("this replica does not lead".to_owned());
    assert_eq!(rig.answer().await, (id, refused));
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn it_ends_when_nobody_asks_any_more_with_every_answer_given() {
    let mut rig = Rig::start(vec![all_verbs("http://127.0.0.1:1", true)]);
    let unknown = rig.ask(7, "p", filter()).await;
    let dead = rig.ask(0, "p", filter()).await;
    drop(std::mem::replace(&mut rig.asks, channel(1).0));
    let (first, reply) = rig.answer().await;
    assert_eq!((first, reply.is_err()), (unknown, true));
    let (second, reply) = rig.answer().await;
    let text = reply.unwrap_err();
    assert!(
        second == dead && text.contains("connection refused"),
        "{text}"
    );
    assert_eq!(rig.task.join_next().await.unwrap().unwrap(), Ok(()));
}
