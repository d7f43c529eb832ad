//! The adapter to admission: serving, the review envelope, the answer. No rule lives here.
