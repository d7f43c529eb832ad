//! The limits of the webhook, each with its default and unit. Only values live here; `bin` reads them from flags.

use std::time::Duration;

/// Limits of serving.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The largest request body, in bytes. A review holds two objects of up to 3 MiB, escaped.
    pub body_bytes: usize,
    /// How many reviews are judged at once.
    pub concurrent_reviews: usize,
    /// How many reviews wait for their turn; one more is answered 429.
    pub queued_reviews: usize,
    /// How many bytes of bodies all reviews under way hold together; more is answered 429.
    pub queued_bytes: usize,
    /// How many connections are open at once.
    pub connections: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 8 << 20,
            concurrent_reviews: 16,
            queued_reviews: 1024,
            queued_bytes: 64 << 20,
            connections: 4096,
        }
    }
}

/// Time limits of a connection and of a review.
#[derive(Clone, Debug)]
pub struct Timeouts {
    /// From the TCP connection to the end of the TLS handshake. The API server gives up after 10 s.
    pub handshake: Duration,
    /// From the handshake to the head of the first request.
    pub first_request: Duration,
    /// How long a connection may idle. Longer than the 90 s for which the API server keeps one: it does not repeat a
    /// request that meets a closing connection.
    pub idle: Duration,
    /// From the head of a request to the end of its body.
    pub body: Duration,
    /// The longest time for a review when the request does not say how long the API server waits.
    pub review: Duration,
    /// How long new requests are still served after the signal to stop, until no API server picks this endpoint.
    pub drain_delay: Duration,
    /// How long requests under way may take to end after that.
    pub drain_timeout: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            handshake: Duration::from_secs(10),
            first_request: Duration::from_secs(15),
            idle: Duration::from_mins(2),
            body: Duration::from_secs(5),
            review: Duration::from_secs(4),
            drain_delay: Duration::from_secs(15),
            drain_timeout: Duration::from_secs(30),
        }
    }
}
