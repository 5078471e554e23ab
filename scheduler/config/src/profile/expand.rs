//! `multiPoint` and the points -> one ordered list per point.

use plimsoll_framework::{FieldError, FieldPath, PluginSpec, Point, Registry, Stage};

use super::merge::{ALL, Entry};
use super::{EnabledPlugin, unknown, upstream};
use crate::v1::profile::{GROUP_POINTS, Plugin, PluginSet, Plugins};

/// Points in the order in which kube-scheduler fills them (`getExtensionPoints`): of
/// several mistakes it names the first.
const FILL_ORDER: [Place; 15] = [
    Place::At(Point::PreFilter),
    Place::At(Point::Filter),
    Place::At(Point::PostFilter),
    Place::At(Point::Reserve),
    Place::At(Point::PreScore),
    Place::At(Point::Score),
    Place::At(Point::PreBind),
    Place::At(Point::Bind),
    Place::At(Point::PostBind),
    Place::At(Point::Permit),
    Place::At(Point::PreEnqueue),
    Place::At(Point::QueueSort),
    Place::Group(GROUP_POINTS[0]),
    Place::Group(GROUP_POINTS[1]),
    Place::Group(GROUP_POINTS[2]),
];
/// Where scores are summed.
const SCORED: [Place; 2] = [Place::At(Point::Score), Place::Group(GROUP_POINTS[1])];
/// Largest sum of weight times score (`fwk.MaxTotalScore`).
const TOTAL_SCORE_MAX: i128 = i64::MAX as i128;

/// A point at which a file may enable plugins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// For pods.
    At(Point),
    /// For pod groups, by its name in the file.
    Group(&'static str),
}

/// The lists of one profile, being made.
#[derive(Debug)]
pub(super) struct Expansion<'a> {
    registry: &'a Registry,
    plugins: &'a Plugins,
    multi: &'a [Entry],
    /// `profiles[i].plugins`.
    path: FieldPath,
}

// === impl Place ===

impl Place {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::At(point) => point.as_str(),
            Self::Group(name) => name,
        }
    }

    /// Whether weights count here.
    pub(super) fn is_scored(self) -> bool {
        SCORED.contains(&self)
    }
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
    pub(super) fn run(&self, errors: &mut Vec<FieldError>) -> Vec<(Place, Vec<EnabledPlugin>)> {
        for place in FILL_ORDER {
            self.check_point(place, errors);
        }
        self.check_multi_point(errors);
        let lists = FILL_ORDER.map(|place| (place, self.list(place)));
        let count = |wanted| {
            let mut lists = lists.iter();
            lists
                .find(|(place, _)| *place == wanted)
                .map_or(0, |(_, list)| list.len())
        };
        self.check_essentials(count, errors);
        self.check_totals(errors);
        lists.into()
    }

    /// The list of a point: (1) plugins enabled at the point and by `multiPoint`, in the
    /// point's order, (2) the others of `multiPoint`, (3) those enabled only at the point.
    fn list(&self, place: Place) -> Vec<EnabledPlugin> {
        let set = self.plugins.set(place.name());
        let own = set.enabled.iter();
        let own: Vec<_> = own.filter_map(|plugin| self.own(plugin, place)).collect();
        let multi = self.multi.iter();
        let multi: Vec<_> = multi
            .filter_map(|entry| self.by_multi(entry, set, place))
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

    fn own(&self, plugin: &Plugin, place: Place) -> Option<EnabledPlugin> {
        let spec = self.serving(&plugin.name, place)?;
        Some(EnabledPlugin {
            spec: spec.clone(),
            weight: weight(plugin.weight, place),
        })
    }

    fn by_multi(&self, entry: &Entry, set: &PluginSet, place: Place) -> Option<EnabledPlugin> {
        if set
            .disabled
            .iter()
            .any(|plugin| plugin.name == ALL || plugin.name == entry.name)
        {
            return None;
        }
        let spec = self.serving(&entry.name, place)?;
        Some(EnabledPlugin {
            spec: spec.clone(),
            weight: weight(entry.weight, place),
        })
    }

    fn serving(&self, name: &str, place: Place) -> Option<&PluginSpec> {
        self.registry
            .get(name)
            .filter(|spec| upstream::serves(spec, place.name()))
    }

    fn check_point(&self, place: Place, errors: &mut Vec<FieldError>) {
        let place = place.name();
        let set = self.plugins.set(place);
        let path = self.path.field(place).field("enabled");
        for (i, plugin) in set.enabled.iter().enumerate() {
            let name = plugin.name.as_str();
            let problem = match self.registry.get(name) {
                None => unknown::describe(name, self.registry),
                Some(spec) if !upstream::places(spec).any(|own| own == place) => {
                    serves_elsewhere(spec)
                }
                Some(_) if set.enabled[..i].iter().any(|earlier| earlier.name == name) => {
                    format!("plugin `{name}` is enabled here already")
                }
                Some(_) => continue,
            };
            errors.push(FieldError::new(Stage::Profile, path.index(i), problem));
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

    /// A queue needs one order, a pod needs somebody to bind it, and of placements of a
    /// group there is one source at most.
    fn check_essentials(&self, count: impl Fn(Place) -> usize, errors: &mut Vec<FieldError>) {
        let mut refuse = |place: Place, problem: String| {
            let path = self.path.field(place.name());
            // Who is missing there has been said already.
            let under = format!("{path}.");
            let said = |error: &FieldError| error.path.as_str().starts_with(&under);
            if !errors.iter().any(said) {
                errors.push(FieldError::new(Stage::Profile, path, problem));
            }
        };
        let (sort, bind) = (Place::At(Point::QueueSort), Place::At(Point::Bind));
        let sorters = count(sort);
        if sorters != 1 {
            let problem = format!("exactly one plugin must sort the queue, not {sorters}");
            refuse(sort, problem);
        }
        if count(bind) == 0 {
            refuse(bind, "at least one plugin must bind pods".to_owned());
        }
        let generate = Place::Group(GROUP_POINTS[0]);
        if count(generate) > 1 {
            let problem = "at most one plugin can generate placements".to_owned();
            refuse(generate, problem);
        }
    }

    fn check_totals(&self, errors: &mut Vec<FieldError>) {
        for place in SCORED {
            if !self.total_fits(place) {
                let problem = "the sum of weight times score could overflow: \
                               weights must be positive and far smaller";
                let path = self.path.field(place.name());
                errors.push(FieldError::new(Stage::Profile, path, problem));
            }
        }
    }

    /// Whether the sum of weights does not overflow a total score. As in kube-scheduler
    /// (`getValidScoreWeights`), whose check wraps around when a sum is negative, a plugin
    /// that follows one with a negative weight does not fit either.
    fn total_fits(&self, place: Place) -> bool {
        let own = self.plugins.set(place.name()).enabled.iter();
        let own = own.map(|plugin| (plugin.name.as_str(), plugin.weight));
        let multi = self.multi.iter();
        let multi = multi.map(|entry| (entry.name.as_str(), entry.weight));
        let mut counted = Vec::new();
        let mut total = 0_i128;
        for (name, given) in own.chain(multi) {
            if self.serving(name, place).is_none() || counted.contains(&name) {
                continue;
            }
            counted.push(name);
            let most = i128::from(weight(given, place) * plimsoll_framework::MAX_SCORE);
            if total < 0 || most > TOTAL_SCORE_MAX - total {
                return false;
            }
            total += most;
        }
        true
    }
}

fn serves_elsewhere(spec: &PluginSpec) -> String {
    let places: Vec<_> = upstream::places(spec).collect();
    let name = spec.name;
    format!(
        "plugin `{name}` does not serve this point, but {}",
        places.join(", ")
    )
}

/// A weight of 0 means 1; only scores have any.
fn weight(given: i32, place: Place) -> i64 {
    match given {
        1.. | ..=-1 if place.is_scored() => i64::from(given),
        _ => 1,
    }
}
