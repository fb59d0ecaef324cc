//! Training of 16-bit parameters without losing small updates: the rounding error is carried
//! along, or rounding is random.
//!
//! Both transformations must be the last of a chain. For 16-bit parameters they return updates in
//! `f32` that lead exactly to the rounded parameters, so that the sum in
//! [`apply_updates`](crate::apply_updates) needs no further rounding.

use crate::base::extra_args::expect_params;
use crate::base::numerics::{count_zero, safe_increment};
use crate::base::rounding::{KahanSummationState, StochasticRoundingState};
use crate::base::wide::wide_dtype;
use crate::{GradientTransformation, tree};
use ramie_core::dtypes::finfo;
use ramie_core::random::{self, Key};
use ramie_core::{Array, DType, where_};

/// Adds the rounding error of each step to the next update (Kahan summation).
///
/// Parameters in `bf16` lose updates that are smaller than 1/512 of them. The compensation has
/// the dtype of the parameter, so both together act like a dtype with twice the significant bits
/// and take as much memory as parameters in `f32`. Sums of 16-bit parameters are computed in
/// `f32`, sums of `f32` and `f64` parameters in their own dtype.
///
/// ```
/// use ramie_core::{Array, DType, State};
/// use ramie_optim::{GradientTransformation, adamw, apply_updates, chain, kahan_summation};
/// let tx = chain((adamw(1e-4), kahan_summation()));
/// let params = State::from_iter([("w", Array::ones(&[2], DType::BF16))]);
/// let state = tx.init(&params);
/// let (updates, _state) = tx.update(params.clone(), state, Some(&params));
/// assert_eq!(apply_updates(&params, &updates)["w"].dtype(), DType::BF16);
/// ```
///
/// `init` panics if a parameter is a float of fewer than 16 bits, and `update` if `params` is
/// `None`.
///
/// Zamirai et al., *Revisiting BFloat16 Training*, 2020.
pub fn kahan_summation() -> GradientTransformation {
    GradientTransformation::passing_on(
        |params| {
            params
                .arrays()
                .iter()
                .for_each(|p| check("kahan_summation", p));
            KahanSummationState {
                compensation: params.zeros_like(),
            }
        },
        |updates, state: KahanSummationState, params, _| {
            let params = expect_params("kahan_summation", params);
            let wanted = updates.zip(&state.compensation, |u, c| {
                if c.dtype().is_float() {
                    let sum = wide_dtype(c.dtype());
                    u.astype(sum) + c.astype(sum)
                } else {
                    u.clone()
                }
            });
            let updates = params.zip(&wanted, |p, u| taken(p, u, nearest));
            let compensation = wanted.zip(&updates, |w, u| w - u);
            let compensation = params.zip(&compensation, |p, c| c.astype(p.dtype()));
            (updates, KahanSummationState { compensation })
        },
    )
}

/// Rounds parameters in `bf16` up or down at random, so that the expected value is exact: a sum a
/// quarter of the way between two numbers is rounded up with probability 1/4.
///
/// It needs no memory besides the parameters, but 16 random bits for each of them in each step.
/// Parameters of wider dtypes are updated as usual.
///
/// ```
/// use ramie_core::random;
/// use ramie_optim::{adamw, chain, stochastic_rounding};
/// let tx = chain((adamw(1e-4), stochastic_rounding(random::key(0))));
/// ```
///
/// `init` panics if a parameter is a float of at most 16 bits other than `bf16`, and `update` if
/// `params` is `None` or an update is missing.
///
/// Gupta et al., *Deep Learning with Limited Numerical Precision*, 2015.
pub fn stochastic_rounding(key: Key) -> GradientTransformation {
    GradientTransformation::passing_on(
        move |params| {
            for p in params.arrays() {
                check("stochastic_rounding", p);
                assert!(
                    p.dtype() != DType::F16,
                    "stochastic_rounding: parameters in f16 are not supported, got {}\n  help: \
                     use parameters in bf16, or kahan_summation",
                    p.aval()
                );
            }
            StochasticRoundingState {
                count: count_zero(),
                rng_key: key.clone(),
            }
        },
        |updates, state: StochasticRoundingState, params, _| {
            let params = expect_params("stochastic_rounding", params);
            let keys = tree::split_key_like(&state.rng_key.fold_in(&state.count), params);
            let updates = params.map_with_path(|path, p| {
                let Some(u) = updates.get(path) else {
                    panic!(
                        "stochastic_rounding: the parameter `{path}` has no update\n  help: pass \
                         gradients with the same paths as the parameters"
                    )
                };
                match p.dtype() {
                    DType::BF16 => taken(p, &u.astype(DType::F32), |x, _| {
                        to_bf16_at_random(x, &keys[path])
                    }),
                    _ => u.clone(),
                }
            });
            let state = StochasticRoundingState {
                count: safe_increment(&state.count),
                rng_key: state.rng_key,
            };
            (updates, state)
        },
    )
}

#[track_caller]
fn check(operation: &str, param: &Array) {
    assert!(
        !param.dtype().is_float() || param.dtype().bits() >= 16,
        "{operation}: parameters of fewer than 16 bits are not supported, got {}\n  help: use \
         parameters in bf16; narrower dtypes are for storage only",
        param.aval()
    );
}

/// Returns the effective update after the sum is rounded to the dtype of the parameter.
fn taken(p: &Array, u: &Array, round: impl Fn(&Array, DType) -> Array) -> Array {
    if !p.dtype().is_float() {
        return u.clone();
    }
    let wide = p.astype(wide_dtype(p.dtype()));
    round(&(&wide + u), p.dtype()) - wide
}

/// Rounds to the nearest number of a 16-bit dtype. The compiler would remove a conversion to the
/// dtype and back.
fn nearest(x: &Array, dtype: DType) -> Array {
    if x.dtype() == dtype {
        return x.clone();
    }
    let format = finfo(dtype);
    x.reduce_precision(format.exponent_bits, format.fraction_bits)
}

/// Rounds to one of the two neighbors in `bf16`, with a probability proportional to its
/// closeness: random bits are added to the 16 low bits, so that these carry into the high bits
/// with the probability that they represent.
fn to_bf16_at_random(x: &Array, key: &Key) -> Array {
    let random = random::bits(key, x.shape(), DType::U16).astype(DType::U32);
    let bits = x.bitcast_convert_type(DType::U32) + random;
    let kept = Array::scalar(0xFFFF_0000u32, DType::U32);
    let rounded = (bits & kept).bitcast_convert_type(DType::F32);
    where_(x.is_finite(), &rounded, x)
}
