//! Products of few rows and a large matrix, which programs on CPUs call instead of XLA's own.
//!
//! Such products, as in decoding with a language model, take as long as reading the matrix. XLA's
//! CPU backend reads it on one thread if there is one row, and copies it if there are several.
//! Products of up to 64 rows, as in a step of a recurrent layer, are computed in tiles.
//!
//! The left operand of a call is `[batch, rows, depth]`, and the result `[batch, rows, columns]`.
//! Attributes name the axes of the matrix that are summed over and kept; its other axes are batch
//! axes. One of the two is the last axis:
//!
//! ```text
//! stablehlo.custom_call @ramie_few_rows(%x, %y) {api_version = 4 : i32, backend_config = {
//!   contracting = 1 : i64, free = 0 : i64}, …}
//!   : (tensor<1x4x64xf32>, tensor<1000x64xf32>) -> tensor<1x4x1000xf32>
//! ```

mod call;
mod kernel;
mod share;
mod tiles;

use crate::{Client, Result};

/// The name of the custom call.
pub const TARGET: &str = "ramie_few_rows";

/// The maximum number of rows for which reading the matrix takes longer than computing. Products of
/// more rows are computed in tiles.
pub const READING: usize = 16;

/// Returns the maximum number of rows of a product that is faster than XLA's. With AVX-512, steps with
/// XLA's products of more rows are faster.
pub fn max_rows() -> usize {
    #[cfg(target_arch = "x86_64")]
    if !std::arch::is_x86_feature_detected!("avx512f") {
        return 64;
    }
    READING
}

/// The maximum number of axes of the matrix.
pub const RANK: usize = call::RANK;

impl Client {
    /// Returns whether programs of this client can call the products: the platform is a CPU that
    /// has the instructions.
    pub fn computes_products(self) -> bool {
        *self.0.products.get().unwrap_or(&false)
    }

    /// Registers the function that computes products, so that programs that call it can be loaded.
    /// Returns whether the processor has the instructions for it.
    pub(crate) fn register_products(self) -> Result<bool> {
        #[cfg(target_arch = "x86_64")]
        if !std::arch::is_x86_feature_detected!("avx2")
            || !std::arch::is_x86_feature_detected!("fma")
        {
            return Ok(false);
        }
        self.register_handler(TARGET, call::handler)?;
        Ok(true)
    }
}
