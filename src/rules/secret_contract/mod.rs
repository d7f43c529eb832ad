//! The rules of SecretContract. SHAPE needs the object alone.

mod environment;
mod keys;
mod references;
mod shape;
pub mod state;
#[cfg(test)]
mod tests;

pub use shape::{ORDER, shape};
