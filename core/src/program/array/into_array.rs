//! `IntoArray`: arrays and scalars as operands.

use super::Array;
use crate::dtypes::{Literal, Scalar};

/// A value that can be used as an operand: an array or a scalar. A scalar is weakly typed: it
/// takes the dtype of the other operand where possible. `2.into_array()` is such a scalar as an
/// array, like JAX's `jnp.asarray(2)`; `Array::from(2)` and `array(2)` have the dtype `i32`. The
/// types in messages mark a weak type by `~`.
///
/// ```no_run
/// use ramie_core::{Array, DType, IntoArray};
/// let x = Array::from([1i8]);
/// assert_eq!((&x * 2.into_array()).dtype(), DType::I8);
/// assert_eq!((&x * Array::from(2)).dtype(), DType::I32);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an operand of array functions",
    label = "not an array, a number or a boolean",
    note = "pass an `Array`, `&Array`, a number, a boolean, or a variable such as a `Param` by \
            `&`; `array(..)` creates an array of a list"
)]
pub trait IntoArray {
    /// Converts the operand to an array.
    fn into_array(self) -> Array;
}

impl IntoArray for Array {
    fn into_array(self) -> Array {
        self
    }
}
impl IntoArray for &Array {
    fn into_array(self) -> Array {
        self.clone()
    }
}
macro_rules! scalar_operand {
    ($($t:ty),*) => { $(
        #[diagnostic::do_not_recommend]
        impl IntoArray for $t {
            fn into_array(self) -> Array {
                let value = Scalar::from(self);
                Array::literal(Literal::weak(value, value.weak_dtype()))
            }
        }
    )* };
}
scalar_operand!(
    bool,
    i8,
    i16,
    i32,
    i64,
    u8,
    u16,
    u32,
    u64,
    usize,
    f32,
    f64,
    half::f16,
    half::bf16
);
