//! Calls of the host's algorithms from programs.

use crate::host::matrix::Matrix;
use num_complex::{Complex32, Complex64};
use ramie_core::options::VmapMethod;
use ramie_core::{Array, DType, pure_callback_with};

/// A matrix of an operand.
pub(crate) enum Operand {
    /// A matrix of real elements.
    Real(Matrix<f64>),
    /// A matrix of complex elements.
    Complex(Matrix<Complex64>),
}

impl Operand {
    /// Returns the matrix with complex elements.
    pub(crate) fn complex(self) -> Matrix<Complex64> {
        match self {
            Operand::Real(matrix) => matrix.to_complex(),
            Operand::Complex(matrix) => matrix,
        }
    }
}

/// The elements of one result, for one matrix or for a batch.
pub(crate) enum Elements {
    /// Real elements.
    Real(Vec<f64>),
    /// Complex elements.
    Complex(Vec<Complex64>),
    /// Indices.
    Index(Vec<i32>),
}

/// The type of one result of a function of matrices `[.., m, n]`.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    /// Shape without the batch axes.
    pub(crate) shape: Vec<usize>,
    /// Element type.
    pub(crate) dtype: DType,
}

/// Calls a function of the host for every matrix of a batch. If an element of an operand is not
/// finite, or if the function returns `None`, floating-point results are NaN, and indices count
/// from 0.
#[track_caller]
pub(crate) fn on_host(
    operands: &[&Array],
    outputs: Vec<Output>,
    f: impl Fn(Vec<Operand>) -> Option<Vec<Elements>> + Send + Sync + 'static,
) -> Vec<Array> {
    let batch = batch_of(operands[0]).to_vec();
    let types = outputs.iter().map(|output| {
        let shape = [&batch[..], &output.shape].concat();
        Array::shape_dtype_struct(&shape, output.dtype)
    });
    let operands: Vec<Array> = operands.iter().map(|a| (*a).clone()).collect();
    let types = types.collect();
    let run = move |operands: Vec<Array>| run(&operands, &outputs, &f);
    pure_callback_with(run, types, operands, VmapMethod::BroadcastAll)
}

fn batch_of(a: &Array) -> &[usize] {
    let shape = a.shape();
    &shape[..shape.len() - 2]
}

fn run(
    operands: &[Array],
    outputs: &[Output],
    f: &dyn Fn(Vec<Operand>) -> Option<Vec<Elements>>,
) -> Vec<Array> {
    let batch = batch_of(&operands[0]);
    let elements: Vec<Elements> = operands.iter().map(read).collect();
    let mut results: Vec<Elements> = outputs.iter().map(|o| empty(o.dtype)).collect();
    for i in 0..batch.iter().product() {
        let matrices = operands.iter().zip(&elements);
        let matrices: Option<Vec<Operand>> = matrices.map(|(a, e)| matrix(a, e, i)).collect();
        let parts = matrices.and_then(f);
        let parts = parts.unwrap_or_else(|| outputs.iter().map(missing).collect());
        for (result, part) in results.iter_mut().zip(parts) {
            append(result, part);
        }
    }
    let write = |(output, elements): (&Output, Elements)| {
        let shape = [batch, &output.shape].concat();
        write(elements, &shape, output.dtype)
    };
    outputs.iter().zip(results).map(write).collect()
}

/// Reads the elements of an operand.
fn read(a: &Array) -> Elements {
    match a.dtype() {
        DType::F64 => Elements::Real(a.to_vec::<f64>()),
        DType::C128 => Elements::Complex(a.to_vec::<Complex64>()),
        DType::C64 => {
            let widen = |v: Complex32| Complex64::new(v.re.into(), v.im.into());
            Elements::Complex(a.to_vec::<Complex32>().into_iter().map(widen).collect())
        }
        _ => Elements::Real(a.to_vec::<f32>().into_iter().map(f64::from).collect()),
    }
}

/// Returns one matrix of an operand, or `None` if an element is not finite.
fn matrix(a: &Array, elements: &Elements, index: usize) -> Option<Operand> {
    let [.., rows, columns] = *a.shape() else {
        return None;
    };
    let range = index * rows * columns..(index + 1) * rows * columns;
    match elements {
        Elements::Real(elements) => {
            let elements = elements[range].to_vec();
            let finite = elements.iter().all(|v| v.is_finite());
            finite.then_some(Operand::Real(Matrix {
                rows,
                columns,
                elements,
            }))
        }
        Elements::Complex(elements) => {
            let elements = elements[range].to_vec();
            let finite = elements.iter().all(|v| v.is_finite());
            finite.then_some(Operand::Complex(Matrix {
                rows,
                columns,
                elements,
            }))
        }
        Elements::Index(_) => None,
    }
}

fn empty(dtype: DType) -> Elements {
    match dtype {
        DType::I32 => Elements::Index(Vec::new()),
        _ if dtype.is_complex() => Elements::Complex(Vec::new()),
        _ => Elements::Real(Vec::new()),
    }
}

/// Returns the result for a matrix without one.
fn missing(output: &Output) -> Elements {
    let count: usize = output.shape.iter().product();
    match empty(output.dtype) {
        Elements::Index(_) => Elements::Index((0..count as i32).collect()),
        Elements::Complex(_) => Elements::Complex(vec![Complex64::new(f64::NAN, f64::NAN); count]),
        Elements::Real(_) => Elements::Real(vec![f64::NAN; count]),
    }
}

fn append(result: &mut Elements, part: Elements) {
    match (result, part) {
        (Elements::Real(all), Elements::Real(part)) => all.extend(part),
        (Elements::Complex(all), Elements::Complex(part)) => all.extend(part),
        (Elements::Complex(all), Elements::Real(part)) => {
            all.extend(part.into_iter().map(Complex64::from));
        }
        (Elements::Index(all), Elements::Index(part)) => all.extend(part),
        _ => unreachable!("a result has the type of its output"),
    }
}

fn write(elements: Elements, shape: &[usize], dtype: DType) -> Array {
    match elements {
        Elements::Real(v) if dtype == DType::F32 => {
            let v: Vec<f32> = v.into_iter().map(|v| v as f32).collect();
            Array::from_vec(v, shape)
        }
        Elements::Real(v) => Array::from_vec(v, shape),
        Elements::Complex(v) if dtype == DType::C64 => {
            let narrow = |v: Complex64| Complex32::new(v.re as f32, v.im as f32);
            let v: Vec<Complex32> = v.into_iter().map(narrow).collect();
            Array::from_vec(v, shape)
        }
        Elements::Complex(v) => Array::from_vec(v, shape),
        Elements::Index(v) => Array::from_vec(v, shape),
    }
}
