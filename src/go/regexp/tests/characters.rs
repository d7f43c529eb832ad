//! The table of differences, part one: what stands for a character or a class of them. Row numbers are those of the
//! table; all results were read off Go 1.27.

use super::{check, matches, refuse};

#[test]
fn row_1_digits_and_words_are_ascii() {
    check(r"^\d$", &["0", "9"], &["\u{660}", "a"]);
    check(r"^\D$", &["\u{660}", "a", "\n"], &["0"]);
    check(r"^\w$", &["a", "Z", "_", "5"], &["é", "-"]);
    check(r"^\W$", &["é", "-", "\n"], &["a", "_"]);
}

#[test]
fn row_2_space_lacks_the_vertical_tab() {
    check(r"^\s$", &["\t", "\n", "\u{c}", "\r", " "], &["\u{b}", "\u{85}", "\u{a0}", "\u{2028}"]);
    check(r"^\S$", &["\u{b}", "\u{a0}"], &[" "]);
    check("^[[:space:]]$", &["\u{b}", " "], &["\u{a0}"]);
}

#[test]
fn row_3_classes_fold_before_they_are_negated() {
    for pattern in [r"(?i)^\w$", "(?i)^[[:word:]]$", "(?i)^[[:alpha:]]$", "(?i)^[a-z]$"] {
        check(pattern, &["k", "K", "\u{212A}", "s", "\u{17F}"], &["é", "-"]);
    }
    check(r"(?i)^\W$", &["é"], &["\u{212A}", "\u{17F}", "k"]);
    check("(?i)^[^a-z]$", &["é", "1"], &["\u{212A}", "K"]);
    check("(?i)^[[:^alpha:]]$", &["1"], &["\u{17F}"]);
    check(r"(?i)^[^\W]$", &["\u{212A}"], &["é"]);
    check(r"^\w$", &[], &["\u{212A}", "\u{17F}"]);
}

#[test]
fn row_7_octal_escapes_are_code_points() {
    check(r"^\0$", &["\0"], &["0"]);
    check(r"^\12$", &["\n"], &[]);
    check(r"^\012$", &["\n"], &[]);
    check(r"^\101$", &["A"], &[]);
    check(r"^\1012$", &["A2"], &[]);
    check(r"^\377$", &["\u{ff}"], &[]);
    check(r"^\777$", &["\u{1ff}"], &[]);
    check(r"^\08$", &["\u{0}8"], &[]);
    assert!(!matches(r"\377", b"\xff"));
    refuse(
        "invalid escape sequence",
        &[
            (r"\1", r"\1"),
            (r"a\7b", r"\7"),
            (r"\8", r"\8"),
            (r"\18", r"\1"),
            (r"(a)\2", r"\2"),
            (r"[\9]", r"\9"),
        ],
    );
}

#[test]
fn row_8_hexadecimal_escapes() {
    check(r"^\x41$", &["A"], &["x41"]);
    check(r"^\x{41}\x{000000041}\x{10FFFF}$", &["AA\u{10FFFF}"], &[]);
    check(r"^[\x41-\x{43}]$", &["B"], &["D"]);
    refuse(
        "invalid escape sequence",
        &[
            (r"\u0041", r"\u"),
            (r"\U00000041", r"\U"),
            (r"\u{41}", r"\u"),
            (r"\x", r"\x"),
            (r"\x4", r"\x4"),
            (r"\x4g", r"\x4g"),
            (r"\xg1", r"\xg1"),
            (r"\x{}", r"\x{}"),
            (r"\x{41", r"\x{41"),
            (r"\x{4 1}", r"\x{4 "),
            (r"\x{110000}", r"\x{110000"),
            (r"\x{-1}", r"\x{-"),
            (r"\xé9", r"\xé9"),
        ],
    );
}

#[test]
fn row_9_escapes_of_other_languages() {
    for letter in ["C", "Z", "G", "K", "R", "X", "N", "h", "e", "E", "c", "g", "k", "y", "é"] {
        let pattern = format!("a\\{letter}b");
        refuse("invalid escape sequence", &[(&pattern, &format!("\\{letter}"))]);
    }
    refuse(
        "invalid escape sequence",
        &[(r"\cA", r"\c"), (r"[\b]", r"\b"), (r"[\A]", r"\A"), (r"[\C]", r"\C")],
    );
}

#[test]
fn row_10_angle_brackets_are_literal() {
    check(r"^\<a\>$", &["<a>"], &["a"]);
}

#[test]
fn row_12_any_other_ascii_can_be_escaped() {
    check("^\\ \\\n\\\u{7f}\\_\\-\\/\\\"\\@\\~\\\u{1}$", &[" \n\u{7f}_-/\"@~\u{1}"], &[]);
    check(r"^[\]\[\^\-\\]+$", &["]^-\\["], &["a"]);
}

#[test]
fn row_13_there_are_no_operators_in_classes() {
    check("^[a&&b]$", &["a", "&", "b"], &["c"]);
    check("^[a~~b]$", &["a", "~", "b"], &[]);
    check("^[+--]$", &["+", ",", "-"], &["."]);
    refuse("invalid character class range", &[("[a--b]", "a--")]);
}

#[test]
fn row_14_a_bracket_in_a_class_is_literal() {
    check("^[a[b]]$", &["a]", "[]", "b]"], &["a", "ab"]);
    check("^[[]$", &["["], &["a"]);
    check("^[[:]$", &["[", ":"], &["a"]);
    check("^[[.a.]]$", &["a]", ".]", "[]"], &[]);
}

#[test]
fn row_15_surrogates_are_accepted_and_match_nothing() {
    for pattern in
        [r"\x{D800}", r"[\x{D800}-\x{DFFF}]", r"\p{Cs}", r"^\x{D800}", r"(?i)\x{DFFF}", r"[\x{D800}]"]
    {
        for value in [&b"\xED\xA0\x80"[..], "\u{FFFD}".as_bytes(), b"a", b""] {
            assert!(!matches(pattern, value), "{pattern}");
        }
    }
    check(r"^[^\x{D800}]$", &["a", "\u{FFFD}"], &[]);
    check(r"^[\x{D7FF}-\x{E000}]$", &["\u{D7FF}", "\u{E000}"], &["\u{FFFD}"]);
    check(r"^\P{Cs}$", &["a", "\u{FFFD}"], &[]);
}

#[test]
fn row_16_class_names_are_exact_and_their_end_is_sought_everywhere() {
    refuse(
        "invalid character class range",
        &[
            ("[[:foo:]]", "[:foo:]"),
            ("[[:Alpha:]]", "[:Alpha:]"),
            ("[[::]]", "[::]"),
            ("[[:^^alpha:]]", "[:^^alpha:]"),
            ("[[:a]b[:]c", "[:a]b[:]"),
            ("[[:word:] [:é:]]", "[:é:]"),
        ],
    );
}

#[test]
fn row_17_classes_are_no_ends_of_a_range() {
    refuse("invalid escape sequence", &[(r"[a-\d]", r"\d"), (r"[a-\pL]", r"\p")]);
    check(r"^[\d-z]$", &["5", "-", "z"], &["a"]);
    check(r"^[\w-\d]$", &["a", "-", "5"], &["."]);
    check("^[[:digit:]-a]$", &["5", "-", "a"], &["b"]);
}

#[test]
fn row_18_brackets_and_hyphens_at_the_edges() {
    check("^[]a]$", &["]", "a"], &["b"]);
    check("^[^]a]$", &["b"], &["]", "a"]);
    check("^[a-]$", &["a", "-"], &["b"]);
    check("^[-a]$", &["a", "-"], &["b"]);
    check("^[a-b-c]$", &["a", "b", "-", "c"], &["d"]);
    check("^[[:word:]]$", &["_"], &["-"]);
    check("^[[:^alpha:]]$", &["1", "é"], &["a"]);
    check("^[:alpha:]$", &[":", "a", "l"], &["b"]);
    check("^[a^]$", &["a", "^"], &["b"]);
    check("^[^^]$", &["a"], &["^"]);
    check("^[]-a]$", &["]", "^", "_", "`", "a"], &["-", "b"]);
    refuse(
        "missing closing ]",
        &[
            ("[", "["),
            ("a[b", "[b"),
            ("[]", "[]"),
            ("[^]", "[^]"),
            ("[^", "[^"),
            ("[a-", "[a-"),
            ("([)", "[)"),
        ],
    );
    refuse("invalid character class range", &[("[b-a]", "b-a"), (r"a[\x{62}-\x61]", r"\x{62}-\x61")]);
}

#[test]
fn row_19_an_empty_class_matches_nothing() {
    for pattern in [r"[^\x00-\x{10FFFF}]", r"[^\D\d]", r"\P{Any}", r"[^\p{^Any}\p{Any}]"] {
        check(pattern, &[], &["", "a", "\n", "\u{FFFD}"]);
    }
    check(r"a|[^\x00-\x{10FFFF}]", &["a"], &["b"]);
    check(r"^[^\x00-\x{10FFFF}]*$", &[""], &["b"]);
}

#[test]
fn rows_32_and_33_property_names() {
    check(r"^\pN$", &["5", "½"], &["a"]);
    check(r"^\p{Greek}$", &["α"], &["a"]);
    check(r"^\p{^Greek}$", &["a"], &["α"]);
    check(r"^\P{^Greek}$", &["α"], &["a"]);
    check(r"^\PN$", &["a"], &["5"]);
    check(r"^[\p{Lu}\d]$", &["A", "Ä", "5"], &["a"]);
    check(r"^[^\PL]$", &["a"], &["5"]);
    check(r"^\p{Old_Italic}$", &["\u{10300}"], &["a"]);
    check(r"^\p{old italic}$", &["\u{10300}"], &["a"]);
    check(r"^\p{Letter}\p{lowercase-letter}\p{cntrl}\p{digit}\p{punct}$", &["Aa\u{1}5!"], &[]);
    check(r"^\p{Any}\p{ASCII}\p{Assigned}\p{Cn}\p{LC}$", &["éaa\u{378}a"], &[]);
    refuse(
        "invalid character class range",
        &[
            (r"\p", r"\p"),
            (r"\p{", r"\p{"),
            (r"a\p{Greek", r"\p{Greek"),
            (r"\p{}", r"\p{}"),
            (r"\p^", r"\p^"),
            (r"\p\P{Lu}", r"\p\"),
            (r"\p{^}", r"\p{^}"),
            (r"\pé", r"\pé"),
            (r"\pQ", r"\pQ"),
            (r"[\PQ]", r"\PQ"),
            (r"\p{gc=Lu}", r"\p{gc=Lu}"),
            (r"\p{sc=Greek}", r"\p{sc=Greek}"),
            (r"\p{scx=Greek}", r"\p{scx=Greek}"),
            (r"\p{Grek}", r"\p{Grek}"),
            (r"\p{IsGreek}", r"\p{IsGreek}"),
            (r"\p{Alphabetic}", r"\p{Alphabetic}"),
            (r"\p{Emoji}", r"\p{Emoji}"),
            (r"\p{^^Greek}", r"\p{^^Greek}"),
        ],
    );
}

#[test]
fn row_34_other_includes_the_unassigned() {
    check(r"^\pC$", &["\u{378}", "\0", "\u{ad}", "\u{e000}"], &["a"]);
    check(r"^\PC$", &["a", " "], &["\u{378}"]);
}

#[test]
fn row_36_folding_orbits() {
    check("(?i)^k$", &["k", "K", "\u{212A}"], &["q"]);
    check("(?i)^\u{212A}$", &["k", "K", "\u{212A}"], &[]);
    check("(?i)^S$", &["s", "S", "ſ"], &[]);
    check("(?i)^å$", &["å", "Å", "\u{212B}"], &[]);
    check("(?i)^ß$", &["ß", "ẞ"], &["ss"]);
    check("(?i)^σ$", &["σ", "ς", "Σ"], &[]);
    check("(?i)^ι$", &["ι", "Ι", "\u{345}", "\u{1FBE}"], &[]);
    check("(?i)^İ$", &["İ"], &["i", "ı", "I"]);
    check("(?i)^i$", &["i", "I"], &["İ", "ı"]);
    check(r"(?i)^\x{4b}$", &["k", "\u{212A}"], &[]);
    check(r"(?i)^\113$", &["k"], &[]);
}

#[test]
fn row_37_negation_comes_after_folding() {
    check(r"(?i)^\P{Lu}$", &["1"], &["A", "a"]);
    check(r"(?i)^\p{Lu}$", &["A", "a"], &["1"]);
    check("(?i)^[^k]$", &["q"], &["k", "K", "\u{212A}"]);
    check(r"(?i)^\p{Ll}$", &["\u{345}", "A"], &[]);
    check(r"(?i)^\p{LC}$", &["A", "a"], &["\u{345}"]);
    check(r"(?i)^\p{Mn}$", &["\u{345}", "ι"], &["a"]);
}

#[test]
fn row_38_each_bad_byte_is_one_replacement_character() {
    for pattern in ["^.$", "^[^a]$", r"^\W$", r"^\PL$", r"^\x{FFFD}$", r"^\p{So}$", "^\u{FFFD}$", r"^\D$"] {
        for value in [&b"\xff"[..], b"\x80", b"\xc2", "\u{FFFD}".as_bytes()] {
            assert!(matches(pattern, value), "{pattern} {value:x?}");
        }
    }
    assert!(matches("^..$", b"\xE2\x82"));
    assert!(!matches("^.$", b"\xE2\x82"));
    assert!(matches("^.{3}$", b"\xED\xA0\x80"));
    assert!(matches("^.{2}$", b"\xC0\xAF"));
    assert!(matches("^.{4}$", b"\xF4\x90\x80\x80"));
    assert!(matches("^..é$", b"\xE2\x82\xC3\xA9"));
    assert!(matches(r"a\b.", b"a\xff"));
}

#[test]
fn row_39_an_escape_is_never_a_byte() {
    assert!(matches(r"^\xff$", b"\xC3\xBF"));
    assert!(!matches(r"\xff", b"\xff"));
}
