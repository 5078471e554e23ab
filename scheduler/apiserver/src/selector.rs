//! Which objects a list, a watch or a collection delete is about.
//!
//! Takes the `labelSelector` and `fieldSelector` of a request and gives one [`Selection`], or the refusal
//! of kube-apiserver (400) where they cannot be read.

mod field;
mod label;

pub(crate) use label::LabelSelector;

use crate::{resources::Resource, status::Status, store::Object};
use field::FieldSelector;

/// The conditions an object must meet, all of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selection {
    labels: LabelSelector,
    fields: FieldSelector,
}

impl Selection {
    /// Reads both selectors of a request on `resource`; an empty text selects everything.
    pub(crate) fn parse(
        resource: &'static Resource,
        labels: &str,
        fields: &str,
    ) -> Result<Self, Status> {
        Ok(Self {
            labels: LabelSelector::parse(labels)?,
            fields: FieldSelector::parse(resource, fields)?,
        })
    }

    /// Tells whether the selection lets everything through.
    pub(crate) fn is_everything(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    pub(crate) fn matches(&self, object: &Object) -> bool {
        self.labels.matches(|key| object.label(key)) && self.fields.matches(object)
    }
}
