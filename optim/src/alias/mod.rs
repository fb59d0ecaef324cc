//! Optimizers, each a short chain of transformations.

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
