//! The dtypes that elementwise operators support, and their shape rule.

use super::checks::Errors;
use crate::base::error::TAKE_A_PART;
use crate::program::primitive::{Avals, one};
use crate::typing::Dims;
use crate::{Aval, DType, ShapeError};

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
                _ if dtype.is_complex() => TAKE_A_PART,
                Class::Float | Class::Lapack => "convert first: x.astype(DType::F32)",
                _ => "convert first: x.astype(DType::I32)",
            }),
        )
    }
}

/// Returns the error of operands whose shapes do not broadcast together.
pub(crate) fn not_broadcastable() -> ShapeError {
    ShapeError::new("the shapes of the operands do not broadcast together").help(
        "shapes are aligned at their last axes, and sizes must agree or be 1; use reshape, \
         expand_dims or transpose to align them",
    )
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
            return Err(not_broadcastable());
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
