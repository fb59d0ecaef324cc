//! Locks that ignore poisoning: see `ramie_base::lock`.

pub use ramie_base::lock::{lock, unpoisoned};
