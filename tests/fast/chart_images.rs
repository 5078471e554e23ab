//! The Dockerfiles, as far as they can be checked without building them: they copy what is
//! there, build what exists with the project's own compiler, and run without rights.

use std::fs;

use cargo_metadata::MetadataCommand;
use plimsoll_tests::project_root;
use serde_json::Value;

/// Image and the package and program in it.
const IMAGES: [(&str, &str); 2] = [
    ("agent", "plimsoll-agent"),
    ("scheduler", "plimsoll-scheduler"),
];

/// One instruction: its word, and all that follows on its lines.
#[derive(Debug, PartialEq, Eq)]
struct Instruction {
    word: String,
    rest: String,
}

/// The instructions of a Dockerfile; comments are left out, continued lines are joined.
fn instructions(text: &str) -> Vec<Instruction> {
    let mut joined = String::new();
    let mut read = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with('#') || (line.is_empty() && joined.is_empty()) {
            continue;
        }
        if let Some(part) = line.strip_suffix('\\') {
            joined.push_str(part.trim_end());
            joined.push(' ');
            continue;
        }
        joined.push_str(line);
        let (word, rest) = joined.split_once(' ').expect("a word and its arguments");
        read.push(Instruction {
            word: word.to_owned(),
            rest: rest.trim().to_owned(),
        });
        joined.clear();
    }
    assert!(joined.is_empty(), "the file ends inside an instruction");
    read
}

fn dockerfile(image: &str) -> Vec<Instruction> {
    let path = project_root().join(format!("deploy/docker/{image}.Dockerfile"));
    instructions(&fs::read_to_string(path).expect("the Dockerfile is there"))
}

fn all<'a>(file: &'a [Instruction], word: &'a str) -> impl Iterator<Item = &'a str> {
    let found = file
        .iter()
        .filter(move |instruction| instruction.word == word);
    found.map(|instruction| instruction.rest.as_str())
}

/// What stands after the image's last `FROM`.
fn last_stage(file: &[Instruction]) -> &[Instruction] {
    let start = file.iter().rposition(|step| step.word == "FROM");
    &file[start.expect("a Dockerfile has a base")..]
}

fn manifest() -> cargo_metadata::Metadata {
    let manifest = project_root().join("Cargo.toml");
    let mut command = MetadataCommand::new();
    command.manifest_path(manifest).no_deps();
    command.exec().expect("cargo metadata runs")
}

#[test]
fn a_dockerfile_is_read_line_by_line() {
    let text = "# syntax\n\nFROM a AS b\nRUN x \\\n    && y\nCOPY --from=b /x /x\n";
    let read = instructions(text);
    let pairs: Vec<_> = read
        .iter()
        .map(|step| (step.word.as_str(), step.rest.as_str()))
        .collect();
    assert_eq!(
        pairs,
        [
            ("FROM", "a AS b"),
            ("RUN", "x && y"),
            ("COPY", "--from=b /x /x")
        ]
    );
}

#[test]
fn every_image_is_built_of_sources_that_are_there_by_the_projects_own_compiler() {
    let toolchain = fs::read_to_string(project_root().join("rust-toolchain.toml"))
        .expect("rust-toolchain.toml is there");
    let channel = toolchain.split('"').nth(1).expect("a channel in quotes");
    let metadata = manifest();
    for (image, program) in IMAGES {
        let file = dockerfile(image);
        let base = all(&file, "FROM").next().expect("a builder");
        assert_eq!(base, format!("rust:{channel}-bookworm AS build"), "{image}");
        let mut copied = Vec::new();
        for copy in all(&file, "COPY").filter(|copy| !copy.starts_with("--from")) {
            let (sources, _) = copy.rsplit_once(' ').expect("sources and a target");
            copied.extend(sources.split(' ').map(str::to_owned));
        }
        for source in &copied {
            let path = project_root().join(source);
            assert!(path.exists(), "{image}: {source} is not there");
        }
        // Cargo reads the manifests of all members, whatever it builds.
        for package in &metadata.packages {
            let path = package.manifest_path.as_std_path();
            let root = project_root().canonicalize().expect("the root is there");
            let path = path.strip_prefix(root).expect("below the root");
            let is_copied = copied.iter().any(|source| path.starts_with(source));
            assert!(is_copied, "{image}: {} is not copied", package.name);
        }
        let package = metadata.packages.iter().find(|known| known.name == program);
        let package = package.expect("the package is there");
        let has_program = package
            .targets
            .iter()
            .any(|target| target.is_bin() && target.name == program);
        assert!(has_program, "{image}: no program {program}");
        let build = all(&file, "RUN").next().expect("a build");
        let cargo = format!("cargo build --locked --profile dist -p {program} --bin {program} ");
        assert!(build.contains(&cargo), "{image}: {build}");
        assert!(
            build.contains(&format!("target/dist/{program} /{program}")),
            "{image}: {build}"
        );
        let labels = all(&file, "LABEL").next().expect("labels");
        let version = format!("image.version=\"{}\"", package.version);
        assert!(labels.contains(&version), "{image}: {labels}");
    }
}

#[test]
fn every_image_runs_one_program_as_nobody_without_a_shell() {
    for (image, program) in IMAGES {
        let file = dockerfile(image);
        let stage = last_stage(&file);
        assert_eq!(stage[0].rest, "gcr.io/distroless/cc-debian12:nonroot");
        assert_eq!(all(stage, "RUN").count(), 0, "{image}: there is no shell");
        let users: Vec<_> = all(stage, "USER").collect();
        assert_eq!(users, ["65534:65534"], "{image}");
        let copies: Vec<_> = all(stage, "COPY").collect();
        assert_eq!(copies, [format!("--from=build /{program} /{program}")]);
        let entry = all(stage, "ENTRYPOINT").next().expect("an entry point");
        let entry: Value = serde_json::from_str(entry).expect("the form without a shell");
        assert_eq!(entry, serde_json::json!([format!("/{program}")]));
    }
}

#[test]
fn chart_and_programs_have_one_version() {
    let path = project_root().join("deploy/helm/plimsoll/Chart.yaml");
    let chart = fs::read_to_string(path).expect("the chart is there");
    let chart: Value = serde_saphyr::from_str(&chart).expect("Chart.yaml is YAML");
    for package in manifest().packages {
        let version = package.version.to_string();
        assert_eq!(chart["version"], version.as_str(), "{}", package.name);
        assert_eq!(chart["appVersion"], version.as_str(), "{}", package.name);
    }
}
