//! All profiles of one engine: scheduler names to frameworks.
//!
//! Takes the checked configuration, gives one [`Framework`] per profile.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_config::SchedulerConfig;
use plimsoll_framework::{ClusterEvent, Point, QueueSort};

use crate::plugin_set::{MAX_PLUGINS, PluginSet};
use crate::runtime::{Framework, Hook};

/// Index of a profile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ProfileIx(usize);

/// At least one profile; all with the same queue order.
pub(crate) struct Profiles {
    first: Framework,
    rest: Vec<Framework>,
    by_name: BTreeMap<Arc<str>, ProfileIx>,
}

/// Why an engine cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// There is no profile.
    #[error("the configuration has no profile")]
    NoProfile,
    /// Two profiles have one scheduler name.
    #[error("two profiles have the schedulerName {0}")]
    DuplicateProfile(Arc<str>),
    /// A plugin is enabled at a point that it does not serve.
    #[error("profile {profile}: plugin {plugin} has no hook for {}", point.as_str())]
    MissingHook {
        /// The profile.
        profile: Arc<str>,
        /// The plugin.
        plugin: &'static str,
        /// The point.
        point: Point,
    },
    /// There must be exactly one queue order.
    #[error("profile {profile}: {count} plugins are enabled at queueSort, there must be one")]
    QueueSorts {
        /// The profile.
        profile: Arc<str>,
        /// How many there are.
        count: usize,
    },
    /// All profiles share one queue.
    #[error("profile {profile}: queueSort is {plugin}, that of the first profile is {first}")]
    OtherQueueSort {
        /// The profile.
        profile: Arc<str>,
        /// Its plugin.
        plugin: &'static str,
        /// The plugin of the first profile.
        first: &'static str,
    },
    /// Nothing would ever be bound.
    #[error("profile {0}: no plugin is enabled at bind")]
    NoBind(Arc<str>),
    /// The engine keeps sets of plugins as bits.
    #[error(
        "profile {profile}: {count} plugins are enabled, at most {} can be",
        MAX_PLUGINS
    )]
    TooManyPlugins {
        /// The profile.
        profile: Arc<str>,
        /// How many are enabled.
        count: usize,
    },
    /// A node's total would not fit (kube-scheduler refuses it too).
    #[error("profile {0}: the weights of the score plugins are too large in sum")]
    WeightOverflow(Arc<str>),
}

// === impl Profiles ===

impl Profiles {
    /// Builds every profile of `config`.
    ///
    /// # Errors
    /// The first thing that is wrong; a checked configuration has nothing, unless a plugin
    /// does not build the hooks that it declares.
    pub(crate) fn new(config: &SchedulerConfig) -> Result<Self, BuildError> {
        let numbered = config.profiles.iter().enumerate();
        let built: Result<Vec<_>, _> = numbered
            .map(|(index, profile)| Framework::new(index, profile, &config.extenders))
            .collect();
        let frameworks = built?;
        let mut by_name = BTreeMap::new();
        for (index, framework) in frameworks.iter().enumerate() {
            let name = &framework.scheduler_name;
            if by_name.insert(Arc::clone(name), ProfileIx(index)).is_some() {
                return Err(BuildError::DuplicateProfile(Arc::clone(name)));
            }
        }
        let mut frameworks = frameworks.into_iter();
        let first = frameworks.next().ok_or(BuildError::NoProfile)?;
        let rest: Vec<Framework> = frameworks.collect();
        let other = rest
            .iter()
            .find(|one| one.queue_sort.name != first.queue_sort.name);
        match other {
            None => Ok(Self {
                first,
                rest,
                by_name,
            }),
            Some(other) => Err(BuildError::OtherQueueSort {
                profile: Arc::clone(&other.scheduler_name),
                plugin: other.queue_sort.name,
                first: first.queue_sort.name,
            }),
        }
    }

    /// The profile `index`.
    pub(crate) fn get(&self, index: ProfileIx) -> &Framework {
        let rest = index
            .0
            .checked_sub(1)
            .and_then(|index| self.rest.get(index));
        rest.unwrap_or(&self.first)
    }

    /// The profile that schedules pods with this `schedulerName`.
    pub(crate) fn index_of(&self, scheduler_name: &str) -> Option<ProfileIx> {
        self.by_name.get(scheduler_name).copied()
    }

    /// Names of all profiles, in the order of the configuration.
    pub(crate) fn names(&self) -> impl Iterator<Item = &Arc<str>> {
        self.all().map(|framework| &framework.scheduler_name)
    }

    /// The plugins that listen to `event`, by the index of their profile.
    pub(crate) fn listeners(&self, event: ClusterEvent) -> Vec<PluginSet> {
        self.all()
            .map(|framework| framework.listeners(event))
            .collect()
    }

    /// The plugins that named `event` among those they want to hear of, by the index of their
    /// profile.
    pub(crate) fn registered_for(&self, event: ClusterEvent) -> Vec<PluginSet> {
        self.all()
            .map(|framework| framework.registered_for(event))
            .collect()
    }

    /// All profiles, in the order of the configuration.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Framework> {
        std::iter::once(&self.first).chain(&self.rest)
    }

    /// The order of the queue.
    pub(crate) fn queue_sort(&self) -> &Hook<dyn QueueSort> {
        &self.first.queue_sort
    }
}

// === impl ProfileIx ===

impl ProfileIx {
    pub(crate) fn index(self) -> usize {
        self.0
    }
}
