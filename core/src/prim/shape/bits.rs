//! Primitives on the bits of elements: `bitcast_convert_type` and
//! `reduce_precision`.

use crate::extend::ShardingRule;
use crate::prim::elementwise::elementwise_rules;
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Facts, Param, Primitive, batched, move_batch_axis,
    one,
};
use crate::program::class::{Class, infer_same};
use crate::program::lower::{Lowering, Value};
use crate::program::trace::bind1;
use crate::typing::Dims;
use crate::{Array, Aval, DType, ShapeError};

/// Reinterprets the bits as another dtype. An element of a wider dtype becomes a last axis of
/// narrower ones, the lowest bits first, and vice versa.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BitcastConvertType {
    /// Dtype of the result.
    pub new_dtype: DType,
}

impl Primitive for BitcastConvertType {
    fn name(&self) -> &'static str {
        "bitcast_convert_type"
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        vec![("new_dtype", Param::new(self.new_dtype.numpy_name()))]
    }
    fn facts(&self) -> Facts<'_> {
        Facts::strong()
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        let (from, to) = (args[0].dtype(), self.new_dtype);
        if (from == DType::Bool) != (to == DType::Bool) {
            return Err(ShapeError::new(format!(
                "the bits of {from} cannot be reinterpreted as {to}"
            ))
            .help("to convert values use astype"));
        }
        if from != to && (from.is_complex() || to.is_complex()) {
            return Err(ShapeError::new(format!(
                "the bits of {from} cannot be reinterpreted as {to}"
            ))
            .help(
                "use the parts of complex numbers, x.real() and x.imag(), and complex(re, im) \
                     to join them",
            ));
        }
        let shape = args[0].shape();
        let out = args[0].with_dtype(to);
        if from.bits() >= to.bits() {
            let pieces = from.bits() / to.bits();
            let longer: Dims = shape.iter().copied().chain([pieces]).collect();
            return one(if pieces == 1 {
                out
            } else {
                out.with_shape(&longer)
            });
        }
        let pieces = to.bits() / from.bits();
        match shape.split_last() {
            Some((&last, rest)) if last == pieces => one(out.with_shape(rest)),
            _ => Err(ShapeError::new(format!(
                "{pieces} elements of {from} are needed for one of {to}, but the last axis of {} \
                 does not have that size",
                args[0]
            ))
            .help("reshape so that the elements to join are the last axis")),
        }
    }
    fn sharding(&self, args: &[Aval], outs: &[Aval]) -> Result<ShardingRule, ShapeError> {
        let joined = args[0]
            .ndim()
            .checked_sub(1)
            .filter(|&d| d == outs[0].ndim());
        Ok(ShardingRule::along(args, outs, joined.as_slice()))
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::Zero
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        let size = axis.size;
        // The last axis may be merged, or be new.
        let front = move_batch_axis(&args[0], axes[0], 0, size);
        batched(bind1(self.clone(), &[&front]), Some(0))
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        vec![ctx.op1("bitcast_convert", args, outs[0], "")]
    }
}

/// Rounds to a floating-point format of fewer bits, without changing the dtype.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ReducePrecision {
    /// Number of exponent bits.
    pub exponent_bits: u32,
    /// Number of fraction bits.
    pub mantissa_bits: u32,
}

impl Primitive for ReducePrecision {
    fn name(&self) -> &'static str {
        "reduce_precision"
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        vec![
            ("exponent_bits", Param::new(self.exponent_bits)),
            ("mantissa_bits", Param::new(self.mantissa_bits)),
        ]
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        crate::ensure_shape!(
            self.exponent_bits >= 1,
            "a format needs at least one exponent bit"
        );
        infer_same(Class::Float, args, 1)
    }
    elementwise_rules!();
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::linear(|ct, _| bind1(self.clone(), &[ct]))
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        let attributes = format!(
            "exponent_bits = {} : i32, mantissa_bits = {} : i32",
            self.exponent_bits, self.mantissa_bits
        );
        vec![ctx.op1("reduce_precision", args, outs[0], &attributes)]
    }
}

impl Array {
    /// Reinterprets the bits as another dtype (`jax.lax.bitcast_convert_type`). An element of a
    /// wider dtype becomes a last axis of narrower ones, the lowest bits first; vice versa, such
    /// an axis becomes one element of a wider dtype.
    ///
    /// ```no_run
    /// use ramie_core::{Array, DType};
    /// let bits = Array::from([1.0f32]).bitcast_convert_type(DType::U32);
    /// assert_eq!(bits.to_vec::<u32>(), [0x3F80_0000]);
    /// let bytes = bits.bitcast_convert_type(DType::U8);
    /// assert_eq!(bytes.shape(), [1, 4]);
    /// assert_eq!(bytes.to_vec::<u8>(), [0, 0, 0x80, 0x3F]);
    /// ```
    ///
    /// # Panics
    /// Panics if one of the dtypes is `Bool`, or if the last axis does not have as many elements
    /// as one of the wider dtype contains.
    #[track_caller]
    pub fn bitcast_convert_type(&self, new_dtype: DType) -> Array {
        if self.dtype() == new_dtype {
            return self.clone();
        }
        bind1(BitcastConvertType { new_dtype }, &[self])
    }

    /// Rounds the elements to a floating-point format with these numbers of exponent and fraction
    /// bits, without changing the dtype.
    ///
    /// # Panics
    /// Panics if the dtype is not a floating-point dtype, or if `exponent_bits` is 0.
    #[track_caller]
    pub fn reduce_precision(&self, exponent_bits: u32, mantissa_bits: u32) -> Array {
        let primitive = ReducePrecision {
            exponent_bits,
            mantissa_bits,
        };
        bind1(primitive, &[self])
    }
}
