//! Orthogonalization of matrices by the Newton–Schulz iteration.

use crate::base::dimension_numbers::WeightDimensionNumbers;
use crate::base::given::unchecked;
use crate::base::wide::wide;
use crate::tree;
use ramie_core::Array;
use ramie_core::linalg::norm_over;
use ramie_core::options::Reduction;

/// The scaling of a matrix before the iteration, which requires singular values of at most about
/// 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preconditioning {
    /// Divides by the Frobenius norm.
    #[default]
    Frobenius,
    /// Divides by the largest singular value.
    Spectral,
    /// Divides each row by the root of the sum of magnitudes in its row of `x xᴴ` ("almost
    /// orthogonal layers"; Boissin et al., 2025).
    Aol,
    /// Divides by the Schatten norm of order four.
    Schatten,
}

unchecked!(Preconditioning);

/// The coefficients of `x`, `x³` and `x⁵` in each iteration.
#[derive(Clone, Debug, PartialEq)]
pub enum NsCoefficients {
    /// The same coefficients in every iteration.
    Same([f64; 3]),
    /// Separate coefficients for each iteration.
    Each(Vec<[f64; 3]>),
}

unchecked!(NsCoefficients);

impl NsCoefficients {
    /// Returns the coefficients with the steepest slope at zero (`"standard"` in Optax).
    pub fn standard() -> NsCoefficients {
        NsCoefficients::Same([3.4445, -4.775, 2.0315])
    }

    /// Returns the coefficients of Dion, for five iterations (`"dion"` in Optax; Ahn et al.,
    /// 2025).
    pub fn dion() -> NsCoefficients {
        NsCoefficients::Each(vec![
            [4.0848, -6.8946, 2.9270],
            [3.9505, -6.3029, 2.6377],
            [3.7418, -5.5913, 2.3037],
            [2.8769, -3.1427, 1.2046],
            [2.8366, -3.0525, 1.2012],
        ])
    }

    /// Converts to an array, `[3]` or `[iterations, 3]`.
    pub(super) fn array(&self) -> Array {
        match self {
            NsCoefficients::Same(row) => Array::from(row.map(|c| c as f32)),
            NsCoefficients::Each(rows) => {
                let flat: Vec<f32> = rows.iter().flatten().map(|c| *c as f32).collect();
                Array::from(flat).reshape(&[rows.len(), 3])
            }
        }
    }
}

impl From<[f64; 3]> for NsCoefficients {
    fn from(row: [f64; 3]) -> NsCoefficients {
        NsCoefficients::Same(row)
    }
}

/// Computes approximately the nearest matrix with orthogonal rows or columns. It scales the
/// matrix and applies `a · x + (b · xxᵀ + c · (xxᵀ)²) x` repeatedly, `steps` times.
///
/// It computes in at least `f32` and returns the dtype of `x`.
///
/// `ns_coeffs` is `[3]`, or `[n, 3]` for `n` iterations; `steps` is ignored in the second case.
/// `eps` is added to the norm of a matrix. For an array that is not a matrix, `dimension_numbers`
/// specifies the axes of its matrices.
///
/// ```no_run
/// use ramie_core::Array;
/// use ramie_optim::contrib::{Preconditioning, orthogonalize_via_newton_schulz};
/// let x = Array::from([[3.0f32, 0.0], [0.0, 4.0]]);
/// let coefficients = Array::from([1.5f32, -0.5, 0.0]);
/// let how = Preconditioning::Frobenius;
/// let q = orthogonalize_via_newton_schulz(&x, &coefficients, 20, how, 1e-8, None);
/// assert!(q.allclose(&Array::from([[1.0f32, 0.0], [0.0, 1.0]])).item::<bool>());
/// ```
///
/// # Panics
/// Panics if `x` is not a matrix and `dimension_numbers` is `None`, or `ns_coeffs` has another
/// shape.
#[track_caller]
pub fn orthogonalize_via_newton_schulz(
    x: &Array,
    ns_coeffs: &Array,
    steps: usize,
    preconditioning: Preconditioning,
    eps: f64,
    dimension_numbers: Option<&WeightDimensionNumbers>,
) -> Array {
    let operation = "orthogonalize_via_newton_schulz";
    assert!(
        x.ndim() == 2 || dimension_numbers.is_some(),
        "{operation}: expected a matrix, got {}\n  help: pass the dimension numbers of its \
         matrices, or use another optimizer for it with `partition`",
        x.aval()
    );
    assert!(
        matches!(ns_coeffs.shape(), [3] | [_, 3]),
        "{operation}: ns_coeffs is {}, expected shape [3] or [iterations, 3]\n  help: pass three \
         coefficients, or three for each iteration",
        ns_coeffs.aval()
    );
    let of_matrix = WeightDimensionNumbers::default();
    let numbers = match x.ndim() {
        2 => &of_matrix,
        _ => dimension_numbers.expect("checked above"),
    };
    let dtype = x.dtype();
    let matrices = numbers.place(operation, x);
    let stacked = matrices.of(&wide(x));
    let tall = matrices.rows > matrices.columns;
    // `x xᵀ` is smaller for a wide matrix.
    let turned = |x: Array| if tall { x.matrix_transpose() } else { x };
    let mut x = turned(stacked);
    match preconditioning {
        Preconditioning::Frobenius => x = &x / (frobenius(&x) + eps),
        Preconditioning::Spectral => x = &x / (spectral(&x) + eps),
        Preconditioning::Aol | Preconditioning::Schatten => {}
    }
    let coefficients = ns_coeffs.astype(x.dtype());
    let rounds = match coefficients.shape() {
        [rounds, _] => *rounds,
        _ => steps,
    };
    for i in 0..rounds {
        let row = match coefficients.ndim() {
            2 => coefficients.index(i as isize),
            _ => coefficients.clone(),
        };
        let mut a = x.matmul(adjoint(&x));
        // These norms come from `x xᵀ`, which the first iteration computes anyway. Scaling it along
        // with `x` avoids a second product.
        if i == 0 {
            (x, a) = scaled(&x, a, preconditioning);
        }
        let of = |k: isize| row.index(k);
        let b = &a * of(1) + (&a * of(2)).matmul(&a);
        x = &x * of(0) + b.matmul(&x);
    }
    matrices.restore(&turned(x)).astype(dtype)
}

/// Returns the conjugate transpose of each matrix.
fn adjoint(x: &Array) -> Array {
    if x.dtype().is_complex() {
        x.matrix_transpose().conj()
    } else {
        x.matrix_transpose()
    }
}

/// Computes sums over axes, which remain with size 1.
fn sums(x: &Array, axes: &[isize]) -> Array {
    x.sum_over(Reduction::over(axes).keepdims())
}

/// Computes the Frobenius norm of each matrix, `[count, 1, 1]`.
fn frobenius(x: &Array) -> Array {
    sums(&tree::abs_sq(x), &[-2, -1]).sqrt()
}

/// Computes the largest singular value of each matrix, `[count, 1, 1]`.
fn spectral(x: &Array) -> Array {
    norm_over(x, 2, Reduction::over([-2, -1]).keepdims())
}

/// Lower bound of the divisors in the first iteration.
const SMALLEST: f64 = 1e-8;

/// Scales `x` and `a = x xᴴ` by factors computed from `a`.
fn scaled(x: &Array, a: Array, preconditioning: Preconditioning) -> (Array, Array) {
    match preconditioning {
        Preconditioning::Frobenius | Preconditioning::Spectral => (x.clone(), a),
        Preconditioning::Aol => {
            let sizes = sums(&a.abs(), &[-1]);
            let s = sizes.maximum(SMALLEST).rsqrt();
            (x * &s, a * &s * s.matrix_transpose())
        }
        Preconditioning::Schatten => {
            let s = frobenius(&a).maximum(SMALLEST).rsqrt();
            (x * &s, a * s.square())
        }
    }
}
