//! Data sets that are computed: small problems to try a model on.

mod points;
mod random_state;
mod sequences;

pub use points::{Points, noisy_xor, spirals};
pub use random_state::RandomState;
pub use sequences::{ADDITION, Sequences, addition, copy, reverse};
