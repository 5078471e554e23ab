//! A plugin as the engine would run it, one step at a time, with the framework's types.

use serde_json::Value;

use crate::cycle::Cycle;
use crate::cycle_state::CycleState;
use crate::field::{FieldError, FieldPath};
use crate::node::{NodeId, NodeInfo};
use crate::plugin::{FilterOutcome, NodeScore, PreFilterOutcome, PreScoreOutcome};
use crate::rejection::Rejection;
use crate::spec::{Args, Hooks, PluginSpec};
use crate::{MAX_SCORE, MIN_SCORE};

/// One plugin with its args decoded and its hooks built.
#[derive(Debug)]
pub struct Trial {
    name: &'static str,
    /// The hooks.
    pub hooks: Hooks,
}

/// A node's score, before and after `normalize`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scored {
    /// The node.
    pub node: NodeId,
    /// As `score` gave it.
    pub raw: i64,
    /// As `normalize` left it.
    pub normalised: i64,
}

/// Decodes `args` (`null` for none), or gives every mistake in them.
pub(super) fn decode(spec: &PluginSpec, args: &Value) -> Result<Args, Vec<FieldError>> {
    let mut errors = Vec::new();
    let decoded = (spec.decode_args)(args, &FieldPath::new("args"), &mut errors);
    if errors.is_empty() {
        Ok(decoded)
    } else {
        Err(errors)
    }
}

// === impl Trial ===

impl Trial {
    /// Decodes `args` (`null` for none) and builds the plugin.
    ///
    /// # Panics
    /// The args are wrong, or the hooks are not those of the points that the spec declares.
    pub fn new(spec: &PluginSpec, args: &Value) -> Self {
        let args = match decode(spec, args) {
            Ok(args) => args,
            Err(errors) => panic!("args of {}: {errors:?}", spec.name),
        };
        let hooks = (spec.build)(&args);
        let mut declared = spec.points.to_vec();
        declared.sort_unstable();
        assert_eq!(
            hooks.points(),
            declared,
            "hooks and points of {} differ",
            spec.name
        );
        Self {
            name: spec.name,
            hooks,
        }
    }

    /// Runs `PreFilter`; a plugin without it is ready.
    ///
    /// # Errors
    /// What the hook says.
    pub fn pre_filter(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
    ) -> Result<PreFilterOutcome, Rejection> {
        match &self.hooks.pre_filter {
            Some(hook) => hook.pre_filter(cycle, state),
            None => Ok(PreFilterOutcome::Ready),
        }
    }

    /// Runs `Filter` on one node; a plugin without it lets every node pass.
    ///
    /// # Errors
    /// What the hook says.
    pub fn filter(
        &self,
        cycle: &Cycle<'_>,
        state: &CycleState,
        node: &NodeInfo,
    ) -> Result<FilterOutcome, Rejection> {
        match &self.hooks.filter {
            Some(hook) => hook.filter(cycle, state, node),
            None => Ok(FilterOutcome::Pass),
        }
    }

    /// Runs `PreScore`, `Score` and `normalize` over `feasible`; `None` if `PreScore` skips.
    ///
    /// # Errors
    /// What a hook says, or that a score lies outside 0..=100 in the end.
    ///
    /// # Panics
    /// The plugin has no `Score`, or a node is not in the snapshot.
    pub fn scores(
        &self,
        cycle: &Cycle<'_>,
        state: &mut CycleState,
        feasible: &[NodeId],
    ) -> Result<Option<Vec<Scored>>, Rejection> {
        let hook = self
            .hooks
            .score
            .as_ref()
            .expect("the plugin has a Score hook");
        if let Some(pre_score) = &self.hooks.pre_score
            && pre_score.pre_score(cycle, state, feasible)? == PreScoreOutcome::Skip
        {
            return Ok(None);
        }
        let mut scores = Vec::with_capacity(feasible.len());
        for id in feasible {
            let node = cycle
                .snapshot
                .get(*id)
                .expect("a feasible node is in the snapshot");
            scores.push(NodeScore {
                node: *id,
                score: hook.score(cycle, state, node)?,
            });
        }
        let raw = scores.clone();
        hook.normalize(cycle, state, &mut scores)?;
        let pairs = raw.iter().zip(&scores);
        let scored = pairs.map(|(raw, done)| Scored {
            node: raw.node,
            raw: raw.score,
            normalised: done.score,
        });
        let scored: Vec<Scored> = scored.collect();
        self.within_range(&scored).map(|()| Some(scored))
    }

    fn within_range(&self, scored: &[Scored]) -> Result<(), Rejection> {
        match scored
            .iter()
            .find(|row| !(MIN_SCORE..=MAX_SCORE).contains(&row.normalised))
        {
            None => Ok(()),
            Some(row) => Err(Rejection::error(format!(
                "plugin {} gives the score {} after normalizing",
                self.name, row.normalised
            ))),
        }
    }
}
