//! Synthetic datasets: small problems for testing models.

mod points;
mod random_state;
mod sequences;

pub use points::{Points, noisy_xor, spirals};
pub use random_state::RandomState;
pub use sequences::{ADDITION, Sequences, addition, copy, reverse};
