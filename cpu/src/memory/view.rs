//! Views that an operation computes once.

use super::{Layout, Strides, Tensor};
use crate::Result;
use std::sync::{Arc, OnceLock};

/// The view that an operation has of its operand. Shapes are static, and so are strides in almost all runs: the
/// first run computes the layout of the view, and later runs with the same strides share it.
#[derive(Clone, Debug, Default)]
pub struct View(OnceLock<StridedView>);

/// The view of an operand with these strides.
#[derive(Clone, Debug)]
struct StridedView {
    strides: Strides,
    layout: Arc<Layout>,
    /// Distance of the view's first element from that of the operand.
    shift: isize,
}

impl View {
    /// Returns the view of an operand, which `compute` computes. All operands must have one type, and the view
    /// may depend on their strides only, or have memory of its own.
    ///
    /// # Errors
    /// Returns the errors of `compute`.
    pub fn of(&self, x: Tensor, compute: impl FnOnce(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
        if let Some(seen) = self.0.get()
            && seen.strides == x.strides
        {
            let offset = x.offset.wrapping_add_signed(seen.shift);
            return Ok(x.with_layout(seen.layout.clone(), offset));
        }
        let view = compute(&x)?;
        if view.shares(&x) {
            self.0.get_or_init(|| StridedView {
                strides: x.strides.clone(),
                layout: view.layout().clone(),
                shift: view.offset.wrapping_sub(x.offset) as isize,
            });
        }
        Ok(view)
    }
}
