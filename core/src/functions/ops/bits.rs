//! Integer functions: common divisors and multiples, and booleans packed into bytes.

use crate::lax::while_loop;
use crate::prim::elementwise::parts;
use crate::prim::operands::{self, promote};
use crate::{Array, DType, IntoArray, where_};

/// The bit of a byte that stores the first boolean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BitOrder {
    /// The most significant bit.
    Big,
    /// The least significant bit.
    Little,
}

impl BitOrder {
    /// Returns the shift of each boolean in its byte.
    fn shifts(self) -> Array {
        let positions = Array::iota(&[8], 0, DType::U8);
        match self {
            BitOrder::Big => positions.flip(&[0]),
            BitOrder::Little => positions,
        }
    }
}

#[track_caller]
fn integers(operation: &str, a: &Array, b: impl IntoArray) -> (Array, Array) {
    let (a, b) = promote(operation, a, &b.into_array());
    parts::require_real(operation, &[&a, &b]);
    assert!(
        a.dtype().is_integer(),
        "{operation}: operands are {}, expected integers\n  help: convert them with \
         astype(DType::I32)",
        a.aval()
    );
    let shape = operands::common_shape(operation, &[&a, &b]);
    (a.broadcast_to(&shape).abs(), b.broadcast_to(&shape).abs())
}

impl Array {
    /// Computes the greatest common divisor of each pair of elements. The result for two zeros is
    /// 0.
    ///
    /// # Panics
    /// Panics if the operands are not integers, or if the shapes do not broadcast.
    #[track_caller]
    pub fn gcd(&self, other: impl IntoArray) -> Array {
        let (a, b) = integers("gcd", self, other);
        let (divisor, _) = while_loop(
            |(_, b): (Array, Array)| b.ne(0).any(),
            |(a, b): (Array, Array)| {
                let more = b.ne(0);
                let safe = where_(&more, &b, b.ones_like());
                (where_(&more, &b, &a), where_(&more, a.lax_rem(safe), &b))
            },
            (a, b),
        );
        divisor
    }

    /// Computes the least common multiple of each pair of elements. It is 0 if either is zero.
    ///
    /// # Panics
    /// Panics if the operands are not integers, or if the shapes do not broadcast.
    #[track_caller]
    pub fn lcm(&self, other: impl IntoArray) -> Array {
        let (a, b) = integers("lcm", self, other);
        let divisor = a.gcd(&b);
        let zero = divisor.eq(0);
        let safe = where_(&zero, divisor.ones_like(), &divisor);
        where_(&zero, &divisor, a * b.floor_divide(safe))
    }

    /// Packs booleans along an axis into the bits of bytes (`u8`), eight to a byte. Nonzero
    /// numbers count as true. The last byte is padded with zeros.
    ///
    /// # Panics
    /// Panics if the axis is out of range, or if the elements are floats or complex numbers.
    #[track_caller]
    pub fn packbits(&self, axis: isize, order: BitOrder) -> Array {
        parts::require_real("packbits", &[self]);
        assert!(
            !self.dtype().is_float(),
            "packbits: expects booleans or integers, got {}\n  help: compare: x.ne(0)",
            self.aval()
        );
        self.axis("packbits", axis);
        let bits = self.ne(0).astype(DType::U8).swap_axes(axis, -1);
        let last = bits.ndim() - 1;
        let n = bits.shape()[last];
        let mut widths = vec![(0, 0); bits.ndim()];
        widths[last].1 = n.next_multiple_of(8) - n;
        let mut shape: crate::typing::Dims = bits.shape().into();
        shape[last] = n.div_ceil(8);
        shape.push(8);
        let bytes = bits.pad(&widths, 0).reshape(&shape);
        let packed = bytes.left_shift(order.shifts()).reduce_sum(&[-1]);
        packed.swap_axes(axis, -1)
    }

    /// Unpacks the bits of bytes (`u8`) along an axis into eight numbers 0 or 1 each.
    ///
    /// # Panics
    /// Panics if the axis is out of range, or if the elements are not `u8`.
    #[track_caller]
    pub fn unpackbits(&self, axis: isize, order: BitOrder) -> Array {
        parts::require_real("unpackbits", &[self]);
        assert!(
            self.dtype() == DType::U8,
            "unpackbits: expects u8 elements, got {}\n  help: convert it: x.astype(DType::U8)",
            self.aval()
        );
        self.axis("unpackbits", axis);
        let bytes = self.swap_axes(axis, -1).expand_dims(&[-1]);
        let bits = bytes.right_shift(order.shifts()).bitwise_and(1);
        let mut shape: crate::typing::Dims = bits.shape().into();
        shape.pop();
        let last = shape.len() - 1;
        shape[last] *= 8;
        bits.reshape(&shape).swap_axes(axis, -1)
    }
}
