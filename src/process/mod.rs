//! What every long-running process needs: flags, telemetry, the clock, health endpoints, signals.
