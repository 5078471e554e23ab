//! Cases that make no sense, given to the program: each ends in one short line that names the
//! file and the place, with and without kept verdicts.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

/// Exit status where a case makes no sense.
const NO_SENSE: i32 = 2;
/// No mistake needs a longer line.
const LONGEST_LINE: usize = 300;

fn run(command: &[&str], input: &str) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_plimsoll"));
    let piped = program.args(command).stdin(Stdio::piped());
    let mut child = piped
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("it is piped");
    stdin.write_all(input.as_bytes()).expect("it reads all");
    drop(stdin);
    child.wait_with_output().expect("it ends")
}

fn case(pod: &Value) -> String {
    json!({"pending": [{
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": pod,
    }]})
    .to_string()
}

#[test]
fn every_mistake_is_one_line_with_the_file_and_the_place() {
    let list = serde_json::to_string(&vec![7; 10_000]).expect("a list");
    let cases = [
        (String::new(), "not JSON: EOF"),
        ("{\"pending\": [".to_owned(), "not JSON: EOF"),
        ("[".repeat(100_000), "not JSON: recursion limit"),
        ("null".to_owned(), "a case is an object, not null"),
        (list.clone(), "a case is an object, not a list"),
        (
            format!("{{\"case\": {list}}}"),
            "case: a case is an object, not a list",
        ),
        ("{\"objekts\": []}".to_owned(), "unknown field \"objekts\""),
        (
            case(&json!({"priority": "high"})),
            "pending[0] (p): spec.priority: ",
        ),
        (
            case(&json!({"priority": 1_u64 << 40})),
            "pending[0] (p): spec.priority: ",
        ),
        (
            case(&json!({"containers": {}})),
            "pending[0] (p): spec.containers: ",
        ),
        (
            case(&json!({"schedulerName": "nobody"})),
            "pending[0] (p): no profile has the schedulerName \"nobody\"",
        ),
    ];
    for (input, problem) in cases {
        for command in ["verdict", "sequence"] {
            for options in [&[command, "-"][..], &[command, "-", "--no-tables"]] {
                let output = run(options, &input);
                let errors = String::from_utf8_lossy(&output.stderr);
                let begins = format!("error: -: {problem}");
                assert!(errors.starts_with(&begins), "{options:?}: {errors:.300}");
                assert!(errors.len() <= LONGEST_LINE, "{problem}: {}", errors.len());
                assert_eq!(errors.lines().count(), 1, "{errors}");
                assert_eq!(output.status.code(), Some(NO_SENSE), "{problem}");
                assert!(output.stdout.is_empty(), "{problem}");
            }
        }
    }
}
