//! What a plugin looks at: how nodes, pods and objects are drawn for it.

use plimsoll_config::SchedulerConfig;
use serde_json::{Value, json};

use crate::dice::Dice;
use crate::world::World;

/// One plugin with the cluster that it is tried in.
pub(crate) struct Theme {
    pub(crate) plugin: &'static str,
    /// Its args in YAML flow style.
    pub(crate) args: &'static str,
    /// A node of this name.
    pub(crate) node: fn(&mut Dice, &str) -> Value,
    /// A pod on a node; its name and node are filled in.
    pub(crate) placed: fn(&mut Dice) -> Value,
    /// The pod that waits.
    pub(crate) own: fn(&mut Dice) -> Value,
    /// One draw of every object that there may be.
    pub(crate) objects: fn(&mut Dice) -> Vec<Value>,
    /// How often nodes, placed pods, the pod itself and objects change.
    pub(crate) weights: [usize; 4],
    /// How likely each of them is there at first, in percent.
    pub(crate) present: usize,
    /// What of an object of each kind may change.
    pub(crate) mutable: &'static [(&'static str, &'static str)],
}

impl Theme {
    pub(crate) fn config(&self) -> SchedulerConfig {
        let (plugin, args) = (self.plugin, self.args);
        let args = if args.is_empty() {
            String::new()
        } else {
            format!("  pluginConfig: [{{name: {plugin}, args: {args}}}]\n")
        };
        let text = format!(
            "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n\
             profiles:\n- schedulerName: default-scheduler\n{args}  plugins:\n    multiPoint:\n      \
             disabled: [{{name: '*'}}]\n      enabled: [{{name: PrioritySort}}, {{name: {plugin}}}, \
             {{name: DefaultBinder}}]\n"
        );
        let registry = plimsoll_plugins::registry();
        plimsoll_config::load(&text, &registry).expect("a right file")
    }

    pub(crate) fn world(&self, dice: &mut Dice) -> World {
        let mut world = World {
            nodes: std::collections::BTreeMap::new(),
            placed: std::collections::BTreeMap::new(),
            objects: std::collections::BTreeMap::new(),
            own: dressed((self.own)(dice), "own"),
        };
        for number in 0..=dice.below(3) {
            let name = format!("n{number}");
            let node = named((self.node)(dice, &name), &name);
            world.nodes.insert(name, node);
        }
        for number in 0..dice.below(5) {
            let node = format!("n{}", dice.below(world.nodes.len()));
            let name = format!("p{number}");
            let pod = placed_pod(dice, self, &name, &node);
            world.placed.insert(name, pod);
        }
        for object in (self.objects)(dice) {
            if dice.chance(self.present) {
                world.insert(object);
            }
        }
        world
    }
}

/// A node as drawn, with what every node has.
pub(crate) fn named(mut node: Value, name: &str) -> Value {
    node["apiVersion"] = "v1".into();
    node["kind"] = "Node".into();
    node["metadata"]["name"] = name.into();
    node["metadata"]["labels"]["kubernetes.io/hostname"] = name.into();
    if node["status"]["allocatable"].is_null() {
        node["status"]["allocatable"] = json!({"cpu": "100", "memory": "100Gi", "pods": "110"});
    }
    node
}

/// A pod with what every pod has.
pub(crate) fn dressed(mut pod: Value, name: &str) -> Value {
    pod["apiVersion"] = "v1".into();
    pod["kind"] = "Pod".into();
    pod["metadata"]["name"] = name.into();
    pod["metadata"]["uid"] = name.into();
    if pod["metadata"]["namespace"].is_null() {
        pod["metadata"]["namespace"] = "default".into();
    }
    if pod["spec"]["containers"].is_null() {
        pod["spec"]["containers"] = json!([{"name": "main", "resources": {}}]);
    }
    if pod["spec"]["tolerations"].is_null() {
        pod["spec"]["tolerations"] = json!([]);
    }
    pod["status"]["phase"] = "Pending".into();
    pod
}

pub(crate) fn placed_pod(dice: &mut Dice, theme: &Theme, name: &str, node: &str) -> Value {
    let mut pod = dressed((theme.placed)(dice), name);
    pod["spec"]["nodeName"] = node.into();
    pod["status"]["phase"] = "Running".into();
    pod
}

/// No objects of other kinds.
pub(crate) fn none(_: &mut Dice) -> Vec<Value> {
    Vec::new()
}

/// Nothing to say of a node.
pub(crate) fn plain_node(_: &mut Dice, _: &str) -> Value {
    json!({})
}

/// Nothing to say of a pod.
pub(crate) fn plain_pod(_: &mut Dice) -> Value {
    json!({})
}
