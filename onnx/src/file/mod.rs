//! The file format: messages of ONNX in the wire format of Protocol Buffers.

mod message;
mod tensor;
mod wire;

pub use message::Dim;
pub(crate) use message::{Attribute, Graph, Model, Node, ValueInfo};
pub(crate) use tensor::{Store, Tensor, data_type_name, dtype_of};

/// Returns whether a domain is that of ONNX's own operators.
pub(crate) fn is_own(domain: &str) -> bool {
    matches!(domain, "" | "ai.onnx")
}
