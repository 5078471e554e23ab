//! Verdicts that are kept are those that would be made anew: two engines, one with tables
//! and one without, are told the same and say the same, step by step.

use std::sync::Arc;
use std::time::Duration;

use plimsoll_core::{Command, CommandId, Engine, EngineOptions, Event, Failure, FailureKind};
use plimsoll_framework::Now;
use plimsoll_framework::test_util::{NodeBuilder, PodBuilder, node, pod};
use plimsoll_objects::{Object, ObjectKind, Pod, TaintEffect};
use plimsoll_tests::sample;
use serde_json::json;

/// Enough for tables to be mended rather than made anew.
const NODES: usize = 40;
const STEPS: usize = 250;
const SEEDS: u64 = 24;

const CONFIGS: [&str; 3] = [
    "",
    "profiles:
- schedulerName: default-scheduler
  plugins:
    multiPoint:
      enabled:
      - {name: ActualLoadScore, weight: 30}
      - {name: ActualLoadFilter}
- schedulerName: other
  percentageOfNodesToScore: 50
",
    // The load filter comes first, softly and hard.
    "profiles:
- plugins:
    filter:
      disabled: [{name: '*'}]
      enabled: [{name: ActualLoadFilter}, {name: NodeResourcesFit}, {name: TaintToleration}]
    score:
      disabled: [{name: '*'}]
      enabled: [{name: TaintToleration}, {name: ActualLoadScore}, {name: NodeResourcesFit}]
    preScore:
      enabled: [{name: ActualLoadScore}]
    preFilter:
      disabled: [{name: DynamicResources}]
  pluginConfig:
  - name: ActualLoadFilter
    args: {mode: hard, thresholds: {cpu: 0.5}}
",
];

/// Two engines that are told the same.
struct Twins {
    random: fastrand::Rng,
    with: Engine,
    without: Engine,
    now: Duration,
    open: Vec<CommandId>,
    pods: Vec<Arc<Pod>>,
    made: usize,
    bound: usize,
}

impl Twins {
    fn new(config: &str, seed: u64) -> Self {
        let text = format!(
            "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n{config}"
        );
        let registry = plimsoll_plugins::registry();
        let config = plimsoll_config::load(&text, &registry).expect("a right file");
        let engine = |tables| {
            let options = EngineOptions {
                tables,
                ..EngineOptions::default()
            };
            Engine::new(&config, options).expect("profiles that can be built")
        };
        let mut twins = Self {
            random: fastrand::Rng::with_seed(seed),
            with: engine(true),
            without: engine(false),
            now: Duration::from_mins(1),
            open: Vec::new(),
            pods: Vec::new(),
            made: 0,
            bound: 0,
        };
        let nodes = (0..NODES).map(|index| twins.node(index).arc()).collect();
        twins.step(Event::NodesListed(nodes));
        twins.step(Event::PodsListed(Vec::new()));
        twins
    }

    fn step(&mut self, event: Event) {
        let now = Now::at(self.now);
        let said = self.with.step(now, event.clone());
        let expected = self.without.step(now, event);
        assert_eq!(said, expected);
        for command in said {
            match command {
                Command::Bind { id, .. } => {
                    self.bound += 1;
                    self.open.push(id);
                }
                Command::PatchStatus { id, .. }
                | Command::Apply { id, .. }
                | Command::Evict { id, .. } => self.open.push(id),
                Command::AskExtender { .. } | Command::RecordEvent(_) | Command::Decided(_) => {}
            }
        }
    }

    /// One thing happens, and the engines work until they rest.
    fn happen(&mut self) {
        let event = match self.random.u32(..100) {
            0..40 => self.arrival(),
            40..45 => self.foreign(),
            45..57 => self.departure(),
            57..72 => self.answer(),
            72..82 => {
                let index = self.random.usize(..NODES);
                Event::NodeSet(self.node(index).arc())
            }
            82..84 => Event::NodeGone(name(self.random.usize(..NODES)).into()),
            84..90 => {
                let index = self.random.usize(..NODES);
                let mut sample = sample(index, self.now.as_secs(), self.now);
                sample.node = name(index).into();
                Event::Samples(vec![sample])
            }
            90..92 => self.device_class(),
            _ => {
                self.now += Duration::from_millis(self.random.u64(..3_000));
                Event::Tick
            }
        };
        self.step(event);
        for _ in 0..1_000 {
            let due = self.with.next_wakeup();
            assert_eq!(due, self.without.next_wakeup());
            if due.is_none_or(|due| due > self.now) {
                return;
            }
            self.step(Event::Tick);
        }
    }

    fn node(&mut self, index: usize) -> NodeBuilder {
        let random = &mut self.random;
        let cores = ["1", "2", "4", "8"][random.usize(..4)];
        let made = node(&name(index))
            .cpu(cores)
            .memory("8Gi")
            .zone(["a", "b", "c"][index % 3]);
        let made = match random.u32(..8) {
            0 => made.taint("team", "red", TaintEffect::NoSchedule),
            1 => made.taint("team", "red", TaintEffect::PreferNoSchedule),
            2 => made.unschedulable(),
            3 => made.label("disk", "ssd"),
            _ => made,
        };
        let made = match random.u32(..4) {
            0 => made.image("web:latest", 400 << 20),
            1 => made.image("db:latest", 900 << 20),
            _ => made,
        };
        if random.bool() {
            made.allocatable("example.com/gpu", "2")
        } else {
            made
        }
    }

    /// A pod of one of a few templates.
    fn arrival(&mut self) -> Event {
        self.made += 1;
        let kind = self.random.usize(..12);
        let made = self.template(kind);
        let made = if self.random.u32(..10) == 0 {
            made.scheduler("other")
        } else {
            made
        };
        self.set(&made)
    }

    fn template(&mut self, kind: usize) -> PodBuilder {
        let made = pod(&format!("p{}", self.made)).memory("100Mi");
        match kind {
            0..3 => made.cpu("500m").image("web"),
            3 => made.cpu("1").image("db").priority(10),
            4 => made.cpu("250m").tolerates_any("team"),
            5 => made.cpu("250m").request("example.com/gpu", "1"),
            6 => made
                .cpu("100m")
                .merge(json!({"spec": {"nodeSelector": {"disk": "ssd"}}})),
            7 => made
                .cpu("100m")
                .label("app", "soft")
                .merge(spread("soft", "ScheduleAnyway")),
            8 => made
                .cpu("100m")
                .label("app", "hard")
                .merge(spread("hard", "DoNotSchedule")),
            9 => made
                .cpu("100m")
                .label("app", "lone")
                .merge(json!({"spec": {"affinity": {
                "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{
                    "topologyKey": "kubernetes.io/hostname",
                    "labelSelector": {"matchLabels": {"app": "lone"}}}]}}}})),
            10 => made.cpu("6").priority(5),
            _ => made.cpu("100m").merge(json!({"spec": {"containers": [{
                "name": "main", "image": "web",
                "ports": [{"containerPort": 80, "hostPort": 8_080}]}]}})),
        }
    }

    /// A pod that another scheduler has placed.
    fn foreign(&mut self) -> Event {
        self.made += 1;
        let on = name(self.random.usize(..NODES));
        let made = pod(&format!("p{}", self.made)).cpu("500m").on(&on);
        self.set(&made)
    }

    fn set(&mut self, made: &PodBuilder) -> Event {
        let made = made.arc();
        self.pods.push(Arc::clone(&made));
        Event::PodSet(made)
    }

    fn departure(&mut self) -> Event {
        if self.pods.is_empty() {
            return Event::Tick;
        }
        let gone = self.pods.swap_remove(self.random.usize(..self.pods.len()));
        Event::PodGone {
            key: gone.key().clone(),
            uid: gone.uid().clone(),
        }
    }

    fn answer(&mut self) -> Event {
        if self.open.is_empty() {
            return Event::Tick;
        }
        let id = self.open.swap_remove(self.random.usize(..self.open.len()));
        let outcome = match self.random.u32(..5) {
            0 => Err(Failure {
                kind: FailureKind::Conflict,
                message: "is bound already".to_owned(),
            }),
            _ => Ok(()),
        };
        Event::Completed { id, outcome }
    }

    /// Devices may stand behind the extended resource from now on.
    fn device_class(&mut self) -> Event {
        let class = json!({
            "metadata": {"name": "gpu", "resourceVersion": self.random.u32(..).to_string()},
            "spec": {"extendedResourceName": "example.com/gpu"}});
        let text = class.to_string();
        Object::decode(ObjectKind::DeviceClass, text.as_bytes())
            .map_or(Event::Tick, Event::ObjectSet)
    }
}

fn spread(app: &str, or: &str) -> serde_json::Value {
    json!({"spec": {"topologySpreadConstraints": [{
        "maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": or,
        "labelSelector": {"matchLabels": {"app": app}}}]}})
}

fn name(index: usize) -> String {
    format!("n{index}")
}

#[test]
fn an_engine_with_tables_says_what_one_without_says() {
    let mut bound = 0;
    for seed in 0..SEEDS {
        let mut twins = Twins::new(CONFIGS[seed as usize % CONFIGS.len()], seed);
        for _ in 0..STEPS {
            twins.happen();
        }
        bound += twins.bound;
    }
    assert!(bound > 500, "only {bound} pods were bound");
}
