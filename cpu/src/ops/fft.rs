//! Fourier transforms.

use super::arrays::convert;
use super::{Read, lift};
use crate::ElementType::*;
use crate::graph::{Operands, Operation, Source};
use crate::memory::{Context, OutputTensor, Tensor, Tensors};
use crate::{Dims, Result, TensorType};
use num_complex::Complex;
use rustfft::{FftDirection, FftPlannerScalar};
use smallvec::smallvec;

/// The kind of a transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Forward,
    Inverse,
    /// From real numbers to the first half of their spectrum.
    RealForward,
    /// From the first half of a spectrum to real numbers.
    RealInverse,
}

/// A transform of the last axes.
#[derive(Debug)]
struct Fft {
    kind: Kind,
    lengths: Vec<usize>,
    ty: TensorType,
}

impl Operation for Fft {
    fn run(&self, context: &Context, operands: Operands) -> Result<Tensors> {
        if self.ty.shape.contains(&0) || operands[0].size() == 0 {
            let mut zeros = OutputTensor::new(context, self.ty.clone())?;
            zeros.bytes_mut().fill(0);
            return Ok(smallvec![zeros.finish()]);
        }
        let result = self.transform(context, &operands[0])?;
        Ok(smallvec![convert(context, result, self.ty.element)?])
    }
}

impl Fft {
    /// Transforms in double precision: one precision takes half the time to compile.
    fn transform(&self, context: &Context, x: &Tensor) -> Result<Tensor> {
        let mut x = convert(context, x.clone(), C128)?;
        let rank = x.shape().len();
        let first = rank - self.lengths.len();
        let inverse = matches!(self.kind, Kind::Inverse | Kind::RealInverse);
        let mut axes: Vec<usize> = (first..rank).rev().collect();
        if self.kind == Kind::RealInverse {
            // The half of the spectrum is completed at last.
            axes.reverse();
        }
        for axis in axes {
            let length = self.lengths[axis - first];
            let half = axis == rank - 1 && self.kind == Kind::RealInverse;
            x = along_axis(context, &x, axis, length, inverse, half)?;
            if axis == rank - 1 && self.kind == Kind::RealForward {
                let mut shape: Dims = x.shape().into();
                shape[axis] = length / 2 + 1;
                x = x.view(shape, x.strides.clone(), x.offset);
            }
        }
        Ok(x)
    }
}

/// Transforms an axis. With `half`, the axis has the first half of a spectrum of real numbers.
fn along_axis(
    context: &Context,
    x: &Tensor,
    axis: usize,
    length: usize,
    inverse: bool,
    half: bool,
) -> Result<Tensor> {
    let mut order: Vec<usize> = (0..x.shape().len()).collect();
    let last = order.len() - 1;
    order.swap(axis, last);
    let source = x.permute(&order).contiguous(context)?;
    let mut ty = source.ty.clone();
    ty.shape[last] = length;
    let mut fresh = OutputTensor::new(context, ty)?;
    let out = fresh.slice_mut::<Complex<f64>>();
    let data = source.slice::<Complex<f64>>();
    if half {
        let stored = source.shape()[last];
        for (row, out) in data.chunks(stored).zip(out.chunks_mut(length)) {
            complete(row, out);
        }
    } else {
        out.copy_from_slice(data);
    }
    let direction = if inverse {
        FftDirection::Inverse
    } else {
        FftDirection::Forward
    };
    FftPlannerScalar::<f64>::new()
        .plan_fft(length, direction)
        .process(out);
    if inverse {
        out.iter_mut().for_each(|z| *z /= length as f64);
    }
    Ok(fresh.finish().permute(&order))
}

/// Completes the spectrum of real numbers. The imaginary parts of the two real frequencies are ignored.
fn complete(half: &[Complex<f64>], out: &mut [Complex<f64>]) {
    let n = out.len();
    for (k, out) in out.iter_mut().enumerate() {
        let (source, conjugate) = if k <= n / 2 {
            (k, false)
        } else {
            (n - k, true)
        };
        let mut z = half.get(source).copied().unwrap_or(Complex::new(0.0, 0.0));
        if source == 0 || 2 * source == n {
            z.im = 0.0;
        }
        *out = if conjugate { z.conj() } else { z };
    }
}

/// Reads `stablehlo.fft`.
pub fn fft(source: &Source<'_>) -> Read {
    source.counts(1, 1, 0)?;
    let x = &source.operands[0];
    let kind = match source.word("fft_type")? {
        "FFT" => Kind::Forward,
        "IFFT" => Kind::Inverse,
        "RFFT" => Kind::RealForward,
        "IRFFT" => Kind::RealInverse,
        other => return Err(source.error(format!("unknown transform {other}"))),
    };
    let lengths = source.sizes("fft_length")?;
    let rank = x.shape.len();
    source.check(
        !lengths.is_empty() && lengths.len() <= rank,
        "fft_length does not match the operand",
    )?;
    let mut ty = x.clone();
    let half = |n: usize| if n == 0 { 0 } else { n / 2 + 1 };
    for (i, length) in lengths.iter().enumerate() {
        let axis = rank - lengths.len() + i;
        let stored = if kind == Kind::RealInverse && axis == rank - 1 {
            half(*length)
        } else {
            *length
        };
        source.check(
            x.shape[axis] == stored,
            format_args!("fft_length = {lengths:?} does not match {x}"),
        )?;
        ty.shape[axis] = if kind == Kind::RealForward && axis == rank - 1 {
            half(*length)
        } else {
            *length
        };
    }
    ty.element = match (kind, x.element) {
        (Kind::Forward | Kind::Inverse, C64 | C128) => x.element,
        (Kind::RealForward, F32) => C64,
        (Kind::RealForward, F64) => C128,
        (Kind::RealInverse, C64) => F32,
        (Kind::RealInverse, C128) => F64,
        _ => return Err(source.error(format!("operands of type {x} are not allowed"))),
    };
    source.result(0, &ty)?;
    lift(Fft { kind, lengths, ty })
}
