//! Traits of arguments and results, and the types that implement them (`jax.typing`). Programs
//! rarely name them.

pub use crate::functions::implicit::{LinearFn, RootFn, TransposeSolve};
pub use crate::functions::ops::{IntoIndex, IntoIndexItem, Like, PlatformFn, TensordotAxes};
pub use crate::functions::train_steps::{StepCount, StepFunction};
pub use crate::prim::elementwise::IntoBound;
pub use crate::prim::shape::OneOrMany;
pub use crate::prim::shape::into_shape::{DimSize, IntoShape, RequestedShape, ReshapeOption};
pub use crate::program::array::{ArrayLike, Number};
pub use crate::program::jaxpr::NamedScope;
pub use crate::transform::{
    ArgTuple, BatchedResults, Codomain, CompositeName, Dots, Function, FunctionOnce, MapAxes,
    Mapped, Objective, Packed, Pure, Residual, Stateful, SymbolicZeros, Tangents,
};
pub use crate::types::aval::Dims;
pub use crate::types::axis::AxisNames;
pub use ramie_pjrt::AlignedBytes;
