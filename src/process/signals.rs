//! The signals that end a process.

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::exit::StartError;

/// What the signals ask for.
#[derive(Clone, Debug, Default)]
pub struct Termination {
    /// Cancelled at the first SIGTERM or SIGINT: end in order.
    pub stop: CancellationToken,
    /// Cancelled at the second one: end at once.
    pub stop_now: CancellationToken,
}

/// Listens for SIGTERM and SIGINT.
///
/// Must be called inside the runtime, and early: from then on the signals no longer end the process by themselves.
pub fn termination() -> Result<Termination, StartError> {
    let listen =
        |kind| signal(kind).map_err(|error| StartError::Stopped(format!("cannot wait for signals: {error}")));
    let mut terminate = listen(SignalKind::terminate())?;
    let mut interrupt = listen(SignalKind::interrupt())?;
    let termination = Termination::default();
    let Termination { stop, stop_now } = termination.clone();
    tokio::spawn(async move {
        let signal = next(&mut terminate, &mut interrupt).await;
        tracing::info!("{signal} received, stopping");
        stop.cancel();
        let signal = next(&mut terminate, &mut interrupt).await;
        tracing::warn!("{signal} received again, stopping at once");
        stop_now.cancel();
    });
    Ok(termination)
}

async fn next(terminate: &mut Signal, interrupt: &mut Signal) -> &'static str {
    tokio::select! {
        _ = terminate.recv() => "SIGTERM",
        _ = interrupt.recv() => "SIGINT",
    }
}
