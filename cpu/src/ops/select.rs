//! Elementwise operations with attributes or operands of several types.

use super::elementwise::{Elementwise, compute_type, push_convert, push_row, single};
use super::{List, Read, lift};
use crate::ElementType::{self, *};
use crate::graph::Source;
use crate::kernels::convert::{with_bits, with_integer};
use crate::kernels::math::real;
use crate::kernels::{Group, Kernel, binary, binary_wide, ternary_wide};
use crate::memory::{Context, Tensor, with_width};
use crate::{Result, TensorType};
use num_complex::Complex;
use smallvec::smallvec;

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// Less.
    Lt,
    /// Less or equal.
    Le,
    /// Greater.
    Gt,
    /// Greater or equal.
    Ge,
}

macro_rules! compared {
    (f32, $operator:tt) => {
        compared!(binary_wide, f32, $operator)
    };
    ($T:ty, $operator:tt) => {
        compared!(binary, $T, $operator)
    };
    ($binary:ident, $T:ty, $operator:tt) => {
        Kernel::Static(|inputs, output| $binary(inputs, output, |a: $T, b: $T| u8::from(a $operator b)))
    };
}

/// Returns the kernel of equality.
fn equality(element: ElementType) -> Option<Kernel> {
    Some(
        with_bits!(element, T => compared!(T, ==), _ => match element {
            Bool => compared!(u8, ==),
            F32 => compared!(f32, ==),
            F64 => compared!(f64, ==),
            C64 => compared!(Complex<f32>, ==),
            C128 => compared!(Complex<f64>, ==),
            _ => return None,
        }),
    )
}

/// Returns the kernel of an order, `less` or less or equal.
fn order(element: ElementType, less: bool) -> Option<Kernel> {
    macro_rules! either {
        ($T:ident) => {
            Some(if less { compared!($T, <) } else { compared!($T, <=) })
        };
    }
    with_integer!(element, T => either!(T), _ => match element {
        Bool => either!(u8),
        F32 => either!(f32),
        F64 => either!(f64),
        _ => None,
    })
}

/// Appends a comparison of operands of a type in which it is computed.
fn push_comparison(group: &mut Group, direction: Direction, a: u32, b: u32) -> Option<u32> {
    let element = group.element(a);
    // The other comparisons exchange the operands or negate the result, and need no kernels.
    let (kernel, operands) = match direction {
        Direction::Eq | Direction::Ne => (equality(element)?, [a, b]),
        Direction::Lt => (order(element, true)?, [a, b]),
        Direction::Le => (order(element, false)?, [a, b]),
        Direction::Gt => (order(element, true)?, [b, a]),
        Direction::Ge => (order(element, false)?, [b, a]),
    };
    let result = group.push(kernel, &operands, Bool);
    if direction != Direction::Ne {
        return Some(result);
    }
    push_row(group, "stablehlo.not", &[result])
}

/// Returns the kernel that maps floats to integers in the total order.
fn total_order(element: ElementType) -> Option<(Kernel, ElementType)> {
    match element {
        F32 => Some((
            Kernel::unary(|x: f32| {
                let bits = x.to_bits() as i32;
                bits ^ (((bits >> 31) as u32) >> 1) as i32
            }),
            I32,
        )),
        F64 => Some((
            Kernel::unary(|x: f64| {
                let bits = x.to_bits() as i64;
                bits ^ (((bits >> 63) as u64) >> 1) as i64
            }),
            I64,
        )),
        _ => None,
    }
}

/// Reads the direction of a comparison.
pub fn direction(source: &Source<'_>) -> Result<Direction> {
    Ok(match source.word("comparison_direction")? {
        "EQ" => Direction::Eq,
        "NE" => Direction::Ne,
        "LT" => Direction::Lt,
        "LE" => Direction::Le,
        "GT" => Direction::Gt,
        "GE" => Direction::Ge,
        other => return Err(source.error(format!("unknown comparison {other}"))),
    })
}

/// Reads `stablehlo.compare`.
pub fn compare(source: &Source<'_>) -> Read {
    source.counts(2, 1, 0)?;
    let operand = &source.operands[0];
    source.check(
        *operand == source.operands[1],
        format_args!("the operands differ: {}", List(&source.operands)),
    )?;
    source.result(0, &TensorType::new(&operand.shape, Bool))?;
    let direction = direction(source)?;
    let total =
        source.attribute("compare_type").is_some() && source.word("compare_type")? == "TOTALORDER";
    let mut group = Group::new(&[operand.element; 2]);
    let mut sides = [0, 1];
    for side in &mut sides {
        *side = push_convert(&mut group, *side, compute_type(operand.element));
        if let Some((kernel, element)) = total_order(group.element(*side)).filter(|_| total) {
            *side = group.push(kernel, &[*side], element);
        }
    }
    let output = push_comparison(&mut group, direction, sides[0], sides[1]).ok_or_else(|| {
        source.error(format!(
            "elements of type {} have no order",
            operand.element
        ))
    })?;
    group.finish(&[output]);
    lift(Elementwise::new(group, &operand.shape))
}

fn select_kernel(element: ElementType) -> Kernel {
    with_width!(element.bytes(), T => Kernel::Static(|inputs, output| {
        ternary_wide(inputs, output, |p: u8, a: T, b: T| if p != 0 { a } else { b });
    }))
}

/// Returns the elements of one tensor where a boolean is true, and of another elsewhere.
pub fn choose(context: &Context, predicate: &Tensor, a: &Tensor, b: &Tensor) -> Result<Tensor> {
    let element = a.element();
    let mut results = single(&[Bool, element, element], select_kernel(element), &a.ty)
        .run(context, smallvec![predicate.clone(), a.clone(), b.clone()])?;
    Ok(results.remove(0))
}

/// Reads `stablehlo.select`.
pub fn select(source: &Source<'_>) -> Read {
    source.counts(3, 1, 0)?;
    let [predicate, a, b] = &source.operands[..] else {
        return Err(source.error("needs three operands"));
    };
    source.check(
        a == b,
        format_args!("the operands differ: {}", List(&source.operands)),
    )?;
    let scalar = predicate.shape.is_empty() || predicate.shape == a.shape;
    source.check(
        predicate.element == Bool && scalar,
        format_args!("the predicate of type {predicate} does not match the operands of type {a}"),
    )?;
    source.result(0, a)?;
    Ok(single(
        &[Bool, a.element, a.element],
        select_kernel(a.element),
        a,
    ))
}

/// Reads `stablehlo.clamp`.
pub fn clamp(source: &Source<'_>) -> Read {
    source.counts(3, 1, 0)?;
    let [low, x, high] = &source.operands[..] else {
        return Err(source.error("needs three operands"));
    };
    let fits = |bound: &TensorType| {
        bound.element == x.element && (bound.shape.is_empty() || bound.shape == x.shape)
    };
    source.check(
        fits(low) && fits(high),
        format_args!("the operands do not match: {}", List(&source.operands)),
    )?;
    source.result(0, x)?;
    let mut group = Group::new(&[x.element; 3]);
    let compute = compute_type(x.element);
    let [low, value, high] = [0, 1, 2].map(|r| push_convert(&mut group, r, compute));
    let at_least = push_row(&mut group, "stablehlo.maximum", &[low, value]);
    let clamped = at_least.and_then(|r| push_row(&mut group, "stablehlo.minimum", &[r, high]));
    let clamped = clamped
        .ok_or_else(|| source.error(format!("elements of type {} have no order", x.element)))?;
    let result = push_convert(&mut group, clamped, x.element);
    group.finish(&[result]);
    lift(Elementwise::new(group, &x.shape))
}

/// Reads `stablehlo.convert`.
pub fn convert(source: &Source<'_>) -> Read {
    source.counts(1, 1, 0)?;
    let (operand, result) = (&source.operands[0], &source.results[0]);
    source.check(
        operand.shape == result.shape,
        format_args!("{operand} has another shape than {result}"),
    )?;
    let mut group = Group::new(&[operand.element]);
    let output = push_convert(&mut group, 0, result.element);
    group.finish(&[output]);
    lift(Elementwise::new(group, &result.shape).named("stablehlo.convert"))
}

/// Reads `stablehlo.reduce_precision`.
pub fn reduce_precision(source: &Source<'_>) -> Read {
    source.counts(1, 1, 0)?;
    let operand = &source.operands[0];
    source.result(0, operand)?;
    let bits = |name: &str, low: i64, high: i64| {
        let value = source.integer(name)?;
        source.check(
            (low..=high).contains(&value),
            format_args!("{name} = {value} is out of range"),
        )?;
        Ok(value as u32)
    };
    let (exponent, mantissa) = (bits("exponent_bits", 1, 30)?, bits("mantissa_bits", 0, 60)?);
    let (exponent, mantissa) = (exponent.min(11), mantissa.min(52));
    let mut group = Group::new(&[operand.element]);
    let wide = push_convert(&mut group, 0, F64);
    source.check(
        !matches!(operand.element, C64 | C128),
        "complex operands are not allowed",
    )?;
    let kernel = Kernel::unary(move |x: f64| real::reduce_precision(x, exponent, mantissa));
    let rounded = group.push(kernel, &[wide], F64);
    let output = push_convert(&mut group, rounded, operand.element);
    group.finish(&[output]);
    lift(Elementwise::new(group, &operand.shape))
}

/// Reads `chlo.next_after`.
pub fn next_after(source: &Source<'_>) -> Read {
    source.counts(2, 1, 0)?;
    let operand = &source.operands[0];
    source.check(
        *operand == source.operands[1],
        format_args!("the operands differ: {}", List(&source.operands)),
    )?;
    source.result(0, operand)?;
    // The exponent's bits, above which a pattern is NaN.
    let infinity = match operand.element {
        Bf16 => 0x7f80,
        F16 => 0x7c00,
        F32 => 0x7f80_0000,
        F64 => 0x7ff0_0000_0000_0000,
        other => return Err(source.unsupported(format!("elements of type {other}"))),
    };
    let bits = operand.element.bits() as u32;
    let nan = move |x: u64| x & ((1 << (bits - 1)) - 1) > infinity;
    let kernel = with_width!(operand.element.bytes(), T => {
        Kernel::binary(move |x: T, y: T| real::next_after(x as u64, y as u64, bits, nan) as T)
    });
    Ok(single(&[operand.element; 2], kernel, operand))
}
