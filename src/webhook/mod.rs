//! The adapter to admission: serving, the review envelope, the answer. No rule lives here.

mod admit;
mod app;
pub mod certificate;
pub mod config;
mod metrics;
mod reload;
mod review;
mod run;
mod serve;
mod stores;

pub use app::App;
pub use metrics::Metrics;
pub use run::{Arguments, run};
pub use serve::{serve, tls_config};
pub use stores::Stores;
