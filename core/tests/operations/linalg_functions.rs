//! Functions of linear algebra: values and derivatives of `jax.numpy.linalg` and
//! `jax.scipy.linalg`.

use ramie_core::linalg::{self as la, Cutoff, NormOrder, SvdMode, Triangle, TriangularSolve};
use ramie_core::options::Reduction;
use ramie_core::random::{self, CovarianceRoot};
use ramie_core::{Array, DType, grad};
use ramie_testing::apply::{Operation, number, numbers};
use ramie_testing::golden::{Golden, Row};
use ramie_testing::linalg::{apart, positive, signs, symmetric, turned};
use serde_json::Value;

type Applied = Option<Box<Operation>>;

fn on(f: impl Fn(&Array) -> Array + Send + Sync + 'static) -> Applied {
    Some(Box::new(move |x| vec![f(&x[0])]))
}

fn system(f: impl Fn(&Array, &Array) -> Array + Send + Sync + 'static) -> Applied {
    Some(Box::new(move |x| vec![f(&x[0], &x[1])]))
}

fn order(params: &Value) -> NormOrder {
    match params["ord"].as_str().expect("an order") {
        "fro" => NormOrder::Frobenius,
        "nuc" => NormOrder::Nuclear,
        p => NormOrder::P(p.parse().expect("a number")),
    }
}

/// A map from vectors to arrays, as a tensor.
fn map(x: &Array) -> Array {
    let n = x.shape().last().copied().unwrap_or(1);
    turned(&x.reshape(&[n, n])).reshape(x.shape())
}

/// What makes a row's operand of what is recorded: nothing where that is taken
/// as it is.
fn made(row: &Row, make: fn(&Array) -> Array) -> fn(&Array) -> Array {
    match row.params["as_is"].as_bool() {
        Some(true) => Array::clone,
        _ => make,
    }
}

fn function(row: &Row) -> Applied {
    let p = &row.params;
    let flag = |name: &str| p[name].as_bool().unwrap_or(false);
    let offset = p["offset"].as_i64().unwrap_or(0) as isize;
    let turn = made(row, turned);
    match row.op.as_str() {
        "norm" => {
            let axes: Vec<isize> = numbers(&p["axes"]).iter().map(|&d| d as isize).collect();
            let (order, keepdims) = (order(p), flag("keepdims"));
            let matrices = row.inputs[0].ndim() == 2 && axes.len() == 2;
            let over = if keepdims {
                Reduction::over(&axes).keepdims()
            } else {
                Reduction::over(&axes)
            };
            on(move |x| match matrices {
                true => la::norm_over(&apart(x), order, &over),
                false if axes.len() == x.ndim() && !keepdims => la::norm(x, order),
                false => la::norm_over(x, order, &over),
            })
        }
        "cond" => {
            let order = order(p);
            on(move |x| la::cond(&turn(x), order))
        }
        "det" => on(|x| la::det(&turned(x))),
        "det_as_is" => on(la::det),
        "slogdet" => Some(Box::new(|x| {
            let (sign, value) = la::slogdet(&turned(&x[0]));
            vec![sign, value]
        })),
        "slogdet_as_is" => Some(Box::new(|x| {
            let (sign, value) = la::slogdet(&x[0]);
            vec![sign, value]
        })),
        "solve" => system(move |a, b| la::solve(&turn(a), b)),
        "inv" => on(move |x| la::inv(&turn(x))),
        "pinv" => on(|x| la::pinv(&apart(x))),
        "pinv_as_is" => on(|x| la::pinv(x)),
        "lu_solve" => {
            let transpose = flag("transpose");
            system(move |a, b| {
                let factors = la::lu(&turned(a));
                if transpose {
                    la::lu_solve_with(&factors, b, la::Transposed)
                } else {
                    la::lu_solve(&factors, b)
                }
            })
        }
        "cho_solve" => {
            let of = if flag("lower") {
                Triangle::Lower
            } else {
                Triangle::Upper
            };
            let factor = move |a: &Array| la::cho_factor_with(&positive(a), of);
            system(move |a, b| la::cho_solve_with(&factor(a), b, of))
        }
        "solve_triangular" => {
            let options = TriangularSolve {
                lower: flag("lower"),
                ..TriangularSolve::new()
            };
            let make = made(row, apart);
            system(move |a, b| la::solve_triangular_with(&make(a), b, options))
        }
        "tensorinv" => on(|x| la::tensorinv(&map(x), x.ndim() - 1)),
        "tensorsolve" => system(|a, b| la::tensorsolve(&map(a), b)),
        "matrix_rank" => on(|x| la::matrix_rank(x)),
        "matrix_power" => {
            let n = p["n"].as_i64()?;
            let make = made(row, |x| turned(x) / 4);
            on(move |x| la::matrix_power(&make(x), n))
        }
        "multi_dot" => Some(Box::new(|x| vec![la::multi_dot(x)])),
        "diagonal" => on(move |x| la::diagonal(x, offset)),
        "trace" => on(move |x| la::trace(x, offset)),
        "block_diag" => Some(Box::new(|x| vec![la::block_diag(x)])),
        "toeplitz" => system(la::toeplitz),
        "expm" if flag("as_is") => on(la::expm),
        "expm" => {
            let scale = p["scale"].as_f64()? / 20.0;
            on(move |x| la::expm(&(turned(x) * scale)))
        }
        "orthogonal" => {
            let (n, m, shape) = (number(p, "n"), number(p, "m"), numbers(&p["shape"]));
            let dtype = row.outputs[0].dtype();
            Some(Box::new(move |_| {
                let key = random::key(n as u64);
                vec![random::orthogonal(&key, n, m, &shape, dtype)]
            }))
        }
        "multivariate_normal" => {
            let root = match p["method"].as_str()? {
                "cholesky" => CovarianceRoot::Cholesky,
                "eigh" => CovarianceRoot::Eigh,
                _ => CovarianceRoot::Svd,
            };
            let shape = numbers(&p["shape"]);
            Some(Box::new(move |x| {
                let (mean, dtype) = (&x[0], x[0].dtype());
                let covariance = match root {
                    CovarianceRoot::Cholesky => positive(&x[1]),
                    _ => x[1].abs() * Array::eye(mean.shape()[mean.ndim() - 1], dtype),
                };
                let (key, zero) = (random::key(7), mean.zeros_like());
                let draw =
                    random::multivariate_normal(&key, &zero, &covariance, &shape, dtype, root);
                vec![draw.abs() + mean]
            }))
        }
        _ => None,
    }
}

#[test]
fn functions_agree_with_jax() {
    let golden = Golden::open("linalg_functions");
    let ops = golden.ops();
    assert!(ops.len() >= 25);
    // Programs of these are long, and their primitives are checked for
    // second order and batches.
    ramie_testing::walk_recorded(golden, &ops, &function);
}

/// Functions that tests/golden/hermitian.py describes.
fn hermitian(row: &Row) -> Applied {
    let both = |x: &Array| symmetric(x) - Array::eye(x.shape()[x.ndim() - 1], x.dtype()) * 6;
    match row.op.as_str() {
        "svd" => Some(Box::new(move |x| {
            let svd = la::svd_with(&both(&x[0]), SvdMode::Hermitian);
            let signs = signs(&svd.u);
            vec![svd.u * &signs, svd.s, svd.vt * signs.swap_axes(-2, -1)]
        })),
        "svdvals" => on(move |x| la::svdvals_with(&both(x), SvdMode::Hermitian)),
        "pinv" => on(move |x| la::pinv_with(&both(x), Cutoff::new().hermitian())),
        "pinv_as_is" => on(|x| la::pinv_with(x, Cutoff::new().hermitian())),
        "matrix_rank" => on(|x| la::matrix_rank_with(x, Cutoff::new().hermitian())),
        _ => None,
    }
}

#[test]
fn symmetric_matrices_agree_with_jax() {
    let golden = Golden::open("hermitian");
    let ops = golden.ops();
    assert_eq!(ops.len(), 5);
    ramie_testing::walk_recorded(golden, &ops, &hermitian);
}

#[test]
fn least_squares_of_a_line() {
    // The line through (0, 0), (1, 3), (2, 0), which no line meets.
    let a = Array::from([[0.0f64, 1.0], [1.0, 1.0], [2.0, 1.0]]);
    let found = la::lstsq(&a, &Array::from([0.0f64, 3.0, 0.0]));
    let known = Array::from([0.0f64, 1.0]);
    ramie_testing::numbers::close(&found.x, &known, 0.0, 1e-12, false).unwrap();
    let rest = Array::from([6.0f64]);
    ramie_testing::numbers::close(&found.residuals, &rest, 1e-12, 0.0, false).unwrap();
    assert_eq!(found.rank.item::<i32>(), 2);
    assert_eq!(found.s.shape(), [2]);
}

#[test]
fn blocks_without_columns_add_rows() {
    let blocks = |shapes: &[&[usize]]| {
        let blocks: Vec<Array> = shapes.iter().map(|s| Array::ones(s, DType::F32)).collect();
        la::block_diag(&blocks)
    };
    let x = blocks(&[&[3, 0], &[1, 1]]);
    assert_eq!(x.shape(), [4, 1]);
    assert_eq!(x.to_vec::<f32>(), [0.0, 0.0, 0.0, 1.0]);
    assert_eq!(blocks(&[&[0]]).shape(), [1, 0]);
    assert_eq!(blocks(&[&[0, 2], &[]]).shape(), [1, 3]);
}

#[test]
fn empty_toeplitz_matrices_have_the_promoted_dtype() {
    let (column, row) = (Array::from([1, 2]), Array::zeros(&[0], DType::F32));
    for (x, shape) in [
        (la::toeplitz(&column, &row), [2, 0]),
        (la::toeplitz(&row, &column), [0, 2]),
    ] {
        assert_eq!((x.dtype(), x.shape()), (DType::F32, shape.as_slice()));
    }
}

#[test]
fn norms_of_nothing() {
    let x = Array::zeros(&[0, 3], DType::F32);
    assert_eq!(la::norm(&x, 1).item::<f32>(), 0.0);
    assert_eq!(
        la::vector_norm(&x, f64::INFINITY, 0).to_vec::<f32>(),
        [0.0; 3]
    );
    assert_eq!(
        la::det(&Array::zeros(&[0, 0], DType::F32)).item::<f32>(),
        1.0
    );
    assert_eq!(
        la::cond(&Array::zeros(&[2, 2], DType::F32), 1).item::<f32>(),
        f32::INFINITY
    );
}

#[test]
fn determinants_of_few_rows_do_not_overflow() {
    for n in [2, 3] {
        let large = Array::full(&[n, n], 1e20, DType::F32);
        assert_eq!(la::det(&large).item::<f32>(), 0.0, "{n} rows");
    }
    let rows = Array::from([[0.0f32, 2.0, 0.0], [0.5, 1.0, 0.0], [0.0, 4.0, 4.0]]);
    assert_eq!(la::det(&rows).item::<f32>(), -4.0);
    // Singular matrices of rank n - 1 whose first pivot is 0.
    let slope = |rows: Array| grad(|x: Array| la::det(&x))(rows);
    let two = slope(Array::from([[0.0f32, 1.0], [0.0, 0.0]]));
    assert_eq!(two.to_vec::<f32>(), [0.0, 0.0, -1.0, 0.0]);
    let three = slope(Array::from([[0.0f32, 2.0, 0.0], [0.0, 0.0, 3.0], [0.0; 3]]));
    let expected = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 6.0, 0.0, 0.0];
    assert_eq!(three.to_vec::<f32>(), expected);
}

#[test]
fn diagonals_keep_the_dtype() {
    let x = Array::from([[1, 0, 1], [1, 1, 0]]);
    for dtype in [DType::Bool, DType::I8, DType::U16, DType::F16, DType::F32] {
        let diagonal = la::diagonal(&x.astype(dtype), 1);
        assert_eq!(diagonal.dtype(), dtype);
        assert_eq!(diagonal.astype(DType::I32).to_vec::<i32>(), [0, 0]);
        let diagonal = la::diagonal(&x.astype(dtype), -1);
        assert_eq!(diagonal.astype(DType::I32).to_vec::<i32>(), [1]);
    }
}

#[test]
#[should_panic(expected = "cholesky: expects f32, f64, c64 or c128, got bf16")]
fn short_floats_are_refused() {
    let _ = la::cholesky(&Array::eye(2, DType::BF16));
}

#[test]
#[should_panic(
    expected = "solve: matrices of shape [3, 3] do not fit right-hand sides of shape [2]"
)]
fn systems_have_as_many_equations_as_right_hand_sides() {
    let _ = la::solve(&Array::eye(3, DType::F32), &Array::ones(&[2], DType::F32));
}
