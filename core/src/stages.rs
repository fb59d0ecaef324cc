//! The stages of a compiled function: traced, lowered, compiled (`jax.stages`).

pub use crate::client::CompilationStats;
pub use crate::execution::jit::{ArgInfo, Compiled, JitFunction, Jitted, Lowered, Staged, Traced};
pub use ramie_pjrt::{MemoryAnalysis, OptionOverride, Value};
