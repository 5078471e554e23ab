//! What kube-scheduler 1.37.2 sent (`tests/fixtures/extender/bodies.json`), asked of the same
//! objects by us. `Differs:` nodes go without `managedFields`, which kube-scheduler sends.

use std::path::Path;
use std::sync::Arc;

use plimsoll_config::Extender;
use plimsoll_core::{CommandId, PodRef, Question, VictimsOn};
use plimsoll_objects::{ObjectKey, Uid, decode_node, decode_pod};
use serde_json::Value;

use super::super::Ask;
use super::super::originals::{Keeps, Originals};
use crate::extender::tests::extender;

struct Fixture {
    json: Value,
    originals: Originals,
}

fn all_verbs(by_name: bool) -> Extender {
    Extender {
        prioritize_verb: Some("prioritize".to_owned()),
        bind_verb: Some("bind".to_owned()),
        preempt_verb: Some("preempt".to_owned()),
        node_cache_capable: by_name,
        ..extender("http://x")
    }
}

fn pod(name: &str) -> PodRef {
    PodRef {
        key: ObjectKey::new("default", name),
        uid: Uid(format!("uid-of-{name}").into()),
    }
}

fn without_managed_fields(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove("managedFields");
            fields.values_mut().for_each(without_managed_fields);
        }
        Value::Array(items) => items.iter_mut().for_each(without_managed_fields),
        _ => {}
    }
}

impl Fixture {
    /// The objects as the watch would show them.
    fn read() -> Self {
        let path = "../../tests/fixtures/extender/bodies.json";
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        let json: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let originals = Originals::new(Keeps::of(&[all_verbs(false)]));
        let objects = &json["objects"];
        for node in objects["nodes"].as_array().unwrap() {
            let node = node.to_string().into_bytes();
            originals.note_node(&decode_node(&node).unwrap(), &node);
        }
        let victims = objects["victims"].as_array().unwrap().iter();
        for pod in victims.chain([&objects["picky"], &objects["urgent"]]) {
            let pod = pod.to_string().into_bytes();
            originals.note_pod(&decode_pod(&pod).unwrap(), &pod);
        }
        Self { json, originals }
    }

    /// What kube-scheduler sent, and what we send to ask `question` of `about`.
    fn both(&self, path: &str, about: &str, question: Question) -> (Value, Value) {
        let mut asked = self.json["asked"].as_array().unwrap().iter();
        let found = asked.find(|asked| asked["path"] == path).unwrap();
        let mut theirs = found["body"].clone();
        without_managed_fields(&mut theirs);
        let ask = Ask {
            id: CommandId(1),
            extender: 0,
            pod: pod(about),
            question,
        };
        let by_name = path.starts_with("/names");
        let ours = super::of(&all_verbs(by_name), &self.originals, &ask).unwrap();
        (theirs, serde_json::from_slice(&ours).unwrap())
    }
}

fn names(names: &[&str]) -> Vec<Arc<str>> {
    names.iter().map(|name| Arc::from(*name)).collect()
}

fn full(fillers: &[usize]) -> Question {
    let on = |index: &usize| VictimsOn {
        node: format!("n{index}").into(),
        victims: vec![pod(&format!("filler-{index}"))],
        pdb_violations: 0,
    };
    let candidates = fillers.iter().map(on).collect();
    Question::Preempt { candidates }
}

#[test]
fn every_question_is_put_as_kube_scheduler_puts_it() {
    let fixture = Fixture::read();
    let (four, three) = (names(&["n0", "n1", "n2", "n3"]), names(&["n0", "n2", "n3"]));
    let filter = |nodes: &Vec<Arc<str>>| Question::Filter {
        nodes: nodes.clone(),
    };
    let prioritize = || Question::Prioritize {
        nodes: three.clone(),
    };
    let bind = Question::Bind { node: "n2".into() };
    for (path, about, question) in [
        ("/names/filter", "picky", filter(&four)),
        ("/whole/filter", "picky", filter(&three)),
        ("/names/prioritize", "picky", prioritize()),
        ("/whole/prioritize", "picky", prioritize()),
        ("/names/bind", "picky", bind),
        // The first extender leaves one candidate to the second.
        ("/names/preempt", "urgent", full(&[0, 1, 2, 3])),
        ("/whole/preempt", "urgent", full(&[3])),
    ] {
        let (theirs, ours) = fixture.both(path, about, question);
        assert_eq!(ours, theirs, "{path}");
    }
}
