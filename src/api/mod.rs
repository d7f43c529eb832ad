//! What users write: the four kinds as types, their schemas and defaults. No behaviour but the `effective` view.
