//! Something happens: the same for the queue and for the model.

use plimsoll_objects::{Pod, Uid};

use super::entry::News;
use super::fakes;
use super::{Happening, Scope};
use crate::random::Random;

/// A change of the cluster on which these letters are; pods up to `made` have been made.
pub(super) fn draw(random: &mut Random, letters: &str, made: usize) -> (News, Happening) {
    let mut news = News {
        label: "NodeAdd",
        heard_by: &["GateA", "One", "Two"],
        wakes: Some(letters.to_owned()),
        most_priority: None,
        only: None,
        for_everybody: false,
    };
    let happening = match random.below(7) {
        0 | 1 => fakes::node_news(letters, true),
        2 => {
            (news.label, news.heard_by) = ("NodeUpdateNodeLabel", &["One"]);
            fakes::node_news(letters, false)
        }
        3 => {
            (news.label, news.heard_by) = ("AssignedPodDelete", &["Two"]);
            let most = random.below(3) as i32;
            news.most_priority = Some(most);
            fakes::pod_news(letters).within(Scope::AtMost(most))
        }
        4 => {
            (news.label, news.heard_by) = ("NodeUpdateNodeAnnotation", &[]);
            news.wakes = None;
            fakes::nobodys_news()
        }
        5 => {
            (news.label, news.heard_by) = ("NodeUpdateLoad", &["Two"]);
            news.wakes = None;
            Happening::load_unjudged()
        }
        _ => {
            let uid = format!("p{}", random.below(made.max(1)));
            (news.label, news.for_everybody) = ("ForceActivate", true);
            news.only = Some(uid.clone());
            Happening::wildcard().within(Scope::Only(Uid(uid.as_str().into())))
        }
    };
    (news, happening)
}

/// What a change of a pod is for itself: nothing, if it says the same as before.
pub(super) fn own(old: &Pod, new: &Pod) -> Vec<News> {
    if old.spec == new.spec && old.meta == new.meta {
        return Vec::new();
    }
    let (label, heard_by) = if old.meta.labels == new.meta.labels {
        ("TargetPodUpdate", &[][..])
    } else {
        ("TargetPodUpdatePodLabel", &["GateA", "GateB", "One"][..])
    };
    let letters = new.meta.labels.get("wakes");
    vec![News {
        label,
        heard_by,
        wakes: Some(letters.map_or("", |letters| &**letters).into()),
        most_priority: None,
        only: Some(new.uid().to_string()),
        for_everybody: false,
    }]
}
