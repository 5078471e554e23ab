//! The checks: one per kind of hook, text out.

pub(super) mod args;
pub(super) mod binding;
pub(super) mod nodes;
pub(super) mod post;
pub(super) mod queue;
#[cfg(test)]
mod tests;

use crate::rejection::Rejection;

/// A rejection as text: `Unschedulable: reason, reason (detail)`.
fn rejection_text(rejection: &Rejection) -> String {
    let text = format!("{}: {}", rejection.code.as_str(), rejection.message());
    let text = match &rejection.detail {
        Some(detail) => format!("{text} ({detail})"),
        None => text,
    };
    match rejection.retry_at {
        Some(at) => format!("{text} [again at {at:?}]"),
        None => text,
    }
}
