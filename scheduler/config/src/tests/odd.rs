//! Input that nobody writes on purpose: never a panic, always a reason.

use std::fs;
use std::path::Path;

use proptest::prelude::*;

use super::{file, load, mistakes, plugins};
use crate::Lines;

/// Text of a file with every section.
fn every_section() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/config");
    fs::read_to_string(folder.join("02-every-section.yaml")).unwrap()
}

#[test]
fn a_number_that_is_none_is_refused() {
    for number in [".nan", ".inf", "-.inf", "1e999"] {
        let seen = mistakes(&format!("clientConnection: {{qps: {number}}}\n"));
        assert_eq!(seen.len(), 1, "{number}: {seen:?}");
    }
}

#[test]
fn anchors_that_grow_without_end_are_refused() {
    let level = |n: usize| {
        let aliases = vec![format!("*a{}", n - 1); 9].join(", ");
        format!("a{n}: &a{n} [{aliases}]\n")
    };
    let bomb = "a0: &a0 [x]\n".to_owned() + &(1..12).map(level).collect::<String>();
    assert_eq!(mistakes(&bomb).len(), 1);
}

#[test]
fn nesting_without_end_is_refused() {
    for open in ["[", "{a: ", "- "] {
        assert_eq!(
            mistakes(&format!("profiles: {}", open.repeat(50_000))).len(),
            1
        );
    }
}

#[test]
fn thousands_of_mistakes_are_all_told() {
    let fields: Vec<_> = (0..5_000).map(|n| format!("x{n}: 1")).collect();
    assert_eq!(mistakes(&fields.join("\n")).len(), 5_000);
    let plugins: Vec<_> = (0..2_000).map(|n| format!("{{name: P{n}}}")).collect();
    let set = format!(
        "profiles: [{{plugins: {{filter: {{enabled: [{}]}}}}}}]",
        plugins.join(",")
    );
    assert_eq!(mistakes(&set).len(), 2_000);
}

#[test]
fn keys_that_are_no_text_are_unknown_fields() {
    for key in ["1", "true", "~", "1.5"] {
        let seen = mistakes(&format!("{key}: x\n"));
        assert_eq!(seen.len(), 1, "{key}: {seen:?}");
    }
    assert_eq!(mistakes("[a]: x\n").len(), 1);
}

#[test]
fn control_characters_are_refused_or_kept_as_they_are() {
    assert_eq!(mistakes("parallelism: \u{0}\n").len(), 1);
    let config = load("profiles:\n- schedulerName: \"a\\tb\"\n");
    assert_eq!(&*config.profiles[0].scheduler_name, "a\tb");
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC{0,80}") {
        let result = crate::load(&text, &plugins::registry());
        prop_assert!(result.is_err_and(|errors| !errors.is_empty()));
    }

    #[test]
    fn no_value_in_any_field_panics(
        field in prop::sample::select(vec![
            "parallelism", "profiles", "extenders", "leaderElection", "clientConnection", "podMaxBackoffSeconds",
        ]),
        value in prop::sample::select(vec![
            "null", "-1", "1e99", "[]", "{}", "[null]", "[[]]", "x", "[{plugins: [], pluginConfig: {}}]",
            "[{plugins: {score: {enabled: [null, {weight: 1e9}]}}}]", "{leaseDuration: x, burst: 1.5, qps: -1}",
            "[{managedResources: [null], tlsConfig: 3, weight: 99999999999999999999}]",
        ]),
    ) {
        match crate::load(&file(&format!("{field}: {value}\n")), &plugins::registry()) {
            Ok(config) => prop_assert!(!config.profiles.is_empty()),
            Err(errors) => prop_assert!(!errors.is_empty()),
        }
    }

    /// A right file with a piece torn out and another put in: whatever is left is loaded or
    /// refused, and every mistake can be looked for in the file.
    #[test]
    fn a_damaged_file_never_panics(
        at in any::<prop::sample::Index>(),
        torn in 0_usize..60,
        put in prop::sample::select(vec![
            "", "[", "}", "&a", "*a", "<<: ", "- ", ": ", "null", "-1", "99999999999999999999", "{}", "\n", "\u{feff}",
        ]),
    ) {
        let text = every_section();
        let chars: Vec<char> = text.chars().collect();
        let from = at.index(chars.len());
        let to = (from + torn).min(chars.len());
        let damaged: String = chars[..from].iter().collect::<String>()
            + put
            + &chars[to..].iter().collect::<String>();
        let lines = Lines::of(&damaged);
        let last = damaged.lines().count() as u64;
        if let Err(errors) = crate::load(&damaged, &plugins::registry()) {
            prop_assert!(!errors.is_empty());
            prop_assert!(!crate::as_kube_scheduler(&errors).is_empty());
            for error in &errors {
                prop_assert!(lines.line(&error.path).is_none_or(|line| line <= last));
            }
        }
    }
}
