//! Programs of every dtype in four ways: operation by operation, compiled,
//! compiled with constants as operands, and mapped over a batch. Integers and
//! booleans are those of the host bit for bit; other numbers lie within the bound
//! of the host's error analysis.

use super::rng::Rng;
use super::typed::{Op, TypedProgram};
use super::typed_host::{self, Element};
use ramie::dtypes::Scalar;
use ramie::options::Reduction;
use ramie::{Array, DType, jit, stack, vmap, where_};
use std::sync::Arc;

/// Examples of a batch.
const BATCH: usize = 2;

/// The operation on arrays.
fn apply(op: Op, x: &[Array]) -> Array {
    let a = &x[0];
    let b = || &x[1];
    match op {
        Op::Neg => -a,
        Op::Abs => a.abs(),
        Op::Square => a.square(),
        Op::Not => a.bitwise_not(),
        Op::PopulationCount => a.population_count(),
        Op::CountLeadingZeros => a.count_leading_zeros(),
        Op::Tanh => a.tanh(),
        Op::Sin => a.sin(),
        Op::Logistic => a.logistic(),
        Op::Conj => a.conj(),
        Op::Add => a + b(),
        Op::Sub => a - b(),
        Op::Mul => a * b(),
        Op::Maximum => a.maximum(b()),
        Op::Minimum => a.minimum(b()),
        Op::And => a & b(),
        Op::Or => a | b(),
        Op::Xor => a ^ b(),
        Op::ShiftLeft => a << b(),
        Op::ShiftRightLogical => a.right_shift_logical(b()),
        Op::ShiftRight => a >> b(),
        Op::Divide => a.lax_div(b()),
        Op::Rem => a.lax_rem(b()),
        Op::FloorDivide => a.floor_divide(b()),
        Op::Remainder => a % b(),
        Op::Where => where_(a, b(), &x[2]),
        Op::Less => a.lt(b()),
        Op::Equal => a.eq(b()),
        Op::Convert(dtype) => a.astype(dtype),
        Op::Flip(axis) => a.flip(&[axis as isize]),
        Op::Roll(axis) => a.roll(1, axis as isize),
        Op::Cumsum(axis) => a.cumsum(axis as isize),
        Op::Sort(axis) => a.sort(axis as isize),
        Op::Sum(axis) => a.reduce_sum(&[axis as isize]).expand_dims(&[axis as isize]),
        Op::Max(axis) => a.max_over(Reduction::over(axis as isize).keepdims()),
    }
}

fn run(program: &TypedProgram, inputs: &[Array]) -> Array {
    let mut values = inputs.to_vec();
    for step in &program.steps {
        let args: Vec<Array> = step.args.iter().map(|&a| values[a].clone()).collect();
        values.push(apply(step.op, &args));
    }
    values.pop().expect("a result")
}

fn scalar(x: Element, dtype: DType) -> Array {
    let value = match x {
        Element::Int(v) if dtype == DType::Bool => Scalar::Bool(v != 0),
        Element::Int(v) if dtype.is_unsigned() => Scalar::Uint(v as u64),
        Element::Int(v) => Scalar::Int(v as i64),
        Element::Inexact { re, im, .. } if dtype.is_complex() => Scalar::Complex(re, im),
        Element::Inexact { re, .. } => Scalar::Float(re),
    };
    Array::scalar(value, dtype)
}

/// An input made of constants, so that a traced program holds its elements.
fn constant(elements: &[Element], ty: super::typed::Typed) -> Array {
    let scalars: Vec<Array> = elements.iter().map(|&x| scalar(x, ty.dtype)).collect();
    stack(&scalars, 0).reshape(ty.dims())
}

/// What is wrong with the elements of a result, if anything is.
fn differs(got: &Array, expected: &[Element], dtype: DType) -> Option<String> {
    assert_eq!(got.dtype(), dtype, "the dtype of the result");
    let wrong =
        |i: usize, got: String| Some(format!("element {i} is {got}, expected {:?}", expected[i]));
    if dtype.is_inexact() {
        let got = got
            .astype(DType::C128)
            .to_vec::<num_complex::Complex<f64>>();
        return got
            .iter()
            .zip(expected)
            .enumerate()
            .find_map(|(i, (z, x))| match x {
                Element::Inexact { re, im, error } if (z.re - re).hypot(z.im - im) <= *error => {
                    None
                }
                _ => wrong(i, z.to_string()),
            });
    }
    let got: Vec<i128> = match dtype {
        DType::U64 => got.to_vec::<u64>().into_iter().map(i128::from).collect(),
        _ => (got.astype(DType::I64).to_vec::<i64>().into_iter())
            .map(i128::from)
            .collect(),
    };
    got.iter()
        .zip(expected)
        .enumerate()
        .find_map(|(i, (v, x))| {
            if x.int() == *v {
                None
            } else {
                wrong(i, v.to_string())
            }
        })
}

/// A program with the inputs of a batch.
pub struct Case {
    program: Arc<TypedProgram>,
    /// For each example, the elements of each input.
    inputs: Vec<Vec<Vec<Element>>>,
}

/// The ways in which a program runs.
pub const WAYS: [&str; 4] = ["eager", "compiled", "of constants", "mapped"];

impl Case {
    pub fn new(seed: u64) -> Case {
        let mut rng = Rng(seed ^ 0x0DD5);
        let program = TypedProgram::new(&mut rng);
        let inputs = (0..BATCH).map(|_| {
            let types = program.inputs.iter();
            types.map(|ty| typed_host::input(&mut rng, *ty)).collect()
        });
        let inputs = inputs.collect();
        Case {
            program: Arc::new(program),
            inputs,
        }
    }

    fn arrays(&self, example: usize) -> Vec<Array> {
        let inputs = self.inputs[example].iter().zip(&self.program.inputs);
        inputs
            .map(|(elements, ty)| constant(elements, *ty))
            .collect()
    }

    /// The results of each example in one of the ways.
    fn results(&self, way: &str) -> Vec<Array> {
        let examples = 0..BATCH;
        let program = self.program.clone();
        match way {
            "eager" => examples.map(|i| run(&program, &self.arrays(i))).collect(),
            "compiled" => {
                let f = jit(move |xs: Vec<Array>| run(&program, &xs));
                examples.map(|i| f(self.arrays(i))).collect()
            }
            "of constants" => {
                let elements = self.inputs[0].clone();
                let f = jit(move || {
                    let inputs = elements.iter().zip(&program.inputs);
                    let inputs: Vec<Array> = inputs.map(|(e, ty)| constant(e, *ty)).collect();
                    run(&program, &inputs)
                });
                vec![f()]
            }
            _ => {
                let batches: Vec<Vec<Array>> = examples.map(|i| self.arrays(i)).collect();
                let inputs = (0..self.program.inputs.len()).map(|input| {
                    let of_input: Vec<&Array> = batches.iter().map(|b| &b[input]).collect();
                    stack(&of_input, 0)
                });
                vmap(move |xs: Vec<Array>| run(&program, &xs))(inputs.collect()).unstack(0)
            }
        }
    }

    /// What is wrong with the first way that differs from the host.
    pub fn check(&self) -> Result<(), String> {
        let steps = self.program.steps.len();
        let dtype = self.program.steps[steps - 1].ty.dtype;
        let expected: Vec<Vec<Element>> = (self.inputs.iter())
            .map(|inputs| {
                typed_host::run(&self.program, inputs)
                    .pop()
                    .expect("a result")
            })
            .collect();
        for way in WAYS {
            let results = super::quietly(|| self.results(way));
            let results = results.map_err(|message| format!("{way}: it panics: {message}"))?;
            for (i, (got, expected)) in results.iter().zip(&expected).enumerate() {
                if let Some(wrong) = differs(got, expected, dtype) {
                    return Err(format!("{way}, example {i}: {wrong}"));
                }
            }
        }
        Ok(())
    }

    /// The shortest beginning of the program that fails, and why.
    pub fn smallest(self) -> (Case, String) {
        for steps in 1..=self.program.steps.len() {
            let case = Case {
                program: Arc::new(self.program.prefix(steps)),
                inputs: self.inputs.clone(),
            };
            if let Err(why) = case.check() {
                return (case, why);
            }
        }
        unreachable!("the whole program fails")
    }

    /// The program, and the inputs of each example.
    pub fn show(&self) -> String {
        format!("{}\n  inputs {:?}", self.program, self.inputs)
    }
}
