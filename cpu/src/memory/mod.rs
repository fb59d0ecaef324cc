//! Memory of tensors: storage from a pool, views with strides, copies between layouts.

mod buffer;
mod context;
mod copy;
mod storage;
mod tensor;
mod view;

pub use buffer::Buffer;
pub use context::Context;
pub use copy::{CopyPlan, Side, copy, load};
pub use storage::{Line, Shared, Storage};
pub(crate) use tensor::with_width;
pub use tensor::{Layout, OutputTensor, Strides, Tensor, row_major};
pub use view::View;

/// Tensors that an operation returns.
pub type Tensors = smallvec::SmallVec<[Tensor; 2]>;
