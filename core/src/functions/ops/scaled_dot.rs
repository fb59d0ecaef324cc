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

/// Options of [`Array::scaled_dot_with`]: scales, axes and the dtype of the sums.
///
/// ```no_run
/// use ramie_core::options::ScaledDot;
/// use ramie_core::{Array, DType};
/// let (x, y) = (Array::ones(&[2, 4], DType::BF16), Array::ones(&[4, 2], DType::BF16));
/// // The last two elements of each row count ten times.
/// let scale = Array::from([[1.0f32, 10.0], [1.0, 10.0]]);
/// let options = ScaledDot::new().lhs_scale(&scale).preferred_element_type(DType::F32);
/// assert_eq!(x.scaled_dot_with(&y, options).to_vec::<f32>(), [22.0; 4]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct ScaledDot {
    lhs_scale: Option<Array>,
    rhs_scale: Option<Array>,
    dimension_numbers: Option<DotDimensionNumbers>,
    preferred_element_type: Option<DType>,
}

impl ScaledDot {
    /// Creates a product without scales.
    pub fn new() -> ScaledDot {
        ScaledDot::default()
    }

    /// Sets the scales of the left operand. They have as many axes as the operand, with fewer
    /// elements along the contracted axes.
    #[must_use]
    pub fn lhs_scale(self, scale: &Array) -> ScaledDot {
        ScaledDot {
            lhs_scale: Some(scale.clone()),
            ..self
        }
    }

    /// Sets the scales of the right operand.
    #[must_use]
    pub fn rhs_scale(self, scale: &Array) -> ScaledDot {
        ScaledDot {
            rhs_scale: Some(scale.clone()),
            ..self
        }
    }

    /// Sets the contracted axes and the batch axes. By default, matrices along the last two axes
    /// are multiplied for each element of the leading axes.
    #[must_use]
    pub fn dimension_numbers(self, dimension_numbers: DotDimensionNumbers) -> ScaledDot {
        ScaledDot {
            dimension_numbers: Some(dimension_numbers),
            ..self
        }
    }

    /// Sets the dtype of the sums and of the result. Defaults to `bf16`.
    #[must_use]
    pub fn preferred_element_type(self, dtype: DType) -> ScaledDot {
        ScaledDot {
            preferred_element_type: Some(dtype),
            ..self
        }
    }
}

impl Array {
    /// Multiplies two arrays in `bf16` (`jax.lax.scaled_dot`). Use
    /// [`scaled_dot_with`](Array::scaled_dot_with) for block scales.
    ///
    /// # Panics
    /// Panics if an operand has less than two axes, or if axes or sizes do not fit.
    #[track_caller]
    pub fn scaled_dot(&self, rhs: &Array) -> Array {
        self.scaled_dot_with(rhs, ScaledDot::new())
    }

    /// Multiplies two arrays in narrow dtypes with block scales. Operands and scales are converted
    /// to `bf16` and multiplied, and the products are summed.
    ///
    /// # Panics
    /// Panics if an operand has less than two axes and no dimension numbers are given, if axes or
    /// sizes do not fit, or if a scale has the wrong shape.
    #[track_caller]
    pub fn scaled_dot_with(&self, rhs: &Array, options: ScaledDot) -> Array {
        let rank = self.ndim();
        assert!(
            rank >= 2 || options.dimension_numbers.is_some(),
            "scaled_dot: lhs is {}, expected 2 axes or more\n  help: pass dimension_numbers, or \
             add axes with expand_dims",
            self.aval()
        );
        let numbers = options
            .dimension_numbers
            .unwrap_or_else(|| DotDimensionNumbers::matrices(rank));
        let (ours, theirs) = (options.lhs_scale.as_ref(), options.rhs_scale.as_ref());
        let lhs = scaled("lhs", self, ours, &numbers.lhs_contracting);
        let rhs = scaled("rhs", rhs, theirs, &numbers.rhs_contracting);
        let sum = options.preferred_element_type.unwrap_or(DType::BF16);
        lhs.dot_general_with(&rhs, numbers, sum)
    }
}
