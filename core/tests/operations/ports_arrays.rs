//! Options of functions that most programs ported from JAX pass, against JAX:
//! an inferred size, an order, a mode, a dtype, an axis.

use ramie_core::config::default_matmul_precision;
use ramie_core::lax::{
    DotDimensionNumbers, Padding, Precision, conv_general_dilated, optimization_barrier,
};
use ramie_core::numpy::{Ellipsis, NewAxis, Order, TakeMode};
use ramie_core::options::{Contraction, Convolution, Reduction, Spacing};
use ramie_core::typing::{Dims, Like};
use ramie_core::*;
use ramie_testing::check_calls;
use ramie_testing::numbers::to_f64;

/// The numbers from 1, with alternating signs.
pub(super) fn x(shape: &[usize]) -> Array {
    let n: usize = shape.iter().product();
    let sign = |i: usize| if i.is_multiple_of(2) { 1.0 } else { -1.0 };
    let numbers: Vec<f32> = (0..n).map(|i| (i + 1) as f32 * sign(i)).collect();
    // Otherwise the compiler may compute with the numbers instead of the program.
    optimization_barrier(Array::from(numbers).reshape(shape))
}

fn shapes(case: &str) -> Option<Array> {
    Some(match case {
        "reshape_2_-1" => x(&[3, 4]).reshape(&[2, -1]),
        "reshape_-1" => x(&[3, 4]).reshape(-1),
        "reshape_-1_empty" => x(&[0, 4]).reshape((-1, 2)),
        "reshape_0_4_of_empty" => x(&[0, 4]).reshape((4usize, -1)),
        "reshape_scalar" => x(&[]).reshape(&[-1]),
        "reshape_to_scalar" => x(&[1, 1]).reshape(()),
        "reshape_F" => x(&[2, 3, 4]).reshape_with((4, -1), Order::F),
        "reshape_F_vector" => x(&[6]).reshape_with(&[2, 3], Order::F),
        "reshape_F_empty" => x(&[2, 0]).reshape_with(&[0, 5], Order::F),
        "ravel_F" => x(&[2, 3, 2]).reshape_with(-1, Order::F),
        _ => return None,
    })
}

type Choice = fn(&Array, Reduction) -> Array;

fn extremes(case: &str) -> Option<Array> {
    let (name, rest) = case.split_once('_')?;
    let choose: Choice = match name {
        "argmax" => |x, over| x.argmax(over),
        "argmin" => |x, over| x.argmin(over),
        "nanargmax" => |x, over| x.nanargmax(over),
        "nanargmin" => |x, over| x.nanargmin(over),
        _ => return None,
    };
    let all = Reduction::all;
    let kept = |axis: isize| Reduction::over(axis).keepdims();
    let tied = Array::from([[3, 1, 3], [3, 0, 0]]);
    let nan = f32::NAN;
    let with_nan = Array::from([[1.0, nan, 5.0], [7.0, 0.0, nan]]);
    Some(match rest {
        "all" if name.starts_with("nan") => choose(&with_nan, all()),
        "1_keepdims" => choose(&with_nan, kept(1)),
        "all" => choose(&x(&[3, 4]), all()),
        "all_tied" => choose(&tied, all()),
        "all_nan" => choose(&Array::from([[1.0, nan], [nan, 0.0]]), all()),
        "all_scalar" => choose(&x(&[]), all()),
        "all_keepdims" => choose(&x(&[3, 4]), all().keepdims()),
        "0_keepdims" => choose(&x(&[3, 4]), kept(0)),
        "-1_keepdims" => choose(&tied, kept(-1)),
        _ => return None,
    })
}

fn creation(case: &str) -> Option<Array> {
    use DType::*;
    let like = x(&[2, 3]).astype(F16);
    Some(match case {
        "eye_2_3" => Array::eye_with(2, 3, 0, F32),
        "eye_3_2_1" => Array::eye_with(3, 2, 1, F32),
        "eye_3_4_-1" => Array::eye_with(3, 4, -1, I32),
        "eye_2_2_9" => Array::eye_with(2, 2, 9, F32),
        "eye_0_3" => Array::eye_with(0, 3, 0, F32),
        "zeros_like_i32" => like.full_like_with(0, Like::new().dtype(I32)),
        "ones_like_shape" => like.full_like_with(1, Like::new().shape(&[4])),
        "full_like_both" => like.full_like_with(7, Like::new().dtype(U8).shape(&[2, 1])),
        "full_like_scalar_shape" => like.full_like_with(2.5, Like::new().shape(&[])),
        _ => return linspace(case.strip_prefix("linspace")?),
    })
}

fn linspace(case: &str) -> Option<Array> {
    let step = case.ends_with("_step");
    let (start, stop) = (Array::from([0.0f32, 2.0]), Array::from([4.0f32, -6.0]));
    let spacing = Spacing::new(5);
    let spacing = match case.trim_end_matches("_step") {
        "" => spacing,
        "_end" => spacing.without_end(),
        "_axis" => spacing.axis(-1),
        "_f16" => spacing.dtype(DType::F16),
        few => {
            let spacing = Spacing::new(few[1..2].parse().ok()?);
            let spacing = match &few[2..] {
                "_True" => spacing,
                "_False" => spacing.without_end(),
                _ => return None,
            };
            return Some(spacing.linear_with_step(1f32, 3f32).1);
        }
    };
    let found = spacing.linear_with_step(start, stop);
    Some(if step { found.1 } else { found.0 })
}

fn repeats(case: &str) -> Option<Array> {
    let counts = Array::from([1, 0, 3]);
    Some(match case.strip_prefix("repeat_")? {
        "1" => x(&[2, 3]).repeat_sized(counts, -1, 5),
        "one_count" => x(&[2, 3]).repeat_sized(2, 1, 6),
        "none" => x(&[2, 2]).repeat_sized(Array::from([0, 1, 2, 1]), None, 4),
        "zeros" => x(&[3]).repeat_sized(Array::from([0, 0, 0]), None, 2),
        "empty" => x(&[0, 2]).repeat_sized(Array::zeros(&[0], DType::I32), 0, 3),
        total => {
            let total = total.strip_prefix("0_")?.parse().ok()?;
            x(&[3, 2]).repeat_sized(counts, 0, total)
        }
    })
}

fn mode(name: &str) -> Option<TakeMode> {
    Some(match name {
        "clip" => TakeMode::Clip,
        "wrap" => TakeMode::Wrap,
        "fill" | "default" => TakeMode::Fill,
        "promise" => TakeMode::PromiseInBounds,
        "fill_value" => TakeMode::FillValue((-7.5).into()),
        _ => return None,
    })
}

fn takes(case: &str) -> Option<Array> {
    let a = x(&[4, 3]);
    let i = Array::from([-1, 9, 0, -7, 2, -4]);
    let within = Array::from([3, 0, -1, -4]);
    let (function, rest) = case.split_once('_')?;
    Some(match (function, rest) {
        ("take", "u8_wrap") => a.take_with(&Array::from([200u8, 3, 4]), 0, TakeMode::Wrap),
        ("take", "fill_value") => a.take_with(&i, 0, mode("fill_value")?),
        ("take", "i32_fill_value") => {
            let fill = TakeMode::FillValue((-7).into());
            a.astype(DType::I32).take_with(&i, 0, fill)
        }
        ("take", "empty") => x(&[4, 0]).take_with(&i, 0, TakeMode::Wrap),
        ("take", "promise") => a.take_with(&within, 0, TakeMode::PromiseInBounds),
        ("take", _) => {
            let (axis, name) = rest.split_once('_')?;
            let mode = mode(name)?;
            match axis {
                "0" => a.take_with(&i, 0, mode),
                "1" => a.take_with(&i, 1, mode),
                "none" => a.take_with(&i, None, mode),
                _ => a.take_with(&i.astype(DType::I8), 0, mode),
            }
        }
        ("along", "none") => a.take_along_axis(&i, None),
        ("along", "fill_value") => {
            a.take_along_axis_with(&i.expand_dims(&[1]), 0, mode("fill_value")?)
        }
        ("along", _) => {
            let (axis, name) = rest.split_once('_')?;
            let places = match (name, axis) {
                ("promise", "1") => within.remainder(3),
                ("promise", _) => within,
                _ => i,
            };
            match axis {
                "0" => a.take_along_axis_with(&places.expand_dims(&[1]), 0, mode(name)?),
                _ => a.take_along_axis_with(&places.expand_dims(&[0]), 1, mode(name)?),
            }
        }
        _ => return None,
    })
}

/// Single booleans in an index.
fn flags(case: &str) -> Option<Array> {
    let a = x(&[2, 3]);
    let rows = || Array::from([1, 0, 1]);
    Some(match case.strip_prefix("flag_")? {
        "true" => a.index(true),
        "false" => a.index(false),
        "last" => a.index((Ellipsis, true)),
        "between" => a.index((.., true)),
        "element" => a.index((1, true)),
        "new" => a.index((NewAxis, true, 0)),
        "two" => a.index((true, false)),
        "places" => a.index((true, rows())),
        "apart" => a.index((true, .., [0, 2])),
        "set" => a.at(true).set(5.0),
        "not_set" => a.at(false).set(5.0),
        "add" => a.at((.., true)).add(array([[[1.0, 2.0, 3.0]]])),
        "multiply" => a.at((true, rows())).multiply(2.0),
        _ => return None,
    })
}

fn bounds(case: &str) -> Option<Array> {
    let a = x(&[2, 3]);
    let wrong = Array::from([f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1.0]);
    Some(match case {
        "clip_min" => a.clip(-2, None),
        "clip_max" => a.clip(None, 2.5),
        "clip_none" => a.clip(None, None),
        "clip_row" => a.clip(None, Array::from([0f32, 1.0, 2.0])),
        "nan_to_num_nan" => wrong.nan_to_num_with(7.5, None, None),
        "nan_to_num_posinf" => wrong.nan_to_num_with(None, 7.5, None),
        "nan_to_num_neginf" => wrong.nan_to_num_with(None, None, 7.5),
        "nan_to_num_bf16" => wrong.astype(DType::BF16).nan_to_num_with(7.5, None, None),
        _ => return None,
    })
}

fn products(case: &str) -> Option<Array> {
    let (a, b) = (x(&[2, 3, 4]), x(&[3, 4]));
    Some(match case {
        "vecdot_-1" => a.vecdot(b),
        "vecdot_0" => x(&[3, 2]).vecdot_with(x(&[3, 2]), 0, Contraction::new()),
        "vecdot_1" => a.vecdot_with(&a, 1, Contraction::new()),
        "vecdot_-2" => a.vecdot_with(b, -2, Contraction::new()),
        _ => return None,
    })
}

fn contractions(case: &str) -> Option<Array> {
    use DType::*;
    let small = x(&[3, 4]).astype(BF16);
    let bytes = x(&[3, 4]).astype(I8);
    let of = |dtype| Contraction::new().preferred_element_type(dtype);
    Some(match case {
        "dot_numbers" => {
            let numbers = DotDimensionNumbers::new([&[1], &[2]], [&[0], &[0]]);
            x(&[2, 3, 4]).dot_general(&x(&[2, 5, 3]), numbers)
        }
        "dot_f32" => small.dot_with(small.t(), of(F32)),
        "dot_scalar_f32" => small.dot_with(Array::scalar(2, BF16), of(F32)),
        "matmul_f32" => small.matmul_with(small.t(), of(F32)),
        "tensordot_1_f32" => small.tensordot_with(small.t(), 1, of(F32)),
        "tensordot_f32" => small.tensordot_with(&small, ([0, 1], [0, 1]), of(F32)),
        "inner_f32" => small.inner_with(small.index(1..), of(F32)),
        "inner_scalar_f32" => small.inner_with(Array::scalar(2, BF16), of(F32)),
        "vdot_f32" => small.vdot_with(&small, of(F32)),
        "vecdot_f32" => small.vecdot_with(&small, 0, of(F32)),
        "matmul_i32" => bytes.matmul_with(bytes.t(), of(I32)),
        "matmul_i8" => bytes.matmul(bytes.t()),
        _ => return None,
    })
}

fn paddings(case: &str) -> Option<Array> {
    let a = x(&[2, 3]);
    let widths = [(1, 2), (0, 1)];
    let each = [(1, 2), (3, 4)];
    Some(match case {
        "pad_each" => a.pad_constants(&widths, &each),
        "pad_pair" => a.pad_constants(&widths, &[(5.0, 6.0)]),
        "pad_vector" => x(&[2]).pad_constants(&[(2, 1)], &[(-1, 9)]),
        "pad_i32" => a.astype(DType::I32).pad_constants(&widths, &each),
        "pad_none" => a.pad_constants(&[(0, 0), (0, 0)], &each),
        _ => return None,
    })
}

#[test]
fn options_of_ported_programs_equal_jax() {
    let parts = [
        shapes,
        extremes,
        creation,
        repeats,
        takes,
        flags,
        bounds,
        products,
        contractions,
        paddings,
    ];
    rows_equal_jax("ports_arrays.json", &parts, |_| 0.0);
}

/// Compares the results of the rows of a file, each of which one of `parts` computes, with JAX's.
/// `bound` is the largest relative difference.
pub(super) fn rows_equal_jax(
    file: &str,
    parts: &[fn(&str) -> Option<Array>],
    bound: fn(&str) -> f64,
) {
    let rows: Vec<serde_json::Value> = ramie_testing::golden::json(file);
    let rows = rows.iter().filter(|row| row["texts"].is_null());
    let rows: Vec<&serde_json::Value> = rows.collect();
    let name = |i: usize| rows[i]["case"].as_str().expect("a name");
    let found = |i: usize, ()| {
        let found = parts.iter().find_map(|part| part(name(i)));
        found.unwrap_or_else(|| panic!("no case {}", name(i)))
    };
    check_calls(&vec![(); rows.len()], found, |i, found| {
        let (row, case) = (rows[i], name(i));
        let shape: Vec<usize> = serde_json::from_value(row["shape"].clone()).expect("sizes");
        assert_eq!(found.shape(), shape, "{case}");
        assert_eq!(found.dtype().name(), row["dtype"], "{case}");
        let numbers: Vec<f64> = (row["out"].as_array().expect("elements").iter())
            .map(|v| match v.as_str() {
                Some(word) => word.parse().expect("a number"),
                None => v.as_f64().expect("a number"),
            })
            .collect();
        let (found, bound) = (to_f64(&found), bound(case));
        // XLA rounds subnormal numbers to 0.
        let tiny = f64::from(f32::MIN_POSITIVE);
        let near = |a: f64, b: f64| (a - b).abs() <= bound * b.abs().max(tiny / 1e-5);
        let same = |(&a, &b): (&f64, &f64)| a == b || (a.is_nan() && b.is_nan()) || near(a, b);
        assert!(
            found.iter().zip(&numbers).all(same),
            "{case}: expected {numbers:?}, got {found:?}"
        );
    });
}

/// The parameters `precision` of the products in a printed program.
fn precisions(program: &str) -> Vec<String> {
    let rest = program.split("precision=(").skip(1);
    rest.map(|rest| format!("({})", rest.split(')').next().unwrap_or_default()))
        .collect()
}

#[test]
fn precisions_and_their_defaults_equal_jax() {
    let rows: Vec<serde_json::Value> = ramie_testing::golden::json("ports_arrays.json");
    let (highest, default) = (Precision::HIGHEST, Precision::DEFAULT);
    let mut compared = 0;
    for row in rows.iter().filter(|row| !row["texts"].is_null()) {
        let case = row["case"].as_str().expect("a name");
        let words: Vec<&str> = case.split('_').collect();
        let precision = match words[2] {
            "none" => None,
            "high" => Some(Precision::HIGH),
            _ => Some(Precision::per_operand(default, highest)),
        };
        let process = match words[3] {
            "None" => None,
            "float32" => Some(highest),
            _ => Some(default),
        };
        let convolves = words[1] == "conv";
        let f = move |a: Array, b: Array| {
            if !convolves {
                let numbers = DotDimensionNumbers::new([&[1], &[0]], [&[], &[]]);
                return a.dot_general_with(&b, numbers, Contraction::new().precision(precision));
            }
            let how = Convolution::new().padding(Padding::Same);
            let how = match precision {
                Some(precision) => how.precision(precision),
                None => how,
            };
            let [a, b] = [a, b].map(|x| x.expand_dims(&[0, 1]));
            conv_general_dilated(&a, &b, &how)
        };
        let a = || x(&[3, 3]);
        let mut found =
            default_matmul_precision(process, || precisions(&make_jaxpr(f)(a(), a()).to_string()));
        found.extend(default_matmul_precision(process, || {
            let both = grad(move |(a, b): (Array, Array)| f(a, b).sum());
            precisions(&make_jaxpr(both)((a(), a())).to_string())
        }));
        let texts = row["texts"].as_array().expect("texts").iter();
        let texts: Vec<&str> = texts
            .filter_map(|t| t.as_str())
            .filter(|t| *t != "None")
            .collect();
        assert_eq!(found, texts, "{case}");
        compared += 1;
    }
    assert_eq!(compared, 18);
}

#[test]
fn a_program_is_traced_for_each_default_precision() {
    let traces = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = traces.clone();
    let f = jit(move |x: Array| {
        count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        x.matmul(&x)
    });
    let call = || f(Array::ones(&[2, 2], DType::F32)).to_vec::<f32>();
    for _ in 0..2 {
        assert_eq!(call(), [2.0; 4]);
        default_matmul_precision(Precision::HIGHEST, call);
    }
    assert_eq!(traces.load(std::sync::atomic::Ordering::Relaxed), 2);
}

#[test]
fn shapes_may_have_any_integer_type() {
    let a = x(&[2, 3, 4]);
    let (n, sizes) = (a.shape()[0], vec![6i64, -1]);
    assert_eq!(a.reshape((n, -1)).shape(), [2, 12]);
    assert_eq!(a.reshape(&sizes).shape(), [6, 4]);
    assert_eq!(a.reshape(&sizes[..]).shape(), [6, 4]);
    assert_eq!(a.reshape(&[-1i8, 2u8 as i8]).shape(), [12, 2]);
    assert_eq!(
        a.reshape(&a.shape()[..2].iter().map(|n| n * 2).collect::<Dims>())
            .shape(),
        [4, 6]
    );
    assert_eq!(a.reshape(&[1u64, 24]).shape(), [1, 24]);
}

#[test]
fn traced_counts_repeat_elements() {
    let f = jit(|(x, counts): (Array, Array)| x.repeat_sized(counts, 0, 3));
    let out = f((Array::from([7, 8]), Array::from([1, 2])));
    assert_eq!(out.to_vec::<i32>(), [7, 8, 8]);
}

#[test]
fn lists_of_booleans_are_masks() {
    let x = Array::from([7, 8, 9]);
    assert_eq!(x.index([true, false, true]).to_vec::<i32>(), [7, 9]);
    assert_eq!(x.index(vec![false, true, false]).to_vec::<i32>(), [8]);
    let rows = Array::from(vec![[1, 2], [3, 4]]);
    assert_eq!((rows.shape(), rows.dtype()), (&[2, 2][..], DType::I32));
    assert_eq!(rows.index(([true, false], 1)).to_vec::<i32>(), [2]);
    assert_eq!(Array::from(Vec::<[f32; 4]>::new()).shape(), [0, 4]);
}
