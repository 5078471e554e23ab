//! Which victims their disruption budgets do not allow to go.
//!
//! Takes the victims of one node and all budgets, gives the victims in two parts;
//! kube-scheduler `FilterVictimsWithPDBViolation`.

use std::collections::BTreeMap;
use std::sync::Arc;

use plimsoll_framework::Shelf;
use plimsoll_objects::{Labels, ObjectKey, Pod, PodDisruptionBudget};

/// The victims of a node, each part most important first.
#[derive(Debug, PartialEq)]
pub(super) struct Parts {
    /// A budget would be overdrawn.
    pub(super) violating: Vec<Arc<Pod>>,
    /// The others.
    pub(super) allowed: Vec<Arc<Pod>>,
}

/// The budgets of the cluster.
#[derive(Debug)]
pub(super) struct Budgets<'a> {
    all: &'a Shelf<PodDisruptionBudget>,
    /// What was found out so far: the budgets that labels in a namespace fall under. Many
    /// pods of many nodes have the same labels.
    known: BTreeMap<Arc<str>, BTreeMap<Labels, Vec<&'a PodDisruptionBudget>>>,
}

// === impl Budgets ===

impl<'a> Budgets<'a> {
    pub(super) fn new(all: &'a Shelf<PodDisruptionBudget>) -> Self {
        Self {
            all,
            known: BTreeMap::new(),
        }
    }

    /// Splits `victims`, most important first: each takes its place in every budget it falls
    /// under, up to the first one that has none left.
    pub(super) fn split(&mut self, victims: Vec<Arc<Pod>>) -> Parts {
        let mut left = BTreeMap::new();
        let (violating, allowed) = victims
            .into_iter()
            .partition(|victim| self.overdraws(victim, &mut left));
        Parts { violating, allowed }
    }

    fn overdraws(&mut self, victim: &Pod, left: &mut BTreeMap<&'a ObjectKey, i32>) -> bool {
        if self.all.is_empty() {
            return false;
        }
        let over = self.of(victim);
        let counting = over
            .iter()
            .filter(|budget| !budget.disrupted.contains(&victim.key().name));
        for budget in counting {
            let left = left
                .entry(&budget.meta.key)
                .or_insert(budget.disruptions_allowed);
            *left = left.saturating_sub(1);
            if *left < 0 {
                return true;
            }
        }
        false
    }

    /// The budgets that `pod` falls under, by name.
    fn of(&mut self, pod: &Pod) -> &[&'a PodDisruptionBudget] {
        let (namespace, labels) = (&pod.key().namespace, &pod.meta.labels);
        let known = self.known.entry(Arc::clone(namespace)).or_default();
        // Not `entry`: that needs a copy of the labels each time.
        if !known.contains_key(labels) {
            let own = self.all.in_namespace(namespace).map(|budget| &**budget);
            let over = own.filter(|budget| budget.selects(labels)).collect();
            known.insert(labels.clone(), over);
        }
        known.get(labels).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use plimsoll_framework::test_util::{PodBuilder, cluster, pod};
    use plimsoll_objects::Pod;
    use serde_json::{Value, json};

    use super::Budgets;

    fn budget(name: &str, app: &str, allowed: i32) -> Value {
        json!({
            "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"selector": {"matchExpressions": [{"key": app, "operator": "Exists"}]}},
            "status": {"disruptionsAllowed": allowed, "disruptedPods": {"gone": null}},
        })
    }

    fn victim(name: &str, labels: &[&str]) -> PodBuilder {
        labels
            .iter()
            .fold(pod(name), |pod, label| pod.label(label, ""))
    }

    /// Names of the victims that overdraw a budget, then of the others.
    fn names(budgets: Vec<Value>, victims: &[PodBuilder]) -> [Vec<String>; 2] {
        let snapshot = cluster([]).objects(budgets).snapshot();
        let victims = victims.iter().map(PodBuilder::arc).collect();
        let mut all = Budgets::new(&snapshot.catalog().pod_disruption_budgets);
        let parts = all.split(victims);
        let names =
            |pods: Vec<Arc<Pod>>| pods.iter().map(|pod| pod.key().name.to_string()).collect();
        [names(parts.violating), names(parts.allowed)]
    }

    #[test]
    fn the_more_important_victims_use_a_budget_up_first() {
        let victims = ["a", "b", "c"].map(|name| victim(name, &["web"]));
        let split = names(vec![budget("one", "web", 2)], &victims);
        assert_eq!(split, [vec!["c"], vec!["a", "b"]]);
    }

    #[test]
    fn a_pod_that_is_let_go_already_takes_nothing_from_the_budget() {
        let victims = ["gone", "b", "c"].map(|name| victim(name, &["web"]));
        let split = names(vec![budget("one", "web", 1)], &victims);
        assert_eq!(split, [vec!["c"], vec!["gone", "b"]]);
    }

    #[test]
    fn of_several_budgets_those_after_the_first_that_is_used_up_are_left_alone() {
        let budgets = vec![budget("first", "web", 0), budget("second", "shop", 1)];
        let victims = [victim("a", &["web", "shop"]), victim("b", &["shop"])];
        assert_eq!(names(budgets, &victims), [vec!["a"], vec!["b"]]);
        // The other way round the place in the other budget is taken and lost.
        let budgets = vec![budget("first", "shop", 1), budget("second", "web", 0)];
        assert_eq!(names(budgets, &victims), [vec!["a", "b"], vec![]]);
    }

    #[test]
    fn a_budget_is_for_its_own_namespace() {
        let victims = [
            victim("a", &["web"]).namespace("other"),
            victim("b", &["web"]),
        ];
        let split = names(vec![budget("one", "web", 0)], &victims);
        assert_eq!(split, [vec!["b"], vec!["a"]]);
    }

    #[test]
    fn without_budgets_everybody_may_go() {
        let split = names(Vec::new(), &[victim("a", &["web"])]);
        assert_eq!(split, [vec![], vec!["a"]]);
    }
}
