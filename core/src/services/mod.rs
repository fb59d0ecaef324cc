//! Processes, profiles, exported functions and files.

pub mod distributed;
pub mod export;
pub mod files;
pub mod profiler;
