//! Reading YAML as kubectl does: documents, lines, limits, and what is refused.

use serde_json::{Value, json};

use super::*;

/// The number of a document, and its root or where and why it cannot be read.
type Read = (u32, Result<Value, (u32, Problem)>);

fn read(text: &str) -> Vec<Read> {
    documents(text)
        .map(|document| {
            let root = document.root.map(Node::into_value);
            (document.number, root.map_err(|error| (error.line, error.problem)))
        })
        .collect()
}

fn one(text: &str) -> Result<Value, Problem> {
    let mut read = read(text);
    assert_eq!(read.len(), 1, "{text:?}");
    read.remove(0).1.map_err(|(_, problem)| problem)
}

/// As the API server's decoder reads numbers: 64 bits with a sign, else floating point.
fn as_decoded(value: Value) -> Value {
    match value {
        Value::Number(number) => match number.as_i64() {
            Some(whole) => json!(whole),
            None if number.as_f64() == Some(0.0) => json!(0),
            None => json!(number.as_f64().unwrap()),
        },
        Value::Array(items) => items.into_iter().map(as_decoded).collect(),
        Value::Object(fields) => {
            Value::Object(fields.into_iter().map(|(key, value)| (key, as_decoded(value))).collect())
        }
        other => other,
    }
}

#[test]
fn scalars_mean_what_they_mean_to_kubectl() {
    let mut rows = 0;
    let mut wrong = Vec::new();
    for line in
        include_str!("../../../../tests/yaml/scalars.tsv").lines().filter(|line| !line.starts_with('#'))
    {
        rows += 1;
        let (text, expected) = line.split_once('\t').unwrap();
        let text: String = serde_json::from_str(text).unwrap();
        let expected = (expected != "!").then(|| as_decoded(serde_json::from_str(expected).unwrap()));
        let got = one(&text).ok();
        if got != expected {
            wrong.push(format!("{text:?}: {got:?} instead of {expected:?}"));
        }
    }
    assert!(rows > 150, "{rows}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn empty_documents_count_but_do_not_come() {
    let numbers = |text| read(text).into_iter().map(|(number, _)| number).collect::<Vec<_>>();
    assert_eq!(numbers("a: 1\n---\nb: 2\n"), [1, 2]);
    assert_eq!(numbers("---\n---\n# nothing\n---\na: 1\n---\n"), [3]);
    assert_eq!(numbers("# head\n---\na: 1\n...\n---\nb: 1"), [1, 2]);
    assert_eq!(numbers(""), [] as [u32; 0]);
    assert_eq!(numbers("# only a comment\n"), [] as [u32; 0]);
    assert_eq!(numbers("{\"a\": 1}\n{\"b\": 2}{\"c\": 3}"), [1, 2, 3]);
    assert_eq!(numbers("a: 1\r\n---\r\nb: 2\r\n"), [1, 2]);
}

#[test]
fn a_broken_document_does_not_hide_the_next() {
    let all =
        read("a: 1\n---\nb: [1, 2\n---\nc: \"x\n---\nd: 4\n---\ne: 1\ne: 2\nf: 3\n---\n\tg: 1\n---\nh: 8\n");
    let good: Vec<_> =
        all.iter().filter_map(|(number, root)| Some((*number, root.as_ref().ok()?.clone()))).collect();
    assert_eq!(good, [(1, json!({"a": 1})), (4, json!({"d": 4})), (7, json!({"h": 8}))]);
    let bad: Vec<_> =
        all.iter().filter_map(|(number, root)| Some((*number, *root.as_ref().err()?))).collect();
    assert_eq!(bad[0].0, 2);
    assert_eq!(bad[0].1.1, Problem::Brackets);
    assert_eq!(bad[1].0, 3);
    assert_eq!(bad[1].1.1, Problem::Quotes);
    assert_eq!(bad[2], (5, (10, Problem::DuplicateKey { first: 9 })));
    assert_eq!((bad[3].0, bad[3].1.0), (6, 13));
    assert_eq!(bad.len(), 4);
}

#[test]
fn every_node_knows_its_line() {
    let text = "# head\na:\n  b: 1\n\n  c:\n  - x\n  - y: 1\n    z: 2\n";
    let root = documents(text).next().unwrap().root.unwrap_or_else(|_| panic!("readable"));
    assert_eq!(root.line, 2);
    assert_eq!(root.line_of(&[Step::Key("a"), Step::Key("b")]), 3);
    assert_eq!(root.line_of(&[Step::Key("a"), Step::Key("c"), Step::Index(1)]), 7);
    assert_eq!(root.line_of(&[Step::Key("a"), Step::Key("c"), Step::Index(1), Step::Key("z")]), 8);
    // Absent: the nearest parent.
    assert_eq!(root.line_of(&[Step::Key("a"), Step::Key("d"), Step::Key("e")]), 2);
    let second = documents("{\n\"a\": 1}\n\n\n{\t\"b\":\n\t[\n\t\t7]}").nth(1).unwrap();
    let root = second.root.unwrap_or_else(|error| panic!("{error:?}"));
    assert_eq!(root.line_of(&[Step::Key("b"), Step::Index(0)]), 7);
    assert_eq!(root.into_value(), json!({"b": [7]}));
}

#[test]
fn json_is_read_as_json() {
    assert_eq!(one("{\"a\": \"b\\/c\\u00e9\\ud83d\\ude00\"}"), Ok(json!({"a": "b/cé😀"})));
    assert_eq!(one("\u{20}{\"a\":\"\u{7f}\u{85}\"}"), Ok(json!({"a": "\u{7f}\u{85}"})));
    assert_eq!(one("{\"a\":1,\"a\":2}"), Err(Problem::DuplicateKey { first: 1 }));
    let long = "k".repeat(5_000);
    assert_eq!(one(&format!("{{\"{long}\":1}}")), Ok(json!({ long: 1 })));
    assert!(one("{\"a\": }}").is_err());
    assert_eq!(one("{a: b}"), Ok(json!({"a": "b"})));
}

#[test]
fn small_documents_do_not_unfold_to_large_ones() {
    let mut laughs = String::from("a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n");
    for level in 1..12 {
        let line = format!("a{level}: &a{level} [{}]\n", vec![format!("*a{}", level - 1); 9].join(", "));
        laughs.push_str(&line);
    }
    assert_eq!(one(&laughs), Err(Problem::Aliases));
    assert_eq!(one("a: &a [*a]"), Err(Problem::Alias));
    assert!(one(&format!("a: {}{}", "[".repeat(240), "]".repeat(240))).is_err());
    assert!(one(&format!("{}x", "- ".repeat(10_000))).is_err());
    let mut deep = String::from("a0: &a0 [x]\n");
    for level in 1..40 {
        let line = format!("a{level}: &a{level} {}*a{}{}\n", "[".repeat(20), level - 1, "]".repeat(20));
        deep.push_str(&line);
    }
    assert_eq!(one(&deep), Err(Problem::Depth(200)));
    assert_eq!(
        one("a: &x {b: 1}\nc: *x\nd: {<<: *x, e: 2}"),
        Ok(json!({"a": {"b": 1}, "c": {"b": 1}, "d": {"b": 1, "e": 2}}))
    );
}

#[test]
fn large_maps_keep_their_keys_apart() {
    let mut text = (0..500).map(|number| format!("key-{number}: {number}\n")).collect::<Vec<_>>().concat();
    assert_eq!(one(&text).unwrap().as_object().unwrap().len(), 500);
    text.push_str("key-499: again\n");
    assert_eq!(one(&text), Err(Problem::DuplicateKey { first: 500 }));
    text = text.replace("key-499: again\n", "key-7: again\n");
    assert_eq!(one(&text), Err(Problem::DuplicateKey { first: 8 }));
}

#[test]
fn no_message_quotes_the_document() {
    for text in [
        "a: \"canary",
        "a: [canary",
        "a: canary: canary",
        "a: @canary",
        "a: !!int canary",
        "a: *canary",
        "canary: 1\ncanary: 2",
        "? [canary]\n: 1",
        "a: !canary!x y",
        "a: \"\\canary\"",
        "%canary x\na: 1",
        "a: 'x'canary",
    ] {
        for document in documents(text) {
            let Err(error) = document.root else { panic!("{text:?} is readable") };
            assert!(!format!("{} {error:?}", error.problem).contains("canary"), "{text:?}");
        }
    }
}
