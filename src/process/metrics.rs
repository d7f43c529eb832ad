//! The registry of a process's metrics and its text form.
//!
//! Each adapter registers its own families; labels come from closed enumerations and never hold a name of an object,
//! a namespace, a user or a key.

use std::sync::Arc;

use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;

/// The content type of [`Metrics::text`].
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Every metric of the process, complete once it is built.
#[derive(Clone)]
pub struct Metrics(Arc<Registry>);

impl Metrics {
    /// The registry with what `register` puts into it.
    pub fn build(register: impl FnOnce(&mut Registry)) -> Self {
        let mut registry = Registry::default();
        register(&mut registry);
        Self(Arc::new(registry))
    }

    /// All metrics as `OpenMetrics` text; empty if one of them cannot be written.
    pub fn text(&self) -> String {
        let mut text = String::new();
        match encode(&mut text, &self.0) {
            Ok(()) => text,
            Err(_) => String::new(),
        }
    }
}
