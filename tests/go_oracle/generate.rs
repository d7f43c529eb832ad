//! Generated input for the comparison with Go: always the same for the same count, so that a difference can be found
//! again.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// So many samples of a strategy.
fn samples<T: std::fmt::Debug>(count: usize, strategy: &BoxedStrategy<T>) -> Vec<T> {
    let mut runner = TestRunner::deterministic();
    (0..count).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect()
}

/// Pieces that make a valid pattern most of the time.
const PIECES: &[&str] = &[
    "a",
    "b",
    "k",
    "K",
    "s",
    "é",
    "ſ",
    "σ",
    "-",
    ",",
    ":",
    "&",
    " ",
    "\n",
    "1",
    "]",
    "}",
    "<",
    ">",
    "\u{FFFD}",
    ".",
    "^",
    "$",
    r"\d",
    r"\D",
    r"\s",
    r"\S",
    r"\w",
    r"\W",
    r"\b",
    r"\B",
    r"\A",
    r"\z",
    r"\pL",
    r"\PL",
    r"\pN",
    r"\p{Greek}",
    r"\p{^Lu}",
    r"\P{^Ll}",
    r"\p{LC}",
    r"\p{Mn}",
    r"\pC",
    r"\PC",
    r"\p{Assigned}",
    r"\p{ASCII}",
    r"\p{Any}",
    r"\p{so}",
    r"\p{Letter}",
    r"\p{punct}",
    r"\p{Latin}",
    r"\p{Common}",
    r"\p{Inherited}",
    r"\x41",
    r"\x{6B}",
    r"\x{10FFFF}",
    r"\101",
    r"\0",
    r"\n",
    r"\t",
    r"\.",
    r"\_",
    r"\<",
    r"\Qa.b\E",
    r"\Qk\E",
    r"\Q\E",
    "[a-c]",
    "[^a-c]",
    "[[:alpha:]]",
    "[[:^space:]]",
    "[^[:word:]k]",
    r"[\d-k]",
    r"[^\W]",
    r"[\pN\-]",
    "[]a]",
    "[^]]",
    "[a-]",
    "[a&&b]",
    "[[a]",
    r"[\x{D800}-\x{DFFF}]",
    "[^\\x00-\\x{10FFFF}]",
    "[K-k]",
    "[σ-ω]",
    "[\u{FFFD}a]",
    "(a|b)",
    "(?:a|bc|)",
    "(?i:k)",
    "(?s:.)",
    "(?m:^)",
    "(?m:$)",
    "(?P<n>b)",
    "(?<n>é)",
    "(?U:a+)",
    "(?i)",
    "(?s)",
    "(?m)",
    "(?-i)",
    "(?i-s)",
    "(|a)",
    "()",
    "|",
    "a{x}",
    "a{,2}",
    "{",
];

/// Operators to set behind a piece.
const REPEATS: &[&str] =
    &["*", "+", "?", "*?", "+?", "??", "{2}", "{0,2}", "{1,}", "{0}", "{2}?", "{0,0}", "{01}", "{1,3}"];

/// Pieces that mostly make a pattern wrong.
const SHARDS: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "[^",
    "[:",
    ":]",
    "[[:",
    "alpha",
    "^",
    "-",
    "\\",
    "\\x",
    "\\x{",
    "41",
    "}",
    "\\p",
    "\\P{",
    "Greek",
    "\\Q",
    "\\E",
    "\\1",
    "\\7",
    "\\8",
    "\\12",
    "\\C",
    "\\u0041",
    "\\h",
    "\\é",
    "(?",
    "(?P<",
    "(?<",
    "(?P",
    "n>",
    ">",
    "(?i",
    "(?i-",
    ":",
    ")",
    "-",
    "(?=",
    "(?<=",
    "(?#",
    "*",
    "+",
    "?",
    "{",
    "{2",
    "{2,",
    "{2,1}",
    "{1001}",
    "{1,1001}",
    "{99999999999}",
    "**",
    "a",
    "b",
    "é",
    ",",
    "1",
    "(?:a{100}){11}",
    "(?:(?:a{10}){10}){10}",
    "{2}",
    "{0}",
    "[[:foo:]]",
    "[b-a]",
    "\\pQ",
    "\\p{Grek}",
    "\\p{gc=Lu}",
    "\\p{}",
    "\\d",
    "(?x)",
    "(?'n'",
    "]*",
    "|",
    "$",
    "\u{0}",
    "\n",
];

/// Names that Go takes since 1.27 only.
const LONG_NAMES: &[&str] = &[
    r"\p{Old_Italic}",
    r"\p{old italic}",
    r"[^\p{Canadian-Aboriginal}]",
    r"\p{SignWriting}",
    r"\p{Phags_Pa}",
    r"\PN",
];

/// What values are made of. Code points whose category changed after Unicode 15, or whose folding did (U+FB05), are
/// left out, and so are lone surrogates in patterns: Go matches `^\x{D800}` with U+FFFD by mistake.
const BYTES: &[&[u8]] = &[
    b"a",
    b"b",
    b"c",
    b"k",
    b"K",
    b"s",
    b"S",
    b"1",
    b" ",
    b"\n",
    b"\r",
    b"\x0b",
    b"\t",
    b"_",
    b"-",
    b"]",
    b"[",
    b"}",
    b"{",
    b"&",
    b",",
    b".",
    b"<",
    b":",
    b"\\",
    b"\x00",
    b"\x7f",
    b"\xff",
    b"\x80",
    b"\xc3",
    b"\xe2\x82",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\xc0\xaf",
    b"\xc3\xa9",
    b"\xef\xbf\xbd",
    b"\xe2\x84\xaa",
    b"\xc5\xbf",
    b"\xcf\x83",
    b"\xcf\x82",
    b"\xce\xa3",
    b"\xd9\xa0",
    b"\xcd\x85",
    b"\xf0\x9f\x98\x80",
    b"\xc2\xa0",
    b"\xcc\x81",
    b"\xf4\x8f\xbf\xbf",
    b"\xcd\xb8",
    b"aa",
    b"ab",
    b"abc",
    b"a.b",
];

/// Patterns, each with values to match against it.
pub fn patterns(count: usize, long_names: bool) -> Vec<(String, Vec<Vec<u8>>)> {
    let names = if long_names { LONG_NAMES } else { &["x"] };
    let piece = prop_oneof![12 => select(PIECES), 1 => select(names)];
    let repeated = (piece, prop_oneof![2 => Just(""), 1 => select(REPEATS)])
        .prop_map(|(piece, repeat)| format!("{piece}{repeat}"));
    let sound = prop::collection::vec(repeated.clone(), 1..6).prop_map(|pieces| pieces.concat());
    let grouped = (sound.clone(), sound.clone(), select(REPEATS), sound.clone())
        .prop_map(|(before, inside, repeat, behind)| format!("{before}({inside}){repeat}{behind}"));
    let anchored = sound.clone().prop_map(|pattern| format!("^(?:{pattern})$"));
    let token = prop_oneof![2 => select(SHARDS).prop_map(str::to_owned), 1 => repeated];
    let broken = prop::collection::vec(token, 1..8).prop_map(|tokens| tokens.concat());
    let pattern = prop_oneof![3 => sound, 3 => anchored, 2 => grouped, 3 => broken];
    let value = prop::collection::vec(select(BYTES), 0..7).prop_map(|parts| parts.concat());
    let values = prop::collection::vec(value, 6);
    samples(count, &(pattern, values).boxed())
}

/// Texts that are or look like durations.
pub fn durations(count: usize) -> Vec<String> {
    let number = prop_oneof![
        4 => "[0-9]{1,4}",
        2 => "[0-9]{0,3}\\.[0-9]{0,12}",
        1 => "[0-9]{15,22}",
        1 => "0?\\.[0-9]{16,24}",
        1 => select(&["9223372036854775807", "9223372036854775.807", "2562047", "0", "00", ".", "87600"][..]).prop_map(str::to_owned),
    ];
    let unit = select(
        &["ns", "us", "µs", "μs", "ms", "s", "m", "h", "s", "h", "d", "", "H", " ", "é", "\"", "\n"][..],
    );
    let term = (number, unit).prop_map(|(number, unit)| format!("{number}{unit}"));
    let text = (select(&["", "", "", "-", "+", "--", " "][..]), prop::collection::vec(term, 0..4))
        .prop_map(|(sign, terms)| format!("{sign}{}", terms.concat()))
        // Longer texts are cut in our messages and not in Go's.
        .prop_filter("short", |text| text.chars().count() <= 64);
    samples(count, &text.boxed())
}

/// Texts of all kinds of characters, but for those assigned after Unicode 15: whether they are printable differs.
pub fn texts(count: usize) -> Vec<String> {
    let old = regex::Regex::new(r"^\p{Age=15.0}$").unwrap();
    let never = regex::Regex::new(r"^\p{Cn}$").unwrap();
    let character = any::<char>().prop_filter("old", move |character| {
        let text = character.to_string();
        old.is_match(&text) || (never.is_match(&text) && !is_newly_assigned(*character))
    });
    let known = prop_oneof![
        2 => character,
        1 => (0_u8..=0xFF).prop_map(char::from),
        1 => select(vec!['<', '>', '&', '\u{2028}', '\u{2029}', '\u{FEFF}', '\u{FFFD}', '\u{E000}', '\u{AD}', '\\', '"']),
    ];
    samples(count, &prop::collection::vec(known, 0..12).prop_map(String::from_iter).boxed())
}

/// Whether Unicode 17 assigns the character, which 16 does not know.
fn is_newly_assigned(character: char) -> bool {
    // The planes and blocks that Unicode 17 added to, widely.
    matches!(u32::from(character), 0x0870..=0x08FF | 0x0C00..=0x0CFF | 0x1AB0..=0x1AFF | 0x20A0..=0x2BFF | 0xA700..=0xA7FF
        | 0xFB00..=0xFDFF | 0x1_0900..=0x1_1FFF | 0x1_6D00..=0x1_8DFF | 0x1_CC00..=0x1_CEFF | 0x1_E600..=0x1_FBFF | 0x3_1350..=0x3_3479)
}

/// Texts that are or look like JSON.
pub fn json(count: usize) -> Vec<String> {
    let leaf = prop_oneof![
        4 => select(&["null", "true", "0", "-1.5e3", "1e400", r#""a""#, r#""\u00e9\n""#, r#""\ud800""#, "{}", "[ ]", "\"é\u{2028}\""][..]),
        1 => select(&["nul", "01", "1.", "-", "+1", "\"", r#""\x""#, r#""\u12""#, "\"\t\"", "NaN", "", ",", "1 2", "\u{FEFF}1", "'a'"][..]),
    ]
    .prop_map(str::to_owned);
    let text = leaf.prop_recursive(4, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(|items| format!("[{}]", items.join(", "))),
            prop::collection::vec(inner.clone(), 0..3).prop_map(|items| {
                let members: Vec<String> = items.iter().map(|item| format!("\"k\" :{item}")).collect();
                format!("{{{}}}", members.join(","))
            }),
            (select(&[" ", "\n", "\t", "\u{a0}", "\u{b}", "[", "}", "{\"a\":", "//\n"][..]), inner)
                .prop_map(|(around, inner)| format!("{around}{inner}")),
        ]
    });
    samples(count, &text.boxed())
}

/// Texts that are or look like times. The end of the year 9999 is left out: what lies beyond our greatest time reads as
/// that.
pub fn times(count: usize) -> Vec<String> {
    let two = prop_oneof![8 => (0_u8..=31).prop_map(|n| format!("{n:02}")), 1 => (0_u8..=99).prop_map(|n| format!("{n:02}")), 1 => "[0-9]{0,3}"];
    let year = prop_oneof![8 => (0_u16..=9998).prop_map(|n| format!("{n:04}")), 1 => "[0-9]{0,5}"]
        .prop_filter("not the last", |year| year != "9999");
    let month = prop_oneof![6 => (1_u8..=12).prop_map(|n| format!("{n:02}")), 1 => two.clone()];
    let separator = |usual: &'static str| prop_oneof![30 => Just(usual), 1 => select(&["", "-", ":", "T", "t", " ", "_"][..])];
    let fraction = prop_oneof![4 => Just(String::new()), 2 => "\\.[0-9]{1,12}", 1 => "[.,][0-9]{0,3}"];
    let offset = prop_oneof![
        4 => Just("Z".to_owned()),
        4 => "[+-](0[0-9]|1[0-9]|2[0-3]):[0-5][0-9]",
        1 => "[+-][0-9]{2}:[0-9]{2}",
        1 => select(&["", "z", "+00", "+0000", "Z ", "-00:00", "+24:00", "+0:00"][..]).prop_map(str::to_owned),
    ];
    let text = (
        (year, separator("-"), month, separator("-"), two.clone()),
        separator("T"),
        (two.clone(), separator(":"), two.clone(), separator(":"), two),
        fraction,
        offset,
    )
        .prop_map(
            |((year, s1, month, s2, day), s3, (hour, s4, minute, s5, second), fraction, offset)| {
                format!("{year}{s1}{month}{s2}{day}{s3}{hour}{s4}{minute}{s5}{second}{fraction}{offset}")
            },
        );
    samples(count, &text.boxed())
}
