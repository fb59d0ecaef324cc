//! Programs of several processes, profiles, exported functions, and files. May use all other
//! folders.

pub mod distributed;
pub mod export;
pub mod files;
pub mod profiler;
