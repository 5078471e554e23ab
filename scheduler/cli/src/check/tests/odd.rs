//! Files that are no configuration at all.

use super::super::findings::Findings;
use super::super::{at_most, read, read_named, text};
use super::{file, findings, mistakes, no_file};

#[test]
fn bytes_that_are_no_text_are_refused_with_their_line() {
    let findings = Findings::of(b"a: 1\nb: \xff\n", &no_file);
    assert_eq!(
        mistakes(&findings),
        ["<file>: not UTF-8: the byte at offset 8, in line 2, is no text"]
    );
    assert_eq!(
        text::render("f", &findings, false),
        "f: error: not UTF-8: the byte at offset 8, in line 2, is no text\nf: 1 error\n"
    );
}

#[test]
fn a_byte_order_mark_does_no_harm() {
    let text = "\u{feff}".to_owned() + &file("");
    assert!(findings(&text).is_ok());
}

#[test]
fn what_is_broken_is_refused_and_nothing_is_in_effect() {
    let level = |n: usize| {
        let aliases = vec![format!("*a{}", n - 1); 9].join(", ");
        format!("a{n}: &a{n} [{aliases}]\n")
    };
    let levels: Vec<_> = (1..12).map(level).collect();
    let bomb = "a0: &a0 [x]\n".to_owned() + &levels.concat();
    let texts = [
        String::new(),
        "[".repeat(10_000),
        bomb,
        "a: b: c".to_owned(),
        "- 1\n- 2\n".to_owned(),
        file("parallelism: .nan\n"),
        file("parallelism: 4\nparallelism: 8\n"),
    ];
    for text in texts {
        let findings = findings(&text);
        assert!(!mistakes(&findings).is_empty(), "{text:.80}");
        assert!(findings.to_json().get("effective").is_none());
        assert!(!findings.to_json()["errors"].as_array().unwrap().is_empty());
    }
}

#[test]
fn a_file_without_end_is_not_read_to_the_end() {
    assert_eq!(at_most(std::io::repeat(b'a'), 10).unwrap(), None);
    assert_eq!(at_most(&b"abc"[..], 3).unwrap().unwrap(), b"abc");
    assert!(read("/nowhere/at/all".as_ref()).is_err());
}

#[test]
fn what_a_configuration_names_must_be_a_file() {
    assert!(read_named("/").unwrap_err().contains("not a file"));
    assert!(
        read_named("/nowhere/at/all")
            .unwrap_err()
            .contains("cannot be read")
    );
}
