//! GaLore: optimizers on low-rank projections of gradients.

use crate::base::dimension_numbers::{DimensionNumbers, Matrices};
use crate::base::numerics::{count_zero, safe_increment};
use crate::base::options::options;
use crate::{GradientTransformation, OptState, Scaled, Schedule, scale_by_adam};
use ramie_core::lax::cond;
use ramie_core::linalg::{SvdMode, svd_with};
use ramie_core::{Array, DType, State};
use ramie_derive::Tree;

/// The state of [`scale_by_galore`].
#[derive(Tree)]
pub struct GaLoreState {
    /// Number of steps, 0-d `i32`.
    pub count: Array,
    /// The state of the optimizer, for the projected gradients.
    pub base_optimizer_state: OptState,
    /// Projector of each matrix, `[longer side, rank]`, and `[0, 0]` for parameters that are not
    /// matrices.
    pub projector: State,
}

options! {
    /// Projects the gradients of matrices onto their largest singular vectors on the longer side,
    /// passes the projections to the optimizer, and projects its updates back. The state of the
    /// optimizer is therefore small.
    ///
    /// The optimizer must not need parameters, like [`scale_by_adam`](crate::scale_by_adam()) or
    /// [`scale_by_lion`](crate::scale_by_lion()). Its `update` receives `None`.
    ///
    /// Zhao et al., *GaLore: Memory-Efficient LLM Training by Gradient Low-Rank
    /// Projection*, 2024.
    scale_by_galore() -> ScaleByGalore in Scaled {
        /// Sets the number of singular vectors to keep.
        rank: count = 128,
        /// Sets the number of steps after which the singular vectors are recomputed.
        update_proj_gap: count = 200,
        /// Sets the factor that multiplies the updates of matrices.
        scale: num = 1.0,
        /// Sets the base optimizer. Defaults to `scale_by_adam`.
        base_optimizer: tx = scale_by_adam(),
        /// Sets the function that returns the matrix axes of a parameter for its path and array.
        /// By default, arrays with two axes are matrices.
        weight_dimension_numbers: dimensions,
    }
    |o| {
        o.check();
        let first = o.clone();
        GradientTransformation::new(
            move |params| first.first_state(params),
            move |updates, state: GaLoreState, _| o.project(&updates, state),
        )
    }
}

/// A matrix to project.
struct Projection {
    matrices: Matrices,
    rank: usize,
}

impl Projection {
    /// Returns whether there are at least as many rows as columns.
    fn tall(&self) -> bool {
        self.matrices.rows >= self.matrices.columns
    }

    fn matrix(&self, x: &Array) -> Array {
        let sizes = [self.matrices.rows, self.matrices.columns];
        self.matrices.of(x).reshape(&sizes)
    }

    fn sizes(&self) -> ([usize; 2], [usize; 2]) {
        let (rows, columns) = (self.matrices.rows, self.matrices.columns);
        // `G [r, c]` is projected along its longer side: `Pᵀ G` with `P [r, rank]` if there are
        // more rows, `G P` with `P [c, rank]` otherwise.
        if self.tall() {
            ([rows, self.rank], [self.rank, columns])
        } else {
            ([columns, self.rank], [rows, self.rank])
        }
    }

    /// Computes the largest singular vectors of a gradient.
    fn find(&self, gradient: &Array) -> Array {
        // The decomposition supports no narrower floats.
        let factors = svd_with(&gradient.astype(DType::F32), SvdMode::Reduced);
        let vectors = if self.tall() {
            factors.u
        } else {
            factors.vt.matrix_transpose()
        };
        let kept = vectors.index((.., ..self.rank as isize));
        kept.astype(gradient.dtype())
    }

    fn down(&self, gradient: &Array, projector: &Array) -> Array {
        if self.tall() {
            projector.matrix_transpose().matmul(gradient)
        } else {
            gradient.matmul(projector)
        }
    }

    fn up(&self, update: &Array, projector: &Array) -> Array {
        let full = if self.tall() {
            projector.matmul(update)
        } else {
            update.matmul(projector.matrix_transpose())
        };
        self.matrices.restore(&full)
    }
}

impl ScaleByGalore {
    #[track_caller]
    fn check(&self) {
        assert!(
            self.rank > 0 && self.update_proj_gap > 0,
            "scale_by_galore: rank is {} and update_proj_gap is {}\n  help: both must be at least \
             1",
            self.rank,
            self.update_proj_gap
        );
    }

    #[track_caller]
    fn projection(&self, path: &str, x: &Array) -> Option<Projection> {
        let rule = self.weight_dimension_numbers.clone();
        let rule = rule.unwrap_or_else(DimensionNumbers::of_matrices);
        let matrices = (rule.0)(path, x)?.place("scale_by_galore", x);
        assert!(
            matrices.count == 1,
            "scale_by_galore: the dimension numbers of `{path}` describe {} matrices in {}, \
             expected one\n  help: list every axis in `reduction_axis` or `output_axis`",
            matrices.count,
            x.aval()
        );
        let rank = self.rank.min(matrices.rows).min(matrices.columns);
        Some(Projection { matrices, rank })
    }

    fn first_state(&self, params: &State) -> GaLoreState {
        let small = params.map_with_path(|path, p| match self.projection(path, p) {
            Some(projection) => Array::zeros(&projection.sizes().1, p.dtype()),
            None => p.clone(),
        });
        GaLoreState {
            count: count_zero(),
            base_optimizer_state: self.base_optimizer.init(&small),
            projector: params.map_with_path(|path, p| match self.projection(path, p) {
                Some(projection) => Array::zeros(&projection.sizes().0, p.dtype()),
                None => Array::zeros(&[0, 0], p.dtype()),
            }),
        }
    }

    fn project(&self, updates: &State, state: GaLoreState) -> (State, GaLoreState) {
        let gap = i32::try_from(self.update_proj_gap).expect("fewer than 2^31 steps");
        let due = state.count.remainder(gap).eq(0);
        let of = |all: &State, path: &str| all.get(path).expect("a path of the updates").clone();
        let projector = updates.map_with_path(|path, g| {
            let old = of(&state.projector, path);
            match self.projection(path, g) {
                // The decomposition is expensive, so it runs only in the steps that need it.
                Some(projection) => cond(
                    &due,
                    |(g, _): (Array, Array)| projection.find(&g),
                    |(_, old)| old,
                    (projection.matrix(g), old),
                ),
                None => old,
            }
        });
        let small = updates.map_with_path(|path, g| match self.projection(path, g) {
            Some(projection) => projection.down(&projection.matrix(g), &of(&projector, path)),
            None => g.clone(),
        });
        // Parameters have other shapes than projected gradients, so they are not passed on.
        let (small, base_optimizer_state) =
            self.base_optimizer
                .update(small, state.base_optimizer_state, None);
        let full = updates.map_with_path(|path, g| {
            let update = of(&small, path);
            match self.projection(path, g) {
                Some(projection) => {
                    let full = projection.up(&update, &of(&projector, path));
                    (full * &self.scale).astype(g.dtype())
                }
                None => update,
            }
        });
        let state = GaLoreState {
            count: safe_increment(&state.count),
            base_optimizer_state,
            projector,
        };
        (full, state)
    }
}

/// The options of [`galore`].
pub type GaLore = Scaled<ScaleByGalore>;

/// Creates a GaLore optimizer: [`scale_by_galore`] with weight decay and a learning rate.
///
/// `update` panics if there is weight decay and `params` is `None`.
///
/// ```
/// use ramie_optim::{contrib::galore, scale_by_lion};
/// let tx = galore(1e-3).rank(64).weight_decay(0.01);
/// let with_lion = galore(1e-4).base_optimizer(scale_by_lion());
/// ```
///
/// The weight decay defaults to 0.
///
/// Zhao et al., *GaLore: Memory-Efficient LLM Training by Gradient Low-Rank
/// Projection*, 2024.
#[track_caller]
pub fn galore(learning_rate: impl Into<Schedule>) -> GaLore {
    Scaled::new(scale_by_galore(), learning_rate).weight_decay(0.0)
}
