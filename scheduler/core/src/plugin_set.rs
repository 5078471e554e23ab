//! A plugin of one profile as a small number, and sets of them as bits.

/// Most plugins that one profile can enable: the width of [`PluginSet`]. kube-scheduler's
/// default profile has 19.
pub(crate) const MAX_PLUGINS: usize = 128;

/// Index of a plugin within its profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PluginIx(pub(crate) u8);

/// A set of plugins of one profile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PluginSet(u128);

impl PluginSet {
    pub(crate) const EMPTY: Self = Self(0);

    pub(crate) fn one(plugin: PluginIx) -> Self {
        let mut set = Self::EMPTY;
        set.insert(plugin);
        set
    }

    pub(crate) fn insert(&mut self, plugin: PluginIx) {
        self.0 |= 1_u128.checked_shl(u32::from(plugin.0)).unwrap_or(0);
    }

    pub(crate) fn contains(self, plugin: PluginIx) -> bool {
        !self.and(Self::one(plugin)).is_empty()
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// All members, the first plugin of the profile first.
    pub(crate) fn iter(self) -> impl Iterator<Item = PluginIx> {
        (0..MAX_PLUGINS as u8)
            .map(PluginIx)
            .filter(move |plugin| self.contains(*plugin))
    }
}
