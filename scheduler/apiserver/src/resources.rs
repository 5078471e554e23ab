//! The resources that the server knows; one line of `table` makes one more.
//!
//! Takes a path, a kind or a name and gives the [`Resource`]: how it is addressed, which parts it has,
//! which fields select it, and where it departs from the common rules.

mod alias;
mod fields;
mod table;

pub(crate) use alias::Alias;
pub(crate) use fields::Field;

use table::RESOURCES;

/// One resource of the API.
#[derive(Debug)]
pub(crate) struct Resource {
    /// The API group, empty for core.
    pub(crate) group: &'static str,
    pub(crate) version: &'static str,
    pub(crate) plural: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) namespaced: bool,
    pub(crate) short_names: &'static [&'static str],
    pub(crate) subresources: &'static [Subresource],
    /// The field labels that a selector may name, beside name and namespace.
    pub(crate) fields: &'static [Field],
    /// Set where the objects are those of another resource under other field names.
    pub(crate) alias: Option<&'static Alias>,
    quirks: &'static [Quirk],
}

/// A part of an object with an address of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Subresource {
    Status,
    Binding,
    Eviction,
    Scale,
}

/// Where a resource departs from the common rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quirk {
    /// What a client says about status on create is dropped.
    ResetsStatus,
    /// `metadata.generation` counts the changes of spec.
    Generation,
    /// An update must state the resource version it was made from.
    ConditionalUpdate,
    /// An update of a missing object makes it.
    CreateOnUpdate,
    /// A delete answers with the object, not with a `Status`.
    ReturnsDeleted,
    /// Names are DNS labels, not subdomains.
    LabelName,
    /// `kubectl get all` shows it.
    InAll,
}

impl Resource {
    /// Gives every resource of the table.
    pub(crate) fn all() -> &'static [Self] {
        RESOURCES
    }

    /// Finds a resource by its place in the API.
    pub(crate) fn at(group: &str, version: &str, plural: &str) -> Option<&'static Self> {
        RESOURCES
            .iter()
            .find(|it| it.plural == plural && it.group == group && it.version == version)
    }

    /// Finds a resource by what an object says of itself.
    pub(crate) fn of(api_version: &str, kind: &str) -> Option<&'static Self> {
        RESOURCES
            .iter()
            .find(|it| it.kind == kind && it.api_version() == api_version)
    }

    /// Finds a resource by plural and group, such as `pods` or `deployments.apps`; the group may be left
    /// out, and the first resource of that plural is then meant.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        RESOURCES
            .iter()
            .find(|it| it.qualified() == name)
            .or_else(|| RESOURCES.iter().find(|it| it.plural == name))
    }

    /// Gives `group/version`, or the version alone for core.
    pub(crate) fn api_version(&self) -> String {
        match self.group {
            "" => self.version.to_owned(),
            group => format!("{group}/{}", self.version),
        }
    }

    /// Gives `plural.group`, as errors name a resource.
    pub(crate) fn qualified(&self) -> String {
        match self.group {
            "" => self.plural.to_owned(),
            group => format!("{}.{group}", self.plural),
        }
    }

    /// Gives `Kind.group`, as errors name an invalid object.
    pub(crate) fn qualified_kind(&self) -> String {
        match self.group {
            "" => self.kind.to_owned(),
            group => format!("{}.{group}", self.kind),
        }
    }

    /// Gives the resource whose objects these are: itself unless it is an alias.
    pub(crate) fn stored(&'static self) -> &'static Self {
        match self.alias {
            Some(alias) => Self::at(alias.group, alias.version, alias.plural).unwrap_or(self),
            None => self,
        }
    }

    pub(crate) fn has(&self, quirk: Quirk) -> bool {
        self.quirks.contains(&quirk)
    }
}

impl Subresource {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Binding => "binding",
            Self::Eviction => "eviction",
            Self::Scale => "scale",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_lines_of_the_table_have_one_address_or_one_kind() {
        for (at, one) in RESOURCES.iter().enumerate() {
            for other in &RESOURCES[at + 1..] {
                assert_ne!(one.qualified(), other.qualified());
                assert_ne!((one.group, one.kind), (other.group, other.kind));
            }
        }
    }

    #[test]
    fn a_resource_is_found_by_address_kind_and_name() {
        let pods = Resource::at("", "v1", "pods").unwrap();
        assert_eq!(Resource::of("v1", "Pod").unwrap().plural, pods.plural);
        assert_eq!(
            Resource::named("deployments").unwrap().qualified(),
            "deployments.apps"
        );
        assert_eq!(
            Resource::named("events.events.k8s.io")
                .unwrap()
                .stored()
                .group,
            ""
        );
        assert!(Resource::at("apps", "v1", "pods").is_none());
    }
}
