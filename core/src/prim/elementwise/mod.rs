//! Elementwise primitives: families of operators, as tables with a row per operator.
//!
//! Operands have the same shape, except that dimensions of size 1 and 0-d operands are broadcast,
//! as in JAX.

mod binary;
mod compare;
mod complex;
mod gamma;
mod logaddexp;
mod mulhi;
mod on_cpu;
mod power;
mod select;
mod special;
mod stop_gradient;
mod unary;

use crate::error;
use super::{Avals, Batched, batched, one};
use crate::program::checks::Errors;
use crate::lower::{Lowering, Value};
use crate::{Array, Aval, DType, Dims, ShapeError};
use smallvec::SmallVec;

pub use binary::*;
pub use compare::*;
pub use complex::*;
pub use gamma::*;
pub use logaddexp::*;
pub use mulhi::*;
pub use power::*;
pub use select::*;
pub use special::*;
pub use stop_gradient::*;
pub use unary::*;

/// The dtypes that an elementwise operator supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Floating-point numbers.
    Float,
    /// Floating-point and complex numbers.
    Inexact,
    /// Numbers that have an order, and booleans.
    Ordered,
    /// Integers.
    Integer,
    /// Integers and booleans.
    Bits,
    /// All numbers.
    Number,
    /// Integers and floating-point numbers.
    Real,
    /// Signed integers and floats.
    Signed,
    /// Numbers and booleans.
    Any,
    /// 32-bit words: `u32`.
    Word,
    /// The dtypes of linear algebra: `f32`, `f64`, `c64` and `c128`.
    Lapack,
}

impl Class {
    /// Returns the checks of operations that compute with all dtypes of this class: arithmetic
    /// can produce NaN from infinities; ordering and bit operations cannot.
    pub(crate) fn checks(self) -> Errors {
        match self {
            Class::Number | Class::Real | Class::Inexact => Errors::NAN,
            _ => Errors::NONE,
        }
    }

    /// Returns whether the class contains `dtype`.
    pub fn contains(self, dtype: DType) -> bool {
        match self {
            Class::Float => dtype.is_float(),
            Class::Inexact => dtype.is_inexact(),
            Class::Ordered => !dtype.is_complex(),
            Class::Integer => dtype.is_integer(),
            Class::Bits => !dtype.is_inexact(),
            Class::Number => dtype != DType::Bool,
            Class::Real => dtype.is_integer() || dtype.is_float(),
            Class::Signed => dtype.is_signed() || dtype.is_inexact(),
            Class::Any => true,
            Class::Word => dtype == DType::U32,
            Class::Lapack => matches!(dtype.real(), DType::F32 | DType::F64),
        }
    }

    pub(crate) fn check(self, dtype: DType) -> Result<(), ShapeError> {
        if self.contains(dtype) {
            return Ok(());
        }
        let wanted = match self {
            Class::Float => "a floating-point type",
            Class::Inexact => "a floating-point or complex type",
            Class::Ordered => "a real type",
            Class::Integer => "an integer type",
            Class::Bits => "an integer type or bool",
            Class::Number => "a numeric type",
            Class::Real => "an integer or floating-point type",
            Class::Signed => "a signed type",
            Class::Any => "any type",
            Class::Word => "u32",
            Class::Lapack => "f32, f64, c64 or c128",
        };
        Err(
            ShapeError::new(format!("expects {wanted}, got {dtype}")).help(match self {
                // A conversion would drop the imaginary part.
                _ if dtype.is_complex() => error::TAKE_A_PART,
                Class::Float | Class::Lapack => "convert first: x.astype(DType::F32)",
                _ => "convert first: x.astype(DType::I32)",
            }),
        )
    }
}

/// Returns the shape of the result: dimensions must be equal or 1; 0-d operands match all shapes.
pub(crate) fn broadcast_rule(args: &[Aval]) -> Result<Dims, ShapeError> {
    let mut out: Option<Dims> = None;
    for a in args.iter().filter(|a| a.ndim() > 0) {
        let Some(shape) = &mut out else {
            out = Some(a.shape().into());
            continue;
        };
        let fits = shape.len() == a.ndim()
            && shape.iter_mut().zip(a.shape()).all(|(o, &d)| {
                if *o == 1 {
                    *o = d;
                }
                *o == d || d == 1
            });
        if !fits {
            return Err(
                ShapeError::new("the shapes of the operands do not broadcast together").help(
                    "shapes are aligned at their last axes, and sizes must agree or be 1; use \
                     reshape, expand_dims or transpose to align them",
                ),
            );
        }
    }
    Ok(out.unwrap_or_default())
}

/// Returns shape and dtype of an operator whose operands and result have the same dtype.
pub(crate) fn infer_same(class: Class, args: &[Aval], arity: usize) -> Result<Avals, ShapeError> {
    crate::ensure_shape!(
        args.len() == arity,
        "expects {arity} operands, got {}",
        args.len()
    );
    let dtype = args[0].dtype();
    if let Some(other) = args.iter().find(|a| a.dtype() != dtype) {
        return Err(ShapeError::new(format!(
            "operands have different dtypes, {dtype} and {}",
            other.dtype()
        ))
        .help(
            "the operators of `Array` promote their operands, but the primitive requires the same \
             dtype: use astype",
        ));
    }
    class.check(dtype)?;
    one(Aval::new(&broadcast_rule(args)?, dtype))
}

/// Implements the batching rule of elementwise operators: aligns the batch axes and applies the
/// same operator.
pub(crate) fn batch_elementwise(
    args: &[Array],
    axes: &[Option<usize>],
    apply: impl FnOnce(&[&Array]) -> Array,
) -> Batched {
    // All operands except scalars have the same shape and batch axis: nothing to move.
    let first = args
        .iter()
        .zip(axes)
        .find_map(|(a, ax)| ax.map(|ax| (a.shape(), ax)));
    let (shape, axis) = first.expect("a batched operand");
    let aligned = args.iter().zip(axes).all(|(a, ax)| match ax {
        Some(ax) => a.shape() == shape && *ax == axis,
        None => a.ndim() == 0,
    });
    if aligned {
        let refs: SmallVec<[&Array; 4]> = args.iter().collect();
        return batched(apply(&refs), Some(axis));
    }
    let rank = args
        .iter()
        .zip(axes)
        .map(|(a, ax)| a.ndim() - usize::from(ax.is_some()))
        .max()
        .unwrap_or(0);
    let moved: SmallVec<[Array; 4]> = args
        .iter()
        .zip(axes)
        .map(|(a, ax)| match ax {
            None if a.ndim() == 0 => a.clone(),
            // The operator itself broadcasts a batch axis of size 1.
            None => a.expand_dims(&[0]),
            Some(ax) => {
                let front = a.move_axis(*ax as isize, 0);
                let missing: Vec<isize> = (front.ndim()..rank + 1).map(|d| d as isize).collect();
                // A batch of scalars is combined with arrays: the missing axes are appended.
                if missing.is_empty() {
                    front
                } else {
                    front.expand_dims(&missing)
                }
            }
        })
        .collect();
    let refs: SmallVec<[&Array; 4]> = moved.iter().collect();
    batched(apply(&refs), Some(0))
}

/// Emits the operands, broadcast to the shape of the result.
pub(crate) fn spread(
    ctx: &mut Lowering<'_>,
    args: &[Value],
    ins: &[Aval],
    out: Aval,
) -> SmallVec<[Value; 4]> {
    args.iter()
        .zip(ins)
        .map(|(v, a)| ctx.broadcast_to(*v, *a, out))
        .collect()
}

/// Broadcasts a tangent to the shape of the result.
pub(crate) fn fit(tangent: &Array, out: &Array) -> Array {
    if tangent.shape() == out.shape() {
        tangent.clone()
    } else {
        tangent.broadcast_to(out.shape())
    }
}

/// Adds two tangents, either of which may be zero.
pub(crate) fn add_tangents(a: Option<Array>, b: Option<Array>) -> Option<Array> {
    match (a, b) {
        (Some(a), Some(b)) => Some(add_any(&a, &b)),
        (a, b) => a.or(b),
    }
}
