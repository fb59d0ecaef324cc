//! Muon: orthogonalized steps for matrices.

mod newton_schulz;

pub use newton_schulz::{NsCoefficients, Preconditioning, orthogonalize_via_newton_schulz};

use crate::base::dimension_numbers::DimensionNumbers;
use crate::base::moments::{corrected_mean, update_moment};
use crate::base::numerics::{count_zero, safe_increment};
use crate::base::options::options;
use crate::transforms::decay::decay;
use crate::{
    GradientTransformation, Schedule, adamw, chain, partition, scale_by_learning_rate, tree,
};
use ramie_core::{Array, State};
use ramie_derive::Tree;

/// The state of [`scale_by_muon`].
#[derive(Tree)]
pub struct MuonState {
    /// Number of steps, 0-d `i32`.
    pub count: Array,
    /// Decaying mean of the updates.
    pub mu: State,
    /// Coefficients of the iterations, `[3]` or `[iterations, 3]`.
    pub ns_coeffs: Array,
}

options! {
    /// Replaces the decaying mean of updates, which must be matrices, by the nearest orthogonal
    /// matrix.
    ///
    /// The conversion into a transformation panics if `ns_coeffs` has no rows, or more rows than
    /// `ns_steps`.
    ///
    /// Jordan, *Muon: An optimizer for hidden layers in neural networks*, 2024.
    scale_by_muon() -> ScaleByMuon {
        /// Sets the coefficients of the Newton–Schulz iterations.
        ns_coeffs: NsCoefficients = NsCoefficients::standard(),
        /// Sets the number of iterations, unless `ns_coeffs` has separate coefficients for each
        /// iteration.
        ns_steps: count = 5,
        /// Sets the decay rate of the mean.
        beta: num = 0.95,
        /// Sets the constant added to the norm of a matrix.
        eps: f64 = 1e-8,
        /// Sets the dtype of the mean. Defaults to that of the parameters, but at least `f32`.
        mu_dtype: dtype,
        /// Sets whether Nesterov momentum is used.
        nesterov: toggle = true,
        /// Multiplies steps by their inner product with the mean.
        adaptive: flag,
        /// Sets how matrices are scaled before the first iteration.
        preconditioning: Preconditioning = Preconditioning::Frobenius,
        /// Sets the function that returns the matrix axes of a parameter for its path and array.
        /// By default, all parameters must be matrices.
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

/// An optional number.
type MaybeNumber = Option<f64>;
/// An optional schedule.
type MaybeSchedule = Option<Schedule>;

impl ScaleByMuon {
    #[track_caller]
    fn checked_coefficients(&self) -> NsCoefficients {
        if let NsCoefficients::Each(rows) = &self.ns_coeffs {
            assert!(
                !rows.is_empty() && rows.len() <= self.ns_steps,
                "scale_by_muon: ns_coeffs has {} rows of coefficients, but ns_steps is {}\n  help: \
                 pass at least one row, and set ns_steps to the number of rows",
                rows.len(),
                self.ns_steps
            );
        }
        self.ns_coeffs.clone()
    }
}

/// Scales matrices by their shape, so that the same learning rate suits layers of any width. With
/// `consistent_rms`, scales them to that root mean square.
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
    /// Creates a Muon optimizer: orthogonalized steps for matrices, and [`adamw`](crate::adamw)
    /// for all other parameters. Use `weight_dimension_numbers` to treat parameters with more
    /// axes as matrices.
    ///
    /// `update` panics if `params` is `None`.
    ///
    /// ```
    /// use ramie_optim::contrib::muon;
    /// let tx = muon(0.02).weight_decay(0.01).adam_learning_rate(Some(3e-4.into()));
    /// ```
    ///
    /// Jordan, *Muon: An optimizer for hidden layers in neural networks*, 2024;
    /// Liu et al., *Muon is Scalable for LLM Training*, 2025.
    muon(learning_rate: schedule) -> Muon {
        /// Sets the coefficients of the Newton–Schulz iterations.
        ns_coeffs: NsCoefficients = NsCoefficients::standard(),
        /// Sets the number of iterations, unless `ns_coeffs` has separate coefficients for each
        /// iteration.
        ns_steps: count = 5,
        /// Sets the decay rate of the mean.
        beta: num = 0.95,
        /// Sets the constant added to the norm of a matrix and to Adam's denominator.
        eps: f64 = 1e-8,
        /// Sets the strength of weight decay of the matrices.
        weight_decay: schedule = 0.0,
        /// Sets the predicate that selects the matrices to decay by path and array. Defaults to
        /// all.
        mask: mask,
        /// Sets the dtype of the means. Defaults to that of the parameters, but at least `f32`.
        mu_dtype: dtype,
        /// Sets whether Nesterov momentum is used.
        nesterov: toggle = true,
        /// Multiplies steps by their inner product with the mean.
        adaptive: flag,
        /// Sets the decay rate of Adam's mean of the gradients.
        adam_b1: num = 0.9,
        /// Sets the decay rate of Adam's mean of squares.
        adam_b2: num = 0.999,
        /// Sets the constant added inside Adam's square root.
        adam_eps_root: num = 0.0,
        /// Sets the strength of weight decay of the parameters that Adam updates.
        adam_weight_decay: schedule = 0.0,
        /// Sets Adam's learning rate. `None` means the learning rate of the matrices.
        adam_learning_rate: MaybeSchedule = None,
        /// Sets the root mean square to which steps are scaled. `None` scales them by their shape
        /// only.
        consistent_rms: MaybeNumber = None,
        /// Sets how matrices are scaled before the first iteration.
        preconditioning: Preconditioning = Preconditioning::Frobenius,
        /// Sets the function that returns the matrix axes of a parameter for its path and array,
        /// or `None` if Adam should update it. By default, Muon updates all arrays with two axes.
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
        let mut others = adamw(o.adam_learning_rate.unwrap_or(o.learning_rate))
            .b1(o.adam_b1)
            .b2(o.adam_b2)
            .eps(o.eps)
            .eps_root(o.adam_eps_root)
            .weight_decay(o.adam_weight_decay);
        (others.by.mu_dtype, others.by.nesterov) = (o.mu_dtype, o.nesterov);
        partition([("muon", matrices), ("adam", others.into())], move |path, array| {
            let matrix = (dimensions.0)(path, array).is_some();
            if matrix { "muon" } else { "adam" }.to_owned()
        })
    }
}
