//! Elementwise operations whose operands have one type: a table with a row per operation.

use super::{Read, identities, lift};
use crate::ElementType::{self, *};
use crate::graph::{
    KnownOperand, Operands, Operation, Part, Results, Simpler, Source, fresh, lanes, results,
};
use crate::kernels::convert::{with_bits, with_integer, wrap};
use crate::kernels::fused::{Sum, fused};
use crate::kernels::math::integer::Integer;
use crate::kernels::math::{complex, erf, gamma, real, sine, single, special};
use crate::kernels::{Group, Kernel, Lanes, TILE, binary, binary_wide, convert, unary, unary_wide};
use crate::memory::{Context, Layout, Tensor, Tensors};
use crate::{Dims, Result, TensorType};
use num_complex::Complex;
use smallvec::SmallVec;
use std::any::Any;
use std::sync::Arc;

/// A group over tensors of one shape. Operands with one element apply to all lanes.
#[derive(Clone, Debug)]
pub struct Elementwise {
    /// The operations.
    pub group: Group,
    /// The layouts of the results, which have one shape.
    layouts: SmallVec<[Arc<Layout>; 1]>,
    size: usize,
    /// Name of the operation, if it is one of the table or a conversion.
    pub name: &'static str,
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
            name: "",
        }
    }

    /// Returns this operation with a name.
    pub fn named(self, name: &'static str) -> Elementwise {
        Elementwise { name, ..self }
    }

    fn compute(
        &self,
        context: &Context,
        mut operands: Operands,
        layouts: &[Arc<Layout>],
    ) -> Result<Tensors> {
        if self.size < TILE {
            let results = fresh(context, layouts)?;
            let mut inputs: SmallVec<[Lanes<'_>; 8]> = SmallVec::with_capacity(operands.len());
            operands.iter().for_each(|x| inputs.push(Lanes::of(x)));
            return Ok(self.write(context, &inputs, results));
        }
        let (results, overwritten) = results(context, &mut operands, layouts, |_, _| true)?;
        let inputs = lanes(&operands, &overwritten);
        Ok(self.write(context, &inputs, results))
    }

    fn write(&self, context: &Context, inputs: &[Lanes<'_>], mut results: Results) -> Tensors {
        let mut outputs: SmallVec<[&mut [u8]; 4]> = SmallVec::with_capacity(results.len());
        let each = results.iter_mut();
        each.for_each(|fresh| outputs.push(fresh.bytes_mut()));
        let threads = context.threads;
        self.group.run(inputs, &mut outputs, self.size, threads);
        drop(outputs);
        let mut tensors = Tensors::with_capacity(results.len());
        results
            .into_iter()
            .for_each(|fresh| tensors.push(fresh.finish()));
        tensors
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
            if operand.size() > TILE && operand.is_scattered() {
                *operand = operand.contiguous(context)?;
            }
        }
        let Some(order) = order else {
            return self.compute(context, operands, &self.layouts);
        };
        let permuted = |layout: &Arc<Layout>| {
            let shape: Dims = order.iter().map(|a| layout.ty.shape[*a]).collect();
            Layout::dense(TensorType::new(&shape, layout.ty.element))
        };
        let layouts: SmallVec<[Arc<Layout>; 1]> = self.layouts.iter().map(permuted).collect();
        let mut back = vec![0; order.len()];
        order.iter().enumerate().for_each(|(i, a)| back[*a] = i);
        let results = self.compute(context, operands, &layouts)?;
        Ok(results.iter().map(|t| t.permute(&back)).collect())
    }
}

impl Operation for Elementwise {
    fn run(&self, context: &Context, operands: Operands) -> Result<Tensors> {
        if self.size > TILE && operands.iter().any(|o| !o.is_contiguous()) {
            return self.compute_views(context, operands);
        }
        self.compute(context, operands, &self.layouts)
    }

    fn part(&self) -> Option<Part<'_>> {
        Some(Part::Each(&self.group))
    }

    fn is_cheap(&self) -> bool {
        let mut rows = ROWS.iter();
        let row = rows.find(|row| row.name == self.name);
        row.is_none_or(|row| row.is_cheap)
    }

    fn with_group(&self, group: Group, shape: &[usize]) -> Arc<dyn Operation> {
        Arc::new(Elementwise::new(group, shape))
    }

    fn simpler(&self, operands: &[KnownOperand<'_>]) -> Option<Simpler> {
        identities::elementwise(self, operands)
    }

    /// Rounds a product and the sum with another number once, as XLA does. Products are rounded if both
    /// operands are products: otherwise `a b - b a` would not be zero.
    fn absorb(
        &self,
        producers: &[Option<&dyn Operation>],
        index: usize,
    ) -> Option<Arc<dyn Operation>> {
        let sum = match (self.name, index) {
            ("stablehlo.add", _) => Sum::Plus,
            ("stablehlo.subtract", 0) => Sum::Minus,
            ("stablehlo.subtract", _) => Sum::From,
            _ => return None,
        };
        let is_product = |producer: &Option<&dyn Operation>| {
            let producer = producer.map(|p| p as &dyn Any);
            let producer = producer.and_then(|p| p.downcast_ref::<Elementwise>());
            producer.is_some_and(|p| p.name == "stablehlo.multiply")
        };
        let products: SmallVec<[bool; 2]> = producers.iter().map(is_product).collect();
        if products[..] != [index == 0, index == 1] {
            return None;
        }
        let element = self.group.inputs[0];
        let mut group = Group::new(&[element; 3]);
        let arguments = if index == 0 { [0, 1, 2] } else { [1, 2, 0] };
        let output = group.push(fused(sum, element)?, &arguments, element);
        group.finish(&[output]);
        Some(Arc::new(Elementwise::new(group, &self.layouts[0].ty.shape)))
    }
}

/// Returns the order of axes in which an operand is contiguous, if operands have gaps in their own order
/// and none is contiguous in it. The results then have the memory's order, and nothing is rearranged.
fn common_order(operands: &[Tensor], rank: usize) -> Option<SmallVec<[usize; 6]>> {
    let arrays = || {
        operands
            .iter()
            .filter(|o| o.shape().len() == rank && o.size() > TILE)
    };
    let scattered = arrays().find(|o| o.is_scattered())?;
    if arrays().any(|o| o.is_contiguous()) {
        return None;
    }
    let mut order: SmallVec<[usize; 6]> = (0..rank).collect();
    order.sort_by_key(|a| std::cmp::Reverse((scattered.strides[*a], scattered.shape()[*a])));
    scattered.permute(&order).is_contiguous().then_some(order)
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
    /// Whether it takes about as long as to read and write an element.
    is_cheap: bool,
    kernel: fn(ElementType) -> Option<Kernel>,
}

macro_rules! kernel {
    (wide $A:ty, ($a:ident), $body:expr) => {
        Kernel::Static(|inputs, output| unary_wide(inputs, output, |$a: $A| $body))
    };
    (wide $A:ty, ($a:ident, $b:ident), $body:expr) => {
        Kernel::Static(|inputs, output| binary_wide(inputs, output, |$a: $A, $b: $A| $body))
    };
    ($A:ty, ($a:ident), $body:expr) => {
        Kernel::Static(|inputs, output| unary(inputs, output, |$a: $A| $body))
    };
    ($A:ty, ($a:ident, $b:ident), $body:expr) => {
        Kernel::Static(|inputs, output| binary(inputs, output, |$a: $A, $b: $A| $body))
    };
}

/// The kernels of a class of element types. Classes of one precision serve the narrower types too, which
/// [`group_of`] converts: each kernel that is not compiled saves a twentieth of a second. The class `float32` has
/// functions of many instructions, and the bodies of `tiles32` compute whole tiles.
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
    (int64, $x:tt, $body:expr, $e:ident) => {
        match $e {
            I64 => return Some(kernel!(i64, $x, $body)),
            U64 => return Some(kernel!(u64, $x, $body)),
            _ => (),
        }
    };
    (float, $x:tt, $body:expr, $e:ident) => {
        match $e {
            F32 => {
                type T = f32;
                return Some(kernel!(wide T, $x, $body));
            }
            F64 => {
                type T = f64;
                return Some(kernel!(T, $x, $body));
            }
            _ => (),
        }
    };
    (float32, $x:tt, $body:expr, $e:ident) => {
        if $e == F32 {
            return Some(kernel!(wide f32, $x, $body));
        }
    };
    (tiles32, $x:tt, $body:expr, $e:ident) => {
        if $e == F32 {
            return Some(Kernel::Static($body));
        }
    };
    (float64, $x:tt, $body:expr, $e:ident) => {
        if $e == F64 {
            return Some(kernel!(f64, $x, $body));
        }
    };
    (complex, $x:tt, $body:expr, $e:ident) => {
        match $e {
            C64 => return Some(kernel!(Complex<f32>, $x, $body)),
            C128 => return Some(kernel!(Complex<f64>, $x, $body)),
            _ => (),
        }
    };
    (complex128, $x:tt, $body:expr, $e:ident) => {
        if $e == C128 {
            return Some(kernel!(Complex<f64>, $x, $body));
        }
    };
}

macro_rules! rows {
    ($($name:literal $kind:ident $x:tt $($costly:ident)? { $($class:ident: $body:expr),* $(,)? })*) => {
        /// The elementwise operations.
        pub static ROWS: &[Row] = &[$(Row {
            name: $name,
            arity: rows!(@count $x),
            kind: Kind::$kind,
            is_cheap: {
                let costly: &[&str] = &[$(stringify!($costly))?];
                costly.is_empty()
            },
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
    "stablehlo.divide" Same (a, b) costly {
        int64: Integer::quotient(a, b), float: a / b, complex128: complex::divide(a, b)
    }
    "stablehlo.remainder" Same (a, b) costly { int64: Integer::remainder(a, b), float: a % b }
    "stablehlo.maximum" Same (a, b) {
        bool: a | b, int: a.max(b), float: real::maximum(a, b), complex: if less(a, b) { b } else { a }
    }
    "stablehlo.minimum" Same (a, b) {
        bool: a & b, int: a.min(b), float: real::minimum(a, b), complex: if less(b, a) { b } else { a }
    }
    "stablehlo.power" Same (a, b) costly {
        int64: Integer::power(a, b), float64: real::power(a, b), complex128: complex::power(a, b)
    }
    "stablehlo.atan2" Same (a, b) costly { float64: f64::atan2(a, b), complex128: complex::atan2(a, b) }
    "stablehlo.and" Same (a, b) { bool: a & b, bits: a & b }
    "stablehlo.or" Same (a, b) { bool: a | b, bits: a | b }
    "stablehlo.xor" Same (a, b) { bool: a ^ b, bits: a ^ b }
    "stablehlo.not" Same (a) { bool: u8::from(a == 0), bits: !a }
    "stablehlo.shift_left" Same (a, b) { bits: Integer::shift_left(a, b) }
    "stablehlo.shift_right_logical" Same (a, b) { bits: Integer::shift_logical(a, b) }
    "stablehlo.shift_right_arithmetic" Same (a, b) { int: Integer::shift_arithmetic(a, b) }
    "stablehlo.popcnt" Same (a) { bits: a.count_ones() as T }
    "stablehlo.count_leading_zeros" Same (a) { bits: a.leading_zeros() as T }
    "stablehlo.abs" Real (a) { int64: Integer::magnitude(a), float: a.abs(), complex: complex::abs(a) }
    "stablehlo.negate" Same (a) { bits: a.wrapping_neg(), float: -a, complex: -a }
    "stablehlo.sign" Same (a) {
        int64: Integer::sign(a), float64: real::sign(a), complex128: complex::sign(a)
    }
    "stablehlo.ceil" Same (a) { float: a.ceil() }
    "stablehlo.floor" Same (a) { float: a.floor() }
    "stablehlo.round_nearest_afz" Same (a) { float: a.round() }
    "stablehlo.round_nearest_even" Same (a) { float: a.round_ties_even() }
    "stablehlo.sqrt" Same (a) costly { float: a.sqrt(), complex128: complex::sqrt(a) }
    "stablehlo.rsqrt" Same (a) costly { float32: single::rsqrt(a), float64: 1.0 / a.sqrt(), complex128: complex::rsqrt(a) }
    "stablehlo.cbrt" Same (a) costly { float64: f64::cbrt(a), complex128: complex::cbrt(a) }
    "stablehlo.exponential" Same (a) costly { float32: single::exp(a), float64: f64::exp(a), complex128: complex::exp(a) }
    "stablehlo.exponential_minus_one" Same (a) costly {
        float32: single::expm1(a), float64: f64::exp_m1(a), complex128: complex::expm1(a)
    }
    "stablehlo.log" Same (a) costly { float32: single::log(a), float64: f64::ln(a), complex128: complex::log(a) }
    "stablehlo.log_plus_one" Same (a) costly { float32: single::log1p(a), float64: f64::ln_1p(a), complex128: complex::log1p(a) }
    "stablehlo.logistic" Same (a) costly {
        float32: single::logistic(a), float64: real::logistic(a),
        complex128: complex::divide(Complex::new(1.0, 0.0), complex::exp(-a) + 1.0)
    }
    "stablehlo.sine" Same (a) costly { tiles32: sine::sine, float64: f64::sin(a), complex128: complex::sin(a) }
    "stablehlo.cosine" Same (a) costly { tiles32: sine::cosine, float64: f64::cos(a), complex128: complex::cos(a) }
    "stablehlo.tan" Same (a) costly { float64: f64::tan(a), complex128: complex::tan(a) }
    "stablehlo.tanh" Same (a) costly { float32: single::tanh(a), float64: f64::tanh(a), complex128: complex::tanh(a) }
    "stablehlo.is_finite" Test (a) { float: u8::from(a.is_finite()) }
    "stablehlo.real" Real (a) { float: a, complex: a.re }
    "stablehlo.imag" Real (a) { float: { let _: T = a; 0.0 as T }, complex: a.im }
    "stablehlo.complex" Complex (a, b) { float: Complex::new(a, b) }
    "chlo.acos" Same (a) costly { float64: f64::acos(a), complex128: complex::acos(a) }
    "chlo.acosh" Same (a) costly { float64: real::acosh(a), complex128: complex::acosh(a) }
    "chlo.asin" Same (a) costly { float64: f64::asin(a), complex128: complex::asin(a) }
    "chlo.asinh" Same (a) costly { float64: libm::asinh(a), complex128: complex::asinh(a) }
    "chlo.atan" Same (a) costly { float64: f64::atan(a), complex128: complex::atan(a) }
    "chlo.atanh" Same (a) costly { float64: libm::atanh(a), complex128: complex::atanh(a) }
    "chlo.sinh" Same (a) costly { float64: f64::sinh(a), complex128: complex::sinh(a) }
    "chlo.cosh" Same (a) costly { float64: f64::cosh(a), complex128: complex::cosh(a) }
    "chlo.tan" Same (a) costly { float64: f64::tan(a), complex128: complex::tan(a) }
    "chlo.square" Same (a) { bits: a.wrapping_mul(a), float: a * a, complex128: complex::square(a) }
    "chlo.conj" Same (a) { float: a, complex: a.conj() }
    "chlo.mulhi" Same (a, b) { int: Integer::high_product(a, b) }
    "chlo.is_inf" Test (a) { float: u8::from(a.is_infinite()) }
    "chlo.is_pos_inf" Test (a) { float: u8::from(a == T::INFINITY) }
    "chlo.is_neg_inf" Test (a) { float: u8::from(a == T::NEG_INFINITY) }
    "chlo.erf" Same (a) costly { float32: erf::erf(a), float64: libm::erf(a) }
    "chlo.erfc" Same (a) costly { float32: erf::erfc(a), float64: libm::erfc(a) }
    "chlo.erf_inv" Same (a) costly { float32: erf::inverse(a), float64: special::erf_inv(a) }
    "chlo.bessel_i1e" Same (a) costly { float64: special::bessel_i1e(a) }
    "chlo.lgamma" Same (a) costly { float64: gamma::lgamma(a) }
    "chlo.digamma" Same (a) costly { float64: gamma::digamma(a) }
    "chlo.polygamma" Same (a, b) costly { float64: gamma::polygamma(a, b) }
    "chlo.zeta" Same (a, b) costly { float64: gamma::zeta(a, b) }
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

/// Returns the type of a higher precision that represents all elements of a type.
fn widened(element: ElementType) -> ElementType {
    match element {
        F32 => F64,
        C64 => C128,
        _ => with_integer!(element, T => if T::BITS < 64 { I64 } else { element }, _ => element),
    }
}

/// Returns an operation of a row for operands of an element type.
fn group_of(row: &Row, element: ElementType) -> Option<Group> {
    let mut compute = compute_type(element);
    let kernel = (row.kernel)(compute).or_else(|| {
        compute = widened(compute);
        (row.kernel)(compute)
    })?;
    let mut group = Group::new(&vec![element; row.arity]);
    let mut operands: SmallVec<[u32; 3]> = (0..row.arity as u32).collect();
    let bits = element.bits() as u32;
    if row.name == "stablehlo.count_leading_zeros" && bits < 8 {
        let kernel = Kernel::unary(move |x: u8| (x << (8 - bits)).leading_zeros().min(bits) as u8);
        let count = group.push(kernel, &operands, element);
        let result = group.push(wrap(element)?, &[count], element);
        group.finish(&[result]);
        return Some(group);
    }
    let mask = matches!(
        row.name,
        "stablehlo.shift_right_logical" | "stablehlo.popcnt"
    );
    for operand in &mut operands {
        *operand = push_convert(&mut group, *operand, compute);
        // Zeros move into signed numbers of 4 bits from the fifth bit of their byte.
        if let (true, I2 | I4) = (mask, element) {
            let kernel = Kernel::unary(move |x: u8| x & ((1 << bits) - 1));
            *operand = group.push(kernel, &[*operand], element);
        }
    }
    let computed = result_element(row.kind, compute)?;
    let mut result = if row.is_cheap {
        group.push(kernel, &operands, computed)
    } else {
        group.push_costly(kernel, &operands, computed)
    };
    if let (Some(kernel), true) = (wrap(element), compute == element && row.kind != Kind::Test) {
        result = group.push(kernel, &[result], element);
    }
    let result = push_convert(&mut group, result, result_element(row.kind, element)?);
    group.finish(&[result]);
    Some(group)
}

/// Appends an operation of the table to a group, for operands that are computed in their own type.
pub fn push_row(group: &mut Group, name: &str, operands: &[u32]) -> Option<u32> {
    let element = group.element(operands[0]);
    let kernel = (ROWS.iter().find(|r| r.name == name)?.kernel)(element)?;
    Some(group.push(kernel, operands, element))
}

/// Reads an operation of the table.
pub fn read(source: &Source<'_>) -> Read {
    let row = ROWS
        .iter()
        .find(|r| r.name == source.syntax.name)
        .ok_or_else(|| source.error("the operation is not in the table"))?;
    source.counts(row.arity, 1, 0)?;
    let operand = &source.operands[0];
    source.check(
        source.operands.iter().all(|o| o == operand),
        format_args!(
            "the operands have different types: {}",
            super::List(&source.operands)
        ),
    )?;
    super::accuracy::check(source, operand.element)?;
    let group = group_of(row, operand.element)
        .ok_or_else(|| source.error(format!("operands of type {operand} are not allowed")))?;
    let element = group.element(group.outputs[0]);
    source.result(0, &TensorType::new(&operand.shape, element))?;
    lift(Elementwise::new(group, &operand.shape).named(row.name))
}

/// Returns an elementwise operation of one kernel.
pub fn single(inputs: &[ElementType], kernel: Kernel, result: &TensorType) -> Arc<dyn Operation> {
    let mut group = Group::new(inputs);
    let arguments: Vec<u32> = (0..inputs.len() as u32).collect();
    let output = group.push(kernel, &arguments, result.element);
    group.finish(&[output]);
    Arc::new(Elementwise::new(group, &result.shape))
}
