//! Cholesky decompositions and triangular systems. Single precision is computed in double precision.

use super::arrays::convert;
use super::{Read, lift};
use crate::ElementType::{self, *};
use crate::graph::{Operands, Operation, Source};
use crate::memory::{Context, OutputTensor, Tensor, Tensors};
use crate::{Result, TensorType};
use bytemuck::Pod;
use num_complex::Complex;
use smallvec::smallvec;
use std::ops::{Add, Div, Mul, Sub};

/// A real or complex number.
pub trait Field:
    Pod + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    /// Returns a real number.
    fn real(x: f64) -> Self;
    /// Returns the real part.
    fn real_part(self) -> f64;
    /// Returns the imaginary part.
    fn imaginary(self) -> f64;

    /// Returns the conjugate.
    fn conjugate(self) -> Self;

    /// Returns the square of the magnitude.
    fn square(self) -> f64 {
        self.real_part() * self.real_part() + self.imaginary() * self.imaginary()
    }

    /// Returns the square root of the real part.
    fn root(self) -> Self {
        Self::real(self.real_part().sqrt())
    }
}

impl Field for f64 {
    fn real(x: f64) -> f64 {
        x
    }

    fn real_part(self) -> f64 {
        self
    }

    fn imaginary(self) -> f64 {
        0.0
    }

    fn conjugate(self) -> f64 {
        self
    }
}

impl Field for Complex<f64> {
    fn real(x: f64) -> Self {
        Complex::new(x, 0.0)
    }

    fn real_part(self) -> f64 {
        self.re
    }

    fn imaginary(self) -> f64 {
        self.im
    }

    fn conjugate(self) -> Self {
        self.conj()
    }
}

/// Returns the type in which the computation happens.
pub fn wide(element: ElementType) -> Option<ElementType> {
    match element {
        Bf16 | F16 | F32 | F64 => Some(F64),
        C64 | C128 => Some(C128),
        _ => None,
    }
}

/// Returns a tensor with its last two axes exchanged.
fn transposed(x: &Tensor) -> Tensor {
    let mut axes: Vec<usize> = (0..x.shape().len()).collect();
    let rank = axes.len();
    axes.swap(rank - 1, rank - 2);
    x.permute(&axes)
}

/// The decomposition `A = L Lᴴ`, or `A = Uᴴ U`.
#[derive(Debug)]
struct Cholesky {
    lower: bool,
    element: ElementType,
}

impl Operation for Cholesky {
    fn run(&self, context: &Context, operands: Operands) -> Result<Tensors> {
        let x = &operands[0];
        let element = wide(x.element()).unwrap_or(F64);
        // The upper factor is the transpose of the lower factor of the transpose.
        let a = if self.lower { x.clone() } else { transposed(x) };
        let n = a.shape()[a.shape().len() - 1];
        let mut factor = convert(context, a, element)?.into_fresh(context)?;
        match element {
            C128 => decompose::<Complex<f64>>(factor.slice_mut(), n),
            _ => decompose::<f64>(factor.slice_mut(), n),
        }
        let factor = convert(context, factor.finish(), self.element)?;
        Ok(smallvec![if self.lower {
            factor
        } else {
            transposed(&factor)
        }])
    }
}

fn decompose<T: Field>(matrices: &mut [T], n: usize) {
    for a in matrices.chunks_mut((n * n).max(1)) {
        let mut positive = true;
        for i in 0..n {
            for j in 0..=i {
                let mut sum = a[i * n + j];
                for k in 0..j {
                    sum = sum - a[i * n + k] * a[j * n + k].conjugate();
                }
                a[i * n + j] = if i == j {
                    positive &= sum.real_part() > 0.0;
                    sum.root()
                } else {
                    sum / a[j * n + j]
                };
            }
            a[i * n + i + 1..(i + 1) * n].fill(T::zeroed());
        }
        if !positive {
            // The rows before the failure look like a factor, and XLA returns no number either. The product
            // makes both parts of a complex number NaN.
            let nan = T::real(f64::NAN) * T::real(1.0);
            for i in 0..n {
                a[i * n..][..i].fill(nan);
                a[i * n + i] = T::real(f64::NAN);
            }
        }
    }
}

fn check_matrices(source: &Source<'_>, x: &TensorType) -> Result<()> {
    let rank = x.shape.len();
    source.check(
        rank >= 2 && x.shape[rank - 1] == x.shape[rank - 2] && wide(x.element).is_some(),
        format_args!("the operand has type {x}, expected a square matrix of floats"),
    )
}

/// Reads `stablehlo.cholesky`.
pub fn cholesky(source: &Source<'_>) -> Read {
    source.counts(1, 1, 0)?;
    let x = &source.operands[0];
    check_matrices(source, x)?;
    source.result(0, x)?;
    lift(Cholesky {
        lower: source.flag("lower"),
        element: x.element,
    })
}

/// The solution of `op(A) X = B`, or of `X op(A) = B`.
#[derive(Debug)]
struct TriangularSolve {
    left: bool,
    lower: bool,
    unit: bool,
    transpose: bool,
    conjugate: bool,
}

impl Operation for TriangularSolve {
    fn run(&self, context: &Context, operands: Operands) -> Result<Tensors> {
        let result = operands[1].element();
        let element = wide(result).unwrap_or(F64);
        // The system `X op(A) = B` is the system `op(A)ᵀ Xᵀ = Bᵀ`.
        let flipped = self.transpose == self.left;
        let a = if flipped {
            transposed(&operands[0])
        } else {
            operands[0].clone()
        };
        let b = if self.left {
            operands[1].clone()
        } else {
            transposed(&operands[1])
        };
        let lower = self.lower != flipped;
        let a = convert(context, a, element)?.contiguous(context)?;
        let (n, columns) = (
            b.shape()[b.shape().len() - 2],
            b.shape()[b.shape().len() - 1],
        );
        let mut x: OutputTensor = convert(context, b, element)?.into_fresh(context)?;
        match element {
            C128 => self.solve::<Complex<f64>>(a.slice(), x.slice_mut(), n, columns, lower),
            _ => self.solve::<f64>(a.slice(), x.slice_mut(), n, columns, lower),
        }
        let x = convert(context, x.finish(), result)?;
        Ok(smallvec![if self.left { x } else { transposed(&x) }])
    }
}

impl TriangularSolve {
    fn solve<T: Field>(&self, a: &[T], x: &mut [T], n: usize, columns: usize, lower: bool) {
        if x.is_empty() {
            return;
        }
        for (a, x) in a.chunks(n * n).zip(x.chunks_mut(n * columns)) {
            for step in 0..n {
                let i = if lower { step } else { n - 1 - step };
                let known = if lower { 0..i } else { i + 1..n };
                for k in known {
                    let factor = self.entry(a[i * n + k]);
                    for c in 0..columns {
                        x[i * columns + c] = x[i * columns + c] - factor * x[k * columns + c];
                    }
                }
                if !self.unit {
                    let diagonal = self.entry(a[i * n + i]);
                    x[i * columns..(i + 1) * columns]
                        .iter_mut()
                        .for_each(|x| *x = *x / diagonal);
                }
            }
        }
    }

    fn entry<T: Field>(&self, a: T) -> T {
        if self.conjugate { a.conjugate() } else { a }
    }
}

/// Reads `stablehlo.triangular_solve`.
pub fn triangular_solve(source: &Source<'_>) -> Read {
    source.counts(2, 1, 0)?;
    let (a, b) = (&source.operands[0], &source.operands[1]);
    check_matrices(source, a)?;
    source.result(0, b)?;
    let left = source.flag("left_side");
    let rank = a.shape.len();
    let batch = b.shape.len() == rank
        && a.shape[..rank - 2] == b.shape[..rank - 2]
        && a.element == b.element;
    let side = batch && a.shape[rank - 1] == b.shape[if left { rank - 2 } else { rank - 1 }];
    source.check(side, format_args!("{a} and {b} do not match"))?;
    let (transpose, conjugate) = match source.word("transpose_a")? {
        "NO_TRANSPOSE" => (false, false),
        "TRANSPOSE" => (true, false),
        "ADJOINT" => (true, true),
        other => return Err(source.error(format!("unknown transpose {other}"))),
    };
    let (lower, unit) = (source.flag("lower"), source.flag("unit_diagonal"));
    lift(TriangularSolve {
        left,
        lower,
        unit,
        transpose,
        conjugate,
    })
}
