//! Syntax checks of values and names: JSON, URI, PEM, RFC 3339, environment names, Kubernetes names. Pure, and silent
//! about what it read: whoever checks a Secret value learns yes or no, never where or why.
//!
//! The checks of values take bytes and copy none of them (the URI check copies a list of hosts, and wipes the copy).
//! The checks of names take text and answer with the messages that the API server itself would give, because a name
//! is part of a specification and no secret.

pub mod env_name;
pub mod json;
pub mod name;
pub mod pem;
pub mod rfc3339;
pub mod uri;

pub use name::{dns_label, dns_subdomain, qualified_name, secret_key};
