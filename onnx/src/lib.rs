//! ONNX files as functions of arrays.
//!
//! A [`Model`] is the graph of a file. Its weights are a [`State`](ramie_core::State), and applying
//! it to weights and inputs is an ordinary function: [`jit`](ramie_core::jit) compiles it, and
//! [`grad`](ramie_core::grad) differentiates it.
//!
//! ```
//! use ramie_core::{Array, State, jit, value_and_grad};
//! use ramie_onnx::Model;
//!
//! # fn main() -> ramie_onnx::Result<()> {
//! // y = relu(x · w + b), with w of shape [3, 2].
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/golden/data/onnx/dense.onnx");
//! let model = Model::open(path)?;
//! let description = model.description();
//! assert_eq!(description.inputs[0].to_string(), "f32[batch,3]");
//!
//! let weights = model.weights()?;
//! let x = Array::from([[1.0f32, 2.0, 3.0]]);
//! let run = jit({
//!     let model = model.clone();
//!     move |weights: State, x: Array| model.apply(&weights, &[x]).remove(0)
//! });
//! assert_eq!(run(weights.clone(), x.clone()).to_vec::<f32>(), [4.5, 5.5]);
//!
//! // Fine-tuning needs the gradient with respect to the weights.
//! let loss = |weights: State| {
//!     let y = model.apply(&weights, std::slice::from_ref(&x)).remove(0);
//!     y.square().sum()
//! };
//! let (_, gradients) = value_and_grad(loss)(weights);
//! assert_eq!(gradients["b"].to_vec::<f32>(), [9.0, 11.0]);
//! # Ok(())
//! # }
//! ```
//!
//! Shapes are static: shapes, axes and the numbers that they are computed from are evaluated on the
//! host while the function is traced. [`Model::open`] rejects a file with operators that are not
//! supported, and lists all of them. Versions 7 to 23 of ONNX's operators are supported. Their
//! results equal the reference's, up to rounding; `tests/nodes.rs` runs ONNX's own tests.
#![forbid(unsafe_code)]

mod call;
mod check;
mod description;
mod error;
mod file;
mod graph;
mod known;
mod model;
mod node;
mod onnx_file;
mod operators;
mod run;

pub use description::{Description, TensorInfo};
pub use error::{Error, Result, UnsupportedNodes};
pub use file::Dim;
pub use model::Model;
pub use onnx_file::{OnnxFile, tensor_from_bytes};
