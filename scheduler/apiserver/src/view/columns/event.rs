//! The columns of events.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Column, count, plain, since, text, wide};
use crate::json;

pub(super) static EVENT: &[Column] = &[
    text("Last Seen", |it, now| json!(last_seen(it, now))),
    text("Type", |it, _| plain(it, &["type"])),
    text("Reason", |it, _| plain(it, &["reason"])),
    text("Object", |it, _| json!(subject(it))),
    wide("Subobject", |it, _| {
        plain(it, &["involvedObject", "fieldPath"])
    }),
    wide("Source", |it, _| json!(source(it))),
    text("Message", |it, _| {
        json!(json::text(it, &["message"]).unwrap_or("").trim())
    }),
    wide("First Seen", |it, now| json!(first_seen(it, now))),
    wide("Count", |it, _| json!(times(it))),
    wide("Name", |it, _| plain(it, &["metadata", "name"])),
];

fn first_seen(event: &Value, now: Timestamp) -> String {
    match json::text(event, &["firstTimestamp"]) {
        Some(_) => since(event, &["firstTimestamp"], now),
        None => since(event, &["eventTime"], now),
    }
}

fn last_seen(event: &Value, now: Timestamp) -> String {
    if event["series"].is_object() {
        return since(event, &["series", "lastObservedTime"], now);
    }
    match json::text(event, &["lastTimestamp"]) {
        Some(_) => since(event, &["lastTimestamp"], now),
        None => first_seen(event, now),
    }
}

fn times(event: &Value) -> i64 {
    if event["series"].is_object() {
        return count(event, &["series", "count"]);
    }
    // An event that came once says nothing in the new form.
    count(event, &["count"]).max(1)
}

fn subject(event: &Value) -> String {
    let text = |field| json::text(event, &["involvedObject", field]);
    let kind = text("kind").unwrap_or("").to_lowercase();
    match text("name") {
        Some(name) => format!("{kind}/{name}"),
        None => kind,
    }
}

fn source(event: &Value) -> String {
    let of = |old: &[&str], new: &[&str]| {
        let text = json::text(event, old).or_else(|| json::text(event, new));
        text.unwrap_or("").to_owned()
    };
    let component = of(&["source", "component"], &["reportingComponent"]);
    let host = of(&["source", "host"], &["reportingInstance"]);
    if host.is_empty() {
        return component;
    }
    format!("{component}, {host}")
}
