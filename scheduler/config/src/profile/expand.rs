//! `multiPoint` and the points -> one ordered list per point.

use plimsoll_framework::{FieldError, FieldPath, PluginSpec, Point, Registry, Stage};

use super::merge::{ALL, Entry};
use super::{EnabledPlugin, Points, unknown};
use crate::v1::profile::{GROUP_POINTS, Plugin, PluginSet, Plugins};

/// Points in the order in which kube-scheduler fills them (`getExtensionPoints`): of
/// several mistakes it names the first.
const FILL_ORDER: [Point; 12] = [
    Point::PreFilter,
    Point::Filter,
    Point::PostFilter,
    Point::Reserve,
    Point::PreScore,
    Point::Score,
    Point::PreBind,
    Point::Bind,
    Point::PostBind,
    Point::Permit,
    Point::PreEnqueue,
    Point::QueueSort,
];
/// Largest sum of weight times score (`fwk.MaxTotalScore`).
const TOTAL_SCORE_MAX: i128 = i64::MAX as i128;

/// The lists of one profile, being made.
#[derive(Debug)]
pub(super) struct Expansion<'a> {
    registry: &'a Registry,
    plugins: &'a Plugins,
    multi: &'a [Entry],
    /// `profiles[i].plugins`.
    path: FieldPath,
}

// === impl Expansion ===

impl<'a> Expansion<'a> {
    pub(super) fn new(
        registry: &'a Registry,
        plugins: &'a Plugins,
        multi: &'a [Entry],
        path: FieldPath,
    ) -> Self {
        Self {
            registry,
            plugins,
            multi,
            path,
        }
    }

    /// All lists; every mistake is kept.
    pub(super) fn run(&self, errors: &mut Vec<FieldError>) -> Points {
        for point in FILL_ORDER {
            self.check_point(point, errors);
        }
        self.check_group_points(errors);
        self.check_multi_point(errors);
        let mut points = Points::default();
        for point in FILL_ORDER {
            points.set(point, self.list(point));
        }
        self.check_essentials(&points, errors);
        self.check_total(errors);
        points
    }

    /// The list of a point: (1) plugins enabled at the point and by `multiPoint`, in the
    /// point's order, (2) the others of `multiPoint`, (3) those enabled only at the point.
    fn list(&self, point: Point) -> Vec<EnabledPlugin> {
        let set = self.plugins.at(point);
        let own: Vec<_> = set
            .enabled
            .iter()
            .filter_map(|plugin| self.own(plugin, point))
            .collect();
        let multi: Vec<_> = self
            .multi
            .iter()
            .filter_map(|e| self.by_multi(e, &set, point))
            .collect();
        let has = |list: &[EnabledPlugin], name| list.iter().any(|own| own.spec.name == name);
        let (both, only_own): (Vec<_>, Vec<_>) = own
            .iter()
            .cloned()
            .partition(|plugin| has(&multi, plugin.spec.name));
        let rest = multi
            .into_iter()
            .filter(|plugin| !has(&own, plugin.spec.name));
        both.into_iter().chain(rest).chain(only_own).collect()
    }

    fn own(&self, plugin: &Plugin, point: Point) -> Option<EnabledPlugin> {
        let spec = self.serving(&plugin.name, point)?;
        Some(EnabledPlugin {
            spec: spec.clone(),
            weight: weight(plugin.weight, point),
        })
    }

    fn by_multi(&self, entry: &Entry, set: &PluginSet, point: Point) -> Option<EnabledPlugin> {
        if set
            .disabled
            .iter()
            .any(|plugin| plugin.name == ALL || plugin.name == entry.name)
        {
            return None;
        }
        let spec = self.serving(&entry.name, point)?;
        Some(EnabledPlugin {
            spec: spec.clone(),
            weight: weight(entry.weight, point),
        })
    }

    fn serving(&self, name: &str, point: Point) -> Option<&PluginSpec> {
        self.registry
            .get(name)
            .filter(|spec| spec.points.contains(&point))
    }

    fn check_point(&self, point: Point, errors: &mut Vec<FieldError>) {
        let set = self.plugins.at(point);
        let path = self.path.field(point.as_str()).field("enabled");
        for (i, plugin) in set.enabled.iter().enumerate() {
            let name = plugin.name.as_str();
            let problem = match self.registry.get(name) {
                None => unknown::describe(name, self.registry),
                Some(spec) if !spec.points.contains(&point) => serves_elsewhere(spec),
                Some(_) if set.enabled[..i].iter().any(|earlier| earlier.name == name) => {
                    format!("plugin `{name}` is enabled here already")
                }
                Some(_) => continue,
            };
            errors.push(FieldError::new(Stage::Profile, path.index(i), problem));
        }
    }

    /// Plugins at the points for pod groups do nothing in this build, but must exist.
    fn check_group_points(&self, errors: &mut Vec<FieldError>) {
        let sets = self
            .plugins
            .sets()
            .filter(|(name, _)| GROUP_POINTS.contains(name));
        for (point, set) in sets {
            let path = self.path.field(point).field("enabled");
            for (i, plugin) in set.enabled.iter().enumerate() {
                let name = plugin.name.as_str();
                if self.registry.get(name).is_none() && !unknown::is_upstream(name) {
                    let problem = unknown::describe(name, self.registry);
                    errors.push(FieldError::new(Stage::Profile, path.index(i), problem));
                }
            }
        }
    }

    fn check_multi_point(&self, errors: &mut Vec<FieldError>) {
        let path = self.path.field("multiPoint").field("enabled");
        for (i, entry) in self.multi.iter().enumerate() {
            let Some(origin) = entry.origin else { continue };
            let twin = self.multi[..i]
                .iter()
                .find(|earlier| earlier.name == entry.name);
            let (at, problem) = match (self.registry.get(&entry.name), twin) {
                (None, _) => (origin, unknown::describe(&entry.name, self.registry)),
                (Some(_), Some(twin)) => (
                    twin.origin.map_or(origin, |earlier| earlier.max(origin)),
                    format!("plugin `{}` is enabled here already", entry.name),
                ),
                (Some(_), None) => continue,
            };
            errors.push(FieldError::new(Stage::Profile, path.index(at), problem));
        }
    }

    /// A queue needs one order, and a pod needs somebody to bind it.
    fn check_essentials(&self, points: &Points, errors: &mut Vec<FieldError>) {
        let sorters = points.at(Point::QueueSort).len();
        if sorters != 1 {
            let problem = format!("exactly one plugin must sort the queue, not {sorters}");
            let path = self.path.field(Point::QueueSort.as_str());
            errors.push(FieldError::new(Stage::Profile, path, problem));
        }
        if points.at(Point::Bind).is_empty() {
            let problem = "at least one plugin must bind pods";
            let path = self.path.field(Point::Bind.as_str());
            errors.push(FieldError::new(Stage::Profile, path, problem));
        }
    }

    /// The sum of weights must not overflow a total score. As in kube-scheduler
    /// (`getValidScoreWeights`), whose check wraps around when a sum is negative, this also
    /// refuses a plugin that follows one with a negative weight.
    fn check_total(&self, errors: &mut Vec<FieldError>) {
        let own = self.plugins.at(Point::Score).enabled;
        let own = own
            .iter()
            .map(|plugin| (plugin.name.as_str(), plugin.weight));
        let multi = self
            .multi
            .iter()
            .map(|entry| (entry.name.as_str(), entry.weight));
        let mut counted = Vec::new();
        let mut total = 0_i128;
        for (name, given) in own.chain(multi) {
            if self.serving(name, Point::Score).is_none() || counted.contains(&name) {
                continue;
            }
            counted.push(name);
            let most = i128::from(weight(given, Point::Score) * plimsoll_framework::MAX_SCORE);
            if total < 0 || most > TOTAL_SCORE_MAX - total {
                let problem = "the sum of weight times score could overflow: \
                               weights must be positive and far smaller";
                let path = self.path.field(Point::Score.as_str());
                errors.push(FieldError::new(Stage::Profile, path, problem));
                return;
            }
            total += most;
        }
    }
}

fn serves_elsewhere(spec: &PluginSpec) -> String {
    let points: Vec<_> = spec.points.iter().map(|point| point.as_str()).collect();
    format!(
        "plugin `{}` does not serve this point, but {}",
        spec.name,
        points.join(", ")
    )
}

/// A weight of 0 means 1; only score has any.
fn weight(given: i32, point: Point) -> i64 {
    match (point, given) {
        (Point::Score, 1.. | ..=-1) => i64::from(given),
        _ => 1,
    }
}
