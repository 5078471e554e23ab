//! The default plugins with those of a file merged in.

use crate::defaults::PLUGINS;
use crate::v1::profile::PluginSet;

/// Name that stands for all plugins in a list of disabled ones.
pub(super) const ALL: &str = "*";

/// One plugin of a merged list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) name: String,
    /// 0 means 1.
    pub(super) weight: i32,
    /// Its place in the file's list of enabled plugins; `None` for an untouched default.
    pub(super) origin: Option<usize>,
}

/// The defaults that `set` does not disable, those that it enables again replaced in place
/// (the last entry of a name counts), then what else it enables, in its order
/// (`mergePluginSet`).
pub(super) fn defaults(set: &PluginSet) -> Vec<Entry> {
    let disabled = |name: &str| set.disabled.iter().any(|plugin| plugin.name == name);
    let entry = |origin: usize| Entry {
        name: set.enabled[origin].name.clone(),
        weight: set.enabled[origin].weight,
        origin: Some(origin),
    };
    let mut merged: Vec<Entry> = Vec::new();
    let mut replacing = Vec::new();
    let kept = PLUGINS
        .iter()
        .filter(|(name, _)| !disabled(ALL) && !disabled(name));
    for (name, weight) in kept {
        let again = set.enabled.iter().rposition(|plugin| plugin.name == *name);
        replacing.extend(again);
        merged.push(again.map_or_else(
            || Entry {
                name: (*name).to_owned(),
                weight: *weight,
                origin: None,
            },
            entry,
        ));
    }
    let others = (0..set.enabled.len()).filter(|origin| !replacing.contains(origin));
    merged.extend(others.map(entry));
    merged
}

/// `name` as the list of defaults has it.
pub(super) fn default_name(name: &str) -> Option<&'static str> {
    PLUGINS.iter().map(|(own, _)| *own).find(|own| *own == name)
}

#[cfg(test)]
mod tests {
    use super::defaults;
    use crate::v1::profile::{Plugin, PluginSet};

    fn set(enabled: &[(&str, i32)], disabled: &[&str]) -> PluginSet {
        let plugin = |(name, weight): (&str, i32)| Plugin {
            name: name.to_owned(),
            weight,
        };
        PluginSet {
            enabled: enabled.iter().copied().map(plugin).collect(),
            disabled: disabled.iter().map(|name| plugin((name, 0))).collect(),
        }
    }

    fn merged(enabled: &[(&str, i32)], disabled: &[&str]) -> Vec<(String, i32)> {
        let entries = defaults(&set(enabled, disabled));
        entries
            .into_iter()
            .map(|entry| (entry.name, entry.weight))
            .collect()
    }

    #[test]
    fn a_default_that_is_enabled_again_keeps_its_place_and_takes_the_weight() {
        let plain = merged(&[], &[]);
        let again = merged(&[("ImageLocality", 9), ("TaintToleration", 0)], &[]);
        assert_eq!(plain.len(), again.len());
        assert_eq!(again[4], ("TaintToleration".to_owned(), 0));
        assert_eq!(again[17], ("ImageLocality".to_owned(), 9));
    }

    #[test]
    fn new_plugins_come_last_in_their_own_order() {
        let names: Vec<_> = merged(&[("B", 1), ("A", 2)], &[]).split_off(20);
        assert_eq!(names, [("B".to_owned(), 1), ("A".to_owned(), 2)]);
    }

    #[test]
    fn a_default_that_is_disabled_and_enabled_comes_last() {
        let last = merged(&[("NodePorts", 0)], &["NodePorts"]).pop().unwrap();
        assert_eq!(last.0, "NodePorts");
        assert_eq!(merged(&[("NodePorts", 0)], &["*"]).len(), 1);
        assert_eq!(merged(&[], &["NodePorts"]).len(), 19);
    }

    #[test]
    fn of_a_name_that_is_enabled_twice_the_first_stays_over() {
        let entries = defaults(&set(&[("NodePorts", 0), ("NodePorts", 0)], &[]));
        let origins: Vec<_> = entries.iter().filter_map(|entry| entry.origin).collect();
        assert_eq!(origins, [1, 0]);
    }
}
