//! L-BFGS: an estimate of the inverse Hessian from the last steps.

use crate::base::extra_args::expect_params;
use crate::base::numerics::{count_zero, safe_increment};
use crate::base::options::options;
use crate::{GradientTransformation, tree};
use ramie_core::dtypes::promote_types;
use ramie_core::{Array, DType, State, where_};
use ramie_derive::Tree;

/// The state of [`scale_by_lbfgs`].
#[doc(alias = "ScaleByLBFGSState")]
#[derive(Tree)]
pub struct ScaleByLbfgsState {
    /// Number of steps, 0-d `i32`.
    pub count: Array,
    /// Parameters of the previous step.
    pub params: State,
    /// Updates of the previous step.
    pub updates: State,
    /// Last differences of parameters, stacked along a new first axis.
    pub diff_params_memory: State,
    /// Last differences of updates, stacked along a new first axis.
    pub diff_updates_memory: State,
    /// Reciprocal of the inner product of each pair of differences.
    pub weights_memory: Array,
}

options! {
    /// Multiplies updates by an estimate of the inverse Hessian, computed from the differences of
    /// the last steps.
    ///
    /// `update` panics if `params` is `None`.
    ///
    /// Liu and Nocedal, *On the limited memory BFGS method for large scale
    /// optimization*, 1989.
    scale_by_lbfgs() -> ScaleByLbfgs {
        /// Sets the number of differences to store, at least 1.
        memory_size: count = 10,
        /// Sets whether the initial estimate is scaled by the last difference instead of being
        /// the identity.
        scale_init_precond: toggle = true,
    }
    |o| {
        let memory = o.memory_size;
        assert!(
            memory > 0,
            "scale_by_lbfgs: memory_size is 0, expected at least 1\n  help: use \
             `.memory_size(10)`, for example"
        );
        GradientTransformation::new(
            move |params| {
                let stacked = params.map(|p| {
                    let shape: Vec<usize> = std::iter::once(memory).chain(p.shape().iter().copied()).collect();
                    Array::zeros(&shape, p.dtype())
                });
                let dtype = promote_types(DType::F32, tree::promoted_dtype(params));
                ScaleByLbfgsState {
                    count: count_zero(),
                    params: params.zeros_like(),
                    updates: params.zeros_like(),
                    diff_params_memory: stacked.clone(),
                    diff_updates_memory: stacked,
                    weights_memory: Array::zeros(&[memory], dtype),
                }
            },
            move |updates, state: ScaleByLbfgsState, params| {
                let params = expect_params("scale_by_lbfgs", params);
                let size = memory as i32;
                let (place, last) = (state.count.remainder(size), (&state.count - 1).remainder(size));
                let begun = state.count.gt(0);
                // In the first step there are no previous parameters to compare with.
                let known = |x: &Array| where_(&begun, x, x.zeros_like());
                let diff_params = tree::sub(params, &state.params);
                let diff_updates = tree::sub(&updates, &state.updates);
                let product = tree::vdot(&diff_updates, &diff_params);
                // A pair of weight 0 changes nothing in the recursion. Empty slots have weight 0, too.
                let weight = where_(product.eq(0.0), 0.0, 1.0_f64 / &product);
                let (diff_params, diff_updates) = (diff_params.map(known), diff_updates.map(known));
                let put = |all: &Array, one: &Array| all.dynamic_update_index_in_dim(one, &last, 0);
                let diff_params_memory = state.diff_params_memory.zip(&diff_params, put);
                let diff_updates_memory = state.diff_updates_memory.zip(&diff_updates, put);
                let weight = known(&weight).astype(state.weights_memory.dtype());
                let weights_memory = put(&state.weights_memory, &weight);
                let scale = o.scale_init_precond.then(|| {
                    let above = tree::vdot(&diff_updates, &diff_params);
                    let below = tree::squared_norm(&diff_updates);
                    // `y·s / y·y` estimates the size of the inverse Hessian; the first step has
                    // length at most 1.
                    let scale = where_(below.gt(0.0), above / &below, 1.0);
                    let norm = tree::norm(&updates.map(|u| u.stop_gradient()));
                    where_(&begun, scale, (1.0_f64 / norm).minimum(1.0))
                });
                let memory = Memory {
                    diff_params: &diff_params_memory,
                    diff_updates: &diff_updates_memory,
                    weights: &weights_memory,
                    size,
                };
                let new = memory.precondition(&updates, scale, &place);
                let state = ScaleByLbfgsState {
                    count: safe_increment(&state.count),
                    params: params.clone(),
                    updates,
                    diff_params_memory,
                    diff_updates_memory,
                    weights_memory,
                };
                (new, state)
            },
        )
    }
}

/// The stored pairs of differences.
struct Memory<'a> {
    diff_params: &'a State,
    diff_updates: &'a State,
    weights: &'a Array,
    size: i32,
}

impl Memory<'_> {
    /// Returns the differences of parameters and updates and their weight at an index.
    fn at(&self, place: &Array) -> (State, State, Array) {
        let of = |all: &State| all.map(|a| a.dynamic_index_in_dim(place, 0).squeeze(&[0]));
        (
            of(self.diff_params),
            of(self.diff_updates),
            self.weights.dynamic_index_in_dim(place, 0).squeeze(&[0]),
        )
    }

    /// Runs the two-loop recursion; `oldest` is the index of the oldest pair.
    fn precondition(&self, updates: &State, scale: Option<Array>, oldest: &Array) -> State {
        // The memory is a ring: the next pair overwrites the oldest.
        let places: Vec<Array> = (0..self.size)
            .map(|i| (oldest + i).remainder(self.size))
            .collect();
        let mut vector = updates.clone();
        let mut alphas = Vec::new();
        // From the newest pair to the oldest, and back in the second loop.
        for place in places.iter().rev() {
            let (params, updates, weight) = self.at(place);
            let alpha = weight * tree::vdot(&params, &vector);
            vector = tree::cast_like(&tree::add_scale(&vector, -&alpha, &updates), &vector);
            alphas.push(alpha);
        }
        if let Some(scale) = scale {
            vector = tree::scale(scale, &vector);
        }
        for (place, alpha) in places.iter().zip(alphas.iter().rev()) {
            let (params, updates, weight) = self.at(place);
            let beta = weight * tree::vdot(&updates, &vector);
            vector = tree::cast_like(&tree::add_scale(&vector, alpha - beta, &params), &vector);
        }
        vector
    }
}
