//! Promotion of operands to a common dtype and shape. The lattice is in `types/promotion.rs`.

use crate::base::{error, location};
use crate::dtypes::Literal;
use crate::prim::promotion;
use crate::program::class::not_broadcastable;
use crate::typing::Dims;
use crate::{Array, DType};
use std::borrow::Borrow;

/// Promotes both operands to a common dtype, and to a common rank unless one of them is 0-d.
#[track_caller]
pub(crate) fn promote(operation: &str, a: &Array, b: &Array) -> (Array, Array) {
    promotion::check_dtypes(operation, &[a, b]);
    let (x, y) = (a.aval(), b.aval());
    let (dtype, weak) = DType::promote((x.dtype(), x.weak_type()), (y.dtype(), y.weak_type()));
    let (a, b) = (convert(a, dtype, weak), convert(b, dtype, weak));
    if a.ndim() == b.ndim() || a.ndim() == 0 || b.ndim() == 0 {
        return (a, b);
    }
    if crate::numpy::broadcast_shapes(&[a.shape(), b.shape()]).is_none() {
        refuse_shapes(operation, &[&a, &b]);
    }
    promotion::check_ranks(operation, &[&a, &b]);
    let rank = a.ndim().max(b.ndim());
    (lead(&a, rank), lead(&b, rank))
}

/// Converts an array to a dtype, weakly typed if `weak` is set.
pub(crate) fn convert(x: &Array, dtype: DType, weak: bool) -> Array {
    if x.dtype() == dtype && x.aval().weak_type() == weak {
        return x.clone();
    }
    match x.as_literal() {
        Some(l) if weak => Array::literal(Literal::weak(l.value(), dtype)),
        Some(l) => Array::literal(Literal::new(l.value(), dtype)),
        None => x.convert(dtype, weak),
    }
}

/// Prepends axes of size 1 until the array has `rank` axes.
pub(crate) fn lead(x: &Array, rank: usize) -> Array {
    let missing: Vec<isize> = (0..(rank - x.ndim()) as isize).collect();
    if missing.is_empty() {
        x.clone()
    } else {
        x.expand_dims(&missing)
    }
}

/// Returns the shape that the arrays broadcast to.
#[track_caller]
pub(crate) fn common_shape(operation: &str, arrays: &[&Array]) -> Dims {
    let shapes: Vec<&[usize]> = arrays.iter().map(|a| a.shape()).collect();
    match crate::numpy::broadcast_shapes(&shapes) {
        Some(shape) => shape,
        None => refuse_shapes(operation, arrays),
    }
}

#[track_caller]
fn refuse_shapes(operation: &str, arrays: &[&Array]) -> ! {
    let operands: Vec<String> = arrays
        .iter()
        .zip(["lhs", "rhs", "operand 2"])
        .map(|(a, name)| format!("{name} {}", a.describe()))
        .collect();
    location::fail(&not_broadcastable().render(operation, &operands))
}

/// Returns the dtype that the arrays promote to, and whether it is weak.
#[track_caller]
pub(crate) fn common_type<A: Borrow<Array>>(operation: &str, arrays: &[A]) -> (DType, bool) {
    let types = arrays.iter().map(|a| {
        let aval = a.borrow().aval();
        (aval.dtype(), aval.weak_type())
    });
    match types.reduce(DType::promote) {
        Some(common) => common,
        None => panic!("{operation}: no arrays were passed\n  help: pass at least one array"),
    }
}

/// Converts the arrays to the dtype that they promote to.
#[track_caller]
pub(crate) fn promote_all<A: Borrow<Array>>(operation: &str, arrays: &[A]) -> Vec<Array> {
    let (dtype, weak) = common_type(operation, arrays);
    promotion::check_dtypes(operation, arrays);
    arrays
        .iter()
        .map(|a| convert(a.borrow(), dtype, weak))
        .collect()
}

/// Converts `value` to the dtype of `array`, which must be able to represent it by promotion.
#[track_caller]
pub(crate) fn as_dtype_of(operation: &str, array: &Array, value: &Array) -> Array {
    let (a, v) = (array.aval(), value.aval());
    let (dtype, _) = DType::promote((a.dtype(), a.weak_type()), (v.dtype(), v.weak_type()));
    let help = || match (v.dtype().is_complex(), a.dtype()) {
        (true, of) if !of.is_complex() => error::TAKE_A_PART.into(),
        // A number in the program, which has no `astype`.
        (_, of) if v.weak_type() && value.as_literal().is_some() => format!(
            "pass {}, or convert the array first: x.astype(DType::{dtype:?})",
            if of == DType::Bool {
                "a boolean"
            } else {
                "an integer"
            }
        ),
        (_, of) => format!("convert the value first: value.astype(DType::{of:?})"),
    };
    assert!(
        dtype == a.dtype(),
        "{operation}: a value of dtype {} does not fit into an array of {}\n  help: {}",
        v.dtype(),
        a.dtype(),
        help()
    );
    convert(value, dtype, a.weak_type())
}

/// Promotes arrays of floats to a common dtype and broadcasts them to a common shape.
#[track_caller]
pub(crate) fn broadcast_promoted(operation: &str, arrays: &[Array]) -> Vec<Array> {
    let arrays = promote_all(operation, arrays);
    let refs: Vec<&Array> = arrays.iter().collect();
    let rank = common_shape(operation, &refs).len();
    promotion::check_ranks(operation, &refs);
    arrays
        .iter()
        .map(|a| {
            if a.ndim() == 0 {
                a.clone()
            } else {
                lead(a, rank)
            }
        })
        .collect()
}
