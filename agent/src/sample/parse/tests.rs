//! Real lines of each format, and arbitrary bytes for all.

use proptest::prelude::*;

use super::{cpu_list, keyed, net_dev, number, pressure_total, single_number};

#[test]
fn a_number_is_digits_and_nothing_else() {
    assert_eq!(number(b"18446744073709551615"), Some(u64::MAX));
    for word in [
        &b""[..],
        b"-1",
        b"1.5",
        b"18446744073709551616",
        b"1 2",
        b"0x10",
    ] {
        assert_eq!(number(word), None, "{word:?}");
    }
    assert_eq!(single_number(b"42\n"), Some(42));
}

#[test]
fn a_keyed_line_is_found_by_its_whole_key() {
    let text = b"usage_usec 12\nuser_usec 8\nsystem_usec 4\n";
    assert_eq!(keyed(text, b"system_usec", 1), Some(4));
    assert_eq!(keyed(text, b"usage", 1), None);
    assert_eq!(keyed(b"MemTotal:       12 kB\n", b"MemTotal:", 1), Some(12));
    let arc = b"name type data\nsize                            4    42949672960\n";
    assert_eq!(keyed(arc, b"size", 2), Some(42_949_672_960));
}

#[test]
fn the_some_line_of_a_pressure_file_counts() {
    let text = b"some avg10=0.70 avg60=0.36 avg300=0.37 total=4237008\n\
                 full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";
    assert_eq!(pressure_total(text), Some(4_237_008));
    assert_eq!(pressure_total(b"full total=7\n"), None);
}

#[test]
fn a_cpu_list_with_holes_is_counted() {
    assert_eq!(cpu_list(b"0-1,8-9,16-17\n"), Some(6));
    assert_eq!(cpu_list(b"0\n"), Some(1));
    for text in [&b"\n"[..], b"3-1", b"0-", b"0-18446744073709551615", b"a"] {
        assert_eq!(cpu_list(text), None, "{text:?}");
    }
}

#[test]
fn interfaces_are_read_with_and_without_a_space_after_the_colon() {
    let text = b"Inter-|   Receive                    |  Transmit\n \
        face |bytes packets errs drop fifo frame compressed multicast|bytes packets\n    \
        lo: 10 1 0 0 0 0 0 0 20 1 0 0 0 0 0 0\n  eth0:30 1 0 0 0 0 0 0 40 1 0 0 0 0 0 0\n";
    let found: Vec<_> = net_dev(text)
        .map(|line| (line.name, line.rx_bytes, line.tx_bytes))
        .collect();
    assert_eq!(found, vec![(&b"lo"[..], 10, 20), (&b"eth0"[..], 30, 40)]);
}

/// Bytes that look like the real thing often enough to get past the first check.
fn text() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        Just("some".to_owned()),
        Just("size".to_owned()),
        Just("eth0:".to_owned()),
        Just("total=".to_owned()),
        Just("0-3,".to_owned()),
        Just("\n".to_owned()),
        "[0-9]{1,22}",
        ".{0,4}",
    ];
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200),
        prop::collection::vec(word, 0..40).prop_map(|words| words.join(" ").into_bytes()),
    ]
}

proptest! {
    #[test]
    fn no_parser_panics(bytes in text()) {
        let _ = (single_number(&bytes), cpu_list(&bytes), pressure_total(&bytes));
        let _ = (keyed(&bytes, b"size", 2), keyed(&bytes, b"some", usize::MAX));
        prop_assert!(net_dev(&bytes).count() <= bytes.len());
    }

    #[test]
    fn every_number_is_read_back(value in any::<u64>()) {
        prop_assert_eq!(number(value.to_string().as_bytes()), Some(value));
    }
}
