//! The rules of the PostgreSQL kinds.
pub mod database;
pub mod instance;
pub mod tenant;
