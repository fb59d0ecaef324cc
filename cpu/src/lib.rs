//! A CPU backend in Rust: compiles StableHLO programs and runs them, without a plugin.
//!
//! Each module uses only those above it in this list:
//!
//! | module | contents |
//! |---|---|
//! | [`error`] | the errors of damaged programs |
//! | [`types`] | element types, shapes and types of tensors |
//! | [`text`] | the syntax tree of a module and its parser |
//! | [`memory`] | storage, views and copies of tensors |
//! | [`host`] | functions of the host, which programs call |
//! | [`sharding`] | meshes of devices and how arrays are split over them |
//! | [`graph`] | typed operations with static shapes |
//! | [`kernels`] | computations on slices and tiles |
//! | [`ops`] | the table of operations |
//! | [`propagate`] | shardings that the compiler chooses |
//! | [`partition`] | arguments and results of programs on several devices |
//! | [`program`] | compiled programs |
//!
//! # Examples
//!
//! ```
//! use ramie_cpu::{Buffer, Program};
//!
//! let program = Program::compile(
//!     "module {
//!        func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
//!          %0 = stablehlo.add %x, %x : tensor<3xf32>
//!          return %0 : tensor<3xf32>
//!        }
//!      }",
//! )?;
//! let bytes: Vec<u8> = [1f32, 2.0, 3.0].iter().flat_map(|x| x.to_le_bytes()).collect();
//! let x = Buffer::from_bytes(program.parameters()[0].clone(), &bytes)?;
//! let results = program.run(&[&x])?;
//! assert_eq!(results[0].bytes()[..4], 2f32.to_le_bytes());
//! # Ok::<(), ramie_cpu::Error>(())
//! ```

#![deny(unsafe_code)]

pub mod error;
pub mod graph;
pub mod host;
pub mod kernels;
pub mod memory;
pub mod ops;
pub mod partition;
pub mod program;
pub mod propagate;
pub mod sharding;
pub mod text;
pub mod types;

/// Whether this crate is compiled without optimization, so that programs run 20 to 50 times as long.
pub const UNOPTIMIZED: bool = cfg!(unoptimized);

pub use error::{Error, Result};
pub use host::{HostCall, HostFunction};
pub use memory::Buffer;
pub use program::{Options, Program};
pub use types::{Dims, ElementType, TensorType};
