//! Recorded operations on complex numbers.

use num_complex::Complex;
use ramie_core::{Array, DType, jvp, vjp};
use ramie_testing::check_calls;
use ramie_testing::numbers::to_f64;
use serde_json::Value;

/// An operation on arrays with one result.
pub type Operation = dyn Fn(&[Array]) -> Array + Send + Sync;

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
    let scalars = (0..n).flat_map(|i| {
        if dtype.is_complex() {
            ramie_core::dtypes::Scalar::Complex(values[i], values[n + i]).to_bytes(dtype)
        } else {
            ramie_core::dtypes::Scalar::Float(values[i]).to_bytes(dtype)
        }
    });
    let bytes: Vec<u8> = scalars.collect();
    Array::try_from_bytes(&bytes, &shape, dtype).expect("an array")
}

/// The real parts of all elements, then the imaginary ones.
fn parts_of<T: Copy + Into<f64>>(z: Vec<Complex<T>>) -> Vec<f64> {
    let real = z.iter().map(|z| z.re.into());
    real.chain(z.iter().map(|z| z.im.into())).collect()
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
    let parts = match got.dtype() {
        DType::C64 => parts_of(got.to_vec::<Complex<f32>>()),
        DType::C128 => parts_of(got.to_vec::<Complex<f64>>()),
        _ => to_f64(got),
    };
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

/// The recorded arrays of a list.
fn list(of: &Value) -> Vec<Array> {
    of.as_array().expect("arrays").iter().map(array).collect()
}

/// The inputs of a row and, where derivatives are recorded, tangents and the cotangent.
type Operands = (Vec<Array>, Option<(Vec<Array>, Array)>);

fn operands(row: &Value) -> Operands {
    let derived = || (list(&row["tangents"]), array(&row["cotangent"]));
    (list(&row["inputs"]), (!row["jvp"].is_null()).then(derived))
}

/// The result of a row and, where they are recorded, its tangent and the inputs' cotangents.
fn results(f: &Operation, (inputs, derived): Operands) -> Vec<Array> {
    let mut results = vec![f(&inputs)];
    let apply = |x: Vec<Array>| f(&x);
    if let Some((tangents, cotangent)) = derived {
        results.push(jvp(apply, inputs.clone(), tangents).1);
        results.extend(vjp(apply, inputs).1(cotangent));
    }
    results
}

fn compare(row: &Value, results: &[Array]) -> Result<(), String> {
    close(&results[0], &row["output"])?;
    let [tangent, cotangents @ ..] = &results[1..] else {
        return Ok(());
    };
    close(tangent, &row["jvp"]).map_err(|e| format!("jvp {e}"))?;
    let wanted = row["vjp"].as_array().expect("arrays");
    for (got, want) in cotangents.iter().zip(wanted) {
        close(got, want).map_err(|e| format!("vjp {e}"))?;
    }
    Ok(())
}

/// Compares the rows whose operation is known with what it gives; how many.
#[track_caller]
pub fn check(recording: &str, operation: impl Fn(&Value) -> Option<Box<Operation>>) -> usize {
    let rows = rows(recording);
    let rows = rows.iter().filter(|row| !row["output"].is_null());
    let (rows, functions): (Vec<&Value>, Vec<Box<Operation>>) =
        rows.filter_map(|row| Some((row, operation(row)?))).unzip();
    let operands: Vec<_> = rows.iter().map(|row| operands(row)).collect();
    check_calls(
        &operands,
        |i, operands| results(&*functions[i], operands),
        |i, results| {
            compare(rows[i], &results).unwrap_or_else(|message| {
                let (args, dtype) = (&rows[i]["args"], &rows[i]["inputs"][0]["dtype"]);
                panic!("{} {args} of {dtype}: {message}", rows[i]["op"]);
            });
        },
    );
    rows.len()
}
