//! The signals that end a process.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::exit::StartError;

/// A token that is cancelled at the first SIGTERM or SIGINT. A second one is left to the caller's own time limit.
///
/// Must be called inside the runtime, and early: from then on the signals no longer end the process by themselves.
pub fn termination() -> Result<CancellationToken, StartError> {
    let listen =
        |kind| signal(kind).map_err(|error| StartError::Stopped(format!("cannot wait for signals: {error}")));
    let mut terminate = listen(SignalKind::terminate())?;
    let mut interrupt = listen(SignalKind::interrupt())?;
    let token = CancellationToken::new();
    let cancelled = token.clone();
    tokio::spawn(async move {
        let signal = tokio::select! {
            _ = terminate.recv() => "SIGTERM",
            _ = interrupt.recv() => "SIGINT",
        };
        tracing::info!("{signal} received, stopping");
        cancelled.cancel();
    });
    Ok(token)
}
