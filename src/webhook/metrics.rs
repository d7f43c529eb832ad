//! The webhook's figures. Every label is a closed list: nothing a user writes becomes a series.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

/// Labels of `covenant_webhook_reviews_total`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct ReviewLabels {
    /// One of our kinds, or `other`.
    pub kind: &'static str,
    /// `create`, `update`, `delete`, `other`.
    pub operation: &'static str,
    /// `allowed`, `refused`, `failed`.
    pub verdict: &'static str,
    /// `true` or `false`.
    pub dry_run: &'static str,
}

/// Labels of `covenant_webhook_shed_total`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct ShedLabels {
    /// `reviews`, `bytes`, `connections`.
    pub reason: &'static str,
}

/// Labels of `covenant_tls_handshakes_total` and `covenant_certificate_reloads_total`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct ResultLabels {
    /// `ok`, `failed`, `timeout`.
    pub result: &'static str,
}

/// Every figure of the webhook.
#[derive(Clone, Debug)]
pub struct Metrics {
    /// Reviews answered.
    pub reviews: Family<ReviewLabels, Counter>,
    /// Seconds from the head of a request to its answer.
    pub review_seconds: Histogram,
    /// Bytes of a request body.
    pub body_bytes: Histogram,
    /// Reviews being judged.
    pub in_flight: Gauge,
    /// Reviews waiting for their turn.
    pub queued: Gauge,
    /// Reviews and connections turned away.
    pub shed: Family<ShedLabels, Counter>,
    /// Panics caught while judging.
    pub panics: Counter,
    /// Open connections.
    pub connections: Gauge,
    /// TLS handshakes.
    pub handshakes: Family<ResultLabels, Counter>,
    /// When the certificate in use expires, in seconds since the epoch.
    pub certificate_expiry: Gauge,
    /// Reloads of the certificate.
    pub certificate_reloads: Family<ResultLabels, Counter>,
}

impl Metrics {
    /// Makes them all and registers them under their fixed names.
    pub fn register(registry: &mut Registry) -> Self {
        let metrics = Self {
            reviews: Family::default(),
            review_seconds: Histogram::new(exponential_buckets(0.000_05, 2.0, 17)),
            body_bytes: Histogram::new(exponential_buckets(1024.0, 4.0, 8)),
            in_flight: Gauge::default(),
            queued: Gauge::default(),
            shed: Family::default(),
            panics: Counter::default(),
            connections: Gauge::default(),
            handshakes: Family::default(),
            certificate_expiry: Gauge::default(),
            certificate_reloads: Family::default(),
        };
        let Self {
            reviews,
            review_seconds,
            body_bytes,
            in_flight,
            queued,
            shed,
            panics,
            connections,
            handshakes,
            certificate_expiry,
            certificate_reloads,
        } = metrics.clone();
        registry.register("covenant_webhook_reviews", "Admission reviews answered", reviews);
        registry.register(
            "covenant_webhook_review_seconds",
            "Time from a request to its answer",
            review_seconds,
        );
        registry.register("covenant_webhook_body_bytes", "Size of a request body", body_bytes);
        registry.register("covenant_webhook_in_flight", "Reviews being judged", in_flight);
        registry.register("covenant_webhook_queued", "Reviews waiting for their turn", queued);
        registry.register("covenant_webhook_shed", "Reviews and connections turned away", shed);
        registry.register("covenant_webhook_panics", "Panics caught while judging a review", panics);
        registry.register("covenant_webhook_connections", "Open connections", connections);
        registry.register("covenant_tls_handshakes", "TLS handshakes by result", handshakes);
        registry.register(
            "covenant_certificate_expiry_timestamp_seconds",
            "When the serving certificate expires, in seconds since the epoch",
            certificate_expiry,
        );
        registry.register(
            "covenant_certificate_reloads",
            "Reloads of the serving certificate by result",
            certificate_reloads,
        );
        metrics
    }
}
