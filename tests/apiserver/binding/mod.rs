//! The binding protocol on a real API server: every crash point and race that needs no database server.
//!
//! A test's name begins with the ID of its row in the design's table of scenarios. The controllers run inside the test
//! process, behind the fault rig and with the token of the shipped service account; to kill one is to drop its runtime in
//! the middle of whatever it does. Each test has a control plane for itself while it runs, because Databases and Instances
//! have no namespace.

mod crashes;
mod deletion;
mod guards;
mod history;
mod lab;
mod loss;
mod many;
mod races;
mod released;
mod undisturbed;
