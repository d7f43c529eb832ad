//! The grammars of Kubernetes names, with the messages of `k8s.io/apimachinery` (1.37) word for word: whoever knows a
//! refusal from a built-in kind meets the same text here. Each function answers with what is wrong, or with nothing.

/// The longest DNS subdomain, and with it the longest Secret key, in bytes.
pub const MAX_NAME_BYTES: usize = 253;
/// The longest DNS label, and the longest name part of a qualified name, in bytes.
pub const MAX_LABEL_BYTES: usize = 63;

const LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN: &str = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const SECRET_KEY: &str = "[-._a-zA-Z0-9]+";
const QUALIFIED_NAME: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

const QUALIFIED_NAME_RULE: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";

/// A DNS subdomain (RFC 1123): the name of most objects, such as a Secret. At most 253 bytes.
pub fn dns_subdomain(value: &str) -> Vec<String> {
    let mut messages = Vec::new();
    if value.len() > MAX_NAME_BYTES {
        messages.push(too_long(MAX_NAME_BYTES));
    }
    if !is_subdomain(value) {
        messages.push(regex_message(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must \
             start and end with an alphanumeric character",
            SUBDOMAIN,
            &["example.com"],
        ));
    }
    messages
}

/// A DNS label (RFC 1123): the name of a namespace or a container. At most 63 bytes.
pub fn dns_label(value: &str) -> Vec<String> {
    let mut messages = Vec::new();
    if value.len() > MAX_LABEL_BYTES {
        messages.push(too_long(MAX_LABEL_BYTES));
    }
    if is_label(value) {
        return messages;
    }
    messages.push(if is_subdomain(value) {
        "must not contain dots".to_owned()
    } else {
        regex_message(
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and \
             end with an alphanumeric character",
            LABEL,
            &["my-name", "123-abc"],
        )
    });
    messages
}

/// A key of a Secret or `ConfigMap`, which is also a file name in a volume. At most 253 bytes.
pub fn secret_key(value: &str) -> Vec<String> {
    let mut messages = Vec::new();
    if value.len() > MAX_NAME_BYTES {
        messages.push(too_long(MAX_NAME_BYTES));
    }
    if value.is_empty() || !value.bytes().all(is_name_byte) {
        messages.push(regex_message(
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
            SECRET_KEY,
            &["key.name", "KEY_NAME", "key-name"],
        ));
    }
    match value {
        "." => messages.push("must not be '.'".to_owned()),
        ".." => messages.push("must not be '..'".to_owned()),
        _ if value.starts_with("..") => messages.push("must not start with '..'".to_owned()),
        _ => {}
    }
    messages
}

/// A qualified name, the key of a label or an annotation: `name` or `prefix/name`, the prefix a DNS subdomain, the
/// name at most 63 bytes.
pub fn qualified_name(value: &str) -> Vec<String> {
    let mut messages = Vec::new();
    let examples = ["MyName", "my.name", "123-abc"];
    let name = match value.split_once('/') {
        None => value,
        Some((_, name)) if name.contains('/') => {
            let rule = regex_message(QUALIFIED_NAME_RULE, QUALIFIED_NAME, &examples);
            return vec![format!(
                "a valid label key {rule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
        Some(("", name)) => {
            messages.push("prefix part must be non-empty".to_owned());
            name
        }
        Some((prefix, name)) => {
            messages.extend(dns_subdomain(prefix).into_iter().map(|text| format!("prefix part {text}")));
            name
        }
    };
    if name.is_empty() {
        messages.push("name part must be non-empty".to_owned());
    } else if name.len() > MAX_LABEL_BYTES {
        messages.push(format!("name part {}", too_long(MAX_LABEL_BYTES)));
    }
    let ends = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric());
    if !(ends(name.bytes().next()) && ends(name.bytes().last()) && name.bytes().all(is_name_byte)) {
        messages.push(format!("name part {}", regex_message(QUALIFIED_NAME_RULE, QUALIFIED_NAME, &examples)));
    }
    messages
}

/// The API server's words for a value longer than `limit`; it counts bytes and says characters.
pub(super) fn too_long(limit: usize) -> String {
    format!("must be no more than {limit} characters")
}

/// The API server's words for a value that does not match a grammar, its peculiar spacing included.
pub(super) fn regex_message(rule: &str, grammar: &str, examples: &[&str]) -> String {
    let examples: Vec<String> = examples.iter().map(|example| format!("'{example}', ")).collect();
    format!("{rule} (e.g. {}regex used for validation is '{grammar}')", examples.join(" or "))
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}

fn is_label(value: &str) -> bool {
    !value.is_empty()
        && !value.starts_with('-')
        && !value.ends_with('-')
        && value.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

fn is_subdomain(value: &str) -> bool {
    value.split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUBDOMAIN_MESSAGE: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric \
        characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used \
        for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
    const LABEL_MESSAGE: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or \
        '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for \
        validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
    const KEY_MESSAGE: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. \
        'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
    const NAME_PART_MESSAGE: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and \
        end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation \
        is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

    #[test]
    fn subdomains() {
        for value in ["a", "a.b", "a-b.c-d", "0.1", &"a".repeat(253)] {
            assert_eq!(dns_subdomain(value), Vec::<String>::new(), "{value}");
        }
        for value in ["", ".", "a.", ".a", "a..b", "-a", "a-", "a.-b", "A", "a_b", "a b", "é", "a\n"] {
            assert_eq!(dns_subdomain(value), [SUBDOMAIN_MESSAGE], "{value:?}");
        }
        assert_eq!(dns_subdomain(&"a".repeat(254)), ["must be no more than 253 characters"]);
        assert_eq!(
            dns_subdomain(&"A".repeat(254)),
            ["must be no more than 253 characters", SUBDOMAIN_MESSAGE]
        );
    }

    #[test]
    fn labels() {
        for value in ["a", "a-b", "123-abc", &"a".repeat(63)] {
            assert_eq!(dns_label(value), Vec::<String>::new(), "{value}");
        }
        for value in ["", "-a", "a-", "A", "a_b", "a.B", "é"] {
            assert_eq!(dns_label(value), [LABEL_MESSAGE], "{value:?}");
        }
        assert_eq!(dns_label("a.b"), ["must not contain dots"]);
        assert_eq!(dns_label(&"a".repeat(64)), ["must be no more than 63 characters"]);
    }

    #[test]
    fn secret_keys() {
        for value in ["a", "A_b.c-d", ".hidden", "-", "...a"] {
            let expected: &[&str] = if value == "...a" { &["must not start with '..'"] } else { &[] };
            assert_eq!(secret_key(value), expected, "{value}");
        }
        for value in ["", "a/b", "a b", "é", "a\n"] {
            assert_eq!(secret_key(value), [KEY_MESSAGE], "{value:?}");
        }
        assert_eq!(secret_key("."), ["must not be '.'"]);
        assert_eq!(secret_key(".."), ["must not be '..'"]);
        assert_eq!(secret_key("../a"), [KEY_MESSAGE, "must not start with '..'"]);
        assert_eq!(secret_key(&"a".repeat(254)), ["must be no more than 253 characters"]);
    }

    #[test]
    fn qualified_names() {
        for value in ["a", "A_b.c-d", "example.com/a", "secrets.codepop.tech/rotated-at"] {
            assert_eq!(qualified_name(value), Vec::<String>::new(), "{value}");
        }
        let part = format!("name part {NAME_PART_MESSAGE}");
        assert_eq!(qualified_name("_a"), [part.as_str()]);
        assert_eq!(qualified_name(""), ["name part must be non-empty", &part]);
        assert_eq!(qualified_name("/a"), ["prefix part must be non-empty"]);
        assert_eq!(qualified_name("a/"), ["name part must be non-empty", &part]);
        assert_eq!(qualified_name("A/b"), [format!("prefix part {SUBDOMAIN_MESSAGE}")]);
        assert_eq!(qualified_name(&"a".repeat(64)), ["name part must be no more than 63 characters"]);
        assert_eq!(
            qualified_name("a/b/c"),
            [format!(
                "a valid label key {NAME_PART_MESSAGE} with an optional DNS subdomain prefix and '/' (e.g. \
                 'example.com/MyName')"
            )]
        );
    }
}
