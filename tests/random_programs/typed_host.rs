//! Programs of every dtype on the host: integers exactly, other numbers in `f64`
//! with a bound of the error that the device may make.

use super::rng::Rng;
use super::typed::{Op, Step, Typed, TypedProgram};
use ramie::DType;
use ramie::dtypes::{finfo, iinfo};

/// An element: an integer or a boolean, or the parts of a real or complex number
/// and a bound of the difference to what the device computes.
#[derive(Clone, Copy, Debug)]
pub enum Element {
    Int(i128),
    Inexact { re: f64, im: f64, error: f64 },
}

use Element::{Inexact, Int};

impl Element {
    pub fn int(self) -> i128 {
        match self {
            Int(v) => v,
            Inexact { .. } => panic!("{self:?} is no integer"),
        }
    }
}

/// Elements of an input: small numbers, and the bounds of integers.
pub fn input(rng: &mut Rng, ty: Typed) -> Vec<Element> {
    let element = |rng: &mut Rng| match ty.dtype {
        DType::Bool => Int(rng.below(2) as i128),
        d if d.is_integer() => {
            let (min, max) = (iinfo(d).min, iinfo(d).max);
            let small = rng.below(11) as i128 - 5;
            let any = rng.next() as i128;
            Int(wrap(d, rng.pick(&[small, small, 0, -1, min, max, any])))
        }
        d => {
            // Eighths are exact in every type.
            let eighths = |rng: &mut Rng| (rng.below(33) as f64 - 16.0) / 8.0;
            let re = eighths(rng);
            let im = if d.is_complex() { eighths(rng) } else { 0.0 };
            Inexact { re, im, error: 0.0 }
        }
    };
    (0..ty.size()).map(|_| element(rng)).collect()
}

/// The integer that remains of `v` in the bits of a type.
fn wrap(dtype: DType, v: i128) -> i128 {
    if dtype == DType::Bool {
        return i128::from(v != 0);
    }
    let (min, max) = (iinfo(dtype).min, iinfo(dtype).max);
    min + (v - min).rem_euclid(max - min + 1)
}

/// All values of a program, inputs first.
pub fn run(program: &TypedProgram, inputs: &[Vec<Element>]) -> Vec<Vec<Element>> {
    let mut values = inputs.to_vec();
    for step in &program.steps {
        let args: Vec<Array<'_>> = (step.args.iter())
            .map(|&a| Array(program.ty(a), &values[a]))
            .collect();
        let value = apply(step, &args);
        values.push(value);
    }
    values
}

#[derive(Clone, Copy)]
struct Array<'a>(Typed, &'a [Element]);

impl Array<'_> {
    /// The element at a place of a larger shape.
    fn at(&self, row: usize, column: usize) -> Element {
        let [rows, columns] = self.0.shape.unwrap_or([1, 1]);
        self.1[(row % rows) * columns + column % columns]
    }
}

fn apply(step: &Step, args: &[Array<'_>]) -> Vec<Element> {
    let [rows, columns] = step.ty.shape.unwrap_or([1, 1]);
    let mut out = Vec::with_capacity(rows * columns);
    for row in 0..rows {
        for column in 0..columns {
            out.push(match step.op.axis() {
                Some(axis) => along(step, args[0], axis, [row, column]),
                None => {
                    let elements: Vec<Element> = args.iter().map(|a| a.at(row, column)).collect();
                    let dtype = args[args.len() - 1].0.dtype;
                    elementwise(step, dtype, &elements)
                }
            });
        }
    }
    out
}

/// An element of an operation along an axis.
fn along(step: &Step, x: Array<'_>, axis: usize, place: [usize; 2]) -> Element {
    let size = x.0.shape.expect("two axes")[axis];
    let dtype = step.ty.dtype;
    let at = |i: usize| match axis {
        0 => x.at(i, place[1]),
        _ => x.at(place[0], i),
    };
    let add = |a, b| binary(Op::Add, dtype, a, b);
    let all = || (0..size).map(at);
    match step.op {
        Op::Flip(_) => at(size - 1 - place[axis]),
        Op::Roll(_) => at((place[axis] + size - 1) % size),
        Op::Cumsum(_) => all().take(place[axis] + 1).reduce(add).expect("an element"),
        Op::Sum(_) => all().reduce(add).expect("an element"),
        Op::Max(_) => (all().reduce(|a, b| binary(Op::Maximum, dtype, a, b))).expect("an element"),
        Op::Sort(_) => {
            let mut sorted: Vec<Element> = all().collect();
            sorted.sort_by(|a, b| match (a, b) {
                (Int(a), Int(b)) => a.cmp(b),
                (Inexact { re: a, .. }, Inexact { re: b, .. }) => a.total_cmp(b),
                _ => unreachable!("one dtype"),
            });
            let most = sorted.iter().map(error).fold(0.0, f64::max);
            with_error(sorted[place[axis]], most)
        }
        op => unreachable!("{op:?} has no axis"),
    }
}

fn error(x: &Element) -> f64 {
    match x {
        Int(_) => 0.0,
        Inexact { error, .. } => *error,
    }
}

fn with_error(x: Element, error: f64) -> Element {
    match x {
        Int(_) => x,
        Inexact { re, im, .. } => Inexact { re, im, error },
    }
}

fn elementwise(step: &Step, dtype: DType, x: &[Element]) -> Element {
    match (step.op, x) {
        (Op::Where, [c, a, b]) => [*b, *a][usize::from(c.int() != 0)],
        (Op::Convert(to), [a]) => Int(wrap(to, a.int())),
        (Op::Less, [a, b]) => Int(i128::from(a.int() < b.int())),
        (Op::Equal, [a, b]) => Int(i128::from(a.int() == b.int())),
        (op, [a, b]) => binary(op, dtype, *a, *b),
        (op, [Int(a)]) => Int(wrap(dtype, unary_integer(op, dtype, *a))),
        (op, [a]) => unary(op, dtype, *a),
        _ => unreachable!("{:?} with {} operands", step.op, x.len()),
    }
}

fn bits(dtype: DType, v: i128) -> u128 {
    v as u128 & ((1 << width(dtype)) - 1)
}

fn width(dtype: DType) -> u32 {
    match dtype {
        DType::Bool => 1,
        d => d.bits() as u32,
    }
}

fn unary_integer(op: Op, dtype: DType, a: i128) -> i128 {
    match op {
        Op::Neg => -a,
        Op::Abs => a.abs(),
        Op::Square => a.wrapping_mul(a),
        Op::Not if dtype == DType::Bool => 1 - a,
        Op::Not => !a,
        Op::PopulationCount => bits(dtype, a).count_ones().into(),
        Op::CountLeadingZeros => (bits(dtype, a).leading_zeros() + width(dtype) - 128).into(),
        op => unreachable!("{op:?} of an integer"),
    }
}

fn binary_integer(op: Op, dtype: DType, a: i128, b: i128) -> i128 {
    let shift = u32::try_from(b).ok().filter(|&n| n < width(dtype));
    match op {
        Op::Add if dtype == DType::Bool => a | b,
        Op::Add => a + b,
        Op::Sub => a - b,
        Op::Mul => a.wrapping_mul(b),
        Op::Maximum => a.max(b),
        Op::Minimum => a.min(b),
        Op::And => a & b,
        Op::Or => a | b,
        Op::Xor => a ^ b,
        Op::ShiftLeft => shift.map_or(0, |n| (bits(dtype, a) << n) as i128),
        Op::ShiftRightLogical => shift.map_or(0, |n| (bits(dtype, a) >> n) as i128),
        Op::ShiftRight => a >> shift.unwrap_or(width(dtype) - 1 + u32::from(a >= 0)),
        // What XLA defines for a divisor of zero, and NumPy for its remainder.
        Op::Divide | Op::FloorDivide if b == 0 => floor_by_zero(op, dtype, a),
        Op::Rem if b == 0 => a,
        Op::Remainder if b == 0 => 0,
        Op::Divide => a / b,
        Op::Rem => a % b,
        Op::FloorDivide => a.div_euclid(b) - i128::from(b < 0 && a.rem_euclid(b) != 0),
        Op::Remainder => (a % b + b) % b,
        op => unreachable!("{op:?} of integers"),
    }
}

/// `jnp.floor_divide` corrects the quotient -1 of a division by zero as if it had
/// been rounded.
fn floor_by_zero(op: Op, dtype: DType, a: i128) -> i128 {
    let corrected = op == Op::FloorDivide && !dtype.is_unsigned() && a != 0;
    -1 - i128::from(corrected)
}

fn eps(dtype: DType) -> f64 {
    let real = match dtype {
        DType::C64 => DType::F32,
        DType::C128 => DType::F64,
        d => d,
    };
    finfo(real).eps
}

/// A result with the error that rounding adds: of a few units in the last place,
/// and of numbers too small for the type.
fn rounded(dtype: DType, re: f64, im: f64, error: f64) -> Element {
    let units = if dtype == DType::F64 || dtype == DType::C128 {
        8.0
    } else {
        4.0
    };
    let tiny = if dtype == DType::F16 { 1e-7 } else { 1e-37 };
    let error = error + units * eps(dtype) * re.hypot(im) + tiny;
    Inexact { re, im, error }
}

fn unary(op: Op, dtype: DType, x: Element) -> Element {
    let Inexact { re, im, error } = x else {
        unreachable!("no integer")
    };
    let size = re.hypot(im);
    match op {
        Op::Neg => Inexact {
            re: -re,
            im: -im,
            error,
        },
        Op::Conj => Inexact { re, im: -im, error },
        Op::Abs => Inexact {
            re: re.abs(),
            im: 0.0,
            error,
        },
        Op::Square => rounded(
            dtype,
            re * re - im * im,
            2.0 * re * im,
            error * (2.0 * size + error) + 4.0 * eps(dtype) * size * size,
        ),
        Op::Tanh => rounded(dtype, re.tanh(), 0.0, error),
        Op::Sin => rounded(dtype, re.sin(), 0.0, error),
        Op::Logistic => rounded(dtype, 1.0 / (1.0 + (-re).exp()), 0.0, error),
        op => unreachable!("{op:?} of a float"),
    }
}

fn binary(op: Op, dtype: DType, a: Element, b: Element) -> Element {
    let (
        Inexact { re, im, error },
        Inexact {
            re: re2,
            im: im2,
            error: error2,
        },
    ) = (a, b)
    else {
        return Int(wrap(dtype, binary_integer(op, dtype, a.int(), b.int())));
    };
    match op {
        // Terms may be added in another order, or with a product in one operation.
        Op::Add | Op::Sub => {
            let sign = if op == Op::Add { 1.0 } else { -1.0 };
            let lost = 4.0 * eps(dtype) * (re.hypot(im) + re2.hypot(im2));
            rounded(
                dtype,
                re + sign * re2,
                im + sign * im2,
                error + error2 + lost,
            )
        }
        Op::Mul => {
            let (size, size2) = (re.hypot(im), re2.hypot(im2));
            let carried = size * error2 + size2 * error + error * error2;
            let lost = carried + 4.0 * eps(dtype) * size * size2;
            rounded(dtype, re * re2 - im * im2, re * im2 + im * re2, lost)
        }
        Op::Maximum => Inexact {
            re: re.max(re2),
            im: 0.0,
            error: error.max(error2),
        },
        Op::Minimum => Inexact {
            re: re.min(re2),
            im: 0.0,
            error: error.max(error2),
        },
        op => unreachable!("{op:?} of floats"),
    }
}
