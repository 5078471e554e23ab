//! Resources that show the objects of another one under other field names.
//!
//! `events.k8s.io/v1` and core `v1` events are the same objects in a cluster: the first is what a
//! scheduler writes, the second what `kubectl describe` reads. Takes an object of one form and gives the
//! other; both differ only in the names of top-level fields.

use serde_json::Value;

/// How an alias maps to the resource that holds its objects.
#[derive(Debug)]
pub(crate) struct Alias {
    pub(super) group: &'static str,
    pub(super) version: &'static str,
    pub(super) plural: &'static str,
    /// Pairs of (stored name, alias name).
    renames: &'static [(&'static str, &'static str)],
}

pub(super) static EVENTS: Alias = Alias {
    group: "",
    version: "v1",
    plural: "events",
    renames: &[
        ("involvedObject", "regarding"),
        ("message", "note"),
        ("reportingComponent", "reportingController"),
        ("source", "deprecatedSource"),
        ("firstTimestamp", "deprecatedFirstTimestamp"),
        ("lastTimestamp", "deprecatedLastTimestamp"),
        ("count", "deprecatedCount"),
    ],
};

impl Alias {
    /// Turns a stored object into the alias's form.
    pub(crate) fn show(&self, object: &mut Value) {
        for (stored, shown) in self.renames {
            rename(object, stored, shown);
        }
    }

    /// Turns an object of the alias's form into the stored form.
    pub(crate) fn store(&self, object: &mut Value) {
        for (stored, shown) in self.renames {
            rename(object, shown, stored);
        }
    }

    /// Gives the stored name of a field label such as `regarding.name`.
    pub(crate) fn stored_label(&self, label: &str) -> String {
        let (head, rest) = match label.split_once('.') {
            Some((head, rest)) => (head, Some(rest)),
            None => (label, None),
        };
        let head = self
            .renames
            .iter()
            .find(|(_, shown)| *shown == head)
            .map_or(head, |(stored, _)| stored);
        rest.map_or_else(|| head.to_owned(), |rest| format!("{head}.{rest}"))
    }
}

fn rename(object: &mut Value, from: &str, to: &str) {
    let Some(map) = object.as_object_mut() else {
        return;
    };
    if let Some(value) = map.remove(from) {
        map.insert(to.to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_survives_both_ways() {
        let shown =
            json!({"regarding": {"name": "a"}, "note": "n", "reason": "r", "series": {"count": 2}});
        let mut event = shown.clone();
        EVENTS.store(&mut event);
        assert_eq!(
            event,
            json!({"involvedObject": {"name": "a"}, "message": "n", "reason": "r", "series": {"count": 2}})
        );
        EVENTS.show(&mut event);
        assert_eq!(event, shown);
    }

    #[test]
    fn a_label_of_the_alias_is_found_under_its_stored_name() {
        assert_eq!(EVENTS.stored_label("regarding.name"), "involvedObject.name");
        assert_eq!(EVENTS.stored_label("type"), "type");
    }
}
