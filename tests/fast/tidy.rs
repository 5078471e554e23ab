//! Holds the form of the code: sizes, openings, names, and that the README's commands exist.

use std::fs;

use plimsoll_tests::{Source, project_root, rust_sources};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// Lines of a file: over this, it holds two ideas.
const MAX_FILE_LINES: usize = 500;
/// Lines of a function: over this, it does not fit a screen.
const MAX_FUNCTION_LINES: usize = 80;
/// Names of modules that say nothing of what is inside.
const EMPTY_NAMES: [&str; 6] = ["util", "utils", "common", "helper", "helpers", "misc"];
/// Rust identifiers that must not stand in the project: each hides work that is not done.
/// Written apart, so that this file is not its own finding.
const UNFINISHED: [&str; 3] = [
    concat!("to", "do!("),
    concat!("unimpl", "emented!("),
    concat!("#[ig", "nore"),
];

#[test]
fn no_file_is_longer_than_a_sitting() {
    let long: Vec<String> = rust_sources()
        .iter()
        .map(|source| (source, source.text.lines().count()))
        .filter(|(_, lines)| *lines > MAX_FILE_LINES)
        .map(|(source, lines)| format!("{}: {lines} lines", source.path))
        .collect();
    assert!(long.is_empty(), "over {MAX_FILE_LINES} lines: {long:#?}");
}

#[test]
fn no_function_is_longer_than_a_screen() {
    let mut long = Vec::new();
    for source in rust_sources() {
        let file = syn::parse_file(&source.text)
            .unwrap_or_else(|problem| panic!("{} does not parse: {problem}", source.path));
        let mut lengths = Lengths {
            source: &source,
            long: &mut long,
        };
        lengths.visit_file(&file);
    }
    assert!(
        long.is_empty(),
        "over {MAX_FUNCTION_LINES} lines: {long:#?}"
    );
}

#[test]
fn every_file_opens_with_what_it_takes_and_gives() {
    let silent: Vec<String> = rust_sources()
        .into_iter()
        .filter(|source| !source.text.trim_start().starts_with("//!"))
        .map(|source| source.path)
        .collect();
    assert!(silent.is_empty(), "no //! at the top: {silent:#?}");
}

#[test]
fn no_module_has_an_empty_name() {
    for source in rust_sources() {
        for part in source.path.trim_end_matches(".rs").split('/') {
            assert!(
                !EMPTY_NAMES.contains(&part),
                "{}: {part} says nothing",
                source.path
            );
        }
        assert!(
            !source.path.ends_with("/mod.rs"),
            "{}: foo.rs beside foo/, not mod.rs",
            source.path
        );
    }
}

#[test]
fn nothing_is_left_unfinished_or_switched_off() {
    for source in rust_sources() {
        for mark in UNFINISHED {
            assert!(!source.text.contains(mark), "{} has {mark}", source.path);
        }
    }
}

#[test]
fn every_cargo_command_of_the_readme_names_a_package_that_exists() {
    let root = project_root();
    let readme = fs::read_to_string(root.join("README.md")).expect("README.md is there");
    let manifest = cargo_metadata::MetadataCommand::new()
        .manifest_path(root.join("Cargo.toml"))
        .no_deps()
        .exec()
        .expect("cargo metadata runs");
    let mut commands = 0;
    for line in readme
        .lines()
        .map(str::trim)
        .filter(|line| line.starts_with("cargo "))
    {
        commands += 1;
        let mut words = line.split_whitespace();
        let Some(package) = words
            .by_ref()
            .find(|word| *word == "-p")
            .and_then(|_| words.next())
        else {
            continue;
        };
        let exists = manifest
            .packages
            .iter()
            .any(|known| known.name.as_str() == package);
        assert!(exists, "README: {line}: no package {package}");
    }
    assert!(commands >= 2, "README opens with two commands");
}

#[test]
fn every_file_that_the_readme_links_is_there() {
    let root = project_root();
    let readme = fs::read_to_string(root.join("README.md")).expect("README.md is there");
    for link in readme
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
    {
        let path = link.split('#').next().unwrap_or_default();
        if !path.is_empty() && !path.contains("://") {
            assert!(
                root.join(path).exists(),
                "README links {path}, which is not there"
            );
        }
    }
}

#[test]
fn no_page_has_a_place_left_to_fill() {
    let root = project_root();
    let pages = fs::read_dir(root.join("docs")).expect("docs is there");
    let pages = pages.map(|page| page.expect("a page can be read").path());
    for page in pages.chain([root.join("README.md"), root.join("ARCHITECTURE.md")]) {
        let text = fs::read_to_string(&page).expect("a page is text");
        let left = text
            .split(|letter: char| !(letter.is_ascii_uppercase() || letter == '_'))
            .find(|word| word.ends_with("_TABLE") || word.ends_with("_HERE"));
        assert!(left.is_none(), "{}: {left:?}", page.display());
    }
}

struct Lengths<'a> {
    source: &'a Source,
    long: &'a mut Vec<String>,
}

impl Lengths<'_> {
    fn measure(&mut self, name: &syn::Ident, block: &syn::Block) {
        let span = block.span();
        let lines = span.end().line.saturating_sub(span.start().line) + 1;
        if lines > MAX_FUNCTION_LINES {
            self.long
                .push(format!("{}: {name}: {lines} lines", self.source.path));
        }
    }
}

impl<'ast> Visit<'ast> for Lengths<'_> {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.measure(&function.sig.ident, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.measure(&function.sig.ident, &function.block);
        visit::visit_impl_item_fn(self, function);
    }
}
