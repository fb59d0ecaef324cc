//! How far positions count.

use crate::{Array, DType, ShapeError, iinfo};

/// The type of indices into axes of these sizes: 64 bits where the given type has
/// them, or where an axis needs them.
pub(crate) fn index_dtype(given: DType, mut sizes: impl Iterator<Item = usize>) -> DType {
    match given.bits() == 64 || sizes.any(|size| i32::try_from(size).is_err()) {
        true => DType::I64,
        false => DType::I32,
    }
}

/// Refuses to count to `count`, of what `what` says, in a type that ends before.
pub(crate) fn check_count(what: &str, count: usize, dtype: DType) -> Result<(), ShapeError> {
    let largest = match dtype.is_integer() {
        true => iinfo(dtype).max,
        false => return Ok(()),
    };
    if count as i128 <= largest {
        return Ok(());
    }
    Err(
        ShapeError::new(format!("{what} {count}, and {dtype} ends at {largest}"))
            .help("split the axis by reshape and combine the results of its parts"),
    )
}

/// The number of row-major positions in `shape`, counting an empty axis as 1.
///
/// # Panics
/// If 64 bits do not count them.
#[track_caller]
pub(crate) fn flat_positions(operation: &str, shape: &[usize]) -> usize {
    let count = shape
        .iter()
        .fold(1, |n: usize, &d| n.saturating_mul(d.max(1)));
    if let Err(error) = check_count("the number of positions is", count, DType::I64) {
        crate::trace::fail(&error.render(operation, &[]));
    }
    count
}

impl Array {
    /// Integers in a type that counts to `size`: their own, or a wider one.
    #[track_caller]
    pub(crate) fn counting_to(&self, size: usize) -> Array {
        match check_count("the size is", size, self.dtype()) {
            Ok(()) => self.clone(),
            Err(_) => self.astype(index_dtype(self.dtype(), std::iter::once(size))),
        }
    }

    /// Refuses to give positions along an axis in `i32` that is longer than that.
    #[track_caller]
    pub(crate) fn expect_i32_positions(&self, operation: &str, axis: usize) {
        let size = self.shape()[axis];
        let last = size.saturating_sub(1);
        let what = format!("the last position along axis {axis} is");
        self.expect_i32(operation, &what, last);
    }

    /// Refuses to count elements in `i32` that may be more than that.
    #[track_caller]
    pub(crate) fn expect_i32_count(&self, operation: &str, count: usize) {
        self.expect_i32(operation, "the number of elements can be", count);
    }

    #[track_caller]
    fn expect_i32(&self, operation: &str, what: &str, count: usize) {
        if let Err(error) = check_count(what, count, DType::I32) {
            crate::trace::fail(&error.render(operation, &[self.describe()]));
        }
    }
}
