//! What users write: the four kinds as types, their schemas and defaults, and every name that is part of the API.
//!
//! No behaviour lives here but the `effective` views, which say what a written object means once its defaults are
//! filled in. Judging an object is the work of `rules`.
//!
//! Each kind has a module with the same parts: the typed `…Spec` and `…Status` that the schema is made of, and
//! `effective`, the lenient view of a raw object that rules and controllers read.

pub mod cel;
pub mod conditions;
pub mod crd;
pub mod kind;
pub mod names;
pub mod phases;
pub mod postgresql_database;
pub mod postgresql_instance;
pub mod postgresql_tenant;
pub mod raw;
pub mod refs;
pub mod secret_contract;
pub mod texts;
mod words;

pub use kind::Kind;
pub use postgresql_database::PostgreSQLDatabase;
pub use postgresql_instance::PostgreSQLInstance;
pub use postgresql_tenant::PostgreSQLTenant;
pub use secret_contract::SecretContract;
