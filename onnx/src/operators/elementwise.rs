//! Arithmetic, comparisons, logic, and conversions of dtypes.

use super::{Operator, array, binary, only, unary};
use crate::call::Call;
use crate::file::{Node, data_type_name, dtype_of};
use crate::known::HostTensor;
use ramie_core::dtypes::finfo;
use ramie_core::{Array, DType, linalg, where_};
use std::cmp::Ordering;

pub(super) const OPERATORS: &[Operator] = &[
    unary("Abs", Array::abs).on_host(|c| match c.required(0).dtype() {
        DType::U64 => c.known(0),
        _ => map(c, i64::wrapping_abs, f64::abs),
    }),
    unary("Acos", Array::acos),
    unary("Acosh", Array::acosh),
    unary("Asin", Array::asin),
    unary("Asinh", Array::asinh),
    unary("Atan", Array::atan),
    unary("Atanh", Array::atanh),
    unary("BitwiseNot", Array::bitwise_not),
    unary("Ceil", Array::ceil).on_host(|c| map(c, |x| x, f64::ceil)),
    unary("Cos", Array::cos),
    unary("Cosh", Array::cosh),
    unary("Det", linalg::det),
    unary("Erf", Array::erf),
    unary("Exp", Array::exp),
    unary("Floor", Array::floor).on_host(|c| map(c, |x| x, f64::floor)),
    unary("IsNaN", Array::is_nan),
    unary("Log", Array::log),
    unary("Neg", Array::negative).on_host(|c| map(c, i64::wrapping_neg, |x| -x)),
    unary("Not", Array::logical_not).on_host(|c| map(c, |x| 1 - x, |x| x)),
    unary("Reciprocal", |x| 1.0 / x).on_host(|c| map(c, |x| x, |x| 1.0 / x)),
    unary("Round", Array::round).on_host(|c| map(c, |x| x, f64::round_ties_even)),
    unary("Sign", Array::sign).on_host(|c| match c.required(0).dtype() {
        DType::U64 => map(c, |x| i64::from(x != 0), sign),
        _ => map(c, i64::signum, sign),
    }),
    unary("Sin", Array::sin),
    unary("Sinh", Array::sinh),
    unary("Sqrt", Array::sqrt).on_host(|c| map(c, |x| x, f64::sqrt)),
    unary("Tan", Array::tan),
    unary("Tanh", Array::tanh),
    binary("Add", |a, b| a + b).on_host(|c| zip(c, i64::wrapping_add, |a, b| a + b)),
    binary("And", |a, b| a.logical_and(b)).on_host(|c| zip(c, |a, b| a & b, f64::min)),
    binary("BitwiseAnd", |a, b| a.bitwise_and(b)),
    binary("BitwiseOr", |a, b| a.bitwise_or(b)),
    binary("BitwiseXor", |a, b| a.bitwise_xor(b)),
    binary("Div", |a, b| a.lax_div(b)).on_host(|c| {
        let zero = c.known(1)?.to_ints().contains(&0) && !c.required(1).dtype().is_float();
        if zero {
            None
        } else {
            zip_ordered(c, i64::wrapping_div, u64::wrapping_div, |a, b| a / b)
        }
    }),
    binary("Equal", |a, b| a.eq(b)).on_host(|c| compare(c, Ordering::is_eq)),
    binary("Greater", |a, b| a.gt(b)).on_host(|c| compare(c, Ordering::is_gt)),
    binary("GreaterOrEqual", |a, b| a.ge(b)).on_host(|c| compare(c, Ordering::is_ge)),
    binary("Less", |a, b| a.lt(b)).on_host(|c| compare(c, Ordering::is_lt)),
    binary("LessOrEqual", |a, b| a.le(b)).on_host(|c| compare(c, Ordering::is_le)),
    binary("Mul", |a, b| a * b).on_host(|c| zip(c, i64::wrapping_mul, |a, b| a * b)),
    binary("Or", |a, b| a.logical_or(b)).on_host(|c| zip(c, |a, b| a | b, f64::max)),
    binary("Sub", |a, b| a - b).on_host(|c| zip(c, i64::wrapping_sub, |a, b| a - b)),
    binary("Xor", |a, b| a.logical_xor(b)).on_host(|c| zip(c, |a, b| a ^ b, |a, _| a)),
    array("BitShift", bit_shift).limits(|n, _| only(n, "direction", "", &["LEFT", "RIGHT"])),
    array("Cast", |c| cast(c, target(c)))
        .limits(cast_limits)
        .on_host(|c| c.known(0)?.cast(target(c))),
    array("CastLike", |c| cast(c, c.required(1).dtype()))
        .on_host(|c| c.known(0)?.cast(c.required(1).dtype())),
    array("Clip", clip),
    array("IsInf", is_inf),
    array("Max", |c| fold(c, |a, b| a.maximum(b)))
        .on_host(|c| zip_ordered(c, i64::max, u64::max, f64::max)),
    array("Mean", |c| fold(c, |a, b| a + b) / c.inputs.len() as f64),
    array("Min", |c| fold(c, |a, b| a.minimum(b)))
        .on_host(|c| zip_ordered(c, i64::min, u64::min, f64::min)),
    array("Mod", modulo).on_host(|c| {
        if c.required(1).dtype().is_float() || c.int("fmod", 0) != 0 {
            None
        } else {
            zip_ordered(c, floored, |a, b| a.checked_rem(b).unwrap_or(0), |a, _| a)
        }
    }),
    array("Pow", power).on_host(power_known),
    array("Sum", |c| fold(c, |a, b| a + b)),
    array("Where", |c| where_(c.array(0), c.array(1), c.array(2))).on_host(choose),
];

/// Applies a function to known elements.
fn map(call: &Call<'_>, ints: fn(i64) -> i64, floats: fn(f64) -> f64) -> Option<HostTensor> {
    let x = call.known(0)?;
    x.zip(&x, |a, _| ints(a), |a, _| floats(a))
}

/// Returns the sign of a number. In contrast to [`f64::signum`], zeros are returned unchanged.
fn sign(x: f64) -> f64 {
    if x == 0.0 { x } else { x.signum() }
}

/// Combines the known elements of two inputs.
fn zip(
    call: &Call<'_>,
    ints: fn(i64, i64) -> i64,
    floats: fn(f64, f64) -> f64,
) -> Option<HostTensor> {
    match call.inputs.len() {
        2 => call.known(0)?.zip(&call.known(1)?, ints, floats),
        _ => None,
    }
}

/// Combines the known elements of two inputs. `uints` combines unsigned integers of 64 bits.
fn zip_ordered(
    call: &Call<'_>,
    ints: fn(i64, i64) -> i64,
    uints: fn(u64, u64) -> u64,
    floats: fn(f64, f64) -> f64,
) -> Option<HostTensor> {
    if call.required(0).dtype() != DType::U64 || call.inputs.len() != 2 {
        return zip(call, ints, floats);
    }
    let unsigned = |a: i64, b: i64| uints(a.cast_unsigned(), b.cast_unsigned()).cast_signed();
    call.known(0)?.zip(&call.known(1)?, unsigned, floats)
}

/// Returns the remainder of a division that rounds down, or 0 for a divisor of 0.
fn floored(a: i64, b: i64) -> i64 {
    match a.checked_rem(b) {
        Some(rest) if rest != 0 && (rest < 0) != (b < 0) => rest + b,
        // The quotient of the least integer and -1 overflows; its remainder is 0.
        rest => rest.unwrap_or(0),
    }
}

/// Compares the known elements of two inputs.
fn compare(call: &Call<'_>, holds: fn(Ordering) -> bool) -> Option<HostTensor> {
    call.known(0)?.compare(&call.known(1)?, holds)
}

/// Selects between known elements.
fn choose(call: &Call<'_>) -> Option<HostTensor> {
    HostTensor::select(&call.known(0)?, &call.known(1)?, &call.known(2)?)
}

/// Combines all inputs.
fn fold(call: &Call<'_>, f: fn(&Array, &Array) -> Array) -> Array {
    let arrays = call.arrays();
    match arrays.split_first() {
        Some((first, rest)) => rest.iter().fold(first.clone(), |a, b| f(&a, b)),
        None => call.fail("there are no inputs"),
    }
}

fn bit_shift(call: &Call<'_>) -> Array {
    let (x, by) = (call.array(0), call.array(1));
    match call.text("direction", "LEFT") {
        "RIGHT" => x.right_shift_logical(by),
        _ => x.left_shift(by),
    }
}

/// Returns the dtype that `Cast` converts to.
fn target(call: &Call<'_>) -> DType {
    dtype_of(call.int("to", 0)).unwrap_or(DType::F32)
}

fn cast_limits(node: &Node, _: i64) -> Result<(), String> {
    let to = node.int("to", 0)?;
    match dtype_of(to) {
        Some(_) => Ok(()),
        None => Err(format!(
            "conversion to {} is not supported",
            data_type_name(to)
        )),
    }
}

fn cast(call: &Call<'_>, to: DType) -> Array {
    match call.int("saturate", 1) {
        0 => call.array(0).astype(to),
        _ => saturated(&call.array(0), to),
    }
}

/// Converts an array. Numbers beyond the range of a narrow float become its ends.
pub(super) fn saturated(x: &Array, to: DType) -> Array {
    if to.is_narrow() && to.is_float() && x.dtype().is_float() {
        x.clip(finfo(to).min, finfo(to).max).astype(to)
    } else {
        x.astype(to)
    }
}

fn clip(call: &Call<'_>) -> Array {
    let x = call.array(0);
    let bound = |name: &str, input: usize| match call.attribute(name) {
        Some(_) => Some(Array::scalar(call.float(name, 0.0), x.dtype())),
        None => call.optional(input),
    };
    x.clip(bound("min", 1), bound("max", 2))
}

fn is_inf(call: &Call<'_>) -> Array {
    let x = call.array(0);
    let wanted = |name: &str| call.int(name, 1) != 0;
    match (wanted("detect_negative"), wanted("detect_positive")) {
        (true, true) => x.is_inf(),
        (true, false) => x.is_neg_inf(),
        (false, true) => x.is_pos_inf(),
        (false, false) => Array::full(x.shape(), false, DType::Bool),
    }
}

fn modulo(call: &Call<'_>) -> Array {
    let (a, b) = (call.array(0), call.array(1));
    match call.int("fmod", 0) {
        0 => a.remainder(b),
        _ => a.fmod(b),
    }
}

fn power(call: &Call<'_>) -> Array {
    let (x, exponent) = (call.array(0), call.array(1));
    let dtype = x.dtype();
    // Squares and cubes are products. The exponent is often a 0-d constant.
    if let Some(crate::call::Value::Known(known)) = call.value(1)
        && known.size() == 1
        && known.shape().len() <= x.ndim()
    {
        let y = known.to_floats()[0];
        let small = y.fract() == 0.0 && y.abs() <= 8.0;
        if small && (dtype.is_float() || y >= 0.0) {
            return x.integer_pow(y as i32);
        }
    }
    if !dtype.is_float() && exponent.dtype().is_float() {
        return x
            .astype(DType::F64)
            .power(exponent.astype(DType::F64))
            .astype(dtype);
    }
    x.power(exponent.astype(dtype))
}

/// Raises known elements to a power. Powers of integers wrap; their exponents must be integers that
/// are not negative.
fn power_known(call: &Call<'_>) -> Option<HostTensor> {
    let (x, y) = (call.known(0)?, call.known(1)?);
    if x.dtype.is_float() {
        return x.zip(&y.cast(x.dtype)?, |a, _| a, f64::powf);
    }
    let is_exponent = |y: i64| u32::try_from(y).is_ok();
    if y.dtype.is_float() || !y.to_ints().into_iter().all(is_exponent) {
        return None;
    }
    x.zip(&y, |a, b| a.wrapping_pow(b as u32), |a, _| a)
}
