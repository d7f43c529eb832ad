//! Keeps a leader that has lost its Lease, without having noticed, from writing: the last layer before the wire looks at the
//! clock before each request that changes something.
//!
//! A process can be stopped for a minute between any two of its instructions and go on as if nothing had happened; only a
//! look at the clock after that is worth anything. What is under way when the time runs out still lands within the few
//! seconds that a request may take, before another leader can have begun.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use http::{Method, Request};
use tower::{BoxError, Layer, Service};

/// What times are counted from; the clock is monotonic and goes on while the process is stopped.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// No end.
const OPEN: u64 = u64::MAX;

/// Until when this process may write. Clones share it.
#[derive(Clone, Debug)]
pub struct Fence(Arc<AtomicU64>);

impl Fence {
    /// A fence that never closes, for a process without an election.
    pub fn open() -> Self {
        Self(Arc::new(AtomicU64::new(OPEN)))
    }

    /// A fence that nothing passes until it is opened for a time.
    pub fn closed() -> Self {
        LazyLock::force(&START);
        Self(Arc::new(AtomicU64::new(0)))
    }

    /// From now on writes pass until `instant`.
    pub fn open_until(&self, instant: Instant) {
        let time = instant.saturating_duration_since(*START);
        self.0.store(u64::try_from(time.as_millis()).unwrap_or(OPEN), Ordering::Release);
    }

    /// Nothing passes any more.
    pub fn close(&self) {
        self.0.store(0, Ordering::Release);
    }

    /// Whether a write may begin at `now`.
    fn lets_pass(&self, now: Instant) -> bool {
        let end = self.0.load(Ordering::Acquire);
        end == OPEN || now.saturating_duration_since(*START) < Duration::from_millis(end)
    }
}

impl<S> Layer<S> for Fence {
    type Service = Fenced<S>;
    fn layer(&self, inner: S) -> Fenced<S> {
        Fenced { inner, fence: self.clone() }
    }
}

/// A service behind a fence.
#[derive(Clone)]
pub struct Fenced<S> {
    inner: S,
    fence: Fence,
}

/// The write was not sent.
#[derive(Debug, thiserror::Error)]
#[error("not sent: this process may not lead any more")]
struct NotSent;

impl<S, B> Service<Request<B>> for Fenced<S>
where
    S: Service<Request<B>>,
    S::Error: Into<BoxError>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = BoxError;
    type Future = futures::future::Either<
        futures::future::Ready<Result<S::Response, BoxError>>,
        futures::future::ErrInto<S::Future, BoxError>,
    >;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(context).map_err(Into::into)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        use futures::TryFutureExt as _;
        use futures::future::{Either, ready};
        if request.method() != Method::GET && !self.fence.lets_pass(Instant::now()) {
            return Either::Left(ready(Err(NotSent.into())));
        }
        Either::Right(self.inner.call(request).err_into())
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use tower::ServiceExt as _;

    use super::*;

    async fn passes(fence: &Fence, method: Method) -> bool {
        let service = tower::service_fn(async |_: Request<()>| Ok::<_, Infallible>(()));
        let request = Request::builder().method(method).body(()).unwrap();
        fence.layer(service).oneshot(request).await.is_ok()
    }

    #[tokio::test]
    async fn writes_pass_while_it_is_open_and_reads_always() {
        let fence = Fence::closed();
        for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            assert!(!passes(&fence, method.clone()).await, "{method}");
            assert!(passes(&Fence::open(), method).await);
        }
        assert!(passes(&fence, Method::GET).await);
        fence.open_until(Instant::now() + Duration::from_mins(1));
        assert!(passes(&fence.clone(), Method::PUT).await);
        fence.open_until(Instant::now());
        assert!(!passes(&fence, Method::PUT).await, "the time has run out");
        fence.open_until(Instant::now() + Duration::from_mins(1));
        fence.close();
        assert!(!passes(&fence, Method::PUT).await);
    }
}
