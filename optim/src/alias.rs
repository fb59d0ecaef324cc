//! Optimizers by their names: short chains.

mod adams;
mod descent;
mod games;
mod large_batch;
mod newton;
mod signs;
mod squares;

pub use adams::*;
pub use descent::*;
pub use games::*;
pub use large_batch::*;
pub use newton::*;
pub use signs::*;
pub use squares::*;
