//! Muon: orthogonal steps for matrices.

use crate::decay::decay;
use crate::moments::{corrected_mean, update_moment};
use crate::numerics::{count_zero, safe_increment};
use crate::options::options;
use crate::{
    AdamW, GradientTransformation, Schedule, chain, partition, scale_by_learning_rate, tree,
};
use ramie_core::{Array, State};
use ramie_derive::Tree;

/// The state of [`scale_by_muon`].
#[derive(Tree)]
pub struct MuonState {
    /// Steps made, 0-d `i32`.
    pub count: Array,
    /// Decaying mean of the updates.
    pub mu: State,
    /// The coefficients of the iteration, `[3]`.
    pub ns_coeffs: Array,
}

/// Coefficients of a polynomial of degree five: of `x`, `x³` and `x⁵`.
type Coefficients = [f64; 3];

const STANDARD: Coefficients = [3.4445, -4.775, 2.0315];

/// The nearest matrix with orthogonal rows or columns, about: `steps` times
/// `a · x + (b · xxᵀ + c · (xxᵀ)²) x` from the matrix over its norm.
///
/// # Panics
/// If `x` is not a matrix, or `coefficients` is not `[3]`.
#[track_caller]
pub fn orthogonalize_via_newton_schulz(
    x: &Array,
    coefficients: &Array,
    steps: usize,
    eps: f64,
) -> Array {
    assert!(
        x.ndim() == 2,
        "orthogonalize_via_newton_schulz: expected a matrix, got {}\n  help: reshape it, or leave it \
         to another optimizer with `partition`",
        x.aval()
    );
    assert!(
        coefficients.shape() == [3],
        "orthogonalize_via_newton_schulz: there are three coefficients, got {}",
        coefficients.aval()
    );
    let tall = x.shape()[0] > x.shape()[1];
    let mut x = if tall {
        x.matrix_transpose()
    } else {
        x.clone()
    };
    x = &x / (tree::abs_sq(&x).sum().sqrt() + eps);
    let coefficients = coefficients.astype(x.dtype());
    let of = |i: isize| coefficients.index(i);
    for _ in 0..steps {
        let a = x.matmul(x.matrix_transpose());
        let b = &a * of(1) + (&a * of(2)).matmul(&a);
        x = &x * of(0) + b.matmul(&x);
    }
    if tall { x.matrix_transpose() } else { x }
}

options! {
    /// Replaces the decaying mean of updates, which must be matrices, by the
    /// nearest orthogonal matrix.
    ///
    /// Jordan, *Muon: An optimizer for hidden layers in neural networks*, 2024.
    scale_by_muon() -> ScaleByMuon {
        /// The coefficients of the iteration.
        ns_coeffs: Coefficients = STANDARD,
        /// The number of iterations.
        ns_steps: count = 5,
        /// Decay of the mean.
        beta: num = 0.95,
        /// Added to the norm of a matrix.
        eps: f64 = 1e-8,
        /// The element type of the mean, by default that of the parameters.
        mu_dtype: dtype,
        /// Looks one step ahead.
        nesterov: toggle = true,
        /// Scales steps by their inner product with the mean.
        adaptive: flag,
    }
    |o| {
        let (dtype, coefficients) = (o.mu_dtype, o.ns_coeffs.map(|c| c as f32));
        GradientTransformation::new(
            move |params| MuonState {
                count: count_zero(),
                mu: tree::zeros_like(params, dtype),
                ns_coeffs: Array::from(coefficients),
            },
            move |updates, state: MuonState, _| {
                let mu = update_moment(&updates, &state.mu, &o.beta, 1);
                let count = safe_increment(&state.count);
                let mean = corrected_mean(&updates, &mu, &o.beta, &count, o.nesterov);
                let updates = mean.map(|m| {
                    let x = orthogonalize_via_newton_schulz(m, &state.ns_coeffs, o.ns_steps, o.eps);
                    if o.adaptive { (m * &x).sum() * x } else { x }
                });
                let state = MuonState { count, mu: tree::cast(&mu, dtype), ns_coeffs: state.ns_coeffs };
                (updates, state)
            },
        )
    }
}

/// A number, where there is one.
type MaybeNumber = Option<f64>;
/// A schedule, where there is one.
type MaybeSchedule = Option<Schedule>;

/// Scales matrices by their shape, so that rates suit layers of any width; to
/// a root mean square where that is given.
fn scale_by_shape(consistent_rms: MaybeNumber) -> GradientTransformation {
    GradientTransformation::stateless(move |updates, _| {
        updates.map(|u| {
            let (inputs, outputs) = (u.shape()[0] as f32, u.shape()[1] as f32);
            match consistent_rms {
                Some(rms) => u * (inputs.max(outputs).sqrt() * rms as f32),
                None => u * (outputs / inputs).max(1.0).sqrt(),
            }
        })
    })
}

options! {
    /// Muon: orthogonal steps for matrices, and [`adamw`](crate::adamw) for all
    /// other parameters.
    ///
    /// Its `update` panics if it is not given the parameters.
    ///
    /// ```
    /// use ramie_optim::contrib::muon;
    /// let tx = muon(0.02).weight_decay(0.01).adam_learning_rate(Some(3e-4.into()));
    /// ```
    ///
    /// Jordan, *Muon: An optimizer for hidden layers in neural networks*, 2024;
    /// Liu et al., *Muon is Scalable for LLM Training*, 2025.
    muon(learning_rate: schedule) -> Muon {
        /// The coefficients of the iteration.
        ns_coeffs: Coefficients = STANDARD,
        /// The number of iterations.
        ns_steps: count = 5,
        /// Decay of the mean.
        beta: num = 0.95,
        /// Added to the norm of a matrix, and to Adam's denominator.
        eps: f64 = 1e-8,
        /// The strength of weight decay of matrices.
        weight_decay: schedule = 0.0,
        /// Which matrices decay, by path and value; by default all.
        mask: mask,
        /// The element type of the means, by default that of the parameters.
        mu_dtype: dtype,
        /// Looks one step ahead.
        nesterov: toggle = true,
        /// Scales steps by their inner product with the mean.
        adaptive: flag,
        /// Adam's decay of the mean.
        adam_b1: num = 0.9,
        /// Adam's decay of the mean of squares.
        adam_b2: num = 0.999,
        /// Added inside Adam's square root.
        adam_eps_root: num = 0.0,
        /// The strength of weight decay of other parameters.
        adam_weight_decay: schedule = 0.0,
        /// Adam's learning rate, by default that of the matrices.
        adam_learning_rate: MaybeSchedule = None,
        /// The root mean square that steps are scaled to.
        consistent_rms: MaybeNumber = None,
    }
    |o| {
        let orthogonal = ScaleByMuon {
            ns_coeffs: o.ns_coeffs,
            ns_steps: o.ns_steps,
            beta: o.beta,
            eps: o.eps,
            mu_dtype: o.mu_dtype,
            nesterov: o.nesterov,
            adaptive: o.adaptive,
        };
        let matrices = chain((
            orthogonal,
            scale_by_shape(o.consistent_rms),
            decay(o.weight_decay, o.mask),
            scale_by_learning_rate(o.learning_rate.clone()),
        ));
        let others = AdamW {
            learning_rate: o.adam_learning_rate.unwrap_or(o.learning_rate),
            b1: o.adam_b1,
            b2: o.adam_b2,
            eps: o.eps.into(),
            eps_root: o.adam_eps_root,
            mu_dtype: o.mu_dtype,
            weight_decay: o.adam_weight_decay,
            mask: None,
            nesterov: o.nesterov,
        };
        partition([("muon", matrices), ("adam", others.into())], |_, array| {
            if array.ndim() == 2 { "muon" } else { "adam" }.to_owned()
        })
    }
}
