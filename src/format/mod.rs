//! Syntax checks of values (JSON, URI, PEM, RFC 3339, environment names). Pure, and silent about what it read.
