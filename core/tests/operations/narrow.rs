//! Floats of eight and four bits and integers of four and two, against JAX.

use ramie_core::dtypes::{F8E4M3Fn, I4};
use ramie_core::lax::DotDimensionNumbers;
use ramie_core::prim::elementwise::elementwise_table;
use ramie_core::{Array, DType, grad, jit, make_jaxpr, random, vmap};
use ramie_testing::{check_calls, panic_message};
use serde_json::Value;

fn number(v: &Value) -> f64 {
    match v.as_str() {
        Some(word) => word.parse().expect("a number"),
        None => v.as_f64().expect("a number"),
    }
}

/// The numbers of a list, or of an array with its shape.
fn numbers(v: &Value) -> Vec<f64> {
    let list = v.as_array().or_else(|| v["values"].as_array());
    list.expect("numbers").iter().map(number).collect()
}

fn shape(v: &Value) -> Vec<usize> {
    match (v.as_array(), v["shape"].as_array()) {
        (Some(list), _) => vec![list.len()],
        (_, Some(sizes)) => sizes
            .iter()
            .map(|n| n.as_u64().expect("a size") as usize)
            .collect(),
        _ => panic!("no array: {v}"),
    }
}

fn narrow(name: &str) -> DType {
    let mut all = DType::ALL.into_iter().filter(|d| d.is_narrow());
    all.find(|d| d.name() == name).expect("a narrow type")
}

/// Elements as `f32`, which has all of them.
fn wide(x: &Array) -> Vec<f64> {
    x.astype(DType::F32)
        .to_vec::<f32>()
        .into_iter()
        .map(f64::from)
        .collect()
}

fn given(input: &Value) -> Array {
    Array::from_slice(&numbers(input), &shape(input))
}

fn apply(row: &Value, inputs: &[Array]) -> Array {
    let dtype = narrow(row["dtype"].as_str().expect("a type"));
    let wide = |i: usize| &inputs[i];
    let x = |i: usize| wide(i).astype(dtype);
    match row["fn"].as_str().expect("a name") {
        "convert" if dtype.is_integer() => wide(0).astype(DType::I32).astype(dtype),
        "convert" => wide(0).astype(DType::F32).astype(dtype),
        "reduce_max" => x(0).reduce_max(&[0]),
        "reduce_min" => x(0).reduce_min(&[0]),
        "nothing_max" => Array::zeros(&[0], dtype).reduce_max(&[0]),
        "sort" => x(0).sort(0),
        "dot_f32" => ramie_core::extend::bind1(
            ramie_core::lax::DotGeneral {
                dimension_numbers: DotDimensionNumbers {
                    lhs_contracting: [0].as_slice().into(),
                    rhs_contracting: [0].as_slice().into(),
                    ..Default::default()
                },
                precision: None,
                preferred_element_type: Some(DType::F32),
                out_sharding: None,
            },
            &[&x(0), &x(1)],
        ),
        "bits" => x(0).bitcast_convert_type(DType::U8),
        "eq" => x(0).eq(x(1)),
        "lt" => x(0).lt(x(1)),
        name => {
            let row = elementwise_table()
                .find(|r| r.name == name)
                .expect("an operator");
            let operands: Vec<Array> = (0..row.domain.len()).map(x).collect();
            (row.apply)(&operands).remove(0)
        }
    }
}

/// Compares the text of an array, or of its type in a program.
fn compare_text(row: &Value) {
    let dtype = narrow(row["dtype"].as_str().expect("a type"));
    let text = row["output"].as_str().expect("text");
    let x = given(&row["inputs"][0]).astype(dtype);
    let got = match row["fn"].as_str() {
        Some("repr") => format!("{x:?}"),
        Some("scalar") => x.reshape(()).to_string(),
        Some("type") => make_jaxpr(|x: Array| x)(x).to_string(),
        _ => x.to_string(),
    };
    let type_of = |text: &str| text.split_whitespace().nth(3).map(String::from);
    let same = match row["fn"].as_str() {
        Some("type") => type_of(&got) == type_of(text),
        _ => got == *text,
    };
    assert!(same, "{got}: {row}");
}

#[test]
fn narrow_types_are_those_of_jax() {
    let index: Value = ramie_testing::golden::json("narrow.json");
    let rows = index["rows"].as_array().expect("rows");
    assert!(rows.len() > 150);
    let (texts, rows): (Vec<&Value>, Vec<&Value>) =
        rows.iter().partition(|row| row["output"].is_string());
    texts.into_iter().for_each(compare_text);
    let inputs = |row: &&Value| -> Vec<Array> {
        let inputs = row["inputs"].as_array().into_iter().flatten();
        inputs.map(given).collect()
    };
    let inputs: Vec<Vec<Array>> = rows.iter().map(inputs).collect();
    let applied = |i: usize, x: Vec<Array>| apply(rows[i], &x).astype(DType::F32);
    check_calls(&inputs, applied, |i, got| {
        let want = &rows[i]["output"];
        let same = |(a, b): (&f64, &f64)| {
            // Numbers in JSON are read to within a rounding.
            (*a as f32).to_bits() == (*b as f32).to_bits() || (a.is_nan() && b.is_nan())
        };
        let equal = wide(&got).iter().zip(&numbers(want)).all(same);
        assert!(equal && got.shape() == shape(want), "{got}: {}", rows[i]);
    });
}

/// The host's conversions are the device's, on every number that a type has and
/// on those halfway between them.
#[test]
fn host_and_device_convert_alike() {
    for dtype in DType::ALL.into_iter().filter(|d| d.is_narrow()) {
        let all = if dtype.is_float() && dtype.bits() == 8 {
            wide(&Array::from((0..=255).collect::<Vec<u8>>()).bitcast_convert_type(dtype))
        } else {
            (-32..32).map(|v| f64::from(v) / 4.0).collect()
        };
        let mut values: Vec<f64> = all.iter().copied().filter(|v| v.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        let between: Vec<f64> = values.windows(2).map(|w| (w[0] + w[1]) / 2.0).collect();
        values.extend(between);
        // The device takes subnormal numbers of f32 for zero.
        values.retain(|v| *v == 0.0 || v.abs() >= f64::from(f32::MIN_POSITIVE));
        if dtype.is_integer() {
            values
                .iter_mut()
                .for_each(|v| *v = v.trunc().clamp(0.0, 1.0));
        }
        let device = wide(&Array::from(values.clone()).astype(DType::F32).astype(dtype));
        for (v, got) in values.iter().zip(device) {
            let host = wide(&Array::scalar(*v, dtype))[0];
            assert!(
                host == got || (host.is_nan() && got.is_nan()),
                "{v} to {dtype}: {host}, {got}"
            );
        }
    }
}

#[test]
fn narrow_types_meet_no_other_by_themselves() {
    let x = Array::from([1.0f32, 2.0]).astype(DType::F8E5M2);
    let text = panic_message(|| &x + Array::from([1.0f32, 2.0]));
    assert!(
        text.contains("f8_e5m2 and f32 have no common dtype") && text.contains("help:"),
        "{text}"
    );
    assert_eq!((&x * 2.0).dtype(), DType::F8E5M2);
    let i = Array::from([1i32, 2]).astype(DType::U4);
    assert_eq!((&i + 1).dtype(), DType::U4);
}

#[test]
fn narrow_types_are_differentiated_mapped_and_compiled() {
    let x = Array::from([1.0f32, 0.5, -1.5, 2.0]).astype(DType::F8E4M3Fn);
    let f = |x: Array| (&x * &x).astype(DType::F32).sum();
    let slope = grad(f)(x.clone());
    assert_eq!(slope.dtype(), DType::F8E4M3Fn);
    assert_eq!(wide(&slope), [2.0, 1.0, -3.0, 4.0]);
    // Weights kept in eight bits and used in f32.
    let loss = jit(|w: Array| (w.astype(DType::F32) * 3.0).sum());
    assert_eq!(wide(&grad(loss)(x.clone())), [3.0; 4]);
    let doubled = vmap(|v: Array| &v + &v)(x.clone());
    assert_eq!(
        doubled
            .to_vec::<F8E4M3Fn>()
            .iter()
            .map(|v| v.to_f64())
            .collect::<Vec<_>>(),
        [2.0, 1.0, -3.0, 4.0]
    );
}

#[test]
fn narrow_elements_come_and_go() {
    let numbers = [I4::new(-8), I4::new(7), I4::new(0)];
    let x = Array::from_slice(&numbers, &[3]);
    assert_eq!(x.dtype(), DType::I4);
    assert_eq!(x.to_vec::<I4>(), numbers);
    assert_eq!(
        Array::from_slice(&[F8E4M3Fn::from_f64(1e9)], &[]).to_string(),
        "nan"
    );
    let draws = random::uniform(&random::key(0), &[100], DType::F8E4M3Fn);
    assert!(wide(&draws).iter().all(|v| (0.0..=1.0).contains(v)));
}

#[test]
fn bits_of_other_widths_are_an_axis() {
    let x = Array::from([0x0403_0201u32, 0x0807_0605]);
    let bytes = x.bitcast_convert_type(DType::U8);
    assert_eq!(bytes.shape(), [2, 4]);
    assert_eq!(bytes.to_vec::<u8>(), [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(
        bytes.bitcast_convert_type(DType::U32).to_vec::<u32>(),
        x.to_vec::<u32>()
    );
    let columns = ramie_core::vmap_with(|b: Array| b.bitcast_convert_type(DType::U32), 1);
    assert_eq!(
        columns(bytes.transpose(&[1, 0])).to_vec::<u32>(),
        x.to_vec::<u32>()
    );
    let nibbles = Array::from([0x21u8]).bitcast_convert_type(DType::U4);
    assert_eq!(wide(&nibbles), [1.0, 2.0]);
}
