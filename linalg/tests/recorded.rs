//! Values and derivatives recorded from JAX; `tests/golden/general_matrices.py` describes them.

use num_complex::Complex64;
use ramie_core::dtypes::Scalar;
use ramie_core::linalg::QrMode;
use ramie_core::numpy::lexsort;
use ramie_core::{Array, DType, jit, jvp, vjp, vmap};
use ramie_linalg::{
    SchurOutput, eig, eigvals, hessenberg, qr_pivoted, rsf2csf, schur, schur_with, sqrtm,
};
use serde_json::Value;

fn dtype_of(of: &Value) -> DType {
    let name = of["dtype"].as_str().expect("a type");
    let named = DType::ALL.into_iter().find(|d| d.numpy_name() == name);
    named.expect("a type")
}

/// A recorded array.
fn array(of: &Value) -> Array {
    let dims = of["shape"].as_array().expect("a shape").iter();
    let shape: Vec<usize> = dims.map(|d| d.as_u64().expect("a size") as usize).collect();
    let values = of["values"].as_array().expect("values").iter();
    let values: Vec<f64> = values.map(|v| v.as_f64().expect("a number")).collect();
    let (dtype, n) = (dtype_of(of), shape.iter().product());
    let scalars = (0..n).flat_map(|i| {
        if dtype.is_complex() {
            Scalar::Complex(values[i], values[n + i]).to_bytes(dtype)
        } else {
            Scalar::Float(values[i]).to_bytes(dtype)
        }
    });
    let bytes: Vec<u8> = scalars.collect();
    Array::try_from_bytes(&bytes, &shape, dtype).expect("an array")
}

/// The order of eigenvalues by real and then by imaginary part. Real parts of conjugate numbers may
/// differ by rounding.
fn ordered(w: &Array) -> Array {
    let w = w.stop_gradient();
    lexsort(&[&w.imag(), &(w.real() * 1000.0).round()], -1)
}

fn apply(op: &str, x: &Array) -> Vec<Array> {
    let diagonal = |(t, _): (Array, Array)| {
        let w = ramie_core::linalg::diagonal(&t, 0);
        vec![w.take_along_axis(&ordered(&w), -1)]
    };
    let qr = |mode| {
        let (q, r, p) = qr_pivoted(x, mode);
        vec![q, r, p]
    };
    match op {
        "eigvals" => {
            let w = eigvals(x);
            vec![w.take_along_axis(&ordered(&w), -1)]
        }
        "eig" => {
            let (w, v) = eig(x);
            let order = ordered(&w);
            let v = v.take_along_axis(&order.expand_dims(&[-2]), -1);
            vec![w.take_along_axis(&order, -1), v]
        }
        "schur" => diagonal(schur(x)),
        "schur_complex" => diagonal(schur_with(x, SchurOutput::Complex)),
        "rsf2csf" => {
            let parts = x.unstack(0);
            let (t, z) = rsf2csf(&parts[0], &parts[1]);
            vec![t.abs(), z.abs()]
        }
        "hessenberg" => {
            let (h, q) = hessenberg(x);
            vec![h, q]
        }
        "sqrtm" => vec![sqrtm(x)],
        "qr_reduced" => qr(QrMode::Reduced),
        "qr_complete" => qr(QrMode::Complete),
        _ => panic!("{op} is unknown"),
    }
}

/// The elements as complex numbers.
fn elements(a: &Array) -> Vec<Complex64> {
    match a.dtype() {
        DType::C128 => a.to_vec(),
        DType::C64 => {
            let values = a.to_vec::<num_complex::Complex32>().into_iter();
            values
                .map(|v| Complex64::new(v.re.into(), v.im.into()))
                .collect()
        }
        _ => ramie_testing::numbers::to_f64(a)
            .into_iter()
            .map(Complex64::from)
            .collect(),
    }
}

#[track_caller]
fn assert_close(label: &str, got: &Array, want: &Value) {
    let wanted = array(want);
    let indices = wanted.dtype().is_integer() && got.dtype() == DType::I32;
    assert!(
        indices || got.dtype() == wanted.dtype(),
        "{label}: is {}",
        got.aval()
    );
    assert_eq!(got.shape(), wanted.shape(), "{label}");
    let tolerance = match got.dtype().real() {
        DType::F64 => 1e-11,
        DType::F32 => 2e-5,
        _ => 0.0,
    };
    let (got, wanted) = (elements(got), elements(&wanted));
    let largest = wanted.iter().fold(1.0, |m: f64, v| m.max(v.norm()));
    for (g, w) in got.iter().zip(&wanted) {
        let near = (g - w).norm() <= tolerance * largest;
        assert!(near, "{label}: is {got:?}, expected {wanted:?}");
    }
}

fn list(of: &Value) -> &[Value] {
    of.as_array().expect("arrays")
}

fn floats(results: Vec<Array>) -> Vec<Array> {
    results
        .into_iter()
        .filter(|a| a.dtype().is_inexact())
        .collect()
}

fn check(row: &Value) {
    let op = row["op"].as_str().expect("a name").to_owned();
    let x = array(&row["inputs"][0]);
    let label = format!("{op} of {}", x.aval());
    let f = {
        let op = op.clone();
        move |x: Array| apply(&op, &x)
    };
    for (got, want) in f(x.clone()).iter().zip(list(&row["outputs"])) {
        assert_close(&label, got, want);
    }
    if row["jvp"].is_null() {
        return;
    }
    let f = move |x: Array| floats(apply(&op, &x));
    let (_, tangents) = jvp(f.clone(), x.clone(), array(&row["tangent"]));
    for (got, want) in tangents.iter().zip(list(&row["jvp"])) {
        assert_close(&format!("jvp of {label}"), got, want);
    }
    let cotangents: Vec<Array> = list(&row["cotangents"]).iter().map(array).collect();
    let compiled = jit(move |x: Array, cotangents: Vec<Array>| vjp(f.clone(), x).1(cotangents));
    let got = compiled(x, cotangents);
    assert_close(&format!("vjp of {label}"), &got, &row["vjp"]);
}

#[test]
fn decompositions_are_those_of_jax() {
    let index: Value = ramie_testing::golden::json("general_matrices.json");
    let rows = list(&index["rows"]);
    assert!(rows.len() > 150);
    let failures: Vec<String> = ramie_testing::check::on_all_cores(rows, |row| {
        ramie_testing::panics::caught(|| check(row)).err()
    })
    .into_iter()
    .flatten()
    .collect();
    let count = failures.len();
    assert!(
        failures.is_empty(),
        "{count} failures\n{}",
        failures.join("\n")
    );
}

#[test]
fn batches_are_one_call() {
    let index: Value = ramie_testing::golden::json("general_matrices.json");
    let batch = |row: &&Value| row["inputs"][0]["shape"] == serde_json::json!([2, 3, 3]);
    let single = |row: &&Value| dtype_of(&row["inputs"][0]) == DType::F32;
    for row in list(&index["rows"]).iter().filter(batch).filter(single) {
        let op = row["op"].as_str().expect("a name").to_owned();
        let label = format!("vmap of {op}");
        let f = move |x: Array| apply(&op, &x);
        let results = jit(vmap(f))(array(&row["inputs"][0]));
        for (got, want) in results.iter().zip(list(&row["outputs"])) {
            assert_close(&label, got, want);
        }
    }
}
