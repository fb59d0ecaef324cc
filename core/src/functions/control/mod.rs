//! Implicit functions and training loops.

mod linear_solve;
mod root;
mod step_function;
mod train_steps;

pub use linear_solve::{LinearFn, TransposeSolve, custom_linear_solve};
pub use root::{RootFn, custom_root, custom_root_with_aux};
pub use step_function::StepFunction;
pub use train_steps::{StepCount, TrainStepsOptions, train_steps, train_steps_with};
