//! Quantities against the values of apimachinery, and laws over random ones.

use proptest::prelude::*;

use super::{Quantity, QuantityError};

fn quantity(text: &str) -> Quantity {
    text.parse().unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn texts_have_the_value_and_milli_value_of_apimachinery() {
    for (text, value, milli) in [
        ("0", 0, 0),
        ("1", 1, 1000),
        ("100m", 1, 100),
        ("1500m", 2, 1500),
        ("0.1m", 1, 1),
        ("1n", 1, 1),
        ("0.5n", 1, 1),
        ("250u", 1, 1),
        ("1.5", 2, 1500),
        ("1.", 1, 1000),
        (".5", 1, 500),
        ("+2", 2, 2000),
        ("-1500m", -2, -1500),
        ("-0.1m", -1, -1),
        ("1k", 1000, 1_000_000),
        ("1Ki", 1024, 1_024_000),
        ("1.5Gi", 1_610_612_736, 1_610_612_736_000),
        ("0.1Ki", 103, 102_400),
        ("12e6", 12_000_000, 12_000_000_000),
        ("12E6", 12_000_000, 12_000_000_000),
        ("5e-3", 1, 5),
        ("5e+3", 5000, 5_000_000),
        ("1e-400", 1, 1),
        ("0e400", 0, 0),
        ("1E", 1_000_000_000_000_000_000, i64::MAX),
        ("9Ei", i64::MAX, i64::MAX),
        ("-9Ei", i64::MIN, i64::MIN),
        ("1e400", i64::MAX, i64::MAX),
        (
            "100000000000000000000000000000000000000000000",
            i64::MAX,
            i64::MAX,
        ),
        (
            "00000000000000000000000000000000000000000000000001",
            1,
            1000,
        ),
        (
            "1.00000000000000000000000000000000000000000000000001",
            2,
            1001,
        ),
        ("0.00000000000000000000000000000000000000000000000001", 1, 1),
        ("0.12345678901234567890123456789012345678Ki", 127, 126_420),
    ] {
        assert_eq!(
            (quantity(text).value(), quantity(text).milli_value()),
            (value, milli),
            "{text}"
        );
    }
}

#[test]
fn text_outside_the_grammar_is_refused_with_the_text() {
    for text in [
        "", "+", "-", ".", "m", "Ki", "e3", "1e", "1 ", " 1", "1.2.3", "1..2", "1mm", "1KI", "1ki",
        "1K", "1e3.5", "1eE3", "1Kie3", "0x10", "1_000", "--1", "١", "1µ", "NaN", "inf", "1e--3",
    ] {
        assert_eq!(
            text.parse::<Quantity>(),
            Err(QuantityError { text: text.into() }),
            "{text}"
        );
    }
}

#[test]
fn the_error_says_the_text_and_what_is_expected() {
    let error = "two".parse::<Quantity>().unwrap_err().to_string();
    assert!(
        error.starts_with("`two` is not a quantity: expected a number"),
        "{error}"
    );
}

#[test]
fn json_may_hold_a_string_a_number_or_null() {
    for (json, milli) in [
        ("\"250m\"", 250),
        ("\" 1 \"", 1000),
        ("2", 2000),
        ("-1", -1000),
        ("0.5", 500),
        ("1e3", 1_000_000),
        ("null", 0),
    ] {
        let quantity: Quantity = serde_json::from_str(json).unwrap();
        assert_eq!(quantity.milli_value(), milli, "{json}");
    }
    for json in ["true", "[]", "{}", "\"\"", "\"1x\""] {
        assert!(serde_json::from_str::<Quantity>(json).is_err(), "{json}");
    }
}

#[test]
fn sums_are_exact_and_only_their_total_is_rounded() {
    let half = quantity("0.5m");
    assert_eq!(half.saturating_add(half).milli_value(), 1);
    assert_eq!(half.milli_value() + half.milli_value(), 2);
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC*") {
        if let Ok(quantity) = text.parse::<Quantity>() {
            prop_assert!(quantity.value().unsigned_abs() <= quantity.milli_value().unsigned_abs());
        }
    }

    #[test]
    fn no_text_like_a_quantity_panics(text in "[+-]?[0-9.]{0,60}[numkKMGTPEie0-9+-]{0,25}") {
        if let Ok(quantity) = text.parse::<Quantity>() {
            prop_assert!(quantity.value().unsigned_abs() <= quantity.milli_value().unsigned_abs());
        }
    }

    #[test]
    fn a_whole_number_reads_back(units in any::<i64>()) {
        prop_assert_eq!(quantity(&units.to_string()), Quantity::from_units(units));
        prop_assert_eq!(quantity(&units.to_string()).value(), units);
    }

    #[test]
    fn milli_text_reads_back(millis in any::<i64>()) {
        prop_assert_eq!(quantity(&format!("{millis}m")), Quantity::from_millis(millis));
        prop_assert_eq!(quantity(&format!("{millis}m")).milli_value(), millis);
    }

    #[test]
    fn the_same_amount_in_other_units_is_equal(n in 0_i64..1 << 40) {
        prop_assert_eq!(quantity(&format!("{n}Ki")), Quantity::from_units(n * 1024));
        prop_assert_eq!(quantity(&format!("{n}k")), quantity(&format!("{n}e3")));
        prop_assert_eq!(quantity(&format!("{n}000u")), quantity(&format!("{n}m")));
        prop_assert_eq!(quantity(&format!("{n}.0Mi")), quantity(&format!("{n}Mi")));
    }

    #[test]
    fn rounding_never_loses_and_adds_less_than_one(millis in 0_i64..i64::MAX) {
        let units = Quantity::from_millis(millis).value();
        prop_assert!(i128::from(units) * 1000 >= i128::from(millis));
        prop_assert!((i128::from(units) - 1) * 1000 < i128::from(millis));
    }

    #[test]
    fn addition_commutes_and_does_not_wrap(a in any::<i64>(), b in any::<i64>()) {
        let (a, b) = (Quantity::from_units(a), Quantity::from_units(b));
        prop_assert_eq!(a.saturating_add(b), b.saturating_add(a));
    }
}

#[test]
fn the_shortest_decimal_form_reads_back_the_same() {
    let cases = [
        ("1Gi", "1073741824"),
        ("1.5", "1500m"),
        ("0", "0"),
        ("-2k", "-2000"),
        ("1u", "1u"),
        ("1500n", "1500n"),
    ];
    for (text, expected) in cases {
        let amount: Quantity = text.parse().unwrap();
        assert_eq!(amount.to_string(), expected);
        assert_eq!(expected.parse(), Ok(amount));
    }
}

#[test]
fn a_difference_may_be_negative_and_is_capped() {
    let one = Quantity::from_units(1);
    assert_eq!(
        one.saturating_sub(Quantity::from_units(3)),
        Quantity::from_units(-2)
    );
    let least: Quantity = "-1e60".parse().unwrap();
    assert!(least.saturating_sub(one) <= least);
}
