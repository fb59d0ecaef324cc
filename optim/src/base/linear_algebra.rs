//! Eigenvalues, roots of matrices, and nonnegative least squares.

use crate::base::wide::wide;
use crate::tree;
use ramie_core::dtypes::promote_types;
use ramie_core::lax::{DotDimensionNumbers, Precision, scan_with, while_loop};
use ramie_core::linalg::{matrix_norm, matrix_norm_with};
use ramie_core::random::{self, Key};
use ramie_core::{Array, DType, IntoArray, State, where_};
use ramie_derive::Tree;

/// Computes the product of a matrix with a vector or matrix, in full precision.
#[track_caller]
fn product(a: &Array, b: &Array) -> Array {
    let numbers = DotDimensionNumbers {
        lhs_contracting: [1].into_iter().collect(),
        rhs_contracting: [0].into_iter().collect(),
        ..DotDimensionNumbers::default()
    };
    a.dot_general_with(b, numbers, Precision::HIGHEST)
}

#[track_caller]
fn check_square(operation: &str, matrix: &Array) {
    assert!(
        matches!(matrix.shape(), [rows, columns] if rows == columns && *rows > 0),
        "{operation}: expected a square matrix, got {}\n  help: pass a matrix of shape [n, n]; \
         use vmap for a batch of matrices",
        matrix.aval()
    );
}

/// The options of [`power_iteration`].
#[derive(Clone, Debug)]
pub struct PowerIteration {
    /// Maximum number of iterations.
    pub num_iters: i32,
    /// Relative residual `|A · v - λ · v| / |λ|` below which the iteration stops.
    pub error_tolerance: f64,
    /// RNG key of the initial vector, whose elements are uniform in -1 to 1.
    pub key: Key,
}

impl Default for PowerIteration {
    fn default() -> PowerIteration {
        PowerIteration {
            num_iters: 100,
            error_tolerance: 1e-6,
            key: random::key(0),
        }
    }
}

#[derive(Tree)]
struct Iterate {
    vector: State,
    image: State,
    value: Array,
    count: Array,
}

fn normalized(x: &State) -> State {
    tree::scale(1.0_f64 / tree::norm(x), x)
}

/// Computes the eigenvalue with the largest magnitude, 0-d, of a diagonalizable matrix `[n, n]`,
/// and its eigenvector `[n]` of length 1, in at least `f32` (`optax.power_iteration`).
///
/// ```no_run
/// use ramie_core::Array;
/// use ramie_optim::{PowerIteration, power_iteration};
/// let matrix = Array::from([[2.0f32, 1.0], [1.0, 2.0]]);
/// let (value, _vector) = power_iteration(&matrix, &PowerIteration::default());
/// assert!((value.item::<f32>() - 3.0).abs() < 1e-5);
/// ```
///
/// # Panics
/// Panics if the array is not a square matrix of floats.
#[track_caller]
pub fn power_iteration(matrix: &Array, options: &PowerIteration) -> (Array, Array) {
    check_square("power_iteration", matrix);
    let matrix = &*wide(matrix);
    let n = matrix.shape()[0];
    let first = random::uniform_range(&options.key, &[n], matrix.dtype(), -1.0, 1.0);
    let first = State::from_iter([("vector", first)]);
    let map = |v: &State| v.map(|v| product(matrix, v));
    let (value, vector) = power_iteration_of(map, &first, options);
    (value, vector.arrays()[0].clone())
}

/// Computes [`power_iteration`] of a linear map of states, starting from a given state. The key
/// of the options is ignored.
///
/// ```no_run
/// use ramie_core::{Array, State, hvp};
/// use ramie_optim::{PowerIteration, power_iteration_of};
/// // The largest curvature of a loss.
/// let loss = |p: State| p.arrays()[0].square().sum() * 3.0;
/// let params = State::from_iter([("w", Array::from([1.0f32, 2.0]))]);
/// let map = |v: &State| hvp(loss, params.clone(), v.clone());
/// let (sharpness, _) = power_iteration_of(map, &params, &PowerIteration::default());
/// assert_eq!(sharpness.item::<f32>(), 6.0);
/// ```
///
/// # Panics
/// Panics if the map returns a state with other paths, shapes or dtypes.
#[track_caller]
pub fn power_iteration_of(
    map: impl Fn(&State) -> State,
    v0: &State,
    options: &PowerIteration,
) -> (Array, State) {
    let vector = normalized(v0);
    let image = map(&vector);
    let first = Iterate {
        value: Array::scalar(0.0, tree::vdot(&vector, &image).dtype()),
        vector,
        image,
        count: crate::base::numerics::count_zero(),
    };
    let goes_on = |s: Iterate| {
        let residual = tree::sub(&s.image, &tree::scale(&s.value, &s.vector));
        // The relative residual `|A v - λ v| / |λ|`. It is not finite for the first `λ = 0`, so
        // there is at least one iteration.
        let part = (tree::norm(&residual) / &s.value).abs();
        let converged = part.lt(options.error_tolerance);
        converged
            .logical_not()
            .bitwise_and(s.count.lt(options.num_iters))
    };
    let body = |s: Iterate| {
        let vector = normalized(&s.image);
        let image = map(&vector);
        Iterate {
            value: tree::vdot(&vector, &image),
            vector,
            image,
            count: s.count + 1,
        }
    };
    let found = while_loop(goes_on, body, first);
    (found.value, normalized(&found.image))
}

/// The options of [`matrix_inverse_pth_root`].
#[derive(Clone, Copy, Debug)]
pub struct InversePthRoot {
    /// Maximum number of iterations.
    pub num_iters: i32,
    /// Multiple of the largest eigenvalue that is added to the diagonal.
    pub ridge_epsilon: f64,
    /// Maximum difference from the identity at which the iteration stops.
    pub error_tolerance: f64,
}

impl Default for InversePthRoot {
    fn default() -> InversePthRoot {
        InversePthRoot {
            num_iters: 100,
            ridge_epsilon: 1e-6,
            error_tolerance: 1e-6,
        }
    }
}

#[derive(Tree)]
struct Newton {
    count: Array,
    m: Array,
    root: Array,
    last_root: Array,
    error: Array,
    falls: Array,
}

/// Computes `matrix^(-1/p)` of a symmetric positive semidefinite matrix `[n, n]`, as used by
/// Shampoo (`optax.matrix_inverse_pth_root`). Returns the root in the dtype of the matrix, and
/// the maximum difference of the iterate from the identity, 0-d.
///
/// It runs coupled Newton iterations in `f32` or wider; Higham, *Functions of Matrices*, 2008, equation
/// 7.18.
///
/// ```no_run
/// use ramie_core::Array;
/// use ramie_optim::{InversePthRoot, matrix_inverse_pth_root};
/// let matrix = Array::from([[16.0f32, 0.0], [0.0, 81.0]]);
/// let (root, _error) = matrix_inverse_pth_root(&matrix, 4, &InversePthRoot::default());
/// assert!((root.to_vec::<f32>()[0] - 0.5).abs() < 1e-4);
/// ```
///
/// # Panics
/// Panics if the array is not a square matrix of floats, or `p` is not 1, 2, 4 or 8.
#[track_caller]
pub fn matrix_inverse_pth_root(matrix: &Array, p: u32, options: &InversePthRoot) -> (Array, Array) {
    check_square("matrix_inverse_pth_root", matrix);
    assert!(
        matches!(p, 1 | 2 | 4 | 8),
        "matrix_inverse_pth_root: p is {p}, which is not supported\n  help: use 1, 2, 4 or 8"
    );
    let dtype = matrix.dtype();
    let matrix = &*wide(matrix);
    let n = matrix.shape()[0];
    let alpha = -1.0 / f64::from(p);
    let (greatest, _) = power_iteration(matrix, &PowerIteration::default());
    let ridge = greatest.maximum(1e-16) * options.ridge_epsilon;
    if n == 1 {
        let root = (matrix + ridge).power(alpha);
        return (root.astype(dtype), Array::scalar(0.0, DType::F32));
    }
    let identity = Array::eye(n, DType::F32);
    let damped = matrix + ridge * &identity;
    // Scales the eigenvalues of `m` to at most `(p + 1) / 2`, below the limit of `p + 1`.
    let z = (1.0 + f64::from(p)) / (damped.square().sum().sqrt() * 2.0);
    let away = |m: &Array| (m - &identity).abs().max();
    // The invariant is `m = rootᵖ A`: as `m` tends to the identity, `root` tends to `A^(-1/p)`.
    let m = &damped * &z;
    let root = &identity * z.power(1.0 / f64::from(p));
    let first = Newton {
        count: crate::base::numerics::count_zero(),
        error: away(&m),
        m,
        last_root: root.clone(),
        root,
        falls: Array::from(true),
    };
    let goes_on = |s: Newton| {
        let far = s.error.gt(options.error_tolerance).bitwise_and(&s.falls);
        s.count.lt(options.num_iters).bitwise_and(&far)
    };
    let body = |s: Newton| {
        let step = &identity * (1.0 - alpha) + &s.m * alpha;
        let mut raised = step.clone();
        // `p` is a power of two.
        for _ in 0..p.trailing_zeros() {
            raised = product(&raised, &raised);
        }
        let m = product(&raised, &s.m);
        let error = away(&m);
        Newton {
            count: s.count + 1,
            root: product(&s.root, &step),
            last_root: s.root,
            m,
            // The error may rise slightly before it falls.
            falls: error.lt(&s.error * 1.2),
            error,
        }
    };
    let found = while_loop(goes_on, body, first);
    let root = where_(&found.falls, &found.root, &found.last_root);
    (root.astype(dtype), away(&found.m))
}

/// Computes the `x ≥ 0` that minimizes `|a · x - b|` by `iters` iterations of the fast projected
/// gradient method (`optax.nnls`; Polyak, 2015). The shapes are `[m, n]` for `a`, `[m]` or
/// `[m, k]` for `b`, and `[n]` or `[n, k]` for `x`.
///
/// `bound` is an upper bound of the largest eigenvalue of `aᵀ a`. `None` computes it from norms
/// of that matrix.
///
/// ```no_run
/// use ramie_core::Array;
/// use ramie_optim::nnls;
/// let (a, b) = (Array::from([[1.0f32, 2.0], [3.0, 4.0]]), Array::from([5.0f32, 6.0]));
/// let x = nnls(&a, &b, 1000, None).to_vec::<f32>();
/// assert!(x[0] == 0.0 && (x[1] - 1.7).abs() < 1e-4);
/// ```
///
/// # Panics
/// Panics if `a` is not a matrix, or if `b` is not a vector or matrix with the same number of
/// rows.
#[track_caller]
pub fn nnls(a: &Array, b: &Array, iters: usize, bound: Option<&Array>) -> Array {
    assert!(
        a.ndim() == 2 && matches!(b.ndim(), 1 | 2) && a.shape()[0] == b.shape()[0],
        "nnls: shapes do not match\n  a {}\n  b {}\n  help: pass a matrix [m, n] as `a`, and a \
         vector [m] or a matrix [m, k] as `b`",
        a.aval(),
        b.aval()
    );
    let dtype = promote_types(a.dtype(), b.dtype());
    let (a, b) = (&*wide(a), &*wide(b));
    let q = a.matrix_transpose().matmul(a);
    let target = a.matrix_transpose().matmul(b);
    let bound = match bound {
        Some(bound) => bound.clone(),
        None if q.size() == 0 => Array::scalar(0.0, q.dtype()),
        None => {
            let columns = matrix_norm_with(&q, 1);
            matrix_norm(&q).minimum(columns)
        }
    };
    // A zero matrix has gradient zero, whatever it is divided by.
    let bound = where_(bound.eq(0.0), 1.0, bound);
    let start = target.zeros_like();
    let body = |(x, p, c): (Array, Array, Array), ()| {
        let next_c = ((c.square() * 4.0 + 1.0).sqrt() + 1.0) / 2.0;
        let slide = (c - 1.0) / &next_c;
        let next = (&p - (q.matmul(&p) - &target) / &bound).maximum(0.0.into_array());
        let ahead = &next + slide * (&next - x);
        ((next, ahead, next_c), ())
    };
    let options = ramie_core::options::ScanOptions {
        length: Some(iters),
        ..Default::default()
    };
    let c = Array::scalar(0.0, start.dtype());
    let ((x, _, _), ()) = scan_with(body, (start.clone(), start, c), (), options);
    x.astype(dtype)
}
