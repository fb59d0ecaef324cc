//! Locks that ignore poisoning: see `ramie_pjrt::lock`.

pub use ramie_pjrt::lock::{lock, unpoisoned};
