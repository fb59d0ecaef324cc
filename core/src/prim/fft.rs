//! `fft`: discrete Fourier transforms over the last axes.

use crate::base::error;
use crate::extend::ShardingRule;
use crate::prim::{
    Avals, BatchAxis, Batched, Differentiation, Facts, Param, Primitive, batched, move_batch_axis,
    one,
};
use crate::program::checks::Errors;
use crate::program::lower::{Lowering, Value, dims_array};
use crate::program::trace::bind1;
use crate::typing::Dims;
use crate::{Array, Aval, DType, ShapeError, concatenate};

/// The kind of an [`Fft`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FftType {
    /// Complex to complex.
    Fft,
    /// The inverse of `Fft`.
    Ifft,
    /// Real to complex; the result is the first half of that of `Fft`.
    Rfft,
    /// The inverse of `Rfft`.
    Irfft,
}

impl FftType {
    const fn name(self) -> &'static str {
        match self {
            FftType::Fft => "FFT",
            FftType::Ifft => "IFFT",
            FftType::Rfft => "RFFT",
            FftType::Irfft => "IRFFT",
        }
    }
}

/// A discrete Fourier transform over the last axes, one to three.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Fft {
    /// Lengths of the transform along the last axes, in the time domain.
    pub fft_lengths: Dims,
    /// Kind of the transform.
    pub fft_type: FftType,
}

impl Fft {
    /// Returns the size of the last axis in the frequency domain of a real transform, about half
    /// of its length.
    fn half(&self) -> usize {
        self.fft_lengths.last().map_or(0, |n| n / 2 + 1)
    }

    /// Returns how often each frequency of a real transform occurs in the full spectrum: once at
    /// both ends, otherwise twice, for its conjugate. The result has shape `[half]` and the given
    /// `dtype`.
    fn multiplicity(&self, dtype: DType) -> Array {
        let half = self.half();
        let single = Array::ones(&[1], dtype);
        let last = usize::from(
            self.fft_lengths
                .last()
                .is_some_and(|n| n % 2 == 0 && *n > 1),
        );
        let doubled = Array::full(&[half - 1 - last], 2, dtype);
        let ends = Array::ones(&[last], dtype);
        concatenate(&[&single, &doubled, &ends], 0)
    }

    fn as_type(&self, fft_type: FftType) -> Fft {
        Fft {
            fft_type,
            ..self.clone()
        }
    }
}

impl Primitive for Fft {
    fn name(&self) -> &'static str {
        "fft"
    }
    fn facts(&self) -> Facts<'_> {
        Facts {
            checks: Errors::NAN,
            ..Facts::default()
        }
    }
    fn params(&self, _: &[Aval]) -> Vec<(&'static str, Param)> {
        vec![
            ("fft_lengths", Param::tuple(&self.fft_lengths)),
            ("fft_type", Param::new(self.fft_type.name())),
        ]
    }
    fn infer(&self, args: &[Aval]) -> Result<Avals, ShapeError> {
        crate::ensure_shape!(args.len() == 1, "expects 1 operand, got {}", args.len());
        let x = args[0];
        let real = self.fft_type == FftType::Rfft;
        let fits = if real {
            matches!(x.dtype(), DType::F32 | DType::F64)
        } else {
            x.dtype().is_complex()
        };
        if !fits {
            let wanted = if real {
                "f32 or f64"
            } else {
                "complex numbers"
            };
            return Err(ShapeError::new(format!(
                "{} expects {wanted}, got {x}",
                self.fft_type.name()
            ))
            .help(if x.dtype().is_complex() {
                error::TAKE_A_PART
            } else {
                "convert first: x.astype(DType::C64), or F32 for real transforms"
            }));
        }
        let rank = self.fft_lengths.len();
        crate::ensure_shape!(
            (1..=3).contains(&rank) && rank <= x.ndim(),
            "transforms the last one to three axes, not {rank} of {x}"
        );
        let (front, last) = x.shape().split_at(x.ndim() - rank);
        let mut expected = self.fft_lengths.clone();
        let mut out = self.fft_lengths.clone();
        match self.fft_type {
            FftType::Rfft => out[rank - 1] = self.half(),
            FftType::Irfft => expected[rank - 1] = self.half(),
            _ => {}
        }
        crate::ensure_shape!(
            last == expected.as_slice(),
            "the last axes of {x} do not have the sizes of a transform of the lengths {:?}, {:?}",
            self.fft_lengths.as_slice(),
            expected.as_slice()
        );
        let dtype = match self.fft_type {
            FftType::Irfft => x.dtype().real(),
            _ => x.dtype().complex(),
        };
        one(Aval::new(&[front, &out].concat(), dtype))
    }
    fn sharding(&self, _: &[Aval], _: &[Aval]) -> Result<ShardingRule, ShapeError> {
        Ok(ShardingRule::Elementwise)
    }
    fn differentiation(&self) -> Differentiation<'_> {
        Differentiation::linear(|ct, operand| {
            let count: usize = self.fft_lengths.iter().product();
            match self.fft_type {
                // The matrix of the transform, with the elements `w^(jk)`, is symmetric.
                FftType::Fft | FftType::Ifft => bind1(self.clone(), &[ct]),
                FftType::Rfft => {
                    // With `w = exp(-2πi/n)` and the multiplicities `m`, `irfft(z)` is
                    // `Re Σ m z w^(-jk) / n`. The transpose of `rfft`, `Re Σ ct w^(jk)`, is
                    // therefore `n irfft(conj(ct) / m)`.
                    let halved = ct.conj() / self.multiplicity(operand.dtype());
                    bind1(self.as_type(FftType::Irfft), &[&halved]) * count
                }
                FftType::Irfft => {
                    // The transpose of `irfft` is `m Σ ct w^(-jk) / n`: the conjugate of
                    // `m rfft(ct) / n`, because `ct` is real.
                    let spectrum = bind1(self.as_type(FftType::Rfft), &[ct]);
                    let share = self.multiplicity(ct.dtype()) * (1.0 / count as f64);
                    (spectrum * share).conj()
                }
            }
        })
    }
    fn batch(&self, args: &[Array], axes: &[Option<usize>], axis: BatchAxis) -> Batched {
        let front = move_batch_axis(&args[0], axes[0], 0, axis);
        batched(bind1(self.clone(), &[&front]), Some(0))
    }
    fn lower(&self, ctx: &mut Lowering<'_>, args: &[Value], outs: &[Aval]) -> Vec<Value> {
        // A transform of nothing is zero, also with a nonempty result.
        if outs[0].size() == 0 || args[0].aval().size() == 0 {
            return vec![ctx.splat(0, outs[0])];
        }
        let attributes = format!(
            "fft_type = #stablehlo<fft_type {}>, fft_length = {}",
            self.fft_type.name(),
            dims_array(&self.fft_lengths)
        );
        vec![ctx.op1("fft", args, outs[0], &attributes)]
    }
}

/// Computes a Fourier transform over the last one to three axes (`jax.lax.fft`); `fft_lengths`
/// are their sizes in the time domain. Arrays are converted to the transform's dtype.
/// [`fft`](crate::functions::fft) contains NumPy's transforms.
///
/// ```no_run
/// use ramie_core::Array;
/// use ramie_core::prim::fft::{FftType, lax_fft};
/// let x = Array::from([1.0f32, 2.0, 3.0, 4.0]);
/// let y = lax_fft(&x, FftType::Rfft, &[4]);
/// assert_eq!(y.real().to_vec::<f32>(), [10.0, -2.0, -2.0]);
/// ```
///
/// # Panics
/// Panics if the sizes of the last axes do not match the transform, or if a complex array is
/// passed to `Rfft`.
#[track_caller]
pub fn lax_fft(x: &Array, fft_type: FftType, fft_lengths: &[usize]) -> Array {
    let x = x.to_inexact();
    let x = match fft_type {
        FftType::Rfft if !x.dtype().is_complex() => x.astype(x.dtype().complex().real()),
        FftType::Rfft => x,
        _ => x.astype(x.dtype().complex()),
    };
    let transform = Fft {
        fft_lengths: fft_lengths.into(),
        fft_type,
    };
    bind1(transform, &[&x])
}
