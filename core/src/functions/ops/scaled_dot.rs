//! Products of arrays with block scales (`jax.lax.scaled_dot`).

use crate::lax::DotDimensionNumbers;
use crate::typing::Dims;
use crate::{Array, DType};

/// Converts an operand to `bf16` and applies its scales. Each scale applies to a block of
/// elements along the contracted axes.
#[track_caller]
fn scaled(side: &str, x: &Array, scale: Option<&Array>, contracting: &[usize]) -> Array {
    let wide = x.astype(DType::BF16);
    let Some(scale) = scale else {
        return wide;
    };
    let fits = scale.ndim() == x.ndim()
        && (0..x.ndim()).all(|d| {
            let (n, m) = (x.shape()[d], scale.shape()[d]);
            if contracting.contains(&d) {
                m > 0 && n.is_multiple_of(m) && n / m >= 2
            } else {
                n == m
            }
        });
    assert!(
        fits,
        "scaled_dot: the scales of {side} are {}, which do not fit {}\n  help: along the \
         contracted axes {contracting:?} each scale covers 2 or more elements, along other axes \
         one element",
        scale.aval(),
        x.aval()
    );
    // Repeats each scale over its block.
    let (mut blocks, mut kept) = (Dims::new(), Dims::new());
    for (d, &m) in scale.shape().iter().enumerate() {
        kept.push(blocks.len());
        blocks.push(m);
        if contracting.contains(&d) {
            blocks.push(x.shape()[d] / m);
        }
    }
    let scale = scale.astype(DType::BF16).broadcast_in_dim(&blocks, &kept);
    wide * scale.reshape(x.shape())
}

impl Array {
    /// Multiplies two arrays in narrow dtypes with block scales (`jax.lax.scaled_dot`). Operands
    /// and scales are converted to `bf16` and multiplied; the products are accumulated in
    /// `preferred_element_type`, which defaults to `bf16`.
    ///
    /// A scale has as many axes as its operand, with fewer elements along the contracted axes.
    /// Without `dimension_numbers`, matrices along the last two axes are multiplied for each
    /// element of the leading axes.
    ///
    /// ```no_run
    /// use ramie_core::{Array, DType};
    /// let (x, y) = (Array::ones(&[2, 4], DType::BF16), Array::ones(&[4, 2], DType::BF16));
    /// // The last two elements of each row count ten times.
    /// let scale = Array::from([[1.0f32, 10.0], [1.0, 10.0]]);
    /// let product = x.scaled_dot(&y, Some(&scale), None, None, Some(DType::F32));
    /// assert_eq!(product.to_vec::<f32>(), [22.0; 4]);
    /// ```
    ///
    /// # Panics
    /// Panics if an operand has less than two axes, if axes or sizes do not fit, or if a scale
    /// has the wrong shape.
    #[track_caller]
    pub fn scaled_dot(
        &self,
        rhs: &Array,
        lhs_scale: Option<&Array>,
        rhs_scale: Option<&Array>,
        dimension_numbers: Option<DotDimensionNumbers>,
        preferred_element_type: Option<DType>,
    ) -> Array {
        let rank = self.ndim();
        assert!(
            rank >= 2 || dimension_numbers.is_some(),
            "scaled_dot: lhs is {}, expected 2 axes or more\n  help: pass dimension_numbers, or \
             add axes with expand_dims",
            self.aval()
        );
        let numbers = dimension_numbers.unwrap_or_else(|| DotDimensionNumbers::matrices(rank));
        let lhs = scaled("lhs", self, lhs_scale, &numbers.lhs_contracting);
        let rhs = scaled("rhs", rhs, rhs_scale, &numbers.rhs_contracting);
        let sum = preferred_element_type.unwrap_or(DType::BF16);
        lhs.dot_general_with(&rhs, numbers, sum)
    }
}
