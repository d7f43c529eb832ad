//! The CEL rules of the database kinds that stand on more than one field.
//!
//! A rule here never raises an error, because the API server does not forgive an error on an old object: it would keep
//! the object from losing its last finalizer. A rule sits on the field it judges, or compares old and new, or spares
//! what was already stored.

use kube::core::{Message, Rule};

/// The field holds the name of an object: a DNS subdomain. `kind` is what the message says it names.
pub fn dns_subdomain(kind: &str) -> Rule {
    Rule::new("!format.dns1123Subdomain().validate(self).hasValue()").message(Message::Message(format!(
        "must be the name of a {kind}: lower-case letters, digits, '-' and '.', beginning and ending with a letter or digit"
    )))
}

/// The field holds the name of a namespace or container: a DNS label. `what` is what the message says it names.
pub fn dns_label(what: &str) -> Rule {
    Rule::new("!format.dns1123Label().validate(self).hasValue()").message(Message::Message(format!(
        "must be the name of a {what}: lower-case letters, digits and '-', beginning and ending with a letter or digit"
    )))
}
