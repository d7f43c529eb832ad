//! The adapter to the API server: clients, stores, reads, writes. No rule lives here.
