//! Rejections of one cycle by plugin and reasons: the histogram of the message, the
//! plugins to wait for, the record.

use std::collections::BTreeMap;
use std::time::Duration;

use plimsoll_framework::{Code, NodeId, Reason, Rejection};

use super::message::Histogram;
use crate::queue::Setback;
use crate::runtime::Framework;

/// Nodes that gave the same rejection.
#[derive(Debug)]
pub(crate) struct Group<'a> {
    /// The first of these nodes.
    pub(crate) example: NodeId,
    /// Its rejection.
    pub(crate) rejection: &'a Rejection,
    pub(crate) count: usize,
}

type Key<'a> = (&'a str, Code, &'a [Reason]);

/// Groups `rejected`: the largest group first, equals in the order of their first node.
pub(crate) fn group(rejected: &[(NodeId, Rejection)]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    let mut index_of: BTreeMap<Key<'_>, usize> = BTreeMap::new();
    let mut last: Option<(Key<'_>, usize)> = None;
    for (node, rejection) in rejected {
        let key: Key<'_> = (&rejection.plugin, rejection.code, &rejection.reasons);
        // Neighbours mostly give the same reason.
        let known = last
            .filter(|(same, _)| *same == key)
            .map(|(_, index)| index);
        let index = known.unwrap_or_else(|| {
            *index_of.entry(key).or_insert_with(|| {
                groups.push(Group {
                    example: *node,
                    rejection,
                    count: 0,
                });
                groups.len() - 1
            })
        });
        groups[index].count += 1;
        last = Some((key, index));
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.count));
    groups
}

/// Counts of all groups by reason.
pub(crate) fn histogram<'a>(groups: &[Group<'a>]) -> Histogram<'a> {
    let mut histogram = Histogram::default();
    for group in groups {
        histogram.add(group.rejection, group.count);
    }
    histogram
}

/// Whom the pod waits for: the plugins of all groups.
pub(crate) fn setback(framework: &Framework, groups: &[Group<'_>]) -> Setback {
    let mut setback = Setback::default();
    for group in groups {
        add(&mut setback, framework, group.rejection);
    }
    setback
}

/// Adds the plugin of one rejection.
pub(crate) fn add(setback: &mut Setback, framework: &Framework, rejection: &Rejection) {
    let Some(plugin) = framework.index_of(&rejection.plugin) else {
        return;
    };
    if rejection.code == Code::Pending {
        setback.pending.insert(plugin);
    } else {
        setback.rejectors.insert(plugin);
    }
}

/// The earliest of two times, where there is one.
pub(crate) fn earliest(a: Option<Duration>, b: Option<Duration>) -> Option<Duration> {
    [a, b].into_iter().flatten().min()
}

#[cfg(test)]
mod tests {
    use plimsoll_framework::{NodeId, Rejection};

    use super::group;

    #[test]
    fn nodes_with_the_same_plugin_code_and_reasons_are_one_group() {
        let rejected = [
            (NodeId(0), Rejection::unschedulable("cpu").by("Fit")),
            (NodeId(1), Rejection::unresolvable("taint").by("Taint")),
            (
                NodeId(2),
                Rejection::unschedulable("cpu")
                    .by("Fit")
                    .with_detail("1 of 2"),
            ),
            (NodeId(3), Rejection::unresolvable("cpu").by("Fit")),
            (NodeId(4), Rejection::unschedulable("cpu").by("Fit")),
        ];
        let groups: Vec<_> = group(&rejected)
            .iter()
            .map(|group| (group.example.0, group.count))
            .collect();
        assert_eq!(groups, [(0, 3), (1, 1), (3, 1)]);
    }
}
