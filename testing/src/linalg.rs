//! From a recorded row of linear algebra to what it applies; `linalg.py` says
//! what the inputs are made into.

use super::apply::Operation;
use super::golden::Row;
use ramie_core::linalg::{self, QrMode, TriangularSolve};
use ramie_core::{Array, DType};

type Applied = Option<Box<Operation>>;

/// Returns the operation of a row, or `None` if the row's name is unknown here.
pub fn apply(row: &Row) -> Applied {
    let flag = |name: &str| row.params[name].as_bool().unwrap_or(false);
    match row.op.as_str() {
        "cholesky" if flag("as_is") => on(|x| vec![linalg::cholesky(x)]),
        "cholesky" => on(|x| vec![linalg::cholesky(&positive(x))]),
        "qr" if flag("as_is") => on(|x| pair(linalg::qr(x))),
        "qr" => {
            let mode = if flag("full_matrices") {
                QrMode::Complete
            } else {
                QrMode::Reduced
            };
            on(move |x| pair(linalg::qr_with(&apart(x), mode)))
        }
        "geqrf" => on(|x| pair(linalg::geqrf(x))),
        "householder_product" => on(|x| {
            let (packed, factors) = linalg::geqrf(x);
            vec![linalg::householder_product(&packed, &factors)]
        }),
        "lu" => {
            let given = flag("as_is");
            on(move |x| {
                let factors = if given {
                    linalg::lu(x)
                } else {
                    linalg::lu(&turned(x))
                };
                vec![factors.lu, factors.pivots, factors.permutation]
            })
        }
        "lu_pivots_to_permutation" => {
            let size = super::apply::number(&row.params, "permutation_size");
            on(move |x| vec![linalg::lu_pivots_to_permutation(x, size)])
        }
        "linear_solve" if flag("as_is") => Some(Box::new(|x| vec![linalg::solve(&x[0], &x[1])])),
        "linear_solve" => Some(Box::new(|x| vec![linalg::solve(&turned(&x[0]), &x[1])])),
        "eigh" if flag("as_is") => on(|x| vec![linalg::eigh(x).0]),
        "eigh" => on(|x| {
            let (w, v) = linalg::eigh(&symmetric(x));
            vec![&v * signs(&v), w]
        }),
        "svd" if flag("compute_uv") => on(|x| {
            let svd = linalg::svd_with(&apart(x), linalg::SvdMode::Reduced);
            let signs = signs(&svd.u);
            vec![svd.s, svd.u * &signs, svd.vt * signs.swap_axes(-2, -1)]
        }),
        "svd" if flag("as_is") => on(|x| vec![linalg::svdvals(x)]),
        "svd" => on(|x| vec![linalg::svdvals(&apart(x))]),
        "triangular_solve" => {
            let options = TriangularSolve {
                left_side: flag("left_side"),
                lower: flag("lower"),
                transpose_a: flag("transpose_a"),
                conjugate_a: false,
                unit_diagonal: flag("unit_diagonal"),
            };
            let given = flag("as_is");
            Some(Box::new(move |x| {
                let a = if given { x[0].clone() } else { apart(&x[0]) };
                vec![linalg::triangular_solve(&a, &x[1], options)]
            }))
        }
        "tridiagonal_solve" => {
            let pivots = flag("pivots");
            Some(Box::new(move |x| {
                let d = if pivots { x[1].clone() } else { &x[1] + 6 };
                vec![linalg::tridiagonal_solve(&x[0], &d, &x[2], &x[3])]
            }))
        }
        _ => None,
    }
}

fn on(f: impl Fn(&Array) -> Vec<Array> + Send + Sync + 'static) -> Applied {
    Some(Box::new(move |x| f(&x[0])))
}

fn pair((a, b): (Array, Array)) -> Vec<Array> {
    vec![a, b]
}

fn size(x: &Array, axis: usize) -> usize {
    x.shape()[x.ndim() - axis]
}

/// Returns positive definite matrices.
pub fn positive(x: &Array) -> Array {
    x.matmul(x.swap_axes(-2, -1)) + Array::eye(size(x, 1), x.dtype())
}

/// Returns symmetric matrices with separate eigenvalues.
pub fn symmetric(x: &Array) -> Array {
    let distances = Array::iota(&[size(x, 1)], 0, x.dtype()) * 4;
    (x + x.swap_axes(-2, -1)) / 2 + distances.diag(0)
}

/// Returns the matrices of [`apart`] with the rows in reverse, so that pivots are off the diagonal.
pub fn turned(x: &Array) -> Array {
    apart(x).flip(&[-2])
}

/// Returns the sign of the largest element of each column.
pub fn signs(x: &Array) -> Array {
    let at = x.abs().argmax(-2).expand_dims(&[-2]);
    x.take_along_axis(&at, -2).sign().stop_gradient()
}

/// Returns matrices with a dominant diagonal and separate singular values.
pub fn apart(x: &Array) -> Array {
    let shape = [size(x, 2), size(x, 1)];
    let row = Array::iota(&shape, 0, DType::I32);
    let here = row.eq(Array::iota(&shape, 1, DType::I32));
    x / 2 + here.astype(x.dtype()) * 4 * (Array::iota(&[shape[1]], 0, x.dtype()) + 1)
}
