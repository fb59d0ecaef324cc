//! `mulhi`: the upper half of integer products.

use crate::prim::operands;
use crate::prim::{Avals, Differentiation, Primitive};
use crate::program::class::{Class, infer_same};
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind1;
use crate::{Array, Aval, DType, IntoArray, ShapeError};

/// Computes the upper half of the product of two integers, with the same number of bits as the
/// operands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Mulhi;

impl Primitive for Mulhi {
    fn name(&self) -> &'static str {
        "mulhi"
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        infer_same(Class::Integer, args, 2)
    }
    elementwise_rules!();
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::Zero
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        let args = ctx.broadcast_operands(args, outs[0]);
        ctx.traced("mulhi", &args, |a| vec![upper_half(&a[0], &a[1])])
    }
}

/// Computes the upper half with integers of twice the width, or with 32-bit halves of 64-bit
/// integers.
fn upper_half(x: &Array, y: &Array) -> Array {
    let dtype = x.dtype();
    let bits = dtype.bits() as i64;
    let wide = if dtype.is_unsigned() {
        DType::U64
    } else {
        DType::I64
    };
    if bits < 64 {
        let product = x.astype(wide).mul(y.astype(wide));
        return product.right_shift(bits).astype(dtype);
    }
    // Schoolbook multiplication; the upper halves of signed integers are signed.
    let half = Array::scalar(32, dtype);
    let low = |x: &Array| x.bitwise_and(Array::scalar(0xffff_ffffu64, dtype));
    let high = |x: &Array| x.right_shift(&half);
    let (xl, yl, xh, yh) = (low(x), low(y), high(x), high(y));
    let carry = xl.mul(&yl).right_shift_logical(&half);
    let middle = xh.mul(&yl).add(carry);
    let other = xl.mul(&yh).add(low(&middle));
    xh.mul(&yh).add(high(&middle)).add(high(&other))
}

impl Array {
    /// Computes the upper half of the product of two integers, with the same number of bits as
    /// the operands (`jax.lax.mulhi`).
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// assert_eq!(Array::from(200u8).mulhi(Array::from(200u8)).item::<u8>(), 156);
    /// ```
    ///
    /// # Panics
    /// Panics if the operands are not integers, or if their shapes do not broadcast.
    #[track_caller]
    pub fn mulhi(&self, other: impl IntoArray) -> Array {
        let (a, b) = operands::promote("mulhi", self, &other.into_array());
        bind1(Mulhi, &[&a, &b])
    }
}
