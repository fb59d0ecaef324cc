//! QR decompositions by Householder reflectors, in LAPACK's form. XLA knows them as custom calls.

use super::arrays::convert;
use super::linear::{Field, wide};
use super::{Read, lift};
use crate::ElementType::*;
use crate::graph::{Operands, Operation, Source};
use crate::memory::{Context, OutputTensor, Tensors};
use crate::{Dims, Result, TensorType};
use num_complex::Complex;
use smallvec::smallvec;

/// The decomposition `A = H₁ H₂ … R` with `Hᵢ = I - τᵢ vᵢ vᵢᴴ`: `R` above the reflectors, and the factors `τ`.
#[derive(Debug)]
struct Decompose {
    factors: TensorType,
}

impl Operation for Decompose {
    fn run(&self, context: &Context, operands: Operands) -> Result<Tensors> {
        let element = operands[0].element();
        let compute = wide(element).unwrap_or(F64);
        let mut a = convert(context, operands[0].clone(), compute)?.into_fresh(context)?;
        let mut factors =
            OutputTensor::new(context, TensorType::new(&self.factors.shape, compute))?;
        let columns = operands[0].shape().last().copied().unwrap_or(0);
        let rows = operands[0].shape()[operands[0].shape().len() - 2];
        match compute {
            C128 => decompose::<Complex<f64>>(a.slice_mut(), factors.slice_mut(), rows, columns),
            _ => decompose::<f64>(a.slice_mut(), factors.slice_mut(), rows, columns),
        }
        let a = convert(context, a.finish(), element)?;
        Ok(smallvec![a, convert(context, factors.finish(), element)?])
    }
}

fn decompose<T: Field>(matrices: &mut [T], factors: &mut [T], rows: usize, columns: usize) {
    let count = rows.min(columns);
    if count == 0 {
        return;
    }
    let pairs = matrices
        .chunks_mut(rows * columns)
        .zip(factors.chunks_mut(count));
    for (a, factors) in pairs {
        for (k, factor) in factors.iter_mut().enumerate() {
            let at = |i: usize, j: usize| i * columns + j;
            let alpha = a[at(k, k)];
            let norm = (k + 1..rows).map(|i| a[at(i, k)].square()).sum::<f64>();
            if norm == 0.0 && alpha.imaginary() == 0.0 {
                *factor = T::real(0.0);
                continue;
            }
            let beta = -(alpha.square() + norm).sqrt().copysign(alpha.real_part());
            *factor = (T::real(beta) - alpha) / T::real(beta);
            let scale = T::real(1.0) / (alpha - T::real(beta));
            a[at(k, k)] = T::real(beta);
            for i in k + 1..rows {
                a[at(i, k)] = a[at(i, k)] * scale;
            }
            reflect(a, k, rows, columns, factor.conjugate());
        }
    }
}

/// Applies `I - τ v vᴴ` to the columns after `source`. The reflector `v` is below the diagonal of column
/// `source`, with 1 on it.
fn reflect<T: Field>(a: &mut [T], source: usize, rows: usize, columns: usize, factor: T) {
    for j in source + 1..columns {
        let mut product = a[source * columns + j];
        for i in source + 1..rows {
            product = product + a[i * columns + source].conjugate() * a[i * columns + j];
        }
        let product = product * factor;
        a[source * columns + j] = a[source * columns + j] - product;
        for i in source + 1..rows {
            a[i * columns + j] = a[i * columns + j] - a[i * columns + source] * product;
        }
    }
}

/// The first columns of the product `H₁ H₂ …` of reflectors.
#[derive(Debug)]
struct Product;

impl Operation for Product {
    fn run(&self, context: &Context, operands: Operands) -> Result<Tensors> {
        let element = operands[0].element();
        let compute = wide(element).unwrap_or(F64);
        let shape: Dims = operands[0].shape().into();
        let (rows, columns) = (shape[shape.len() - 2], shape[shape.len() - 1]);
        let mut a = convert(context, operands[0].clone(), compute)?.into_fresh(context)?;
        let factors = convert(context, operands[1].clone(), compute)?.contiguous(context)?;
        let count = factors.shape().last().copied().unwrap_or(0);
        match compute {
            C128 => product::<Complex<f64>>(a.slice_mut(), factors.slice(), rows, columns, count),
            _ => product::<f64>(a.slice_mut(), factors.slice(), rows, columns, count),
        }
        Ok(smallvec![convert(context, a.finish(), element)?])
    }
}

fn product<T: Field>(matrices: &mut [T], factors: &[T], rows: usize, columns: usize, count: usize) {
    if rows * columns == 0 {
        return;
    }
    for (batch, a) in matrices.chunks_mut(rows * columns).enumerate() {
        for j in count..columns {
            (0..rows).for_each(|i| a[i * columns + j] = T::real(f64::from(i == j)));
        }
        // From the last reflector to the first, so that each one's column is free when it is done.
        for k in (0..count).rev() {
            let factor = factors[batch * count + k];
            reflect(a, k, rows, columns, factor);
            for i in k + 1..rows {
                a[i * columns + k] = T::real(0.0) - factor * a[i * columns + k];
            }
            a[k * columns + k] = T::real(1.0) - factor;
            (0..k).for_each(|i| a[i * columns + k] = T::real(0.0));
        }
    }
}

/// Returns the shape of the factors of reflectors of a matrix.
fn factors_of(source: &Source<'_>, a: &TensorType, count: usize) -> Result<TensorType> {
    let rank = a.shape.len();
    let allowed = rank >= 2 && wide(a.element).is_some();
    source.check(
        allowed,
        format_args!("the operand has type {a}, expected a matrix of floats"),
    )?;
    let mut shape: Dims = a.shape[..rank - 2].into();
    shape.push(count);
    Ok(TensorType::new(&shape, a.element))
}

fn smaller(a: &TensorType) -> usize {
    a.shape.iter().rev().take(2).min().copied().unwrap_or(0)
}

/// Reads the custom call `Qr`.
pub fn read_decomposition(source: &Source<'_>) -> Read {
    source.counts(1, 2, 0)?;
    let a = &source.operands[0];
    let factors = factors_of(source, a, smaller(a))?;
    source.result(0, a)?;
    source.result(1, &factors)?;
    lift(Decompose { factors })
}

/// Reads the custom call `ProductOfElementaryHouseholderReflectors`.
pub fn read_product(source: &Source<'_>) -> Read {
    source.counts(2, 1, 0)?;
    let (a, factors) = (&source.operands[0], &source.operands[1]);
    let count = factors.shape.last().copied().unwrap_or(0);
    let expected = factors_of(source, a, count)?;
    let fits = *factors == expected && count <= smaller(a);
    source.check(
        fits,
        format_args!("factors of type {factors} do not match {a}"),
    )?;
    source.result(0, a)?;
    lift(Product)
}
