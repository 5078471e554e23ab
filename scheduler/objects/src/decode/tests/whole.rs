//! Whole objects of every kind, as they came from an API server, made odd in one place or in
//! several: an error that says something or a value, never a panic.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::LazyLock;

use flate2::read::GzDecoder;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::Value;

use super::garbage::{mutations, odd_values, paths, use_up};
use crate::decode::{decode_node, decode_pod};
use crate::node::Node;
use crate::object::{Object, ObjectKind};
use crate::pod::Pod;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/parity");
/// Files that have objects of every kind between them, and pods with everything.
const FILES: [&str; 7] = [
    "dra-6",
    "interpod-1",
    "mixed-1",
    "mixed-5",
    "odd-1",
    "spread-1",
    "volumes-1",
];
/// Longer ones say the same again: they are made long on purpose.
const MAX_BYTES: usize = 4_000;

/// The fullest object of each kind, and the fullest pod of each file, with its `kind`.
static SEEDS: LazyLock<Vec<(String, Value)>> = LazyLock::new(|| {
    let mut fullest = BTreeMap::new();
    for file in FILES {
        for object in objects_of(file) {
            let kind = object["kind"].as_str().expect("objects name their kind");
            let group = (kind.to_owned(), if kind == "Pod" { file } else { "" });
            let size = object.to_string().len();
            let best = fullest.get(&group).map_or(0, |(best, _)| *best);
            if size > best && size <= MAX_BYTES {
                fullest.insert(group, (size, object));
            }
        }
    }
    let fullest = fullest.into_iter();
    let seeds = fullest.map(|((kind, _), (_, object))| (kind, object));
    seeds.collect()
});

/// A pod and a node to be held against odd ones.
static PLAIN: LazyLock<(Pod, Node)> = LazyLock::new(|| {
    let named = r#"{"metadata": {"name": "a"}}"#.as_bytes();
    let decoded = (decode_pod(named), decode_node(named));
    (decoded.0.expect("a pod"), decoded.1.expect("a node"))
});

fn objects_of(file: &str) -> Vec<Value> {
    let path = Path::new(FIXTURES).join(format!("{file}.json.gz"));
    let mut text = String::new();
    let packed = File::open(path).expect("the file is in the project");
    GzDecoder::new(packed)
        .read_to_string(&mut text)
        .expect("it is compressed text");
    let mut golden: Value = serde_json::from_str(&text).expect("it is JSON");
    let lists = ["objects", "pending"].map(|list| golden["case"][list].take());
    let lists = lists.into_iter().filter_map(|list| match list {
        Value::Array(objects) => Some(objects),
        _ => None,
    });
    lists.flatten().collect()
}

/// Decodes `object` as what it was called before it was made odd; `None`: no plugin reads it.
fn decode(kind: &str, object: &Value) -> Option<Result<(), String>> {
    let json = object.to_string();
    let json = json.as_bytes();
    let refused = |error: crate::decode::DecodeError| error.to_string();
    match kind {
        "Pod" => {
            let decoded = decode_pod(json).map_err(refused);
            return Some(decoded.map(|pod| use_up(&pod, &PLAIN.1)));
        }
        "Node" => {
            let decoded = decode_node(json).map_err(refused);
            return Some(decoded.map(|node| use_up(&PLAIN.0, &node)));
        }
        _ => {}
    }
    let mut kinds = ObjectKind::ALL.into_iter();
    let kind = kinds.find(|known| known.type_meta().1 == kind)?;
    let decoded = Object::decode(kind, json);
    Some(decoded.map_err(refused).map(|object| {
        assert_eq!(object.kind(), kind);
        assert_eq!(object.key(), &object.meta().key);
    }))
}

fn check(kind: &str, object: &Value) {
    if let Some(Err(reason)) = decode(kind, object) {
        assert!(!reason.is_empty(), "{object}");
    }
}

#[test]
fn objects_of_every_kind_are_decoded_as_they_came() {
    for (kind, object) in &*SEEDS {
        if let Some(decoded) = decode(kind, object) {
            assert_eq!(decoded, Ok(()), "{object}");
        }
    }
    for kind in ObjectKind::ALL {
        let name = kind.type_meta().1;
        assert!(SEEDS.iter().any(|(kind, _)| kind == name), "no {name}");
    }
}

#[test]
fn any_field_made_odd_is_refused_with_a_reason_or_decoded() {
    for (kind, object) in &*SEEDS {
        mutations(object, |mutated| check(kind, mutated));
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        rng_seed: RngSeed::Fixed(0x0dd),
        failure_persistence: None,
        cases: 2_000,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_fields_made_odd_together_are_refused_with_a_reason_or_decoded(
        seed: prop::sample::Index,
        changes in prop::collection::vec(any::<(prop::sample::Index, prop::sample::Index)>(), 1..6),
    ) {
        let (kind, object) = &SEEDS[seed.index(SEEDS.len())];
        let odd = odd_values();
        let mut mutated = object.clone();
        for (place, value) in changes {
            let mut all = Vec::new();
            paths(&mutated, "", &mut all);
            let path = &all[place.index(all.len())];
            *mutated.pointer_mut(path).unwrap() = odd[value.index(odd.len())].clone();
        }
        check(kind, &mutated);
    }
}
