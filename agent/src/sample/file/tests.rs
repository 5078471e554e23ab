//! Reading again and again: changes, growth, files that come and go.

use std::fs;

use super::{Buffer, Extent, FIRST_BUFFER, Failure, KeptFile};
use crate::sample::fixture::Tree;

#[test]
fn a_kept_descriptor_shows_the_new_content() {
    let folder = Tree::new();
    let path = folder.path().join("value");
    let mut buffer = Buffer::new();
    let mut file = KeptFile::new(path.clone(), Extent::OnePiece);
    fs::write(&path, "12345\n").unwrap();
    assert_eq!(file.read(&mut buffer), Ok(&b"12345\n"[..]));
    fs::write(&path, "6\n").unwrap();
    assert_eq!(file.read(&mut buffer), Ok(&b"6\n"[..]));
}

#[test]
fn a_file_larger_than_the_buffer_is_read_whole() {
    let folder = Tree::new();
    let path = folder.path().join("value");
    let text = "0123456789\n".repeat(FIRST_BUFFER / 4);
    fs::write(&path, &text).unwrap();
    for extent in [Extent::OnePiece, Extent::Records] {
        let mut file = KeptFile::new(path.clone(), extent);
        assert_eq!(
            file.read(&mut Buffer::new()),
            Ok(text.as_bytes()),
            "{extent:?}"
        );
    }
}

#[test]
fn of_a_long_stat_only_the_cpu_lines_are_needed() {
    let folder = Tree::new();
    let path = folder.path().join("stat");
    let text = format!("cpu 1\ncpu0 1\nintr {}\n", "0 ".repeat(2_000_000));
    fs::write(&path, text).unwrap();
    let mut file = KeptFile::new(path, Extent::CpuLines);
    let mut buffer = Buffer::new();
    let read = file.read(&mut buffer).unwrap();
    assert!(read.starts_with(b"cpu 1\ncpu0 1\nintr 0"));
    assert_eq!(read.len(), FIRST_BUFFER);
}

#[test]
fn a_file_beyond_the_largest_buffer_is_unreadable() {
    let folder = Tree::new();
    let path = folder.path().join("value");
    fs::write(&path, "0 ".repeat(2_000_000)).unwrap();
    let mut file = KeptFile::new(path, Extent::OnePiece);
    assert_eq!(file.read(&mut Buffer::new()), Err(Failure::Unreadable));
}

#[test]
fn an_absent_file_is_looked_for_again_only_when_told() {
    let folder = Tree::new();
    let path = folder.path().join("value");
    let mut buffer = Buffer::new();
    let mut file = KeptFile::new(path.clone(), Extent::OnePiece);
    assert_eq!(file.read(&mut buffer), Err(Failure::Absent));
    fs::write(&path, "1\n").unwrap();
    assert_eq!(file.read(&mut buffer), Err(Failure::Absent));
    file.point_at(path);
    assert_eq!(file.read(&mut buffer), Ok(&b"1\n"[..]));
}

#[test]
fn a_folder_in_the_place_of_a_file_is_unreadable() {
    let folder = Tree::new();
    let mut file = KeptFile::new(folder.path().to_owned(), Extent::OnePiece);
    assert_eq!(file.read(&mut Buffer::new()), Err(Failure::Unreadable));
}
