//! `docs/operations.md` is true of the code: the words it quotes are those that the programs
//! say, and its alerts' sections lead somewhere.

use std::collections::BTreeSet;
use std::fs;

use plimsoll_tests::{project_root, rust_sources};

fn page() -> String {
    fs::read_to_string(project_root().join("docs/operations.md")).expect("the page is there")
}

/// Text in back-quotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn the_tls_errors_it_quotes_are_what_the_agent_says() {
    let page = page();
    let (_, table) = page.split_once("| the agent says |").expect("the table");
    let rows = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    let first_cells = rows.filter_map(|line| line.split('|').nth(1));
    // A name in capitals stands for what differs.
    let words: BTreeSet<&str> = first_cells
        .flat_map(quoted)
        .map(|words| {
            words
                .trim_end_matches("FILE")
                .trim_end_matches("NAME")
                .trim_end()
        })
        .collect();
    assert!(words.len() >= 6, "{words:?}");
    let sources = rust_sources();
    let dial = sources
        .iter()
        .find(|source| source.path == "agent/src/stream/dial.rs");
    let dial = &dial.expect("the agent dials there").text;
    for words in words {
        assert!(dial.contains(words), "the agent does not say: {words}");
    }
}

#[test]
fn every_link_of_the_page_leads_to_one_of_its_sections() {
    let page = page();
    let sections: BTreeSet<String> = page
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .map(anchor)
        .collect();
    let links = page.split("](#").skip(1);
    for link in links.filter_map(|rest| rest.split(')').next()) {
        assert!(sections.contains(link), "no section for #{link}");
    }
}

/// The anchor of a heading, as GitHub makes it.
pub(crate) fn anchor(heading: &str) -> String {
    let kept = heading
        .chars()
        .filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}
