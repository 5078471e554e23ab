//! The embedded API server answers kubectl as kube-apiserver does: one list of commands, both servers,
//! exit codes and texts compared.
//!
//! The list is `kubectl/*.yaml`; what it may hold is told in `kubectl/README.md`. A step that is known to
//! differ says why, and `docs/embedded-api-server.md` says it, too.

mod list;
mod plain;
mod run;

use std::fmt::Write;
use std::fs;
use std::thread;

use anyhow::{Context, ensure};
use plimsoll_apiserver::{ApiServer, Options as Embedded, PodDeletion};
use plimsoll_tests::controlplane::{Controlplane, Options};
use plimsoll_tests::project_root;
use tokio::runtime::Builder;

use self::list::{Case, cases};
use self::run::{Answer, Server};

/// The least number of entries: fewer would mean that a file of the list was not found.
const LEAST_ENTRIES: usize = 60;

#[test]
fn kubectl_gets_the_same_answers_from_both_servers() -> anyhow::Result<()> {
    let cases = cases()?;
    ensure!(cases.len() >= LEAST_ENTRIES, "{} entries", cases.len());
    let cluster = Controlplane::start(&Options::default())?;
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let embedded = {
        let _entered = runtime.enter();
        ApiServer::start(Embedded {
            // As in a real cluster, a bound pod ends only when its kubelet, or force, says so.
            pod_deletion: PodDeletion::Graceful,
            ..Embedded::default()
        })?
    };
    let kubeconfig = cluster.folder().join("embedded.kubeconfig");
    fs::write(&kubeconfig, embedded.kubeconfig())?;
    let real = Server::new(&cluster.admin_kubeconfig(), &cluster.server());
    let ours = Server::new(&kubeconfig, &format!("http://{}", embedded.address()));
    let (wanted, got) = thread::scope(|scope| {
        let wanted = scope.spawn(|| real.run(&cases));
        let got = scope.spawn(|| ours.run(&cases));
        (wanted.join(), got.join())
    });
    let wanted = wanted
        .ok()
        .context("the run on kube-apiserver panicked")??;
    let got = got
        .ok()
        .context("the run on the embedded server panicked")??;
    let problems = compare(&cases, &wanted, &got);
    let steps: usize = wanted.iter().map(Vec::len).sum();
    println!("kubectl: {} entries, {steps} commands", cases.len());
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    runtime.block_on(embedded.shutdown());
    Ok(())
}

#[test]
fn each_difference_that_stays_is_documented() -> anyhow::Result<()> {
    let page = fs::read_to_string(project_root().join("docs/embedded-api-server.md"))?;
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    for case in cases()? {
        for step in &case.steps {
            if let Some(why) = &step.differs {
                assert!(page.contains(why), "{}: {}: {why}", case.name, step.command);
            }
        }
    }
    Ok(())
}

/// Gives what is not as it should be: an answer that differs without leave, or a leave without need.
fn compare(cases: &[Case], wanted: &[Vec<Answer>], got: &[Vec<Answer>]) -> Vec<String> {
    let mut problems = Vec::new();
    for (case, (wanted, got)) in cases.iter().zip(wanted.iter().zip(got)) {
        for (step, (wanted, got)) in case.answered().zip(wanted.iter().zip(got)) {
            let place = format!("{}: kubectl {}", case.name, step.command);
            match (&step.differs, wanted == got) {
                (None, false) => problems.push(format!("{place}\n{}", difference(wanted, got))),
                (Some(_), true) => problems.push(format!("{place}: does not differ any more")),
                (None, true) | (Some(_), false) => {}
            }
        }
    }
    problems
}

/// Shows the lines in which two answers differ.
fn difference(wanted: &Answer, got: &Answer) -> String {
    let mut text = String::new();
    for (part, wanted, got) in [
        ("exit code", &wanted.code.to_string(), &got.code.to_string()),
        ("stdout", &wanted.out, &got.out),
        ("stderr", &wanted.err, &got.err),
    ] {
        if wanted == got {
            continue;
        }
        let lacks = |text: &str, line: &str| !text.lines().any(|it| it == line);
        let missing = wanted.lines().filter(|line| lacks(got, line));
        let surplus = got.lines().filter(|line| lacks(wanted, line));
        let lines = missing
            .map(|line| format!("  - {line}"))
            .chain(surplus.map(|line| format!("  + {line}")));
        // Writing to a text cannot fail.
        let _ = writeln!(text, " {part}:");
        let lines: Vec<String> = lines.collect();
        if lines.is_empty() {
            text.push_str("  the same lines, in another order or number\n");
        }
        for line in lines {
            let _ = writeln!(text, "{line}");
        }
    }
    text
}
