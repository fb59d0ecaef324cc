//! Recorded operations on complex numbers.

use ramie_core::{Array, DType, disable_most_optimizations, jvp, vjp};
use ramie_testing::caught;
use serde_json::Value;

/// An operation on arrays with one result.
pub type Operation = dyn Fn(&[Array]) -> Array;

/// The rows of a recording.
pub fn rows(recording: &str) -> Vec<Value> {
    let index: Value = ramie_testing::golden::json(&format!("{recording}.json"));
    index["rows"].as_array().expect("rows").clone()
}

fn dtype_of(of: &Value) -> DType {
    let name = of["dtype"].as_str().expect("a type");
    let named = DType::ALL.into_iter().find(|d| d.numpy_name() == name);
    named.expect("a type")
}

fn shape_of(of: &Value) -> Vec<usize> {
    let dims = of["shape"].as_array().expect("a shape").iter();
    dims.map(|d| d.as_u64().expect("a size") as usize).collect()
}

fn numbers(of: &Value) -> Vec<f64> {
    let values = of["values"].as_array().expect("values").iter();
    let number = |v: &Value| match v.as_str() {
        Some(word) => word.parse().expect("a number"),
        None => v.as_f64().expect("a number"),
    };
    values.map(number).collect()
}

/// A recorded array.
pub fn array(of: &Value) -> Array {
    let dtype = dtype_of(of);
    let shape = shape_of(of);
    let values = numbers(of);
    let n: usize = shape.iter().product();
    let scalars = (0..n).flat_map(|i| match dtype.is_complex() {
        true => ramie_core::Scalar::Complex(values[i], values[n + i]).to_bytes(dtype),
        false => ramie_core::Scalar::Float(values[i]).to_bytes(dtype),
    });
    let bytes: Vec<u8> = scalars.collect();
    Array::try_from_bytes(&bytes, &shape, dtype).expect("an array")
}

/// Whether an array is the recorded one, up to rounding.
pub fn close(got: &Array, want: &Value) -> Result<(), String> {
    let shape = shape_of(want);
    // JAX's default integers have 64 bits where its floats may.
    let dtype = match dtype_of(want) {
        DType::I64 => DType::I32,
        other => other,
    };
    if got.dtype() != dtype || got.shape() != shape {
        return Err(format!(
            "is {}, expected {} of {shape:?}",
            got.aval(),
            want["dtype"]
        ));
    }
    let wide = |x: Array| x.astype(DType::F64).to_vec::<f64>();
    let mut parts = wide(got.real());
    if got.dtype().is_complex() {
        parts.extend(wide(got.imag()));
    }
    let wanted = numbers(want);
    let bits = got.dtype().real();
    let tolerance = if bits == DType::F64 { 1e-12 } else { 1e-5 };
    let finite = wanted.iter().filter(|v| v.is_finite());
    let largest = finite.fold(1.0, |m: f64, v| m.max(v.abs()));
    for (g, w) in parts.iter().zip(&wanted) {
        let same = g == w || (g.is_nan() && w.is_nan()) || (g - w).abs() <= tolerance * largest;
        if !same {
            return Err(format!("is {parts:?}, expected {wanted:?}"));
        }
    }
    Ok(())
}

fn one(row: &Value, f: &Operation) -> Result<(), String> {
    let list = |name: &str| -> Vec<Array> {
        row[name]
            .as_array()
            .expect("arrays")
            .iter()
            .map(array)
            .collect()
    };
    let inputs = list("inputs");
    close(&f(&inputs), &row["output"])?;
    if row["jvp"].is_null() {
        return Ok(());
    }
    let apply = |x: Vec<Array>| f(&x);
    let (_, tangent) = jvp(apply, inputs.clone(), list("tangents"));
    close(&tangent, &row["jvp"]).map_err(|e| format!("jvp {e}"))?;
    let (_, pull) = vjp(apply, inputs);
    for (got, want) in pull(array(&row["cotangent"]))
        .iter()
        .zip(row["vjp"].as_array().expect("arrays"))
    {
        close(got, want).map_err(|e| format!("vjp {e}"))?;
    }
    Ok(())
}

/// Compares the rows whose operation is known with what it gives; how many.
#[track_caller]
pub fn check(recording: &str, operation: impl Fn(&Value) -> Option<Box<Operation>>) -> usize {
    let mut failures = Vec::new();
    let mut applied = 0;
    for row in rows(recording) {
        if row["output"].is_null() {
            continue;
        }
        let Some(f) = operation(&row) else { continue };
        applied += 1;
        let compared = || disable_most_optimizations(|| one(&row, &*f));
        let message = match caught(compared) {
            Ok(Ok(())) => continue,
            Ok(Err(message)) => message,
            Err(message) => format!("panicked: {message}"),
        };
        let args = &row["args"];
        failures.push(format!(
            "{} {args} of {}: {message}",
            row["op"], row["inputs"][0]["dtype"]
        ));
    }
    let count = failures.len();
    assert!(
        failures.is_empty(),
        "{count} of {applied} rows differ\n{}",
        failures.join("\n")
    );
    applied
}
