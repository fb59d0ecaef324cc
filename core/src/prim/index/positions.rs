//! Dtypes of indices and counts.

use crate::base::location;
use crate::dtypes::iinfo;
use crate::{Array, DType, ShapeError};

/// Returns the dtype of indices into axes of these sizes: `i64` if `given` has 64 bits or if an
/// axis requires it, and `i32` otherwise.
pub(crate) fn index_dtype(given: DType, mut sizes: impl Iterator<Item = usize>) -> DType {
    if given.bits() == 64 || sizes.any(|size| i32::try_from(size).is_err()) {
        DType::I64
    } else {
        DType::I32
    }
}

/// Returns an error if `count`, described by `what`, exceeds the range of `dtype`.
pub(crate) fn check_count(what: &str, count: usize, dtype: DType) -> Result<(), ShapeError> {
    let largest = if dtype.is_integer() {
        iinfo(dtype).max
    } else {
        return Ok(());
    };
    if count as i128 <= largest {
        return Ok(());
    }
    Err(ShapeError::new(format!(
        "{what} {count}, which exceeds the largest {dtype}, {largest}"
    ))
    .help("split the axis by reshape and combine the results of its parts"))
}

/// Returns the number of row-major positions in `shape`, counting an empty axis as 1.
///
/// # Panics
/// Panics if the number does not fit in 64 bits.
#[track_caller]
pub(crate) fn flat_positions(operation: &str, shape: &[usize]) -> usize {
    let count = shape
        .iter()
        .fold(1, |n: usize, &d| n.saturating_mul(d.max(1)));
    if let Err(error) = check_count("the number of positions is", count, DType::I64) {
        location::fail(&error.render(operation, &[]));
    }
    count
}

impl Array {
    /// Converts integers to a wider dtype if theirs cannot represent `size`.
    #[track_caller]
    pub(crate) fn counting_to(&self, size: usize) -> Array {
        match check_count("the size is", size, self.dtype()) {
            Ok(()) => self.clone(),
            Err(_) => self.astype(index_dtype(self.dtype(), std::iter::once(size))),
        }
    }

    /// Panics if indices along an axis do not fit in `i32`.
    #[track_caller]
    pub(crate) fn expect_i32_positions(&self, operation: &str, axis: usize) {
        let size = self.shape()[axis];
        let last = size.saturating_sub(1);
        let what = format!("the last position along axis {axis} is");
        self.expect_i32(operation, &what, last);
    }

    /// Panics if the number of elements does not fit in `i32`.
    #[track_caller]
    pub(crate) fn expect_i32_count(&self, operation: &str, count: usize) {
        self.expect_i32(operation, "the number of elements can be", count);
    }

    #[track_caller]
    fn expect_i32(&self, operation: &str, what: &str, count: usize) {
        if let Err(error) = check_count(what, count, DType::I32) {
            location::fail(&error.render(operation, &[self.describe()]));
        }
    }
}
