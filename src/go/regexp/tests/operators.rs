//! The table of differences, part two: groups, flags, repetition, positions. Row numbers are those of the table; all
//! results were read off Go 1.27.

use super::{Program, check, refuse};

#[test]
fn row_4_word_boundaries_are_ascii_even_under_folding() {
    check(r"\bx", &["x", "éx", "-x"], &["ax", "_x"]);
    check(r"(?i)\bx", &["\u{212A}x", "\u{17F}x"], &["kx"]);
    check(r"a\b", &["aé", "a"], &["ab"]);
}

#[test]
fn row_5_no_position_lies_inside_a_code_point() {
    check(r"\B", &["", "é", "éé", "ab"], &["a", "aéa"]);
    check(r"^\B", &["", "é"], &["a"]);
}

#[test]
fn row_6_quoted_text() {
    check(r"^\Qa.b\E$", &["a.b"], &["axb"]);
    check(r"^\Qa.(", &["a.("], &["ax("]);
    check(r"^\Qab\E*$", &["a", "ab", "abbb"], &["", "abab"]);
    check(r"^a\Q\E*$", &["", "aaa"], &["b"]);
    check(r"^\Q\\E$", &["\\"], &["\\E"]);
    check(r"^\Q\d$", &[r"\d$"], &["1"]);
    check(r"(?i)^\Qk\E$", &["K", "\u{212A}"], &[]);
    check(r"^a*\Q\E*$", &["aa", ""], &["b"]);
    refuse(
        "invalid escape sequence",
        &[(r"\E", r"\E"), (r"a\Eb", r"\E"), (r"[\Qa\E]", r"\Q"), (r"\Qa\Eb\E", r"\E")],
    );
}

#[test]
fn row_11_named_word_boundaries_are_no_syntax() {
    check(r"^\b{start}", &[], &["start"]);
    check(r"a\b{start}", &["a{start}"], &["a"]);
    check(r"a\b{end}b", &["a{end}b"], &["a"]);
    check(r"\b{2}a", &["a"], &["b"]);
    check(r"a\b{", &["a{"], &["a"]);
}

#[test]
fn row_20_unknown_flags() {
    refuse(
        "invalid or unsupported Perl syntax",
        &[
            ("(?x)a", "(?x"),
            ("(?u)a", "(?u"),
            ("(?R)", "(?R"),
            ("(?ix:a)", "(?ix"),
            ("(?é)", "(?é"),
            ("(?", "(?"),
            ("(?i", "(?i"),
        ],
    );
}

#[test]
fn row_21_odd_but_valid_flag_groups() {
    for pattern in ["(?ii)^a$", "(?)^a$", "(?:^a$)", "(?i-s)^a$", "(?s-i)^a$"] {
        check(pattern, &["a"], &["b"]);
    }
    check("(?i-i)^a$", &["a"], &["A"]);
    refuse(
        "invalid or unsupported Perl syntax",
        &[
            ("(?-)", "(?-)"),
            ("(?i-)a", "(?i-)"),
            ("(?--i)", "(?--"),
            ("(?i-:a)", "(?i-:"),
            ("(?-i-s)", "(?-i-"),
        ],
    );
}

#[test]
fn row_22_flags_last_to_the_end_of_their_group() {
    check("^(?:(?i)a|b)c$", &["Ac", "Bc", "bc"], &["aC"]);
    check("^(?i:a)b$", &["Ab"], &["AB"]);
    check("^((?i)a)b$", &["Ab"], &["aB"]);
    check("^a(?i)b|c$", &["aB", "C"], &["A"]);
    check("(?s:.)(?-s).", &["\na"], &["a\n"]);
    check("(?i)^(?-i:a)b$", &["aB"], &["AB"]);
}

#[test]
fn row_23_a_repeat_behind_a_flag_group_takes_what_stands_before_it() {
    check("^a(?i)*$", &["", "aaa"], &["A"]);
    check("^a*(?i)*$", &["", "aaa"], &["b"]);
    check("^ab(?s){2}$", &["abb"], &["abab"]);
    refuse(
        "missing argument to repetition operator",
        &[("(?i)*", "*"), ("a|(?i)*", "*"), ("(?i)+?", "+?"), ("(?:(?i){2}?)", "{2}?")],
    );
}

#[test]
fn row_24_repeats_do_not_stack() {
    refuse(
        "invalid nested repetition operator",
        &[
            ("a**", "**"),
            ("a*+", "*+"),
            ("a++", "++"),
            ("a???", "???"),
            ("a{1}{2}", "{1}{2}"),
            ("a{1}*", "{1}*"),
            ("a*{2}", "*{2}"),
            ("a+?*?b", "+?*?"),
            ("a{2}?{3}?", "{2}?{3}?"),
            ("é?+", "?+"),
        ],
    );
    check("^(?:a*)*$", &["", "aa"], &["b"]);
    check("^*$", &[""], &[]);
    check(r"\b*a", &["a"], &["b"]);
    check("^()*$", &[""], &["a"]);
    check("^a??$", &["", "a"], &["aa"]);
    check("^(|a)+$", &["", "aa"], &["b"]);
}

#[test]
fn row_25_braces_that_are_no_repeat_are_literal() {
    for pattern in
        ["{", "a{", "a{1", "a{1,", "a{x}", "a{}", "a{,}", "a{,2}", "a{-1}", "}", "a{1,x}", "a{1,2", "a{1 }"]
    {
        check(&format!("^{pattern}$"), &[pattern], &["a", "aa"]);
    }
    check("^{2}$", &[""], &["{2}"]);
    check("^a{,2}*$", &["a{,2", "a{,2}}"], &["a"]);
    refuse(
        "missing argument to repetition operator",
        &[("{2}", "{2}"), ("(?:{2,3}?)", "{2,3}?"), ("|{0}", "{0}")],
    );
}

#[test]
fn row_26_counts_have_no_leading_zeros_and_no_spaces() {
    check("^a{01}$", &["a{01}"], &["a"]);
    check("^a{1,02}$", &["a{1,02}"], &["a"]);
    check("^a{ 1 }$", &["a{ 1 }"], &["a"]);
    check("^a{0}b{0,1}$", &["", "b"], &["a"]);
    check("^a{00}$", &["a{00}"], &[""]);
}

#[test]
fn row_27_repeat_counts_are_bounded_alone_and_multiplied() {
    refuse(
        "invalid repeat count",
        &[
            ("x{2,1}", "{2,1}"),
            ("x{1001}", "{1001}"),
            ("x{1001}?", "{1001}"),
            ("x{1,1001}", "{1,1001}"),
            ("x{1001,}", "{1001,}"),
            ("x{99999999999999999999}", "{99999999999999999999}"),
            ("x{1,99999999999999999999}", "{1,99999999999999999999}"),
            ("(a*){1001}", "{1001}"),
            ("(a{2,}){501}", "{501}"),
            ("(a{2,}){501}?", "{501}?"),
            ("(a{500,500}){3}b", "{3}"),
            ("((a{10}){10}){11}", "{11}"),
            ("((a{0,40}b){5}|c){6}", "{6}"),
            ("(a{34}){30}", "{30}"),
        ],
    );
    for pattern in [
        "(a{2,}){500}",
        "((a{10}){10}){10}",
        "((a{1000}){0}){1000}",
        "((a{1000}){1}){1}",
        "(a{1000}){0,}",
        "(a{1000}|b){1,}",
        "(a{333}){3}",
        "(a{0,0}){1000}",
    ] {
        assert!(Program::compile(pattern).is_ok(), "{pattern}");
    }
    check("^x{1000}$", &[&"x".repeat(1_000)], &[&"x".repeat(999)]);
}

#[test]
fn row_30_named_groups() {
    for pattern in ["^(?P<n>a)$", "^(?<n>a)$", "^(?P<1n>a)$", "^(?<_>a)(?<_>)$", "^(?P<A_9>a)$"] {
        check(pattern, &["a"], &["b"]);
    }
    refuse(
        "invalid named capture",
        &[
            ("(?P<n", "(?P<n"),
            ("(?<n", "(?<n"),
            ("a(?P<>b)", "(?P<>"),
            ("(?<>b)", "(?<>"),
            ("(?P<x y>a)", "(?P<x y>"),
            ("(?P<n.m>a)", "(?P<n.m>"),
            ("(?P<é>a)", "(?P<é>"),
            ("(?P<=n)>", "(?P<=n)>"),
        ],
    );
    refuse(
        "invalid or unsupported Perl syntax",
        &[
            ("(?P=n)", "(?P"),
            ("(?P>n)", "(?P"),
            ("(?'n'a)", "(?'"),
            ("(?P<", "(?P"),
            ("(?<", "(?<"),
            ("(?P", "(?P"),
        ],
    );
}

#[test]
fn row_31_look_around_and_its_like() {
    refuse(
        "invalid or unsupported Perl syntax",
        &[
            ("(?=a)", "(?="),
            ("(?!a)", "(?!"),
            ("(?>a)", "(?>"),
            ("(?#a)", "(?#"),
            ("(?|a)", "(?|"),
            ("(?&n)", "(?&"),
            ("(?1)", "(?1"),
        ],
    );
    refuse("invalid named capture", &[("(?<=a)", "(?<=a)"), ("(?<!a)b", "(?<!a)b"), ("(?<=a)>", "(?<=a)>")]);
}

#[test]
fn row_40_ends_of_lines_and_text() {
    check("a$", &["a"], &["a\n"]);
    check("(?m)a$", &["a", "a\n", "a\nb"], &["a\r\n"]);
    check("(?m)^b", &["a\nb", "b"], &["a\rb"]);
    check(r"a\z", &["a"], &["a\n"]);
    check(r"(?m)\Ab", &["b"], &["a\nb"]);
    check(r"(?m)a\z", &["a"], &["a\nb"]);
    check("^a.b$", &["a\rb"], &["a\nb"]);
    check("(?m)^$", &["", "a\n\nb", "a\n"], &["a"]);
    check("^$", &[""], &["\n"]);
    refuse("invalid escape sequence", &[(r"a\Z", r"\Z")]);
}

#[test]
fn row_41_preference_does_not_change_the_answer() {
    check("^(|a)*$", &["", "aaa"], &["b"]);
    check("^(a|)*b$", &["b", "aab"], &["c"]);
    check("(?U)^a+$", &["aa"], &["b"]);
    check("(?U)^a+?b{2}?$", &["aabb"], &["aab"]);
    check("^a*?b+?c??$", &["b", "aabbc"], &["a"]);
}

#[test]
fn parentheses_and_the_trailing_backslash() {
    refuse("missing closing )", &[("(", "("), ("a(b", "a(b"), ("(a)(b", "(a)(b")]);
    refuse("unexpected )", &[(")", ")"), ("a)b", "a)b"), ("(a))(", "(a))("), ("a|)", "a|)")]);
    refuse("trailing backslash at end of expression", &[("\\", ""), ("a\\", ""), ("[\\", ""), ("(\\", "")]);
    refuse(
        "missing argument to repetition operator",
        &[("*", "*"), ("(*)", "*"), ("a|*", "*"), ("+?a", "+?"), ("(?:?)", "?")],
    );
}
