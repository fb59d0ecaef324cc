//! Complex numbers against JAX: values, derivatives, text.

mod functions;
mod linalg;
mod refused;
pub mod rows;

use ramie_core::numpy::complex;
use ramie_core::options::Holomorphic;
use ramie_core::prim::elementwise::{BINARY, UNARY};
use ramie_core::{Array, DType, concatenate, grad, grad_with, jit, make_jaxpr, vmap, where_};
use rows::{Operation, array, check, rows};
use serde_json::Value;

/// The operation of a row, if it is one of this test's.
fn operation(row: &Value) -> Option<Box<Operation>> {
    let name = row["op"].as_str().expect("a name").to_string();
    if let Some(row) = UNARY.iter().chain(BINARY).find(|r| r.name == name) {
        return Some(Box::new(|x: &[Array]| (row.apply)(x).remove(0)));
    }
    let f: fn(&[Array]) -> Array = match name.as_str() {
        "real" => |x| x[0].real(),
        "imag" => |x| x[0].imag(),
        "conj" => |x| x[0].conj(),
        "angle" => |x| x[0].angle(),
        "cumsum" => |x| x[0].cumsum(0),
        "cumprod" => |x| x[0].cumprod(0),
        "pow" => |x| x[0].lax_pow(&x[1]),
        "eq" => |x| x[0].eq(&x[1]),
        "ne" => |x| x[0].ne(&x[1]),
        "complex" => |x| complex(&x[0], &x[1]),
        "sum" => |x| x[0].sum_over(1),
        "prod" => |x| x[0].prod_over(1),
        "matmul" => |x| x[0].matmul(&x[1]),
        "transpose" => |x| x[0].transpose(&[1, 0]),
        "concatenate" => |x| concatenate(&[&x[0], &x[1]], 0),
        "where" => |x| where_(Array::from([true, false, true]), &x[0], &x[1]),
        "take" => |x| x[0].take(&Array::from([2, 0, 2]), 0),
        "to_complex" => |x| x[0].astype(x[0].dtype().complex()),
        "integer_pow" => {
            let y = row["args"]["y"].as_i64().expect("a power") as i32;
            return Some(Box::new(move |x: &[Array]| x[0].integer_pow(y)));
        }
        _ => return None,
    };
    Some(Box::new(f))
}

#[test]
fn operations_are_those_of_jax() {
    let applied = check("complex", operation);
    assert!(applied > 110, "{applied} rows");
}

#[test]
fn text_is_that_of_jax() {
    let mut failures = Vec::new();
    for row in rows("complex").iter().filter(|r| r["op"] == "text") {
        let x = array(&row["inputs"][0]);
        let mut texts = vec![("repr", format!("{x:?}")), ("str", x.to_string())];
        if x.size() > 0 {
            let first = x.ravel().take(&Array::from(0), 0);
            texts.push(("scalar", first.to_string()));
        }
        for (what, got) in texts {
            let want = row[what].as_str().expect("text");
            if got != want {
                failures.push(format!("{what}:\n{got}\ninstead of\n{want}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let one = Array::from([num_complex::Complex::new(1.0f32, 2.0)]);
    let program = make_jaxpr(|z: Array| z.conj() * 2.0)(one);
    let text = program.to_string();
    assert!(
        text.contains("b:c64[1] = conj") && text.contains("(2+0j):c64[]"),
        "{text}"
    );
}

#[test]
fn gradients_are_those_of_jax() {
    for row in rows("complex")
        .iter()
        .filter(|r| r["op"] == "grad" || r["op"] == "holomorphic")
    {
        let z = array(&row["inputs"][0]);
        let got = match row["args"]["f"].as_str() {
            Some("norm") => grad(|z: Array| z.abs().square().sum())(z),
            Some("part") => {
                let factor = num_complex::Complex::new(1.0, 2.0);
                grad(move |z: Array| (&z * &z * factor).real().sum())(z)
            }
            _ => grad_with(|z: Array| z.sin() * &z, Holomorphic)(z),
        };
        rows::close(&got, &row["output"]).unwrap_or_else(|e| panic!("{e}: {row}"));
    }
}

#[test]
fn complex_numbers_come_go_and_promote() {
    use num_complex::Complex;
    let numbers = [Complex::new(1.0f32, -2.0), Complex::new(0.0, 3.0)];
    let z = Array::from_slice(&numbers, &[2]);
    assert_eq!((z.dtype(), z.nbytes()), (DType::C64, 16));
    assert_eq!(z.to_vec::<Complex<f32>>(), numbers);
    assert_eq!((&z * 2.0).dtype(), DType::C64);
    assert_eq!((&z * Array::from([1.0f64, 2.0])).dtype(), DType::C128);
    let turned = &z * Complex::new(0.0, 1.0);
    assert_eq!(
        turned.to_vec::<Complex<f32>>(),
        [Complex::new(2.0, 1.0), Complex::new(-3.0, 0.0)]
    );
    let weak = Array::from([1.0f32]) * Complex::new(0.0, 1.0);
    assert_eq!(weak.dtype(), DType::C64);
    assert_eq!(z.is_real().to_vec::<bool>(), [false, false]);
    let mapped = vmap(|z: Array| z.abs())(z.clone());
    assert_eq!(
        mapped.to_vec::<f32>(),
        jit(|z: Array| z.abs())(z).to_vec::<f32>()
    );
}
