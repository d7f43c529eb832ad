//! Which Tenant gets which Database, and what the next step is. Pure.
