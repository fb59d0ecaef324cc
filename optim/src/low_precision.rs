//! Parameters in 16 bits whose small updates are not lost: with the rounding
//! error carried along, or with random rounding.
//!
//! Both are the last transformation of a chain. They return updates, in `f32`,
//! that lead to the parameters that they chose:
//! [`apply_updates`](crate::apply_updates) adds in `f32` and rounds what needs
//! no rounding any more.

use crate::extra_args::expect_params;
use crate::numerics::{count_zero, safe_increment};
use crate::{GradientTransformation, tree};
use ramie_core::random::{self, Key};
use ramie_core::{Array, DType, State, finfo, where_};
use ramie_derive::Tree;

/// The state of [`kahan_summation`].
#[derive(Tree)]
pub struct KahanSummationState {
    /// What rounding has taken from each parameter so far, in its element type.
    pub compensation: State,
}

/// Carries along what rounding takes from the parameters, and adds it to the next
/// update: Kahan's summation.
///
/// Parameters in `bf16` lose updates of less than 1/512 of them. With their
/// compensation, which has the same element type, they follow those of a type of
/// twice the significant bits, and take the memory of parameters in `f32`. Those of
/// 16 bits are added to in `f32`, those of `f32` and `f64` in their own type.
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
/// The transformation's `init` and `update` panic if parameters are floats of less
/// than 16 bits, its `update` if it is not given the parameters.
///
/// Zamirai et al., *Revisiting BFloat16 Training*, 2020.
pub fn kahan_summation() -> GradientTransformation {
    GradientTransformation::new(
        |params| {
            params
                .arrays()
                .iter()
                .for_each(|p| check("kahan_summation", p));
            KahanSummationState {
                compensation: params.zeros_like(),
            }
        },
        |updates, state: KahanSummationState, params| {
            let params = expect_params("kahan_summation", params);
            let wanted = updates.zip(&state.compensation, |u, c| {
                if c.dtype().is_float() {
                    let sum = sum_dtype(c.dtype());
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

/// The state of [`stochastic_rounding`].
#[derive(Tree)]
pub struct StochasticRoundingState {
    /// Steps made, 0-d `i32`.
    pub count: Array,
    /// The key that those of the steps are made of.
    pub rng_key: Key,
}

/// Rounds parameters in `bf16` up or down at random, so that on the average
/// nothing is lost: a sum that lies a quarter of the way between two numbers
/// becomes the upper one in one of four cases.
///
/// It takes no memory beside the parameters, but 16 random bits for each of them
/// in each step. Parameters of wider types are added to as ever.
///
/// ```
/// use ramie_core::random;
/// use ramie_optim::{adamw, chain, stochastic_rounding};
/// let tx = chain((adamw(1e-4), stochastic_rounding(random::key(0))));
/// ```
///
/// The transformation's `init` and `update` panic if parameters are floats of 16
/// bits or less other than `bf16`, its `update` if it is not given the parameters.
///
/// Gupta et al., *Deep Learning with Limited Numerical Precision*, 2015.
pub fn stochastic_rounding(key: Key) -> GradientTransformation {
    GradientTransformation::new(
        move |params| {
            for p in params.arrays() {
                check("stochastic_rounding", p);
                assert!(
                    p.dtype() != DType::F16,
                    "stochastic_rounding: a parameter is {}\n  help: keep parameters in bf16, or use \
                     kahan_summation",
                    p.aval()
                );
            }
            StochasticRoundingState {
                count: count_zero(),
                rng_key: key.clone(),
            }
        },
        |updates, state: StochasticRoundingState, params| {
            let params = expect_params("stochastic_rounding", params);
            let keys = tree::split_key_like(&state.rng_key.fold_in(&state.count), params);
            let updates = params.map_with_path(|path, p| {
                let Some(u) = updates.get(path) else {
                    panic!(
                        "stochastic_rounding: there is no update for the parameter `{path}`\n  help: \
                         pass gradients with the paths of the parameters"
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
        "{operation}: a parameter is {}\n  help: keep parameters in bf16; types of 8 bits and less are \
         for storage",
        param.aval()
    );
}

/// The type that a parameter and its update are added in.
fn sum_dtype(dtype: DType) -> DType {
    if dtype.bits() < 32 { DType::F32 } else { dtype }
}

/// The update that is left of `u` when the sum is rounded to the parameter's type.
fn taken(p: &Array, u: &Array, round: impl Fn(&Array, DType) -> Array) -> Array {
    if !p.dtype().is_float() {
        return u.clone();
    }
    let wide = p.astype(sum_dtype(p.dtype()));
    round(&(&wide + u), p.dtype()) - wide
}

/// Rounded to the nearest number of a type of 16 bits; a conversion there and back
/// would be removed by the compiler.
fn nearest(x: &Array, dtype: DType) -> Array {
    if x.dtype() == dtype {
        return x.clone();
    }
    let format = finfo(dtype);
    x.reduce_precision(format.exponent_bits, format.fraction_bits)
}

/// Rounded to a neighbour in `bf16`, the nearer the likelier: the 16 bits that are
/// cut off carry over to the others with the probability that they stand for.
fn to_bf16_at_random(x: &Array, key: &Key) -> Array {
    let random = random::bits(key, x.shape(), DType::U16).astype(DType::U32);
    let bits = x.bitcast_convert_type(DType::U32) + random;
    let kept = Array::scalar(0xFFFF_0000u32, DType::U32);
    let rounded = (bits & kept).bitcast_convert_type(DType::F32);
    where_(&x.is_finite(), &rounded, x)
}
