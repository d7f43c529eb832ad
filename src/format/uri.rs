//! Is a value a URI (RFC 3986)? Syntax alone: no network, no DNS, no list of schemes, no range of ports.

use fluent_uri::{Uri, UriRef};
use zeroize::Zeroizing;

/// Whether `value` is a URI with a scheme; a fragment is allowed, nothing is trimmed.
///
/// Two departures from RFC 3986, both on purpose:
/// - A scheme with nothing behind it (`https:`, `https://`) is refused: it is what a template with an empty variable
///   leaves behind.
/// - For every scheme but `http` and `https` the authority may be a comma-separated list of `host[:port]`, as the
///   connection strings of `MongoDB`, PostgreSQL and Kafka have it; each item by the grammar of RFC 3986, which allows
///   an empty host.
pub fn is_valid(value: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(value) else {
        return false;
    };
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    if rest.is_empty() || rest == "//" {
        return false;
    }
    Uri::parse(text).is_ok() || (!is_http(scheme) && has_host_list(scheme, rest))
}

fn is_http(scheme: &str) -> bool {
    scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
}

/// Whether `scheme:rest` is a URI but for a list of hosts in its authority.
fn has_host_list(scheme: &str, rest: &str) -> bool {
    let Some(hierarchy) = rest.strip_prefix("//") else {
        return false;
    };
    let end = hierarchy.find(['/', '?', '#']).unwrap_or(hierarchy.len());
    let Some((authority, tail)) = hierarchy.split_at_checked(end) else {
        return false;
    };
    let (user, hosts) = match authority.split_once('@') {
        Some((user, hosts)) => (Some(user), hosts),
        None => (None, authority),
    };
    // A password with a raw `@` in it: the item behind would look like user information of its own.
    if hosts.contains('@') {
        return false;
    }
    let mut items = hosts.split(',');
    let first = items.next().unwrap_or_default();
    // Everything with the first host alone, then the other hosts alone: each byte is judged once.
    let (user, at) = user.map_or(("", ""), |user| (user, "@"));
    let with_first = Zeroizing::new([scheme, "://", user, at, first, tail].concat());
    Uri::parse(with_first.as_str()).is_ok()
        && items.all(|item| {
            let alone = Zeroizing::new(["//", item].concat());
            UriRef::parse(alone.as_str()).is_ok()
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const VALID: &[&str] = &[
        "https://example.com",
        "https://example.com/",
        "HTTPS://EXAMPLE.COM:443/a/b;c?d=e&f=%20#g",
        "http://user:p%40ss@[2001:db8::1]:8080/",
        "http://[v1.fe80::a+en1]/",
        "http://127.0.0.1:99999/",
        "http://example.com:/",
        "http://-.~_!$&'()*+,;=:%40:80%2f::::::@example.com",
        "https://a,b/",
        "ftp://ftp.is.co.za/rfc/rfc1808.txt",
        "ldap://[2001:db8::7]/c=GB?objectClass?one",
        "mailto:John.Doe@example.com",
        "news:comp.infosystems.www.servers.unix",
        "tel:+1-816-555-1212",
        "urn:oasis:names:specification:docbook:dtd:xml:4.1.2",
        "file:///etc/passwd",
        "postgresql:///db",
        "postgresql://user:secret@db.example.com:5432/app?sslmode=verify-full",
        "data:,",
        "a:b",
        "a+b-c.1:x",
        "x:?",
        "x:#",
        "x:/",
        "http://foo.bar/?q=Test%20URL-encoded%20stuff",
        "http://foo.com/blah_(wikipedia)_blah#cite-1",
        "http://xn--nw2a.xn--j6w193g/",
        "http://223.255.255.254",
        "blob:https://whatwg.org/d0360e2f-caee-469f-9a2f-87d5b0456f6f",
        // Lists of hosts.
        "mongodb://h1,h2,h3/db",
        "mongodb://user:pass@h1:27017,h2:27017,[::1]:27019/db?replicaSet=rs0",
        "postgresql://h1:5432,h2:5433/db?target_session_attrs=read-write",
        "kafka://b1:9092,b2:9092",
        "mongodb://h1:1,,:2,/",
        "mongodb://,h1:1/",
        "redis://:password@s1:26379,s2:26379/0#x",
    ];

    const INVALID: &[&str] = &[
        "",
        "https:",
        "https://",
        "postgresql://",
        "x:",
        "//example.com/path",
        "/path",
        "path",
        "#fragment",
        "example.com",
        "://example.com",
        "1http://example.com",
        "ht tp://example.com",
        "é://example.com",
        " https://example.com",
        "https://example.com ",
        "https://example.com\n",
        "https://example.com/a b",
        "https://example.com/\"",
        "https://example.com/<>",
        "https://example.com/{}|\\^`",
        "https://example.com/%",
        "https://example.com/%zz",
        "https://example.com/é",
        "https://exa mple.com",
        "https://example.com:80a/",
        "https://example.com:-1/",
        "https://[::1",
        "https://::1/",
        "https://[::1]a/",
        "https://[fe80::1%25eth0]/",
        "https://[1:2:3:4:5:6:7]/",
        "https://user@pass@example.com/",
        "https://example.com/#a#b",
        "https://example.com/[x]",
        "\\\\WINDOWS\\fileshare",
        "http:// shouldfail.com",
        ":// should fail",
        "bar,baz:foo",
        "https://[@example.org/test.txt",
        "https://example.org/foobar\\.txt",
        "https://example.org/foobar`.txt",
        "https://example.org/foobar^.txt",
        "https://example.org/foobar|.txt",
        // Lists of hosts.
        "https://h1:443,h2:443/",
        "HTTP://h1:80,h2:80/",
        "mongodb://u@h1:1,v@h2:2/",
        "mongodb://u:p@ss@h1:1,h2:2/",
        "mongodb://h1:1,h2:b/",
        "mongodb://h1:1,h 2:2/",
        "mongodb://h1:1,h2:2/a b",
        "mongodb:h1:1,h2 :2",
        "mongo db://h1:1,h2:2/",
    ];

    #[test]
    fn follows_rfc_3986_and_the_two_departures() {
        for text in VALID {
            assert!(is_valid(text.as_bytes()), "{text}");
        }
        for text in INVALID {
            assert!(!is_valid(text.as_bytes()), "{text}");
        }
        assert!(!is_valid(b"https://example.com/\xff"));
        assert!(!is_valid(b"https://example.com/\0"));
    }

    #[test]
    fn a_megabyte_of_hosts_is_judged() {
        let list = format!("kafka://b:1{}", ",b:1".repeat(1 << 18));
        assert!(is_valid(list.as_bytes()));
        assert!(!is_valid(format!("{list},b:b").as_bytes()));
    }

    proptest! {
        #[test]
        fn any_bytes_have_an_answer(value in prop::collection::vec(any::<u8>(), 0..64)) {
            is_valid(&value);
        }

        #[test]
        fn what_the_standard_takes_is_taken(text in "[a-z]{1,4}:[-a-z0-9/:@,.?#%\\[\\]]{1,24}") {
            let behind = text.split_once(':').map_or("", |(_, rest)| rest);
            if Uri::parse(text.as_str()).is_ok() && behind != "//" {
                prop_assert!(is_valid(text.as_bytes()));
            }
        }
    }
}
