//! Part of Ramie; see the `ramie` crate.
#![forbid(unsafe_code)]
