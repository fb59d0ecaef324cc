//! Execution: operations one by one, functions compiled by `jit`, and host functions that they
//! call. Uses only `client` and the folders before it.

pub mod aot;
pub(crate) mod callback;
pub mod config;
pub(crate) mod eager;
pub(crate) mod eager_log;
pub(crate) mod fill;
pub(crate) mod jit;
pub(crate) mod numerics;
pub(crate) mod pmap;
