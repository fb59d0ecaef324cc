//! Linear algebra of complex matrices; tests/golden/linalg_complex.py describes the
//! rows.

use super::rows::{self, array, close};
use ramie_core::linalg::{
    self as la, CholeskyFactor, Cutoff, Iteration, QrMode, SvdMode, Triangle, TriangularSolve,
};
use ramie_core::numpy::complex;
use ramie_core::{Array, DType, jit, jvp, random, stack, vjp, vmap};
use ramie_testing::caught;
use ramie_testing::check::on_all_cores;
use serde_json::Value;
use std::collections::HashSet;
use std::sync::Arc;

type Operation = Arc<dyn Fn(&[Array]) -> Vec<Array> + Send + Sync>;

fn size(x: &Array, back: usize) -> usize {
    x.shape()[x.ndim() - back]
}

fn adjoint(x: &Array) -> Array {
    x.swap_axes(-2, -1).conj()
}

fn positive(x: &Array) -> Array {
    x.matmul(adjoint(x)) + Array::eye(size(x, 1), x.dtype())
}

fn hermitian(x: &Array) -> Array {
    let distances = Array::iota(&[size(x, 1)], 0, DType::F32) * 6 - 8;
    (x + adjoint(x)) / 2 + distances.diag(0).astype(x.dtype())
}

fn apart(x: &Array) -> Array {
    let shape = [size(x, 2), size(x, 1)];
    let here = Array::iota(&shape, 0, DType::I32).eq(Array::iota(&shape, 1, DType::I32));
    let weights = (Array::iota(&[shape[1]], 0, DType::F32) + 1) * 4;
    x / 2 + (here.astype(DType::F32) * weights).astype(x.dtype())
}

fn turned(x: &Array) -> Array {
    apart(x).flip(&[-2])
}

/// The factors that make the largest element of each column positive.
fn unit(x: &Array) -> Array {
    let at = x.abs().argmax(-2).expand_dims(&[-2]);
    let z = x.take_along_axis(&at, -2);
    (z.conj() / z.abs()).stop_gradient()
}

fn vectors((w, v): (Array, Array)) -> Vec<Array> {
    vec![&v * unit(&v), w]
}

fn factors(svd: la::SvdFactors) -> Vec<Array> {
    let unit = unit(&svd.u);
    vec![svd.u * &unit, svd.s, svd.vt * unit.conj().swap_axes(-2, -1)]
}

fn pair((a, b): (Array, Array)) -> Vec<Array> {
    vec![a, b]
}

fn one(f: impl Fn(&Array) -> Array + Send + Sync + 'static) -> Option<Operation> {
    Some(Arc::new(move |x| vec![f(&x[0])]))
}

fn many(f: impl Fn(&Array) -> Vec<Array> + Send + Sync + 'static) -> Option<Operation> {
    Some(Arc::new(move |x| f(&x[0])))
}

fn system(f: impl Fn(&Array, &Array) -> Array + Send + Sync + 'static) -> Option<Operation> {
    Some(Arc::new(move |x| vec![f(&x[0], &x[1])]))
}

fn exactly() -> Iteration<Array> {
    Iteration {
        tol: 1e-14,
        ..Iteration::default()
    }
}

fn operation(row: &Value) -> Option<Operation> {
    let p = &row["params"];
    let flag = |name: &str| p[name].as_bool().unwrap_or(false);
    decomposition(row).or_else(|| match row["op"].as_str()? {
        "solve" => system(|a, b| la::solve(&turned(a), b)),
        "inv" => one(|x| la::inv(&turned(x))),
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
            let of = triangle(flag("lower"));
            let factor = move |a: &Array| la::cho_factor_with(&positive(a), of);
            system(move |a, b| la::cho_solve_with(&factor(a), b, of))
        }
        "solve_triangular" => {
            let options = TriangularSolve {
                lower: flag("lower"),
                ..TriangularSolve::new()
            };
            system(move |a, b| la::solve_triangular_with(&apart(a), b, options))
        }
        "triangular_solve" => {
            let options = TriangularSolve {
                left_side: flag("left_side"),
                lower: flag("lower"),
                transpose_a: flag("transpose_a"),
                conjugate_a: flag("conjugate_a"),
                unit_diagonal: flag("unit_diagonal"),
            };
            system(move |a, b| la::triangular_solve(&apart(a), b, options))
        }
        "tridiagonal_solve" => Some(Arc::new(|x| {
            vec![la::tridiagonal_solve(&x[0], &(&x[1] + 8), &x[2], &x[3])]
        })),
        "lstsq" => {
            let count = row["outputs"].as_array()?.len();
            Some(Arc::new(move |x| {
                let found = la::lstsq(&apart(&x[0]), &x[1]);
                vec![found.x, found.residuals][..count].to_vec()
            }))
        }
        "cg" => system(|a, b| {
            let a = positive(a);
            la::cg_with(|x| a.dot(&x), b.clone(), |r| r, exactly())
        }),
        "bicgstab" => system(|a, b| {
            let a = turned(a);
            la::bicgstab_with(|x| a.dot(&x), b.clone(), |r| r, exactly())
        }),
        "gmres" => system(|a, b| {
            let a = turned(a);
            la::gmres_with(|x| a.dot(&x), b.clone(), |r| r, 20, exactly())
        }),
        "det" => one(|x| la::det(&turned(x))),
        "slogdet" => many(|x| pair(la::slogdet(&turned(x)))),
        "pinv" => one(|x| la::pinv(&apart(x))),
        "pinv_hermitian" => one(|x| la::pinv_with(&hermitian(x), Cutoff::new().hermitian())),
        "matrix_rank" => one(|x| la::matrix_rank(&x.matmul(Array::ones(&[2, 3], x.dtype())))),
        "matrix_rank_hermitian" => {
            one(|x| la::matrix_rank_with(&x.matmul(adjoint(x)), Cutoff::new().hermitian()))
        }
        "matrix_power" => {
            let n = p["n"].as_i64()?;
            one(move |x| la::matrix_power(&(turned(x) / 4), n))
        }
        "expm" => {
            let scale = p["scale"].as_f64()? / 40.0;
            one(move |x| la::expm(&(turned(x) * scale)))
        }
        "multi_dot" => Some(Arc::new(|x| vec![la::multi_dot(x)])),
        _ => None,
    })
}

fn triangle(lower: bool) -> Triangle {
    if lower {
        Triangle::Lower
    } else {
        Triangle::Upper
    }
}

fn decomposition(row: &Value) -> Option<Operation> {
    let flag = |name: &str| row["params"][name].as_bool().unwrap_or(false);
    match row["op"].as_str()? {
        "cholesky" => one(|x| la::cholesky(&positive(x))),
        "cholesky_upper" => one(|x| la::cholesky_with(&positive(x), CholeskyFactor::new().upper())),
        "cholesky_as_is" => one(la::cholesky),
        "qr" => {
            let mode = if flag("full_matrices") {
                QrMode::Complete
            } else {
                QrMode::Reduced
            };
            many(move |x| pair(la::qr_with(&apart(x), mode)))
        }
        "geqrf" => many(|x| pair(la::geqrf(x))),
        "householder_product" => one(|x| {
            let (packed, taus) = la::geqrf(x);
            la::householder_product(&packed, &taus)
        }),
        "lu" | "lu_as_is" => {
            let given = row["op"] == "lu_as_is";
            many(move |x| {
                let factors = la::lu(&if given { x.clone() } else { turned(x) });
                vec![factors.lu, factors.pivots, factors.permutation]
            })
        }
        "eigh" => many(|x| vectors(la::eigh(&hermitian(x)))),
        "eigvalsh" => one(|x| la::eigvalsh(&hermitian(x))),
        "eigh_of_triangle" => {
            let of = triangle(flag("lower"));
            many(move |x| vectors(la::eigh_with(x, of)))
        }
        "svd" => many(|x| factors(la::svd_with(&apart(x), SvdMode::Reduced))),
        "svdvals" => one(|x| la::svdvals(&apart(x))),
        "svd_hermitian" => many(|x| factors(la::svd_with(&hermitian(x), SvdMode::Hermitian))),
        "svdvals_hermitian" => one(|x| la::svdvals_with(&hermitian(x), SvdMode::Hermitian)),
        _ => None,
    }
}

/// Compares arrays with recorded ones; null stands for no derivative.
fn all_close(what: &str, got: &[Array], want: &Value) -> Result<(), String> {
    let want = want.as_array().expect("arrays");
    assert_eq!(got.len(), want.len(), "{what}");
    let pairs = got.iter().zip(want).filter(|(_, want)| !want.is_null());
    for (i, (got, want)) in pairs.enumerate() {
        close(got, want).map_err(|e| format!("{what} {i} {e}"))?;
    }
    Ok(())
}

/// Compares the results of a batch of two with those of each example.
fn compare_batch(row: &Value, f: &Operation, inputs: Vec<Array>) -> Result<(), String> {
    let f = f.clone();
    let program = jit(move |inputs: Vec<Array>| -> Vec<[Array; 3]> {
        let halves: Vec<Array> = inputs.iter().map(|x| x * 0.5).collect();
        let pairs = inputs.iter().zip(&halves);
        let pairs: Vec<Array> = pairs.map(|(x, half)| stack(&[x, half], 0)).collect();
        let batch = vmap(|x: Vec<Array>| f(&x))(pairs);
        let compared = batch.iter().zip(f(&halves)).map(|(out, second)| {
            let distance = (out.index(1) - &second).abs();
            let near = distance.le(second.abs() * 1e-4 + 1e-4);
            let near = near.logical_or(second.ne(&second)).all();
            [out.clone(), second, near]
        });
        compared.collect()
    });
    for (i, [out, second, near]) in program(inputs).into_iter().enumerate() {
        close(&out.index(0), &row["outputs"][i]).map_err(|e| format!("batched {i} {e}"))?;
        if !near.item::<bool>() {
            return Err(format!(
                "batched {i} is {}, expected {second}",
                out.index(1)
            ));
        }
    }
    Ok(())
}

fn compare(row: &Value, f: &Operation, batched: bool) -> Result<(), String> {
    let list = |name: &str| -> Vec<Array> {
        let arrays = row[name].as_array().expect("arrays").iter();
        arrays.filter(|x| !x.is_null()).map(array).collect()
    };
    let inputs = list("inputs");
    if row["jvp"].is_null() {
        let g = f.clone();
        let outputs = jit(move |x: Vec<Array>| g(&x))(inputs.clone());
        all_close("output", &outputs, &row["outputs"])?;
        return if batched {
            compare_batch(row, f, inputs)
        } else {
            Ok(())
        };
    }
    // One program for all; integers among the results have no derivatives.
    let g = f.clone();
    type Lists = (Vec<Array>, Vec<Array>, Vec<Array>);
    let all = jit(move |(x, tangents, cotangents): Lists| -> Lists {
        let smooth = |x: Vec<Array>| -> Vec<Array> {
            let mut outs = g(&x);
            outs.retain(|out| out.dtype().is_inexact());
            outs
        };
        let (_, jvps) = jvp(smooth, x.clone(), tangents);
        let (_, pull) = vjp(smooth, x.clone());
        (g(&x), jvps, pull(cotangents))
    });
    let (outputs, jvps, vjps) = all((inputs, list("tangents"), list("cotangents")));
    all_close("output", &outputs, &row["outputs"])?;
    let known: Value = {
        let entries = row["jvp"].as_array().expect("arrays").iter();
        entries.filter(|x| !x.is_null()).cloned().collect()
    };
    all_close("jvp", &jvps, &known)?;
    all_close("vjp", &vjps, &row["vjp"])
}

/// What is wrong with a row, if anything; `batched` compares batches as well.
fn failure(row: &Value, batched: bool) -> Option<String> {
    let label = format!(
        "{} {} of {}",
        row["op"], row["params"], row["inputs"][0]["shape"]
    );
    let Some(f) = operation(row) else {
        return Some(format!("{label}: no way to apply it is known"));
    };
    let compared = || compare(row, &f, batched);
    match caught(compared) {
        Ok(Ok(())) => None,
        Ok(Err(message)) => Some(format!("{label}: {message}")),
        Err(text) => Some(format!("{label}: panicked: {text}")),
    }
}

#[test]
fn matrices_agree_with_jax() {
    let rows = rows::rows("linalg_complex");
    assert!(rows.len() > 100);
    let only = std::env::var("RAMIE_LINALG").ok();
    let wanted = |row: &&Value| only.as_deref().is_none_or(|op| row["op"] == op);
    let (mut work, mut seen) = (Vec::new(), HashSet::new());
    for row in rows.iter().filter(wanted) {
        // Batches of the first single-precision row of each operation.
        let single = row["inputs"][0]["dtype"] == "complex64";
        work.push((row, single && seen.insert(row["op"].to_string())));
    }
    let found = on_all_cores(&work, |&(row, batched)| failure(row, batched));
    let failures: Vec<String> = found.into_iter().flatten().collect();
    assert!(
        failures.is_empty(),
        "{}\n{}",
        failures.len(),
        failures.join("\n")
    );
}

/// Vectors differ from LAPACK's at most in sign, so elementwise optimizers of models that start from
/// them, such as S5, move alike.
#[test]
fn the_first_element_of_an_eigenvector_is_real() {
    let n = 6;
    let parts = random::normal(&random::key(0), &[2, n, n], DType::F32);
    let a = hermitian(&complex(parts.index(0), parts.index(1)));
    let (w, v) = la::eigh(&a);
    let first = v.index(0);
    assert!(first.imag().abs().max().item::<f32>() < 1e-6);
    assert!(first.real().min().item::<f32>() > 1e-3);
    let left = a.matmul(&v) - &v * w;
    assert!(left.abs().max().item::<f32>() < 1e-4);
}

#[test]
#[should_panic(expected = "gmres: b has complex leaves, but f32[2] is real\n  help: make all")]
fn real_and_complex_unknowns_are_not_mixed() {
    let ones = Array::ones(&[2], DType::F32);
    la::gmres(
        |x: Vec<Array>| x,
        vec![ones.clone(), ones.astype(DType::C64)],
    );
}
