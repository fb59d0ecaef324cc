//! The cases of the sweep: an operation, a dtype, a shape, and where the
//! operands come from.

use super::operations::Operation;
use ramie_core::dtypes::iinfo;
use ramie_core::numpy::complex;
use ramie_core::{Array, DType, eval_shape, jit};

/// Where the operands of a case come from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    /// Device arrays, and every primitive runs at once.
    Eager,
    /// Arguments of a compiled program.
    Argument,
    /// Constants of a compiled program: a divisor of zero, and the like.
    Constant(usize),
    /// Shapes without elements, larger than any memory; nothing is compiled.
    Abstract,
}

/// Shapes with elements, or with none.
const SHAPES: [&[usize]; 6] = [&[], &[0], &[4], &[0, 3], &[3, 3], &[2, 4, 4, 3]];
/// Shapes near the largest that a program can address, or past it.
const HUGE: [&[usize]; 3] = [&[1 << 40], &[1 << 55], &[1 << 27, 1 << 28]];
const FORMS: [Form; 4] = [
    Form::Eager,
    Form::Argument,
    Form::Constant(0),
    Form::Constant(1),
];

/// How many cases an operation has.
pub const PER_OPERATION: usize = DType::ALL.len() * (SHAPES.len() * FORMS.len() + HUGE.len());

#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub operation: usize,
    pub dtype: DType,
    pub shape: &'static [usize],
    pub form: Form,
}

impl Case {
    /// The case of a number below `PER_OPERATION` times the number of operations.
    pub fn new(index: usize) -> Case {
        let (operation, rest) = (index / PER_OPERATION, index % PER_OPERATION);
        let (rest, dtype) = (rest / DType::ALL.len(), DType::ALL[rest % DType::ALL.len()]);
        let computed = SHAPES.len() * FORMS.len();
        let (shape, form) = if rest < computed {
            (SHAPES[rest / FORMS.len()], FORMS[rest % FORMS.len()])
        } else {
            (HUGE[rest - computed], Form::Abstract)
        };
        Case {
            operation,
            dtype,
            shape,
            form,
        }
    }

    /// Runs the operation and waits for its results.
    pub fn run(&self, operations: &[Operation]) {
        let apply = operations[self.operation].apply;
        let (dtype, shape) = (self.dtype, self.shape);
        let operands = || (0..3).map(|i| operand(dtype, shape, i)).collect();
        let results = match self.form {
            Form::Eager => {
                let operands: Vec<Array> = operands();
                apply(&operands)
            }
            Form::Argument => jit(move |xs: Vec<Array>| apply(&xs))(operands()),
            Form::Constant(set) => jit(move || {
                let constant = |i| Array::full(shape, constant(dtype, set, i), dtype);
                apply(&[0, 1, 2].map(constant))
            })(),
            Form::Abstract => {
                let operands: Vec<Array> = (0..3)
                    .map(|_| Array::shape_dtype_struct(shape, dtype))
                    .collect();
                eval_shape(move |(xs,): (Vec<Array>,)| apply(&xs), (operands,));
                return;
            }
        };
        for result in &results {
            result.block_until_ready();
        }
    }

    /// The case in words.
    pub fn show(&self, operations: &[Operation]) -> String {
        let Case {
            dtype, shape, form, ..
        } = self;
        format!(
            "{} {dtype}{shape:?} {form:?}",
            operations[self.operation].name
        )
    }
}

/// The smallest and the largest integer of a type; 0 and 1 for other types.
fn bounds(dtype: DType) -> (i128, i128) {
    if dtype.is_integer() {
        (iinfo(dtype).min as i128, iinfo(dtype).max as i128)
    } else {
        (0, 1)
    }
}

/// The value of an operand that is a constant: `7, 0, 2`, and the smallest
/// number, -1 (the largest one where there is no sign), and the largest shift.
fn constant(dtype: DType, set: usize, operand: usize) -> f64 {
    let (min, max) = bounds(dtype);
    if !dtype.is_integer() {
        return [[7.0, 0.0, 2.0], [f64::NEG_INFINITY, f64::NAN, -1.0]][set][operand];
    }
    let minus_one = if dtype.is_unsigned() { max } else { -1 };
    [[7.min(max), 0, 1], [min, minus_one, max]][set][operand] as f64
}

/// Operand `which` of a case: zeros, units, bounds of the type, and whatever a
/// float can be.
fn operand(dtype: DType, shape: &[usize], which: usize) -> Array {
    let n: usize = shape.iter().product();
    if dtype.is_inexact() {
        let floats = |turn: usize| {
            const VALUES: [f64; 11] = [
                0.5,
                2.0,
                -1.0,
                0.0,
                3.5,
                1.0,
                f64::NAN,
                -0.0,
                f64::INFINITY,
                1e-30,
                -7.0,
            ];
            let values = (0..n).map(|i| VALUES[(i + turn) % VALUES.len()]);
            Array::from_vec(values.collect::<Vec<f64>>(), shape)
        };
        return if dtype.is_complex() {
            complex(floats(3 * which), floats(1 + which)).astype(dtype)
        } else {
            floats(3 * which).astype(dtype)
        };
    }
    let (min, max) = bounds(dtype);
    let values = [1, min, 2.min(max), max, 0, -1, 3.min(max)];
    let bytes: Vec<u8> = (0..n)
        .map(|i| values[(i + 3 * which) % values.len()].clamp(min, max))
        .flat_map(|v| v.to_le_bytes().into_iter().take(dtype.size()))
        .collect();
    Array::try_from_bytes(&bytes, shape, dtype).expect("the bytes are those of the shape")
}
