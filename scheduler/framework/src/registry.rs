//! All plugins that a binary has: names to specs.

use indexmap::IndexMap;

use crate::spec::PluginSpec;

/// The plugins of one binary, in the order in which they were registered.
#[derive(Debug, Clone, Default)]
pub struct Registry {
    specs: IndexMap<&'static str, PluginSpec>,
}

/// Why a registry cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistryError {
    /// Two plugins have one name.
    #[error("plugin {0} is registered twice")]
    Duplicate(&'static str),
}

// === impl Registry ===

impl Registry {
    /// A registry of `specs`.
    ///
    /// # Errors
    /// Two of them have one name.
    pub fn new(specs: impl IntoIterator<Item = PluginSpec>) -> Result<Self, RegistryError> {
        let mut registry = Self::default();
        for spec in specs {
            registry = registry.with(spec)?;
        }
        Ok(registry)
    }

    /// The same registry with one more plugin: the door for out-of-tree plugins.
    ///
    /// # Errors
    /// The name is taken.
    pub fn with(mut self, spec: PluginSpec) -> Result<Self, RegistryError> {
        let name = spec.name;
        match self.specs.insert(name, spec) {
            None => Ok(self),
            Some(_) => Err(RegistryError::Duplicate(name)),
        }
    }

    /// The plugin `name`.
    pub fn get(&self, name: &str) -> Option<&PluginSpec> {
        self.specs.get(name)
    }

    /// All plugins.
    pub fn iter(&self) -> impl Iterator<Item = &PluginSpec> {
        self.specs.values()
    }
}
