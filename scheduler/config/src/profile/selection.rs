//! Whether pods can be expected to ask for a profile: they do so by its exact name.

use plimsoll_framework::FieldPath;

use crate::defaults::SCHEDULER_NAME;
use crate::scheduler_config::Warning;
use crate::v1::profile::Profile;

/// A name this many typing errors away from the default was meant to be it.
const TYPOS_MAX: usize = 2;

/// Keeps a warning for every profile whose name pods will hardly give.
pub(crate) fn warn(profiles: &[Profile], warnings: &mut Vec<Warning>) {
    let name = |profile: &Profile| profile.scheduler_name.clone().unwrap_or_default();
    let names: Vec<String> = profiles.iter().map(name).collect();
    for (i, name) in names.iter().enumerate() {
        if let Some(problem) = problem(name, &names[..i]) {
            let path = FieldPath::new("profiles").index(i).field("schedulerName");
            let text = format!("hardly any pod will ask for this profile: {problem}");
            warnings.push(Warning { path, text });
        }
    }
}

fn problem(name: &str, earlier: &[String]) -> Option<String> {
    let odd = |c: char| c.is_whitespace() || c.is_control();
    if name.contains(odd) {
        return Some(format!(
            "the name {name:?} has white space or control characters in it, and pods give it \
             to the letter"
        ));
    }
    let twin = |other: &&String| other.to_lowercase() == name.to_lowercase() && *other != name;
    if let Some(twin) = earlier.iter().find(twin) {
        return Some(format!(
            "`{name}` differs from the profile `{twin}` in upper and lower case alone"
        ));
    }
    let typos = strsim::osa_distance(&name.to_lowercase(), SCHEDULER_NAME);
    let near = typos <= TYPOS_MAX && !name.starts_with(SCHEDULER_NAME);
    near.then(|| {
        format!("those that name no scheduler ask for `{SCHEDULER_NAME}`, which `{name}` is not")
    })
}

#[cfg(test)]
mod tests {
    use super::problem;

    #[test]
    fn a_name_that_pods_do_not_give_is_told() {
        let earlier = ["batch".to_owned()];
        for (name, said) in [
            ("batch\n", "white space"),
            ("my scheduler", "white space"),
            ("Batch", "upper and lower case"),
            ("default_scheduler", "ask for `default-scheduler`"),
            ("Default-Scheduler", "ask for `default-scheduler`"),
        ] {
            let problem = problem(name, &earlier).unwrap();
            assert!(problem.contains(said), "{problem}");
        }
    }

    #[test]
    fn usual_names_are_fine() {
        for name in [
            "default-scheduler",
            "default-scheduler-2",
            "batch2",
            "plimsoll",
            "",
        ] {
            assert_eq!(problem(name, &["batch".to_owned()]), None, "{name}");
        }
    }
}
