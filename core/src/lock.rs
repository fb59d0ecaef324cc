//! Locks that outlive panics: see `ramie_pjrt::lock`.

pub use ramie_pjrt::lock::{lock, unpoisoned};
