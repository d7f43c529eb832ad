//! The rules of SecretContract. SHAPE needs the object alone.

mod environment;
mod keys;
mod references;
mod shape;
#[cfg(test)]
mod tests;

pub use shape::{ORDER, shape};
