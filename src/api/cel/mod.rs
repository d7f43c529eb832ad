//! The CEL rules of the database kinds, as they stand in the definitions.
//!
//! Three demands hold for each of them, because the API server applies rules to every write, also of labels, status
//! and finalizers, and also to objects that were stored before the rule:
//!
//! - It never raises an error. An error is not forgiven on an unchanged object, and would keep it from losing its last
//!   finalizer. So fields are read with `.?`, and nothing is converted, indexed or parsed.
//! - It sits on the field that it judges, or compares old and new, or spares what was already stored (`optionalOldSelf`).
//! - Its message says what to write instead, and never needs a number made into text, which costs too much.
//!
//! `SecretContract` has no rules here: all that its schema cannot say comes from the webhook in one answer.

pub mod database;
pub mod instance;
pub mod tenant;

use kube::core::{Message, Reason, Rule};

use super::texts::{self, IDENTIFIER, RESERVED_DATABASES, RESERVED_ROLES};

/// A rule with a fixed message.
fn rule(expression: impl Into<String>, message: impl Into<String>) -> Rule {
    Rule::new(expression).message(Message::Message(message.into()))
}

/// A rule whose message is the result of an expression.
fn rule_saying(expression: impl Into<String>, message: impl Into<String>) -> Rule {
    Rule::new(expression).message(Message::Expression(message.into()))
}

/// The words as a CEL list of strings.
fn list(words: &[&str]) -> String {
    format!("['{}']", words.join("', '"))
}

/// The name `name` cut and with `_` for what an identifier may not hold, as an expression.
///
/// The proposals are written out case by case, and as short as that allows: the API server takes any list of new texts for
/// too costly, and that of Kubernetes 1.34 every text that is made once more than needed.
fn cut(name: &str, fold: &str) -> String {
    format!(
        "(size({name}) > 58 ? {name}.substring(0, 58) : {name}){fold}.replace('-', '_').replace('.', '_')"
    )
}

/// An expression that gives the end of a message, `, for example 'orders_db'`: the written text turned into a name that
/// fits [`IDENTIFIER`], with `prefix` in front where it takes that. Empty where nothing helps.
fn proposal(prefix: &str) -> String {
    let cut = cut("self", ".lowerAscii()");
    let prefixed = format!("'{prefix}' + {cut}");
    let fits = |candidate: &str| format!("({candidate}).matches('{IDENTIFIER}')");
    let say = |candidate: &str| format!("', for example \\'' + {candidate} + '\\''");
    format!("({} ? {} : {} ? {} : '')", fits(&cut), say(&cut), fits(&prefixed), say(&prefixed))
}

/// As [`proposal`], from the name of an object, `name`. It is a DNS subdomain, so that nothing but a first digit or a
/// reserved word keeps the cut name from being an identifier, and with `prefix` every name is one.
fn proposal_from_object_name(name: &str, prefix: &str, reserved: impl Fn(&str) -> String) -> String {
    let cut = cut(name, "");
    format!(
        "', for example \\'' + ({name}.matches('^[a-z]') && !({}) ? '' : '{prefix}') + {cut} + '\\''",
        reserved(&cut)
    )
}

/// Whether `name` is reserved for databases.
fn reserved_database(name: &str) -> String {
    format!("{name} in {}", list(RESERVED_DATABASES))
}

/// Whether `name` is reserved for roles.
fn reserved_role(name: &str) -> String {
    format!("{name}.startsWith('pg_') || {name} in {}", list(RESERVED_ROLES))
}

/// The field holds the name of an object of `kind`: a DNS subdomain.
pub fn dns_subdomain(kind: &str) -> Rule {
    rule("!format.dns1123Subdomain().validate(self).hasValue()", texts::dns_subdomain(kind))
}

/// The field holds the name of a namespace: a DNS label.
pub fn namespace_name() -> Rule {
    rule("!format.dns1123Label().validate(self).hasValue()", texts::NAMESPACE_NAME)
}

/// The field holds a key of a Secret.
pub fn secret_key() -> Rule {
    rule("self.matches('^[-._a-zA-Z0-9]+$') && self != '.' && !self.startsWith('..')", texts::SECRET_KEY)
}

/// The field holds a name on the server that fits [`IDENTIFIER`]; the message proposes one.
pub fn identifier() -> Rule {
    rule_saying(
        format!("self.matches('{IDENTIFIER}')"),
        format!("'{}' + {}", texts::identifier(), proposal("db_")),
    )
}

/// The field does not hold one of [`RESERVED_DATABASES`].
pub fn database_not_reserved() -> Rule {
    rule(format!("!({})", reserved_database("self")), texts::database_not_reserved())
}

/// The field does not hold a role name that PostgreSQL keeps for itself.
pub fn role_not_reserved() -> Rule {
    rule(format!("!({})", reserved_role("self")), texts::role_not_reserved())
}

/// The field `name` of `spec` changes only while `free` holds of the stored object. A rule for the root.
///
/// Absent fields are told by `has`: what `.?` gives has no known size, and to compare it counts as too costly.
fn frozen_unless(free: &str, name: &str, message: &str) -> Rule {
    let (new, old) = (format!("self.spec.{name}"), format!("oldSelf.spec.{name}"));
    rule(
        format!(
            "({free}) || !has(self.spec) || !has(oldSelf.spec) \
             || (has({new}) == has({old}) && (!has({new}) || {new} == {old}))"
        ),
        message,
    )
    .field_path(format!(".spec.{name}"))
    .reason(Reason::FieldValueForbidden)
}
