//! Elementwise primitives: families written as tables, a row per operator.
//!
//! Operands have one shape, up to dimensions of size 1 and 0-d operands, which
//! are repeated, as in JAX.

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

use super::{Avals, Batched, batched, one};
use crate::checkify::Errors;
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

/// Which element types an elementwise operator takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Floating-point numbers.
    Float,
    /// Floating-point and complex numbers.
    Inexact,
    /// Numbers that have an order, and truth values.
    Ordered,
    /// Integers.
    Integer,
    /// Integers and truth values.
    Bits,
    /// Every number.
    Number,
    /// Integers and floating-point numbers.
    Real,
    /// Signed integers and floats.
    Signed,
    /// Numbers and truth values.
    Any,
    /// Words of 32 bits: `u32`.
    Word,
    /// The types of linear algebra: `f32`, `f64`, `c64` and `c128`.
    Lapack,
}

impl Class {
    /// The checks of operations that compute with all elements of this class:
    /// arithmetic makes NaN of infinities, and orders and bits do not.
    pub(crate) fn checks(self) -> Errors {
        match self {
            Class::Number | Class::Real | Class::Inexact => Errors::NAN,
            _ => Errors::NONE,
        }
    }

    /// Whether the class contains `dtype`.
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
                _ if dtype.is_complex() => crate::ops::TAKE_A_PART,
                Class::Float | Class::Lapack => "convert first: x.astype(DType::F32)",
                _ => "convert first: x.astype(DType::I32)",
            }),
        )
    }
}

/// The shape of the result: dimensions agree or are 1; 0-d operands fit all.
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
                ShapeError::new("operands have shapes that do not broadcast together").help(
                    "shapes are aligned at their last axes and must agree there or be 1; \
                 use reshape, expand_dims or transpose to line them up",
                ),
            );
        }
    }
    Ok(out.unwrap_or_default())
}

/// Shape and type of an operator whose operands and result have one type.
pub(crate) fn infer_same(class: Class, args: &[Aval], arity: usize) -> Result<Avals, ShapeError> {
    crate::ensure_shape!(
        args.len() == arity,
        "expects {arity} operands, got {}",
        args.len()
    );
    let dtype = args[0].dtype();
    if let Some(other) = args.iter().find(|a| a.dtype() != dtype) {
        return Err(ShapeError::new(format!(
            "operands have different types, {dtype} and {}",
            other.dtype()
        ))
        .help(
            "the operators of `Array` promote; the primitive itself wants one type: use astype",
        ));
    }
    class.check(dtype)?;
    one(Aval::new(&broadcast_rule(args)?, dtype))
}

/// The batching rule of every elementwise operator: line the batch axes up and
/// apply the operator as it is.
pub(crate) fn batch_elementwise(
    args: &[Array],
    axes: &[Option<usize>],
    apply: impl FnOnce(&[&Array]) -> Array,
) -> Batched {
    // The same shape and axis everywhere (scalars aside): nothing to move.
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
            // A size-1 batch axis is repeated by the operator itself.
            None => a.expand_dims(&[0]),
            Some(ax) => {
                let front = a.move_axis(*ax as isize, 0);
                let missing: Vec<isize> = (front.ndim()..rank + 1).map(|d| d as isize).collect();
                // A batch of scalars meets arrays: its missing axes go last.
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

/// Operands repeated to the shape of the result.
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

/// A tangent repeated to the shape of the result.
pub(crate) fn fit(tangent: &Array, out: &Array) -> Array {
    if tangent.shape() == out.shape() {
        tangent.clone()
    } else {
        tangent.broadcast_to(out.shape())
    }
}

/// The sum of two tangents, either of which may be zero.
pub(crate) fn add_tangents(a: Option<Array>, b: Option<Array>) -> Option<Array> {
    match (a, b) {
        (Some(a), Some(b)) => Some(add_any(&a, &b)),
        (a, b) => a.or(b),
    }
}
