//! Options of functions. Those of transformations and control flow are structs with public fields;
//! those of array functions start with `new` and are set by methods.

pub use crate::client::RuntimeOptions;
pub use crate::execution::callback::{Ordered, VmapMethod};
pub use crate::execution::jit::JitOptions;
pub use crate::execution::pmap::PmapOptions;
pub use crate::functions::check_grads::CheckGradsOptions;
pub use crate::functions::ops::{
    Attention, ConvTranspose, Convolution, Covariance, Descending, Distinct, EqualNan, Exact,
    ExcludePadding, Histogram, IncludeInitial, Quantile, Reduction, Rounding, ScaledDot, Segments,
    Spacing, Standardize, Tolerance, Trace, Unique, Window,
};
pub use crate::functions::train_steps::TrainStepsOptions;
pub use crate::prim::associative_scan::AssociativeScanOptions;
pub use crate::prim::control::functions::{ForiLoopOptions, ScanOptions};
pub use crate::prim::dot::Contraction;
pub use crate::prim::index::NonNegative;
pub use crate::transform::{
    CheckpointOptions, FirstOnly, HasAux, Holomorphic, JacobianOptions, MapOptions, RuleOptions,
    ShardMapOptions, VmapOptions,
};
