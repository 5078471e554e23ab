//! Whether two versions of an object's metadata say the same.

use plimsoll_objects::ObjectMeta;

/// Compares all that the scheduler reads: everything but the version, which changes with
/// every write to any part of the object.
pub(crate) fn says_same(one: &ObjectMeta, other: &ObjectMeta) -> bool {
    // Spelt out, so that a new field must be thought about.
    let ObjectMeta {
        key,
        uid,
        resource_version: _,
        labels,
        annotations,
        controller,
        created,
        deleted,
    } = one;
    (key, uid, labels, annotations) == (&other.key, &other.uid, &other.labels, &other.annotations)
        && (controller, created, deleted) == (&other.controller, &other.created, &other.deleted)
}
