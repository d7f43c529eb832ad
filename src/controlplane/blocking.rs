//! Runs one async request to its end from blocking code, on a thread and a runtime of its own, so that it may be called
//! from anywhere: from a test without a runtime, or from inside one that ends with its test.

use std::future::Future;
use std::io;

use super::Error;

/// Runs the future that `make` makes; it is made on the other thread and need not be `Send`.
pub(super) fn run<T: Send, F: Future<Output = Result<T, Error>>>(
    make: impl FnOnce() -> F + Send,
) -> Result<T, Error> {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.map_err(Error::Runtime)?.block_on(make())
        });
        thread.join().unwrap_or_else(|_| Err(Error::Runtime(io::Error::other("the request panicked"))))
    })
}
