//! The limits that decide a verdict. They belong to the API version: webhook, controller and command line share them.

pub use crate::api::secret_contract::limits::{KEYS, PATTERN_BYTES, VALUE_BYTES};

/// The longest `rotation.maxAge`: 87,600 hours, in nanoseconds.
pub const MAX_AGE_NANOSECONDS: i64 = 87_600 * 3_600 * 1_000_000_000;

/// The longest name of an object, of a Secret's key and of an environment variable, in characters.
pub const NAME_CHARACTERS: usize = 253;

/// The longest text of a `rotation.maxAge`, in characters.
pub const MAX_AGE_CHARACTERS: usize = 64;

/// The longest name of an annotation with its prefix, in characters.
pub const ANNOTATION_CHARACTERS: usize = 317;

/// The longest name of a container, in characters.
pub const LABEL_CHARACTERS: usize = 63;

/// How many characters the names of Instance and Tenant may have together: what is delivered is named after both.
pub const DELIVERED_NAMES_CHARACTERS: usize = 241;
