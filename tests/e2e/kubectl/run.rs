//! Runs entries of the list against one server, one after the other, and gives the answers.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::Duration;

use anyhow::{Context, ensure};
use plimsoll_tests::controlplane::kubectl;
use serde_json::json;

use super::list::{Case, Step, Watch, folder};
use super::plain::Plain;

/// How long a command may take: what hangs on one server only is a difference.
const PATIENCE_S: &str = "60";
/// How long a watch may take to tell what it should.
const TOLD_WITHIN: Duration = Duration::from_secs(30);
/// Lines of a watch that wait to be read: more than any entry has.
const LINES: usize = 1_024;

/// What kubectl said, in its plain form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    /// The exit code, -1 where a signal ended it.
    pub(super) code: i32,
    pub(super) out: String,
    pub(super) err: String,
}

/// A server that entries run against.
#[derive(Debug)]
pub(super) struct Server {
    kubeconfig: PathBuf,
    address: String,
}

/// An entry while it runs.
struct Running<'a> {
    server: &'a Server,
    case: &'a Case,
    namespace: String,
    kept: BTreeMap<String, String>,
    answers: Vec<Answer>,
}

// === impl Server ===

impl Server {
    pub(super) fn new(kubeconfig: &Path, address: &str) -> Self {
        Self {
            kubeconfig: kubeconfig.to_owned(),
            address: address.to_owned(),
        }
    }

    /// Runs the entries, each in a namespace of its own, and gives the answers of each.
    pub(super) fn run(&self, cases: &[Case]) -> anyhow::Result<Vec<Vec<Answer>>> {
        let namespace = |at| format!("entry-{at}");
        let items: Vec<_> = (0..cases.len())
            .map(|at| json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace(at)}}))
            .collect();
        let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
        let made = self.kubectl("default", &["create", "-f", "-"], &list.to_string())?;
        ensure!(made.code == 0, "no namespaces: {}", made.err);
        let cases = cases.iter().enumerate();
        cases
            .map(|(at, case)| {
                let running = Running {
                    server: self,
                    case,
                    namespace: namespace(at),
                    kept: BTreeMap::new(),
                    answers: Vec::new(),
                };
                running.run().with_context(|| case.name.clone())
            })
            .collect()
    }

    /// Runs one command to its end.
    fn kubectl(&self, namespace: &str, arguments: &[&str], input: &str) -> anyhow::Result<Answer> {
        let bare = kubectl(&self.kubeconfig)?;
        let mut command = Command::new("timeout");
        command.arg(PATIENCE_S).arg(bare.get_program());
        command.args(bare.get_args());
        let mut child = self.spawn(command, namespace, arguments)?;
        let mut stdin = child.stdin.take().context("stdin is a pipe")?;
        // A command that does not read its input may have ended: its answer says what matters.
        drop(stdin.write_all(input.as_bytes()));
        drop(stdin);
        let output = child.wait_with_output()?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(Answer {
            code: output.status.code().unwrap_or(-1),
            out: text(&output.stdout),
            err: text(&output.stderr),
        })
    }

    fn spawn(
        &self,
        mut command: Command,
        namespace: &str,
        arguments: &[&str],
    ) -> anyhow::Result<Child> {
        // What one server said of itself must not be remembered for another at the same port.
        let cache = self.kubeconfig.with_extension("cache");
        command.arg("--cache-dir").arg(cache);
        command.args(["--namespace", namespace]).args(arguments);
        command.current_dir(folder().join("manifests"));
        command.stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().context("kubectl cannot be started")
    }
}

// === impl Running ===

impl Running<'_> {
    fn run(mut self) -> anyhow::Result<Vec<Answer>> {
        let Some(watch) = &self.case.watch else {
            self.steps(&self.case.steps)?;
            return Ok(self.answers);
        };
        self.steps(&watch.before)?;
        let (mut child, lines) = self.follow(watch)?;
        let mut told = read(&lines, watch.first);
        self.steps(&self.case.steps)?;
        told.extend(read(&lines, watch.lines.saturating_sub(told.len())));
        child.kill()?;
        child.wait()?;
        let out = told.concat();
        let err = String::new();
        self.answer(&Answer { code: 0, out, err }, watch.step.sorted);
        Ok(self.answers)
    }

    fn steps(&mut self, steps: &[Step]) -> anyhow::Result<()> {
        for step in steps {
            let words = words(&self.filled(&step.command));
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let input = self.filled(&self.case.input);
            let answer = self.server.kubectl(&self.namespace, &words, &input)?;
            match &step.keep {
                Some(name) => {
                    let value = answer.out.trim().to_owned();
                    self.kept.insert(name.clone(), value);
                }
                None => self.answer(&answer, step.sorted),
            }
        }
        Ok(())
    }

    fn answer(&mut self, answer: &Answer, sorted: bool) {
        let plain = Plain {
            server: &self.server.address,
            kept: &self.kept,
        };
        self.answers.push(Answer {
            code: answer.code,
            out: if sorted {
                sorted_lines(&plain.of(&answer.out))
            } else {
                plain.of(&answer.out)
            },
            err: plain.of(&answer.err),
        });
    }

    /// Starts a watch, and gives its lines as they come.
    fn follow(&self, watch: &Watch) -> anyhow::Result<(Child, Receiver<String>)> {
        let words = words(&self.filled(&watch.step.command));
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let command = kubectl(&self.server.kubeconfig)?;
        let mut child = self.server.spawn(command, &self.namespace, &words)?;
        let out = child.stdout.take().context("stdout is a pipe")?;
        let (sender, lines) = sync_channel(LINES);
        // It ends with the child, whose output it reads.
        thread::spawn(move || {
            let lines = BufReader::new(out).lines();
            for line in lines.map_while(Result::ok) {
                if sender.send(line + "\n").is_err() {
                    return;
                }
            }
        });
        Ok((child, lines))
    }

    /// Puts the namespace and what was kept into a text.
    fn filled(&self, text: &str) -> String {
        let mut text = text.replace("{ns}", &self.namespace);
        for (name, value) in &self.kept {
            text = text.replace(&format!("{{{name}}}"), value);
        }
        text
    }
}

fn sorted_lines(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines.join("\n")
}

/// Reads so many lines, or as many as come in time.
fn read(lines: &Receiver<String>, count: usize) -> Vec<String> {
    (0..count)
        .map_while(|_| lines.recv_timeout(TOLD_WITHIN).ok())
        .collect()
}

/// Splits a command at spaces, but not inside quotes.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut is_word) = (Vec::new(), String::new(), None, false);
    for letter in command.chars() {
        match (letter, quote) {
            (letter, Some(open)) if letter == open => quote = None,
            ('\'' | '"', None) => (quote, is_word) = (Some(letter), true),
            (' ', None) => {
                if is_word {
                    words.push(std::mem::take(&mut word));
                }
                is_word = false;
            }
            (letter, _) => {
                word.push(letter);
                is_word = true;
            }
        }
    }
    if is_word {
        words.push(word);
    }
    words
}

#[test]
fn a_command_is_split_as_a_shell_splits_it() {
    assert_eq!(
        words(r#"patch pod a  -p '{"a": "b"}' --x="" "#),
        ["patch", "pod", "a", "-p", r#"{"a": "b"}"#, "--x="]
    );
}
