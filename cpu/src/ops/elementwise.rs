//! Elementwise operations whose operands have one type: a table with a row per operation.

use super::{Read, lift};
use crate::ElementType::{self, *};
use crate::graph::{Operands, Operation, Source};
use crate::kernels::convert::{with_bits, with_integer, wrap};
use crate::kernels::math::integer::Integer;
use crate::kernels::math::{complex, gamma, real, special};
use crate::kernels::{Group, Kernel, Lanes, TILE, convert};
use crate::memory::{Context, Fresh, Layout, Tensor, Tensors};
use crate::{Dims, Result, TensorType};
use num_complex::Complex;
use smallvec::SmallVec;
use std::sync::Arc;

/// A group over tensors of one shape. Operands with one element apply to all lanes.
#[derive(Clone, Debug)]
pub struct Elementwise {
    /// The operations.
    pub group: Group,
    /// The layouts of the results, which have one shape.
    layouts: SmallVec<[Arc<Layout>; 1]>,
    size: usize,
}

impl Elementwise {
    /// Returns the operation of a group, whose results have a shape.
    pub fn new(group: Group, shape: &[usize]) -> Elementwise {
        let layout = |output: &u32| Layout::dense(TensorType::new(shape, group.element(*output)));
        let layouts = group.outputs.iter().map(layout).collect();
        Elementwise {
            layouts,
            size: shape.iter().product(),
            group,
        }
    }

    fn compute(
        &self,
        context: &Context,
        operands: &[Tensor],
        layouts: &[Arc<Layout>],
    ) -> Result<Tensors> {
        let mut results: SmallVec<[Fresh; 1]> = SmallVec::new();
        for layout in layouts {
            results.push(Fresh::with_layout(context, layout)?);
        }
        let lanes: SmallVec<[Lanes<'_>; 4]> = operands.iter().map(lanes).collect();
        let mut outputs: SmallVec<[&mut [u8]; 1]> =
            results.iter_mut().map(Fresh::bytes_mut).collect();
        self.group
            .run(&lanes, &mut outputs, self.size, context.threads);
        drop(outputs);
        Ok(results.into_iter().map(Fresh::finish).collect())
    }

    /// Computes large results of operands with gaps, in the operands' order of memory where they share one.
    fn compute_views(&self, context: &Context, mut operands: Operands) -> Result<Tensors> {
        let order = common_order(&operands, self.layouts[0].ty.shape.len());
        if let Some(order) = &order {
            for operand in operands
                .iter_mut()
                .filter(|o| o.shape().len() == order.len())
            {
                *operand = operand.permute(order);
            }
        }
        for operand in &mut operands {
            // Tiles of a transposed array would load a cache line per element.
            if operand.size() > TILE && is_scattered(operand) {
                *operand = operand.contiguous(context)?;
            }
        }
        let Some(order) = order else {
            return self.compute(context, &operands, &self.layouts);
        };
        let permuted = |layout: &Arc<Layout>| {
            let shape: Dims = order.iter().map(|a| layout.ty.shape[*a]).collect();
            Layout::dense(TensorType::new(&shape, layout.ty.element))
        };
        let layouts: SmallVec<[Arc<Layout>; 1]> = self.layouts.iter().map(permuted).collect();
        let mut back = vec![0; order.len()];
        order.iter().enumerate().for_each(|(i, a)| back[*a] = i);
        let results = self.compute(context, &operands, &layouts)?;
        Ok(results.iter().map(|t| t.permute(&back)).collect())
    }
}

impl Operation for Elementwise {
    fn run(&self, context: &Context, operands: Operands) -> Result<Tensors> {
        if self.size > TILE && operands.iter().any(|o| !o.is_contiguous()) {
            return self.compute_views(context, operands);
        }
        self.compute(context, &operands, &self.layouts)
    }
}

/// Returns whether neighbors along the last axis are far from each other in memory.
fn is_scattered(x: &Tensor) -> bool {
    let mut axes = x
        .shape()
        .iter()
        .zip(&x.strides)
        .rev()
        .filter(|(n, _)| **n != 1);
    axes.next()
        .is_some_and(|(_, stride)| stride.unsigned_abs() > 8)
}

/// Returns the order of axes in which an operand is contiguous, if operands have gaps in their own order
/// and none is contiguous in it. The results then have the memory's order, and nothing is rearranged.
fn common_order(operands: &[Tensor], rank: usize) -> Option<SmallVec<[usize; 6]>> {
    let arrays = || {
        operands
            .iter()
            .filter(|o| o.shape().len() == rank && o.size() > TILE)
    };
    let scattered = arrays().find(|o| is_scattered(o))?;
    if arrays().any(|o| o.is_contiguous()) {
        return None;
    }
    let mut order: SmallVec<[usize; 6]> = (0..rank).collect();
    order.sort_by_key(|a| std::cmp::Reverse((scattered.strides[*a], scattered.shape()[*a])));
    scattered.permute(&order).is_contiguous().then_some(order)
}

/// Returns the elements of an operand: one for all lanes if all of them are the same in memory.
pub fn lanes(tensor: &Tensor) -> Lanes<'_> {
    let repeated = tensor
        .shape()
        .iter()
        .zip(&tensor.strides)
        .all(|(n, s)| *n == 1 || *s == 0);
    if repeated && tensor.size() != 0 {
        let width = tensor.element().bytes();
        let bytes: &[u8] = tensor.data();
        return Lanes::Scalar(&bytes[tensor.offset * width..][..width]);
    }
    Lanes::of(tensor)
}

/// The type of an operation's result.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The operands' type.
    Same,
    /// Booleans.
    Test,
    /// The real type of a complex type.
    Real,
    /// The complex type of a real type.
    Complex,
}

/// An elementwise operation.
pub struct Row {
    /// Full name.
    pub name: &'static str,
    arity: usize,
    kind: Kind,
    kernel: fn(ElementType) -> Option<Kernel>,
}

macro_rules! kernel {
    ($A:ty, ($a:ident), $body:expr) => {
        Kernel::unary(|$a: $A| $body)
    };
    ($A:ty, ($a:ident, $b:ident), $body:expr) => {
        Kernel::binary(|$a: $A, $b: $A| $body)
    };
}

macro_rules! rule {
    (bool, $x:tt, $body:expr, $e:ident) => {
        if $e == Bool {
            return Some(kernel!(u8, $x, $body));
        }
    };
    (int, $x:tt, $body:expr, $e:ident) => {
        with_integer!($e, T => return Some(kernel!(T, $x, $body)), _ => ())
    };
    (bits, $x:tt, $body:expr, $e:ident) => {
        with_bits!($e, T => return Some(kernel!(T, $x, $body)), _ => ())
    };
    (float, $x:tt, $body:expr, $e:ident) => {
        match $e {
            F32 => {
                type T = f32;
                return Some(kernel!(T, $x, $body));
            }
            F64 => {
                type T = f64;
                return Some(kernel!(T, $x, $body));
            }
            _ => (),
        }
    };
    (complex, $x:tt, $body:expr, $e:ident) => {
        match $e {
            C64 => return Some(kernel!(Complex<f32>, $x, $body)),
            C128 => return Some(kernel!(Complex<f64>, $x, $body)),
            _ => (),
        }
    };
}

macro_rules! rows {
    ($($name:literal $kind:ident $x:tt { $($class:ident: $body:expr),* $(,)? })*) => {
        /// The elementwise operations.
        pub static ROWS: &[Row] = &[$(Row {
            name: $name,
            arity: rows!(@count $x),
            kind: Kind::$kind,
            kernel: |element| {
                $(rule!($class, $x, $body, element);)*
                None
            },
        }),*];
    };
    (@count ($a:ident)) => { 1 };
    (@count ($a:ident, $b:ident)) => { 2 };
}

rows! {
    "stablehlo.add" Same (a, b) { bool: a | b, bits: a.wrapping_add(b), float: a + b, complex: a + b }
    "stablehlo.subtract" Same (a, b) { bits: a.wrapping_sub(b), float: a - b, complex: a - b }
    "stablehlo.multiply" Same (a, b) { bool: a & b, bits: a.wrapping_mul(b), float: a * b, complex: a * b }
    "stablehlo.divide" Same (a, b) {
        int: Integer::quotient(a, b), float: a / b, complex: complex::via2(a, b, complex::divide)
    }
    "stablehlo.remainder" Same (a, b) { int: Integer::remainder(a, b), float: a % b }
    "stablehlo.maximum" Same (a, b) {
        bool: a | b, int: a.max(b), float: real::maximum(a, b), complex: if less(a, b) { b } else { a }
    }
    "stablehlo.minimum" Same (a, b) {
        bool: a & b, int: a.min(b), float: real::minimum(a, b), complex: if less(b, a) { b } else { a }
    }
    "stablehlo.power" Same (a, b) {
        int: Integer::power(a, b), float: real::via2(a, b, real::power), complex: complex::via2(a, b, complex::power)
    }
    "stablehlo.atan2" Same (a, b) { float: real::via2(a, b, f64::atan2), complex: complex::via2(a, b, complex::atan2) }
    "stablehlo.and" Same (a, b) { bool: a & b, bits: a & b }
    "stablehlo.or" Same (a, b) { bool: a | b, bits: a | b }
    "stablehlo.xor" Same (a, b) { bool: a ^ b, bits: a ^ b }
    "stablehlo.not" Same (a) { bool: u8::from(a == 0), bits: !a }
    "stablehlo.shift_left" Same (a, b) { bits: Integer::shift_left(a, b) }
    "stablehlo.shift_right_logical" Same (a, b) { bits: Integer::shift_logical(a, b) }
    "stablehlo.shift_right_arithmetic" Same (a, b) { int: Integer::shift_arithmetic(a, b) }
    "stablehlo.popcnt" Same (a) { bits: a.count_ones() as T }
    "stablehlo.count_leading_zeros" Same (a) { bits: a.leading_zeros() as T }
    "stablehlo.abs" Real (a) { int: Integer::magnitude(a), float: a.abs(), complex: complex::abs(a) }
    "stablehlo.negate" Same (a) { bits: a.wrapping_neg(), float: -a, complex: -a }
    "stablehlo.sign" Same (a) {
        int: Integer::sign(a), float: real::via(a, real::sign), complex: complex::via(a, complex::sign)
    }
    "stablehlo.ceil" Same (a) { float: a.ceil() }
    "stablehlo.floor" Same (a) { float: a.floor() }
    "stablehlo.round_nearest_afz" Same (a) { float: a.round() }
    "stablehlo.round_nearest_even" Same (a) { float: a.round_ties_even() }
    "stablehlo.sqrt" Same (a) { float: a.sqrt(), complex: complex::via(a, complex::sqrt) }
    "stablehlo.rsqrt" Same (a) { float: real::via(a, |x| 1.0 / x.sqrt()), complex: complex::via(a, complex::rsqrt) }
    "stablehlo.cbrt" Same (a) { float: real::via(a, f64::cbrt) }
    "stablehlo.exponential" Same (a) { float: real::via(a, f64::exp), complex: complex::via(a, complex::exp) }
    "stablehlo.exponential_minus_one" Same (a) {
        float: real::via(a, f64::exp_m1), complex: complex::via(a, complex::expm1)
    }
    "stablehlo.log" Same (a) { float: real::via(a, f64::ln), complex: complex::via(a, complex::log) }
    "stablehlo.log_plus_one" Same (a) { float: real::via(a, f64::ln_1p), complex: complex::via(a, complex::log1p) }
    "stablehlo.logistic" Same (a) {
        float: real::via(a, real::logistic),
        complex: complex::via(a, |z| complex::divide(Complex::new(1.0, 0.0), complex::exp(-z) + 1.0))
    }
    "stablehlo.sine" Same (a) { float: real::via(a, f64::sin), complex: complex::via(a, complex::sin) }
    "stablehlo.cosine" Same (a) { float: real::via(a, f64::cos), complex: complex::via(a, complex::cos) }
    "stablehlo.tan" Same (a) { float: real::via(a, f64::tan), complex: complex::via(a, complex::tan) }
    "stablehlo.tanh" Same (a) { float: real::via(a, f64::tanh), complex: complex::via(a, complex::tanh) }
    "stablehlo.is_finite" Test (a) { float: u8::from(a.is_finite()) }
    "stablehlo.real" Real (a) { float: a, complex: a.re }
    "stablehlo.imag" Real (a) { float: a * 0.0, complex: a.im }
    "stablehlo.complex" Complex (a, b) { float: Complex::new(a, b) }
    "chlo.acos" Same (a) { float: real::via(a, f64::acos), complex: complex::via(a, complex::acos) }
    "chlo.acosh" Same (a) { float: real::via(a, libm::acosh), complex: complex::via(a, complex::acosh) }
    "chlo.asin" Same (a) { float: real::via(a, f64::asin), complex: complex::via(a, complex::asin) }
    "chlo.asinh" Same (a) { float: real::via(a, libm::asinh), complex: complex::via(a, complex::asinh) }
    "chlo.atan" Same (a) { float: real::via(a, f64::atan), complex: complex::via(a, complex::atan) }
    "chlo.atanh" Same (a) { float: real::via(a, libm::atanh), complex: complex::via(a, complex::atanh) }
    "chlo.sinh" Same (a) { float: real::via(a, f64::sinh), complex: complex::via(a, complex::sinh) }
    "chlo.cosh" Same (a) { float: real::via(a, f64::cosh), complex: complex::via(a, complex::cosh) }
    "chlo.tan" Same (a) { float: real::via(a, f64::tan), complex: complex::via(a, complex::tan) }
    "chlo.square" Same (a) { bits: a.wrapping_mul(a), float: a * a, complex: a * a }
    "chlo.conj" Same (a) { float: a, complex: a.conj() }
    "chlo.mulhi" Same (a, b) { int: Integer::high_product(a, b) }
    "chlo.is_inf" Test (a) { float: u8::from(a.is_infinite()) }
    "chlo.is_pos_inf" Test (a) { float: u8::from(a == T::INFINITY) }
    "chlo.is_neg_inf" Test (a) { float: u8::from(a == T::NEG_INFINITY) }
    "chlo.erf" Same (a) { float: real::via(a, libm::erf) }
    "chlo.erfc" Same (a) { float: real::via(a, libm::erfc) }
    "chlo.erf_inv" Same (a) { float: real::via(a, special::erf_inv) }
    "chlo.bessel_i1e" Same (a) { float: real::via(a, special::bessel_i1e) }
    "chlo.lgamma" Same (a) { float: real::via(a, gamma::lgamma) }
    "chlo.digamma" Same (a) { float: real::via(a, gamma::digamma) }
    "chlo.polygamma" Same (a, b) { float: real::via2(a, b, gamma::polygamma) }
    "chlo.zeta" Same (a, b) { float: real::via2(a, b, gamma::zeta) }
}

/// Compares complex numbers by their real parts, then by their imaginary parts.
fn less<T: PartialOrd>(a: Complex<T>, b: Complex<T>) -> bool {
    a.re < b.re || a.re == b.re && a.im < b.im
}

/// Returns the type in which the operations of an element type are computed.
pub fn compute_type(element: ElementType) -> ElementType {
    match element {
        Bf16 | F16 | F4E2M1Fn | F8E3M4 | F8E4M3 | F8E4M3Fn | F8E4M3B11Fnuz | F8E4M3Fnuz
        | F8E5M2 | F8E5M2Fnuz | F8E8M0Fnu => F32,
        other => other,
    }
}

fn result_element(kind: Kind, element: ElementType) -> Option<ElementType> {
    Some(match (kind, element) {
        (Kind::Same, e) => e,
        (Kind::Test, _) => Bool,
        (Kind::Real, C64) => F32,
        (Kind::Real, C128) => F64,
        (Kind::Real, e) => e,
        (Kind::Complex, F32) => C64,
        (Kind::Complex, F64) => C128,
        (Kind::Complex, _) => return None,
    })
}

/// Appends a conversion to a group and returns the number of its result.
pub fn push_convert(group: &mut Group, register: u32, to: ElementType) -> u32 {
    let from = group.element(register);
    if from == to {
        return register;
    }
    convert::convert(from, to)
        .into_iter()
        .fold(register, |r, (kernel, element)| {
            group.push(kernel, &[r], element)
        })
}

/// Returns an operation of a row for operands of an element type.
fn group_of(row: &Row, element: ElementType) -> Option<Group> {
    let compute = compute_type(element);
    let mut group = Group::new(&vec![element; row.arity]);
    let mut operands: SmallVec<[u32; 3]> = (0..row.arity as u32).collect();
    let mask = matches!(
        row.name,
        "stablehlo.shift_right_logical" | "stablehlo.popcnt"
    ) && element.bits() < 8;
    for operand in &mut operands {
        *operand = push_convert(&mut group, *operand, compute);
        // Zeros move into signed numbers of 4 bits from the fifth bit of their byte.
        if let (true, I2 | I4) = (mask, element) {
            let bits = element.bits();
            *operand = group.push(
                Kernel::unary(move |x: u8| x & ((1 << bits) - 1)),
                &[*operand],
                element,
            );
        }
    }
    let kernel = (row.kernel)(compute)?;
    let mut result = group.push(kernel, &operands, result_element(row.kind, compute)?);
    if let (Some(kernel), true) = (wrap(element), row.kind != Kind::Test) {
        result = group.push(kernel, &[result], element);
    }
    let result = push_convert(&mut group, result, result_element(row.kind, element)?);
    group.finish(&[result]);
    Some(group)
}

/// Reads an operation of the table.
pub fn read(source: &Source<'_>) -> Read {
    let row = ROWS
        .iter()
        .find(|r| r.name == source.syntax.name)
        .ok_or_else(|| source.error("is no row"))?;
    source.counts(row.arity, 1, 0)?;
    let operand = &source.operands[0];
    source.check(
        source.operands.iter().all(|o| o == operand),
        format!(
            "the operands have different types: {}",
            super::list(&source.operands)
        ),
    )?;
    if operand.element.bits() < 8
        && operand.element != Bool
        && row.name == "stablehlo.count_leading_zeros"
    {
        return Err(source.unsupported(format!("elements of type {}", operand.element)));
    }
    let group = group_of(row, operand.element)
        .ok_or_else(|| source.error(format!("operands of type {operand} are not allowed")))?;
    let element = group.element(group.outputs[0]);
    source.result(0, &TensorType::new(&operand.shape, element))?;
    lift(Elementwise::new(group, &operand.shape))
}

/// Returns an elementwise operation of one kernel.
pub fn single(inputs: &[ElementType], kernel: Kernel, result: &TensorType) -> Arc<dyn Operation> {
    let mut group = Group::new(inputs);
    let arguments: Vec<u32> = (0..inputs.len() as u32).collect();
    let output = group.push(kernel, &arguments, result.element);
    group.finish(&[output]);
    Arc::new(Elementwise::new(group, &result.shape))
}
