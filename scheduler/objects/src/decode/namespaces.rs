//! JSON of the API server -> [`Namespace`].

use super::{DecodeError, convert, parse, wire};
use crate::namespace::Namespace;

/// Decodes a `v1.Namespace`.
///
/// # Errors
/// The first mistake in the object, with its path.
pub(crate) fn namespace(json: &[u8]) -> Result<Namespace, DecodeError> {
    let wire: wire::Headed<'_> = parse(json)?;
    Ok(Namespace {
        meta: convert::meta(wire.metadata.as_ref(), "")?,
    })
}
