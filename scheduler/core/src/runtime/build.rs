//! From one profile of the configuration to its hooks.
//!
//! Each enabled plugin is built once; its hooks go to the points at which it is enabled,
//! in the order of the configuration.

use std::sync::Arc;

use indexmap::IndexMap;
use plimsoll_config::{Extender, Profile};
use plimsoll_framework::{Args, Depends, Grouping, Hooks, MAX_SCORE, PluginSpec, Point};

use super::{Framework, Hook, Interest, Listener};
use crate::extender;
use crate::plugin_set::{MAX_PLUGINS, PluginIx};
use crate::profile::BuildError;

/// The plugins of one profile, built.
struct Built<'a> {
    profile: &'a Profile,
    hooks: IndexMap<&'static str, Hooks>,
    has_extenders: bool,
}

impl Framework {
    /// Builds the plugins of `profile`, the `index`-th, beside `extenders`.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub(crate) fn new(
        index: usize,
        profile: &Profile,
        extenders: &[Extender],
    ) -> Result<Self, BuildError> {
        let built = Built::new(profile, !extenders.is_empty())?;
        let sorts = built.at(Point::QueueSort, |hooks| hooks.queue_sort.clone())?;
        let count = sorts.len();
        let name = Arc::clone(&profile.scheduler_name);
        let mut sorts = sorts.into_iter();
        let (Some(queue_sort), None) = (sorts.next(), sorts.next()) else {
            return Err(BuildError::QueueSorts {
                profile: name,
                count,
            });
        };
        let bind = built.at(Point::Bind, |hooks| hooks.bind.clone())?;
        if bind.is_empty() {
            return Err(BuildError::NoBind(name));
        }
        let score = built.at(Point::Score, |hooks| hooks.score.clone())?;
        let weights = score.iter().try_fold(0_i64, |sum, hook| {
            sum.checked_add(hook.weight.checked_mul(MAX_SCORE)?.checked_abs()?)
        });
        if weights.is_none() {
            return Err(BuildError::WeightOverflow(name));
        }
        Ok(Self {
            index,
            scheduler_name: name,
            nodes_to_score: profile.percentage_of_nodes_to_score,
            queue_sort,
            extended: extender::look_at_nodes(extenders),
            plugins: built.listeners(),
            grouping: built.grouping(),
            pre_enqueue: built.at(Point::PreEnqueue, |hooks| hooks.pre_enqueue.clone())?,
            pre_filter: built.at(Point::PreFilter, |hooks| hooks.pre_filter.clone())?,
            filter: built.at(Point::Filter, |hooks| hooks.filter.clone())?,
            post_filter: built.at(Point::PostFilter, |hooks| hooks.post_filter.clone())?,
            pre_score: built.at(Point::PreScore, |hooks| hooks.pre_score.clone())?,
            score,
            reserve: built.at(Point::Reserve, |hooks| hooks.reserve.clone())?,
            permit: built.at(Point::Permit, |hooks| hooks.permit.clone())?,
            pre_bind: built.at(Point::PreBind, |hooks| hooks.pre_bind.clone())?,
            bind,
            post_bind: built.at(Point::PostBind, |hooks| hooks.post_bind.clone())?,
        })
    }
}

// === impl Built ===

impl<'a> Built<'a> {
    fn new(profile: &'a Profile, has_extenders: bool) -> Result<Self, BuildError> {
        let mut hooks = IndexMap::new();
        for point in Point::ALL {
            for enabled in profile.points.at(point) {
                let spec = &enabled.spec;
                hooks
                    .entry(spec.name)
                    .or_insert_with(|| build(spec, profile));
            }
        }
        let count = hooks.len() + usize::from(has_extenders);
        if count > MAX_PLUGINS {
            let profile = Arc::clone(&profile.scheduler_name);
            return Err(BuildError::TooManyPlugins { profile, count });
        }
        Ok(Self {
            profile,
            hooks,
            has_extenders,
        })
    }

    /// The hooks at `point`, in order.
    fn at<T: ?Sized>(
        &self,
        point: Point,
        hook_of: impl Fn(&Hooks) -> Option<Arc<T>>,
    ) -> Result<Vec<Hook<T>>, BuildError> {
        let mut list = Vec::new();
        for enabled in self.profile.points.at(point) {
            let name = enabled.spec.name;
            let known = self.hooks.get_full(name);
            let hook = known.and_then(|(index, _, hooks)| {
                let plugin = PluginIx(u8::try_from(index).ok()?);
                Some(Hook {
                    plugin,
                    name,
                    weight: enabled.weight,
                    depends: enabled.spec.depends,
                    run: hook_of(hooks)?,
                })
            });
            let profile = &self.profile.scheduler_name;
            list.push(hook.ok_or_else(|| BuildError::MissingHook {
                profile: Arc::clone(profile),
                plugin: name,
                point,
            })?);
        }
        Ok(list)
    }

    /// Those that group pods, at whatever points they are enabled.
    fn grouping(&self) -> Vec<Hook<dyn Grouping>> {
        let numbered = self.hooks.iter().enumerate();
        let hook = |(index, (name, hooks)): (usize, (&&'static str, &Hooks))| {
            Some(Hook {
                plugin: PluginIx(u8::try_from(index).ok()?),
                name,
                weight: 1,
                depends: Depends::Anything,
                run: hooks.group.clone()?,
            })
        };
        numbered.filter_map(hook).collect()
    }

    fn listeners(&self) -> Vec<Listener> {
        let listener = |(name, hooks): (&&'static str, &Hooks)| {
            let hints = hooks.enqueue.as_ref();
            let interest = hints.map(|hints| Interest {
                events: hints.events(),
                hints: Arc::clone(hints),
            });
            Listener { name, interest }
        };
        // Nobody knows what would change an extender's mind: it hears of everything
        // (kube-scheduler `defaultEnqueueExtension` of `ExtenderName`).
        let extenders = self.has_extenders.then_some(Listener {
            name: extender::NAME,
            interest: None,
        });
        self.hooks.iter().map(listener).chain(extenders).collect()
    }
}

fn build(spec: &PluginSpec, profile: &Profile) -> Hooks {
    let none = Args::none();
    (spec.build)(profile.args.get(spec.name).unwrap_or(&none))
}
