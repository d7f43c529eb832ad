//! Tables for durations; the results were read off Go 1.27.

use super::*;
use proptest::prelude::*;

const VALID: &[(&str, i64)] = &[
    ("0", 0),
    ("+0", 0),
    ("-0", 0),
    ("0s", 0),
    ("5s", 5_000_000_000),
    ("+5s", 5_000_000_000),
    ("-5s", -5_000_000_000),
    ("-5.5s", -5_500_000_000),
    ("1478s", 1_478_000_000_000),
    (".5h", 1_800_000_000_000),
    ("1.h", 3_600_000_000_000),
    ("1.s", 1_000_000_000),
    (".5s", 500_000_000),
    ("00001.0000s", 1_000_000_000),
    ("10ns", 10),
    ("11us", 11_000),
    ("12\u{b5}s", 12_000),
    ("12\u{3bc}s", 12_000),
    ("13ms", 13_000_000),
    ("14m", 840_000_000_000),
    ("1h30m", 5_400_000_000_000),
    ("1m1h1m", 3_720_000_000_000),
    ("39h9m14.425s", 140_954_425_000_000),
    ("1h15m30.918273645s", 4_530_918_273_645),
    ("52763797000ns", 52_763_797_000),
    ("0.9ns", 0),
    ("1.9ns", 1),
    ("0.1us", 100),
    ("0.3333333333333333333h", 1_200_000_000_000),
    ("0.100000000000000000000h", 360_000_000_000),
    ("0.9223372036854775807h", 3_320_413_933_267),
    ("0.830103483285477580700h", 2_988_372_539_827),
    ("1.00000000000000000000000000000000000000000001s", 1_000_000_000),
    ("9223372036854775807ns", i64::MAX),
    ("-9223372036854775807ns", -i64::MAX),
    ("-9223372036854775808ns", i64::MIN),
    ("-9223372036854775.808us", i64::MIN),
    ("-9223372036s854ms775us808ns", i64::MIN),
    ("2562047h47m16.854775807s", i64::MAX),
    ("87600h", 315_360_000_000_000_000),
];

const INVALID: &[(&str, &str)] = &[
    ("", r#"time: invalid duration """#),
    ("3", r#"time: missing unit in duration "3""#),
    ("00", r#"time: missing unit in duration "00""#),
    ("5 ", r#"time: unknown unit " " in duration "5 ""#),
    ("-", r#"time: invalid duration "-""#),
    ("+", r#"time: invalid duration "+""#),
    ("s", r#"time: invalid duration "s""#),
    (".", r#"time: invalid duration ".""#),
    ("-.", r#"time: invalid duration "-.""#),
    (".s", r#"time: invalid duration ".s""#),
    ("+.s", r#"time: invalid duration "+.s""#),
    ("--1h", r#"time: invalid duration "--1h""#),
    ("+-1h", r#"time: invalid duration "+-1h""#),
    ("1h-1m", r#"time: unknown unit "h-" in duration "1h-1m""#),
    ("1h 1m", r#"time: unknown unit "h " in duration "1h 1m""#),
    (" 1h", r#"time: invalid duration " 1h""#),
    ("30d", r#"time: unknown unit "d" in duration "30d""#),
    ("1w", r#"time: unknown unit "w" in duration "1w""#),
    ("1H", r#"time: unknown unit "H" in duration "1H""#),
    ("1e3s", r#"time: unknown unit "e" in duration "1e3s""#),
    ("1.2.3s", r#"time: missing unit in duration "1.2.3s""#),
    ("1h5", r#"time: missing unit in duration "1h5""#),
    ("3 days", r#"time: unknown unit " days" in duration "3 days""#),
    ("1\u{b5}", r#"time: unknown unit "\xc2\xb5" in duration "1\xc2\xb5""#),
    ("1\"\\\n\u{7f}", "time: unknown unit \"\\\"\\\\\\x0a\u{7f}\" in duration \"1\\\"\\\\\\x0a\u{7f}\""),
    ("\u{661}s", r#"time: invalid duration "\xd9\xa1s""#),
    ("9223372036854775808ns", r#"time: invalid duration "9223372036854775808ns""#),
    ("9223372036854775809ns", r#"time: invalid duration "9223372036854775809ns""#),
    ("-9223372036854775809ns", r#"time: invalid duration "-9223372036854775809ns""#),
    ("9223372036854776us", r#"time: invalid duration "9223372036854776us""#),
    ("3000000h", r#"time: invalid duration "3000000h""#),
    ("99999999999999999999h", r#"time: invalid duration "99999999999999999999h""#),
    ("9223372036854775.808us", r#"time: invalid duration "9223372036854775.808us""#),
    ("9223372036854ms775us808ns", r#"time: invalid duration "9223372036854ms775us808ns""#),
    ("-2562047h47m16.854775809s", r#"time: invalid duration "-2562047h47m16.854775809s""#),
];

const TEXTS: &[(i64, &str)] = &[
    (0, "0s"),
    (1, "1ns"),
    (-1, "-1ns"),
    (999, "999ns"),
    (1_000, "1µs"),
    (1_100, "1.1µs"),
    (2_200_000, "2.2ms"),
    (999_999_999, "999.999999ms"),
    (1_000_000_000, "1s"),
    (3_300_000_000, "3.3s"),
    (60_000_000_000, "1m0s"),
    (245_000_000_000, "4m5s"),
    (245_001_000_000, "4m5.001s"),
    (3_600_000_000_000, "1h0m0s"),
    (18_367_001_000_000, "5h6m7.001s"),
    (480_000_000_001, "8m0.000000001s"),
    (315_360_000_000_000_000, "87600h0m0s"),
    (i64::MAX, "2562047h47m16.854775807s"),
    (i64::MIN, "-2562047h47m16.854775808s"),
];

#[test]
fn reads_what_go_reads() {
    for (text, nanoseconds) in VALID {
        assert_eq!(parse(text), Ok(GoDuration::from_nanoseconds(*nanoseconds)), "{text}");
    }
}

#[test]
fn refuses_what_go_refuses_in_the_same_words() {
    for (text, message) in INVALID {
        assert_eq!(parse(text).unwrap_err().to_string(), *message);
    }
}

#[test]
fn writes_what_go_writes() {
    for (nanoseconds, text) in TEXTS {
        assert_eq!(GoDuration::from_nanoseconds(*nanoseconds).to_string(), *text);
    }
}

#[test]
fn an_error_shows_no_more_than_64_characters_of_the_text() {
    let text = "9".repeat(100);
    let message = parse(&text).unwrap_err().to_string();
    assert_eq!(message, format!("time: invalid duration \"{}…\"", "9".repeat(64)));
}

#[test]
fn converts_to_the_standard_type() {
    let hour = GoDuration::from_hours(1);
    assert_eq!(hour.to_std(), Some(std::time::Duration::from_hours(1)));
    assert_eq!(GoDuration::from_nanoseconds(-1).to_std(), None);
    assert_eq!(GoDuration::from_hours(i32::MAX).nanoseconds(), i64::MAX);
}

proptest! {
    #[test]
    fn what_is_written_reads_back(nanoseconds in any::<i64>()) {
        let duration = GoDuration::from_nanoseconds(nanoseconds);
        // Fractions below a second are exact in floating point only to what Go itself promises: a text of Go's own
        // making reads back to the nanosecond.
        prop_assert_eq!(parse(&duration.to_string()), Ok(duration));
    }

    #[test]
    fn any_text_has_an_answer(text in "[-+.0-9hmsnuµμd ]{0,24}|.{0,12}") {
        if let Err(error) = parse(&text) {
            prop_assert!(error.to_string().starts_with("time: "));
        }
    }
}
