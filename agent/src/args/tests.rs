//! What the command line takes and refuses.

use std::time::Duration;

use super::*;
use crate::inspect::SampleInput;

const RUN: [&str; 3] = [
    "--node-name=a",
    "--scheduler=http://b:1",
    "--insecure-plaintext",
];

fn parse(flags: &[&str]) -> Result<Command, String> {
    let flags = [&["plimsoll-agent"], flags].concat();
    let arguments = Arguments::try_parse_from(flags).map_err(|error| error.to_string())?;
    arguments.command().map_err(|error| error.to_string())
}

fn run(flags: &[&str]) -> Result<Run, String> {
    match parse(flags)? {
        Command::Run(run) => Ok(*run),
        Command::Sample(sample) => panic!("{sample:?}"),
    }
}

fn sample(flags: &[&str]) -> SampleOptions {
    match parse(flags).unwrap() {
        Command::Sample(sample) => sample,
        Command::Run(run) => panic!("{run:?}"),
    }
}

#[test]
fn the_definition_of_the_command_line_is_sound() {
    command_factory().debug_assert();
}

#[test]
fn flags_without_a_subcommand_mean_run_with_its_defaults() {
    let run = run(&RUN).unwrap();
    assert_eq!(run.options.stream.node_name, "a");
    assert_eq!(
        run.options.stream.schedulers,
        ["http://b:1".parse().unwrap()]
    );
    assert_eq!(run.options.stream.period, Duration::from_secs(1));
    assert_eq!(run.options.listen, "0.0.0.0:9464".parse().unwrap());
    assert_eq!(run.root, HostRoot::default());
    assert_eq!(
        (run.log.log_format, run.log.log_level),
        (LogFormat::Text, LogLevel::Info)
    );
}

#[test]
fn run_may_be_said_and_schedulers_repeated_or_listed() {
    let flags = [
        "run",
        "--insecure-plaintext",
        "--node-name=a",
        "--scheduler=http://b,http://c",
        "--scheduler=http://d",
    ];
    assert_eq!(run(&flags).unwrap().options.stream.schedulers.len(), 3);
}

#[test]
fn without_consent_to_plain_text_the_agent_does_not_start() {
    let words = run(&RUN[..2]).unwrap_err();
    assert!(
        words.contains("--insecure-plaintext") && words.contains("--tls-ca"),
        "{words}"
    );
    let both = [
        "--node-name=a",
        "--scheduler=https://b,http://c",
        "--tls-ca=x",
    ];
    assert!(run(&both).unwrap_err().contains("--insecure-plaintext"));
}

#[test]
fn an_https_scheduler_needs_its_authorities_and_no_consent() {
    let flags = ["--node-name=a", "--scheduler=https://b"];
    let words = run(&flags).unwrap_err();
    assert!(words.contains("--tls-ca FILE"), "{words}");
    let flags = [
        &flags[..],
        &["--tls-ca=ca.crt", "--tls-server-name=plimsoll"],
    ]
    .concat();
    let tls = run(&flags).unwrap().options.stream.tls.unwrap();
    assert_eq!(tls.ca, PathBuf::from("ca.crt"));
    assert_eq!(tls.server_name.unwrap().to_str(), "plimsoll");
}

#[test]
fn sample_needs_no_flag_of_run() {
    let live = SampleInput::Live {
        sampler: BackEnd::Native,
        link_speed: None,
        root: HostRoot::default(),
        count: 3,
        interval: Duration::from_secs(1),
    };
    let expected = SampleOptions {
        input: live,
        json: true,
        pods: false,
    };
    assert_eq!(sample(&["sample", "--count=3", "--json"]), expected);
}

#[test]
fn the_speed_of_links_and_the_sampler_may_be_chosen() {
    let flags = [&RUN[..], &["--sampler=sysinfo", "--link-speed=10G"]].concat();
    let run = run(&flags).unwrap();
    assert_eq!(run.sampler, BackEnd::Sysinfo);
    assert_eq!(run.link_speed, Some(1_250_000_000));
}

#[test]
fn sysinfo_cannot_be_sent_to_another_tree() {
    for flags in [
        [&RUN[..], &["--sampler=sysinfo", "--sys=/host/sys"]].concat(),
        vec!["sample", "--sampler=sysinfo", "--proc=/host/proc"],
    ] {
        let words = parse(&flags).unwrap_err();
        assert!(words.contains("this system's own"), "{words}");
    }
}

#[test]
fn two_recorded_trees_are_one_sample() {
    let recorded = SampleInput::Recorded {
        from: PathBuf::from("a"),
        to: PathBuf::from("b"),
        elapsed: Duration::from_secs(2),
    };
    let expected = SampleOptions {
        input: recorded,
        json: false,
        pods: true,
    };
    assert_eq!(
        sample(&["sample", "--from=a", "--to=b", "--elapsed=2s", "--pods"]),
        expected
    );
}

#[test]
fn wrong_values_are_refused_with_the_reason() {
    for (flag, reason) in [
        ("--period=500ms", "must be 1 to 60 s"),
        ("--period=1", "has no unit"),
        ("--scheduler=ftp://b", "is not spoken"),
        ("--tls-server-name=a b", "a certificate can have"),
        ("--listen=9464", "invalid socket address"),
        ("--log-level=loud", "possible values"),
        ("--sampler=guess", "possible values"),
        ("--link-speed=10", "with a unit"),
    ] {
        let words = run(&[&RUN[..], &[flag]].concat()).unwrap_err();
        assert!(words.contains(reason), "{flag}: {words}");
    }
    for (flags, reason) in [
        (&["--scheduler=http://b"][..], "--node-name"),
        (&["--node-name=a"], "--scheduler"),
        (
            &["--node-name=A_B", "--scheduler=http://b"],
            "not a node's name",
        ),
        (&["sample", "--from=x"], "--to"),
        (&["sample", "--elapsed=1s"], "--from"),
        (&["sample", "--count=0"], "--count"),
    ] {
        let words = parse(flags).unwrap_err();
        assert!(words.contains(reason), "{flags:?}: {words}");
    }
}

#[test]
fn help_says_what_plain_text_means_and_names_units_and_defaults() {
    let help = command_factory().render_long_help().to_string();
    let help = help.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "without encryption",
        "https with --tls-ca",
        "[default: 1s]",
        "7443",
    ] {
        assert!(help.contains(words), "{words}: {help}");
    }
}
