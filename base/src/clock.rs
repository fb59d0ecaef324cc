//! The clock. That of `std` does not run in WebAssembly without WASI, as in a page.

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub use std::time::Instant;
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
pub use web_time::Instant;
