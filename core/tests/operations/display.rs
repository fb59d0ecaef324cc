//! Arrays print as JAX prints them: the cases of `tests/golden/data/display.json`.

use half::{bf16, f16};
use ramie_core::*;
use serde::Deserialize;

#[derive(Deserialize)]
struct Goldens {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    dtype: String,
    shape: Vec<usize>,
    values: Option<Vec<serde_json::Value>>,
    arange: Option<usize>,
    times: Option<f64>,
    weak: bool,
    str: String,
    repr: String,
}

impl Case {
    fn numbers(&self) -> Vec<serde_json::Value> {
        match (&self.values, self.arange, self.times) {
            (Some(values), ..) => values.clone(),
            (None, Some(n), Some(times)) => (0..n).map(|i| (i as f64 * times).into()).collect(),
            _ => panic!("a case has values or a range"),
        }
    }

    fn array(&self) -> Array {
        let numbers = self.numbers();
        let floats = || numbers.iter().map(float);
        let s = &self.shape;
        if self.weak {
            return match self.dtype.as_str() {
                "int32" => (float(&numbers[0]) as i32).into_array(),
                _ => (float(&numbers[0]) as f32).into_array(),
            };
        }
        macro_rules! put {
            ($($name:literal $t:ty, $v:ident => $e:expr;)*) => {
                match self.dtype.as_str() {
                    $( $name => Array::from_slice(&numbers.iter().map(|$v| $e).collect::<Vec<$t>>(), s), )*
                    "bool" => Array::from_slice(&floats().map(|v| v != 0.0).collect::<Vec<_>>(), s),
                    other => panic!("element type {other}"),
                }
            };
        }
        put! {
            "float64" f64, v => float(v);
            "float32" f32, v => float(v) as f32;
            "float16" f16, v => f16::from_f64(float(v));
            "bfloat16" bf16, v => bf16::from_f64(float(v));
            "int64" i64, v => v.as_i64().unwrap_or_else(|| float(v) as i64);
            "int32" i32, v => float(v) as i32;
            "int16" i16, v => float(v) as i16;
            "int8" i8, v => float(v) as i8;
            "uint64" u64, v => v.as_u64().unwrap_or_else(|| float(v) as u64);
            "uint32" u32, v => float(v) as u32;
            "uint16" u16, v => float(v) as u16;
            "uint8" u8, v => float(v) as u8;
        }
    }
}

fn float(v: &serde_json::Value) -> f64 {
    match v.as_str() {
        Some(text) => text.parse().expect("a number as text"),
        None => v.as_f64().expect("a number"),
    }
}

#[test]
fn arrays_print_as_in_jax() {
    let goldens: Goldens = ramie_testing::golden::json("display.json");
    assert!(goldens.cases.len() > 100);
    let mut problems = String::new();
    for case in &goldens.cases {
        let x = case.array();
        for (got, expected) in [(x.to_string(), &case.str), (format!("{x:?}"), &case.repr)] {
            if got != *expected {
                let (dtype, shape) = (&case.dtype, &case.shape);
                problems += &format!("{dtype}{shape:?}: got\n{got}\nexpected\n{expected}\n\n");
            }
        }
    }
    assert!(problems.is_empty(), "{problems}");
}

#[test]
fn digits_can_be_asked_for() {
    let x = Array::from([1.23456f32, 2.0]);
    assert_eq!(format!("{x:.2}"), "[1.23 2.  ]");
    assert_eq!(format!("{x:.2?}"), "Array([1.23, 2.  ], dtype=float32)");
    assert_eq!(format!("{:.3}", Array::from(2.0f32 / 3.0)), "0.667");
    let whole = Array::from(1.0f32);
    assert_eq!(
        format!("{whole:.3}|{whole:>7.2}|{whole:<6}|{whole:^5}"),
        "1.000|   1.00|1.0   | 1.0 "
    );
    assert_eq!(format!("{:.1}", Array::from(1e10f64)), "10000000000.0");
    assert_eq!(
        format!("{:4}|{:04.1}", Array::from(7), Array::from(0.25f32)),
        "   7|00.2"
    );
}

#[test]
fn exponents_are_those_of_rust() {
    assert_eq!(format!("{:.2e}", Array::from(1234.5f32)), "1.23e3");
    assert_eq!(
        format!("{:e}|{:E}", Array::from(0.1f32), Array::from(0.1)),
        "1e-1|1E-1"
    );
    assert_eq!(
        format!("{:>9.1e}|{:+.0E}", Array::from(12), Array::from(5e20)),
        "    1.2e1|+5E20"
    );
    let x = Array::from([[1.0f32, -0.00025], [f32::NAN, 3e8]]);
    assert_eq!(
        format!("{x:.1e}"),
        "[[  1.0e0 -2.5e-4]\n [    NaN   3.0e8]]"
    );
    assert_eq!(format!("{:e}", Array::from([0.1f32, 20.0])), "[1e-1  2e1]");
    let z = num_complex::Complex32::new(0.0, -20.0);
    assert_eq!(
        format!("{:.1E}", Array::from([z]).reshape(())),
        "(0.0E0-2.0E1j)"
    );
    assert_eq!(format!("{:.1e}", Array::from([true])), "[ True]");
    let long = format!("{:.0e}", Array::arange(2000));
    assert_eq!(long, "[0e0 1e0 2e0 ... 2e3 2e3 2e3]");
    let none = Array::zeros(&[0, 2], DType::F32);
    assert_eq!(format!("{none:e}"), "[]");
}

#[test]
fn what_has_no_elements_prints_its_type() {
    let x = Array::shape_dtype_struct(&[2, 3], DType::F32);
    assert_eq!(
        x.to_string(),
        "ShapeDtypeStruct(shape=(2, 3), dtype=float32)"
    );
    make_jaxpr(|x: Array| {
        assert_eq!(format!("{x} {x:?}"), "Traced<f32[2,3]> Traced<f32[2,3]>");
        x
    })(x);
}
