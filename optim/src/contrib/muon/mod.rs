//! Muon: orthogonal steps for matrices.

mod newton_schulz;

pub use newton_schulz::{NsCoefficients, Preconditioning, orthogonalize_via_newton_schulz};

use super::dimension_numbers::DimensionNumbers;
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
    /// The coefficients of the iterations, `[3]` or `[iterations, 3]`.
    pub ns_coeffs: Array,
}

options! {
    /// Replaces the decaying mean of updates, which must be matrices, by the
    /// nearest orthogonal matrix.
    ///
    /// Making it a transformation panics if there are more rows of coefficients
    /// than `ns_steps`.
    ///
    /// Jordan, *Muon: An optimizer for hidden layers in neural networks*, 2024.
    scale_by_muon() -> ScaleByMuon {
        /// The coefficients of the iterations.
        ns_coeffs: NsCoefficients = NsCoefficients::standard(),
        /// The number of iterations, where the coefficients do not say it.
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
        /// How matrices are scaled before the iteration.
        preconditioning: Preconditioning = Preconditioning::Frobenius,
        /// Which axes of a parameter make a matrix, by path and array; by
        /// default all parameters must be matrices.
        weight_dimension_numbers: dimensions,
    }
    |o| {
        let dtype = o.mu_dtype;
        let coefficients = o.checked_coefficients();
        GradientTransformation::new(
            move |params| MuonState {
                count: count_zero(),
                mu: tree::zeros_like(params, dtype),
                ns_coeffs: coefficients.array(),
            },
            move |updates, state: MuonState, _| {
                let mu = update_moment(&updates, &state.mu, &o.beta, 1);
                let count = safe_increment(&state.count);
                let mean = corrected_mean(&updates, &mu, &o.beta, &count, o.nesterov);
                let updates = mean.map_with_path(|path, m| {
                    let numbers = o.weight_dimension_numbers.as_ref().and_then(|d| (d.0)(path, m));
                    let x = orthogonalize_via_newton_schulz(
                        m,
                        &state.ns_coeffs,
                        o.ns_steps,
                        o.preconditioning,
                        o.eps,
                        numbers.as_ref(),
                    );
                    if o.adaptive { (tree::conj_of(m) * &x).sum() * x } else { x }
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

impl ScaleByMuon {
    #[track_caller]
    fn checked_coefficients(&self) -> NsCoefficients {
        if let NsCoefficients::Each(rows) = &self.ns_coeffs {
            assert!(
                !rows.is_empty() && rows.len() <= self.ns_steps,
                "scale_by_muon: there are coefficients for {} iterations, of which {} are made\n  \
                 help: set ns_steps to the number of rows",
                rows.len(),
                self.ns_steps
            );
        }
        self.ns_coeffs.clone()
    }
}

/// Scales matrices by their shape, so that rates suit layers of any width; to
/// a root mean square where that is given.
fn scale_by_shape(
    consistent_rms: MaybeNumber,
    dimensions: DimensionNumbers,
) -> GradientTransformation {
    GradientTransformation::stateless(move |updates, _| {
        updates.map_with_path(|path, u| {
            let numbers = (dimensions.0)(path, u).unwrap_or_default();
            let matrices = numbers.place("muon", u);
            let (inputs, outputs) = (matrices.rows as f32, matrices.columns as f32);
            match consistent_rms {
                Some(rms) => u * (inputs.max(outputs).sqrt() * rms as f32),
                None => u * (outputs / inputs).max(1.0).sqrt(),
            }
        })
    })
}

options! {
    /// Muon: orthogonal steps for matrices, and [`adamw`](crate::adamw) for all
    /// other parameters. Parameters of more axes become matrices by
    /// `weight_dimension_numbers`.
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
        /// The coefficients of the iterations.
        ns_coeffs: NsCoefficients = NsCoefficients::standard(),
        /// The number of iterations, where the coefficients do not say it.
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
        /// How matrices are scaled before the iteration.
        preconditioning: Preconditioning = Preconditioning::Frobenius,
        /// Which parameters are for Muon, and which of their axes make a matrix,
        /// by path and array: `None` leaves one to Adam. By default the matrices
        /// are for Muon.
        weight_dimension_numbers: dimensions,
    }
    |o| {
        let dimensions = o
            .weight_dimension_numbers
            .unwrap_or_else(DimensionNumbers::of_matrices);
        let orthogonal = ScaleByMuon {
            ns_coeffs: o.ns_coeffs,
            ns_steps: o.ns_steps,
            beta: o.beta,
            eps: o.eps,
            mu_dtype: o.mu_dtype,
            nesterov: o.nesterov,
            adaptive: o.adaptive,
            preconditioning: o.preconditioning,
            weight_dimension_numbers: Some(dimensions.clone()),
        };
        let matrices = chain((
            orthogonal,
            scale_by_shape(o.consistent_rms, dimensions.clone()),
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
        partition([("muon", matrices), ("adam", others.into())], move |path, array| {
            let matrix = (dimensions.0)(path, array).is_some();
            if matrix { "muon" } else { "adam" }.to_owned()
        })
    }
}
