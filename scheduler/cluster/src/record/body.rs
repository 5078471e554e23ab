//! Events as the API has them.
//!
//! Takes what is to be written, sends the one request that it is. Every field is within
//! the limits of `pkg/apis/core/validation/events.go`.

use plimsoll_core::Failure;
use serde_json::{Value, json};

use super::backlog::{Count, Draft, What};
use crate::call::{Api, Call, accepted};
use crate::path;

/// Longest name of an object, in bytes.
const NAME_MAX: usize = 253;
/// A dot and a time of 16 hexadecimal digits at the end of a name.
const STAMP_LEN: usize = 17;
/// Longest note, in bytes.
const NOTE_MAX: usize = 1024;
/// Longest `reportingInstance`, in bytes.
const INSTANCE_MAX: usize = 128;
/// End of a note that was cut (`pkg/scheduler/schedule_one.go`, `truncateMessage`).
const CUT: &str = " ...";
const EVENTS: &str = "/apis/events.k8s.io/v1";

/// Sends one write.
///
/// # Errors
/// How it failed.
pub(super) async fn send(api: &Api, what: &What, instance: &str) -> Result<(), Failure> {
    let call = match what {
        What::New(draft) => {
            let path =
                path::collection(EVENTS, "events", namespace(&draft.event.pod.key.namespace))?;
            Call::create("events", &path, &new(draft, instance))?
        }
        What::Count(count) => {
            let collection = path::collection(EVENTS, "events", namespace(&count.namespace))?;
            let path = format!("{collection}/{}", path::segment(&count.name)?);
            Call::strategic_patch("events", &path, &series(count))?
        }
    };
    accepted(api.call(call).await).map(drop)
}

/// `metadata.name` of an event about a pod, as client-go makes it.
pub(crate) fn event_name(pod: &str, stamp: i64) -> String {
    let kept = &pod[..pod.floor_char_boundary(NAME_MAX - STAMP_LEN)];
    format!("{}.{stamp:016x}", kept.trim_end_matches(['.', '-']))
}

fn new(draft: &Draft, instance: &str) -> Value {
    let event = &draft.event;
    let pod = &event.pod;
    let instance = format!("{}-{instance}", event.scheduler_name);
    json!({
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"name": draft.name, "namespace": namespace(&pod.key.namespace)},
        "eventTime": format!("{:.6}", draft.at),
        "type": if event.warning { "Warning" } else { "Normal" },
        "reason": event.reason,
        "action": event.action,
        "note": cut(&event.note),
        "reportingController": &*event.scheduler_name,
        "reportingInstance": &instance[..instance.floor_char_boundary(INSTANCE_MAX)],
        "regarding": {
            "apiVersion": "v1",
            "kind": "Pod",
            "namespace": &*pod.key.namespace,
            "name": &*pod.key.name,
            "uid": &*pod.uid.0,
        },
    })
}

fn series(count: &Count) -> Value {
    let last = format!("{:.6}", count.last);
    json!({"series": {"count": count.times, "lastObservedTime": last}})
}

/// The namespace of an event: that of the object it is about.
fn namespace(of_pod: &str) -> &str {
    if of_pod.is_empty() { "default" } else { of_pod }
}

fn cut(note: &str) -> String {
    if note.len() <= NOTE_MAX {
        return note.to_owned();
    }
    let kept = note.floor_char_boundary(NOTE_MAX - CUT.len());
    format!("{}{CUT}", &note[..kept])
}

#[cfg(test)]
mod tests {
    use super::{NOTE_MAX, cut, event_name};

    #[test]
    fn a_name_is_the_pod_and_the_time() {
        assert_eq!(event_name("web-0", 0x1234), "web-0.0000000000001234");
    }

    #[test]
    fn a_long_name_is_cut_so_that_it_stays_a_name() {
        let pod = format!("{}-{}", "a".repeat(235), "b".repeat(17));
        let name = event_name(&pod, 1);
        assert_eq!(name, format!("{}.0000000000000001", "a".repeat(235)));
    }

    #[test]
    fn a_note_is_cut_at_a_character_and_says_so() {
        assert_eq!(cut("short"), "short");
        let note = cut(&"ä".repeat(600));
        assert!(
            note.len() <= NOTE_MAX && note.ends_with("ä ..."),
            "{} bytes",
            note.len()
        );
    }
}
