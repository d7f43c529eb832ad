//! The adapter to the API server: clients, stores, reads, writes. No rule lives here.
//!
//! It is the only place that turns Kubernetes objects into [`facts`](crate::rules::facts), and the only one that writes.

pub mod client;
pub mod error;
pub mod events;
pub mod fence;
pub mod lease;
pub mod objects;
pub mod optional_watch;
pub mod secrets;
pub mod status;
pub mod watch;
