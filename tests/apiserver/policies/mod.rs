//! The admission policies on a real API server: who may declare a contract, who may bind and re-open a database, and when
//! a reclaim policy is frozen.

mod contract_author;
mod database;
