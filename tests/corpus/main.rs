//! One corpus of contracts, run through every place that judges them: the rules alone, the webhook over HTTPS and the
//! command line here, the controller on a real API server in the tests of the API server. All have the same
//! expectations, which stand in the cases' files: `secret-contract/<case>/case.yaml`.

#![cfg(all(feature = "webhook", feature = "demo"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, missing_docs)]

mod case;
mod command_line;
mod coverage;
mod rules;
mod webhook;
