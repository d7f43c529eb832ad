//! Reads an `AdmissionReview` request: what a decision needs, borrowed from the body; the rest is skipped unread.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

/// How far into a broken body the request's uid is looked for, in bytes.
const UID_WINDOW: usize = 4096;

/// What the user asks of the API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// A new object.
    Create,
    /// A change of an object.
    Update,
    /// A deletion; the object stands in `oldObject`.
    Delete,
    /// Anything else (`CONNECT`, or one that a later Kubernetes adds): never refused.
    Other,
}

impl Operation {
    /// The word of the API, lower case, for labels.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Other => "other",
        }
    }
}

/// An admission request.
#[derive(Debug)]
pub struct Review<'a> {
    /// The uid that the answer must carry.
    pub uid: Cow<'a, str>,
    /// The operation.
    pub operation: Operation,
    /// The API group of the object as it is sent.
    pub group: Cow<'a, str>,
    /// The kind of the object as it is sent.
    pub kind: Cow<'a, str>,
    /// The subresource, empty for the object itself.
    pub subresource: Cow<'a, str>,
    /// The namespace; empty for a cluster-scoped object.
    pub namespace: Cow<'a, str>,
    /// The name; empty on CREATE with `generateName`.
    pub name: Cow<'a, str>,
    /// Whether nothing will be stored.
    pub dry_run: bool,
    /// The new object, unparsed.
    pub object: Option<&'a RawValue>,
    /// The stored object, unparsed.
    pub old_object: Option<&'a RawValue>,
}

/// Why a body is no admission request.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Not JSON, or not of the form of a review.
    #[error("the body is not an admission.k8s.io/v1 AdmissionReview with a request")]
    Malformed,
    /// Another version of the API than v1.
    #[error("apiVersion must be admission.k8s.io/v1 and kind AdmissionReview")]
    Version,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope<'a> {
    #[serde(borrow, default)]
    api_version: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    request: Request<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request<'a> {
    #[serde(borrow)]
    uid: Cow<'a, str>,
    #[serde(borrow, default)]
    kind: Option<GroupVersionKind<'a>>,
    #[serde(borrow, default)]
    sub_resource: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    namespace: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    operation: Option<Cow<'a, str>>,
    #[serde(default)]
    dry_run: Option<bool>,
    #[serde(borrow, default)]
    object: Option<&'a RawValue>,
    #[serde(borrow, default)]
    old_object: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct GroupVersionKind<'a> {
    #[serde(borrow, default)]
    group: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    kind: Option<Cow<'a, str>>,
}

impl<'a> Review<'a> {
    /// Reads a body. Fields that a decision does not need are skipped whatever they hold.
    pub fn read(body: &'a [u8]) -> Result<Self, ReadError> {
        let envelope: Envelope<'a> = serde_json::from_slice(body).map_err(|_| ReadError::Malformed)?;
        if envelope.api_version.as_deref() != Some("admission.k8s.io/v1")
            || envelope.kind.as_deref() != Some("AdmissionReview")
        {
            return Err(ReadError::Version);
        }
        let request = envelope.request;
        if request.uid.is_empty() {
            return Err(ReadError::Malformed);
        }
        let kind = request.kind.unwrap_or_default();
        Ok(Self {
            uid: request.uid,
            operation: match request.operation.as_deref() {
                Some("CREATE") => Operation::Create,
                Some("UPDATE") => Operation::Update,
                Some("DELETE") => Operation::Delete,
                _ => Operation::Other,
            },
            group: kind.group.unwrap_or_default(),
            kind: kind.kind.unwrap_or_default(),
            subresource: request.sub_resource.unwrap_or_default(),
            namespace: request.namespace.unwrap_or_default(),
            name: request.name.unwrap_or_default(),
            dry_run: request.dry_run.unwrap_or_default(),
            object: not_null(request.object),
            old_object: not_null(request.old_object),
        })
    }
}

fn not_null(raw: Option<&RawValue>) -> Option<&RawValue> {
    raw.filter(|raw| raw.get() != "null")
}

/// Looks for `request.uid` at the start of a body that cannot be read as a whole, so that even the answer to a broken
/// or oversized request reaches the right caller. Only the first 4 KiB are read; a uid that is escaped, or that stands
/// behind an object, is not found.
pub fn find_uid(body: &[u8]) -> Option<String> {
    let window = body.get(..body.len().min(UID_WINDOW)).unwrap_or(body);
    let mut scanner = Scanner { bytes: window, at: 0 };
    let mut depth = 0_usize;
    let mut in_request = false;
    let mut last_string: Option<&[u8]> = None;
    let mut key: Option<&[u8]> = None;
    while let Some(byte) = scanner.next() {
        match byte {
            b'{' | b'[' => {
                depth += 1;
                in_request = in_request || (depth == 2 && byte == b'{' && key == Some(b"request"));
                key = None;
            }
            b'}' | b']' => {
                depth = depth.checked_sub(1)?;
                if depth < 2 && in_request {
                    return None;
                }
            }
            b'"' => {
                let text = scanner.string()?;
                if in_request && depth == 2 && key == Some(b"uid") {
                    return plain_uid(text);
                }
                last_string = Some(text);
            }
            b':' => key = last_string.take(),
            b',' => key = None,
            _ => {}
        }
    }
    None
}

/// A uid as the API server makes it: printable ASCII without an escape, at most 253 bytes.
fn plain_uid(text: &[u8]) -> Option<String> {
    let plain =
        !text.is_empty() && text.len() <= 253 && text.iter().all(|b| b.is_ascii_graphic() && *b != b'\\');
    if plain { String::from_utf8(text.to_vec()).ok() } else { None }
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scanner<'a> {
    fn next(&mut self) -> Option<u8> {
        let byte = self.bytes.get(self.at).copied()?;
        self.at += 1;
        Some(byte)
    }

    /// The text up to the closing quote, escapes left as they are.
    fn string(&mut self) -> Option<&'a [u8]> {
        let start = self.at;
        loop {
            match self.next()? {
                b'"' => return self.bytes.get(start..self.at - 1),
                b'\\' => {
                    self.next()?;
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINIMAL: &str = r#"{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u-1",
        "kind":{"group":"g","version":"v1","kind":"K"},"operation":"CREATE","name":"n","namespace":"ns",
        "userInfo":{"extra":{"a":null}},"dryRun":null,"object":{"spec":{}},"oldObject":null,"future":[1]}}"#;

    #[test]
    fn reads_what_a_decision_needs_and_skips_the_rest() {
        let review = Review::read(MINIMAL.as_bytes()).unwrap();
        assert_eq!((review.uid.as_ref(), review.operation), ("u-1", Operation::Create));
        assert_eq!(review.object.map(RawValue::get), Some(r#"{"spec":{}}"#));
        assert!(review.old_object.is_none());
        assert!(!review.dry_run);
    }

    #[test]
    fn an_unknown_operation_is_not_an_error() {
        let body = MINIMAL.replace("CREATE", "TELEPORT");
        assert_eq!(Review::read(body.as_bytes()).unwrap().operation, Operation::Other);
    }

    #[test]
    fn deep_objects_do_not_hinder_the_envelope() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let body = MINIMAL.replace(r#"{"spec":{}}"#, &deep);
        assert_eq!(Review::read(body.as_bytes()).unwrap().uid, "u-1");
    }

    #[test]
    fn a_repeated_field_and_another_version_are_refused() {
        let twice = MINIMAL.replace(r#""uid":"u-1","#, r#""uid":"u-1","uid":"u-2","#);
        assert!(matches!(Review::read(twice.as_bytes()), Err(ReadError::Malformed)));
        let beta = MINIMAL.replace("admission.k8s.io/v1", "admission.k8s.io/v1beta1");
        assert!(matches!(Review::read(beta.as_bytes()), Err(ReadError::Version)));
    }

    #[test]
    fn the_uid_is_found_in_broken_bodies() {
        let found = |text: &str| find_uid(text.as_bytes());
        assert_eq!(found(MINIMAL), Some("u-1".to_owned()));
        assert_eq!(found(MINIMAL.get(..120).unwrap()), Some("u-1".to_owned()));
        assert_eq!(found(r#"{"request":{"object":{"uid":"no"},"uid":"yes","#), Some("yes".to_owned()));
        assert_eq!(found(r#"{"uid":"no","request":{"a":"uid"}"#), None);
        assert_eq!(found(r#"{"request":{"uid":"a\u0062"}}"#), None);
        assert_eq!(found("]]]]"), None);
        assert_eq!(found(&format!(r#"{{"x":"{}","request":{{"uid":"u"}}}}"#, "y".repeat(5000))), None);
    }
}
