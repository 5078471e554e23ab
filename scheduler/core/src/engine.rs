//! The engine: everything it knows, and one step of it.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use plimsoll_config::SchedulerConfig;
use plimsoll_framework::{NodeLoad, Now, Snapshot};

use crate::aside::Asides;
use crate::binding::Bindings;
use crate::cache::Cache;
use crate::command::Command;
use crate::cycle::desk::Desk;
use crate::event::Event;
use crate::evict::Evictions;
use crate::extender::{Consults, Extenders};
use crate::nominator::Nominator;
use crate::options::EngineOptions;
use crate::outbox::Outbox;
use crate::probe::{Begun, Probe};
use crate::profile::{BuildError, Profiles};
use crate::queue::{Queue, moment};
use crate::random::Random;
use crate::stats::{Counters, EngineStats, InFlightSizes, ProfileAttempts, QueueSizes};
use crate::status::StatusLane;
use crate::timing::{self, Evaluations, Timing};
use crate::watched::Watched;

/// Most decided pods that may wait for a free request before the cycle pauses: a decision
/// is then at most some hundred milliseconds old when it is written.
const MAX_DECIDED_WAITING: usize = 64;

/// The scheduling engine. One thread owns it and calls [`Engine::step`].
pub struct Engine {
    pub(crate) profiles: Arc<Profiles>,
    pub(crate) now: Now,
    pub(crate) cache: Cache,
    pub(crate) queue: Queue,
    pub(crate) nominator: Nominator,
    pub(crate) watched: Watched,
    pub(crate) bindings: Bindings,
    pub(crate) status: StatusLane,
    pub(crate) evictions: Evictions,
    pub(crate) asides: Asides,
    pub(crate) extenders: Extenders,
    pub(crate) consults: Consults,
    pub(crate) snapshot: Snapshot,
    pub(crate) desk: Desk,
    pub(crate) random: Random,
    /// Where in the order of nodes the next search begins, if searches do not see all.
    pub(crate) next_start: usize,
    pub(crate) outbox: Outbox,
    pub(crate) counters: Counters,
    pub(crate) attempts: Vec<ProfileAttempts>,
    /// The node of the newest sample that the cluster has no node for.
    pub(crate) unknown_node: Option<Arc<str>>,
    pub(crate) probe: Probe,
    /// When the event that is being taken in came, or the last change of it was told.
    pub(crate) event_began: Begun,
    /// When load was last looked at for pods that wait for it.
    pub(crate) load_looked_at: Duration,
    pub(crate) nodes_listed: bool,
    pub(crate) pods_listed: bool,
    /// Whether it decides: until then it takes everything in and asks for nothing.
    pub(crate) leads: bool,
}

impl Engine {
    /// An engine that knows nothing of the cluster yet. The plugins come with `config`.
    ///
    /// # Errors
    /// A profile of `config` cannot be built.
    pub fn new(config: &SchedulerConfig, options: EngineOptions) -> Result<Self, BuildError> {
        let profiles = Arc::new(Profiles::new(config)?);
        let now = Now {
            mono: Duration::ZERO,
            wall: Timestamp::UNIX_EPOCH,
        };
        let mut cache = Cache::new(options.load);
        cache.set_load_on(options.load_on);
        cache.set_link_speeds(options.link_speeds);
        let attempts = profiles.names().map(|name| ProfileAttempts {
            scheduler_name: Arc::clone(name),
            ..ProfileAttempts::default()
        });
        Ok(Self {
            attempts: attempts.collect(),
            unknown_node: None,
            probe: Probe::new(options.stopwatch, config.profiles.len()),
            event_began: Begun::default(),
            load_looked_at: Duration::ZERO,
            now,
            cache,
            queue: Queue::new(
                Arc::clone(&profiles),
                config.pod_initial_backoff,
                config.pod_max_backoff,
            ),
            nominator: Nominator::default(),
            watched: Watched::default(),
            bindings: Bindings::new(options.min_binds_in_flight, options.max_binds_in_flight),
            status: StatusLane::default(),
            evictions: Evictions::default(),
            asides: Asides::default(),
            extenders: Extenders::new(&config.extenders),
            consults: Consults::default(),
            snapshot: Snapshot::empty(now),
            desk: Desk::new(options.tables),
            random: Random::new(options.seed),
            next_start: 0,
            outbox: Outbox::default(),
            counters: Counters::default(),
            nodes_listed: false,
            pods_listed: false,
            leads: options.leads,
            profiles,
        })
    }

    /// Takes one event, does what has become due, runs at most one scheduling cycle, and
    /// gives what is to be done. A monotonic clock that goes back stands still.
    pub fn step(&mut self, now: Now, event: Event) -> Vec<Command> {
        self.now = Now {
            mono: now.mono.max(self.now.mono),
            wall: now.wall,
        };
        self.take(event);
        self.queue.flush(moment(self.now, &self.snapshot));
        if self.leads {
            self.tell_waiting_groups();
        }
        self.fire_deadlines();
        self.fire_evictions();
        self.fire_asides();
        self.dispatch();
        self.look_at_load();
        if self.may_cycle() {
            self.run_cycle();
            self.dispatch();
        }
        self.outbox.take()
    }

    /// When [`Engine::step`] is to be called at the latest, on the monotonic clock: the
    /// instant of the last step while there is work, `None` if only an event can make some.
    pub fn next_wakeup(&self) -> Option<Duration> {
        if !self.leads {
            return None;
        }
        if self.may_cycle() {
            return Some(self.now.mono);
        }
        let times = [
            self.queue.next_flush(),
            self.bindings.next_deadline(|uid| self.status.is_asked(uid)),
            self.status.next_deadline(),
            self.evictions.next_deadline(),
            self.asides.next_deadline(),
            self.next_load_look(),
        ];
        times
            .into_iter()
            .flatten()
            .min()
            .map(|time| time.max(self.now.mono))
    }

    /// The load of the node `name` as a cycle at `now` would see it; `None` if there is no
    /// such node.
    pub fn node_load(&mut self, now: Now, name: &str) -> Option<NodeLoad> {
        self.cache.update_snapshot(&mut self.snapshot, now);
        let id = self.cache.node_id(name)?;
        Some(self.snapshot.load(id))
    }

    /// The cluster and its load as of `now`, as the next cycle would see it: for pages and
    /// metrics.
    pub fn snapshot(&mut self, now: Now) -> &Snapshot {
        self.cache.update_snapshot(&mut self.snapshot, now);
        &self.snapshot
    }

    /// Gives what was timed since the last call; nothing without a stopwatch.
    pub fn drain_timings(&self, take: impl FnMut(Timing)) {
        self.probe.drain(take);
    }

    /// How often each plugin was asked.
    pub fn evaluations(&self) -> Vec<Evaluations> {
        let frameworks = self.profiles.all().enumerate();
        let rows = frameworks.flat_map(|(index, framework)| {
            let counts = self.probe.evaluations(index).into_iter();
            counts.map(|(point, plugin, count)| Evaluations {
                profile: Arc::clone(&framework.scheduler_name),
                plugin: framework.name_of(plugin),
                point: timing::label(point),
                count,
            })
        });
        rows.collect()
    }

    /// What the engine counts.
    pub fn stats(&self) -> EngineStats {
        EngineStats {
            queue: self.queue_sizes(),
            cache: self.cache.sizes(),
            in_flight: self.in_flight(),
            attempts: self.attempts.clone(),
            incoming: self.queue.incoming(),
            unschedulable: self.queue.unschedulable_by_plugin(),
            missed_events: self.queue.in_flight_events(),
            unknown_node: self.unknown_node.clone(),
            counters: Counters {
                status: self.status.counters,
                evictions: self.evictions.counters,
                ..self.counters
            },
        }
    }

    /// Pods in line for an extender are to be tried, as those in the active queue.
    fn queue_sizes(&self) -> QueueSizes {
        let sizes = self.queue.sizes();
        let (_, in_line) = self.consults.sizes();
        QueueSizes {
            active: sizes.active + in_line,
            ..sizes
        }
    }

    fn in_flight(&self) -> InFlightSizes {
        let (evictions, preemptors) = self.evictions.sizes();
        let (asking, asking_waiting) = self.consults.sizes();
        InFlightSizes {
            evictions,
            preemptors,
            asking,
            asking_waiting,
            asides: self.asides.len(),
            nominations: self.status.nominations(),
            ..self.bindings.sizes(self.status.sizes())
        }
    }

    /// Whether a scheduling cycle would run now: it leads, both first lists have come, a pod
    /// waits, and few enough decided pods wait for a free request.
    fn may_cycle(&self) -> bool {
        self.leads
            && self.nodes_listed
            && self.pods_listed
            && self.bindings.waiting() <= MAX_DECIDED_WAITING
            && (self.queue.has_next() || self.consults.has_turn())
    }

    fn dispatch(&mut self) {
        self.status.dispatch(&mut self.outbox, self.now.mono);
        self.ask_for_bindings();
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine")
            .field("now", &self.now)
            .finish_non_exhaustive()
    }
}
