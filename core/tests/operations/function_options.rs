//! Options of functions that fewer programs of JAX pass, against JAX 0.12: kept axes and dtypes of
//! indices, an axis, modes of indices, methods of samplers.

use super::ports_arrays::{rows_equal_jax, x};
use ramie_core::lax::{AccuracyMode, Dimensions, GatherScatterMode, clamp, select_n};
use ramie_core::numpy::{At, PadMode, PadStatistic, TakeMode};
use ramie_core::options::{NonNegative, Reduction, Trace};
use ramie_core::random::{self, SamplingMethod};
use ramie_core::*;
use ramie_testing::panics::panic_message;

fn extremes(case: &str) -> Option<Array> {
    let words: Vec<&str> = case.rsplitn(3, '_').collect();
    let tied = Array::from([[3, 1, 3, 2], [3, 0, 0, 5], [1, 1, 1, 5]]);
    let part = |(values, indices): (Array, Array)| match words[0] {
        "0" => Some(values),
        "1" => Some(indices),
        _ => None,
    };
    if let Some(rest) = case.strip_prefix("top_k_") {
        let axis = rest.rsplit_once('_')?.0.parse().ok()?;
        return part(tied.top_k_with(2, axis));
    }
    if case.starts_with("approx_max_k_") {
        return part(x(&[4, 3]).approx_max_k(2, 0));
    }
    let (name, rest) = case.split_once('_')?;
    let nan = Array::scalar(f32::NAN, DType::F32);
    let nan = where_(x(&[3, 4]).eq(5.0), &nan, x(&[3, 4])).at(2).set(nan);
    let over = match rest {
        "int8" => Reduction::over(1).dtype(DType::I8),
        "uint8" => Reduction::over(1).dtype(DType::U8),
        "uint32" => Reduction::over(1).dtype(DType::U32),
        "keepdims" => Reduction::over(-1).keepdims(),
        "all" => Reduction::all().keepdims(),
        _ => return None,
    };
    Some(match name {
        "argmax" => x(&[3, 4]).argmax(over),
        "argmin" => x(&[3, 4]).argmin(over),
        "nanargmax" => nan.nanargmax(over),
        "nanargmin" => nan.nanargmin(over),
        _ => return None,
    })
}

fn updates(case: &str) -> Option<Array> {
    use GatherScatterMode::{Clip, FillOrDrop};
    let (a, i) = (x(&[5]), Array::from([-1, 0, 7, 2]));
    fn off<'a>(a: &'a Array, i: impl typing::IntoIndex) -> At<'a> {
        a.at(i).wrap_negative_indices(false)
    }
    let at = off(&a, &i);
    let minus = lax::optimization_barrier(Array::from(-1));
    Some(match case.strip_prefix("at_")? {
        "get" => at.get(),
        "get_fill" => at.mode(FillOrDrop).get(),
        "get_clip" => at.mode(Clip).get(),
        "set" => at.set(2.0),
        "add" => at.add(2.0),
        "multiply" => at.multiply(2.0),
        "divide" => at.divide(2.0),
        "power" => at.power(2.0),
        "min" => at.min(2.0),
        "max" => at.max(2.0),
        "set_clip" => at.mode(Clip).set(9.0),
        "apply" => off(&a, [-1, 1, 1]).apply(|v| v + 1),
        "static_fill" => off(&a, -1).mode(FillOrDrop).get(),
        "static_clip" => off(&a, -1).mode(Clip).get(),
        "static_drop" => off(&a, -1).mode(FillOrDrop).set(9.0),
        "range" => off(&a, -2..).get(),
        "scalar" => off(&a, minus).get(),
        "scalar_set" => off(&a, minus).set(9.0),
        "rows" => off(&x(&[3, 4]), ([-1, 1], 1..3)).add(10.0),
        _ => return None,
    })
}

fn slices(case: &str) -> Option<Array> {
    let b = x(&[4, 5]);
    let starts = lax::optimization_barrier(Array::from([-1, -3]));
    let starts = [starts.index(0), starts.index(1)];
    let at = lax::optimization_barrier(Array::from(-2));
    let positive = || match case.rsplit('_').next() {
        Some("yes") => NonNegative::along(&[]),
        Some("first") => NonNegative::along(&[1]),
        _ => NonNegative::all(),
    };
    let zeros = |shape: &[usize]| Array::zeros(shape, DType::F32);
    let name = ["_yes", "_no", "_first"];
    let name = name
        .iter()
        .find_map(|end| case.strip_suffix(end))
        .unwrap_or(case);
    Some(match name {
        "dynamic_slice" => b.dynamic_slice_with(&starts, &[2, 2], positive()),
        "dynamic_update_slice" => b.dynamic_update_slice_with(&zeros(&[2, 2]), &starts, positive()),
        "dynamic_slice_in_dim" => b.dynamic_slice_in_dim_with(at, 2, 1, positive()),
        "dynamic_index_in_dim" => b.dynamic_index_in_dim_with(at, 0, positive()),
        "dynamic_update_slice_in_dim" => {
            b.dynamic_update_slice_in_dim_with(&zeros(&[4, 2]), at, 1, positive())
        }
        "dynamic_update_index_in_dim" => {
            b.dynamic_update_index_in_dim_with(&zeros(&[5]), at, 0, positive())
        }
        _ => return None,
    })
}

fn one_hot(case: &str) -> Option<Array> {
    let a = x(&[2, 3, 4]);
    let take = |x: &Array, i: &Array, axis: Option<isize>| {
        x.take_along_axis_with(i, axis, TakeMode::OneHot)
    };
    Some(match case.strip_prefix("one_hot_")? {
        "vector" => take(&x(&[3]), &Array::from([0, 1, 0, 7, -1]), Some(0)),
        "row" => take(&a, &Array::from([2, 0, 5]).reshape(&[1, 3, 1]), Some(1)),
        "full" => {
            let i = Array::arange(16).reshape(&[2, 2, 4]).remainder(5) - 1;
            take(&a, &i, Some(1))
        }
        "last" => {
            let i = Array::from([3, 0, -4, 1, 9, 2]).reshape(&[2, 3, 1]);
            take(&a, &i, Some(-1))
        }
        "i32" => take(
            &a.astype(DType::I32),
            &Array::ones(&[2, 1, 1], DType::I32),
            Some(1),
        ),
        "none" => take(&a, &Array::from([5, -1, 24]), None),
        _ => return None,
    })
}

fn traces(case: &str) -> Option<Array> {
    let a = x(&[2, 3, 4]);
    let bytes = a.astype(DType::I8);
    Some(match case {
        "trace" => a.trace(1),
        "trace_axes" => a.trace_with(1, Trace::new().axes(1, 2)),
        "trace_swapped" => a.trace_with(1, Trace::new().axes(2, 0)),
        "trace_dtype" => bytes.trace_with(0, Trace::new().dtype(DType::F32)),
        "trace_i8" => (bytes * 50).trace_with(0, Trace::new().axes(-1, -2)),
        _ => return None,
    })
}

fn paddings(case: &str) -> Option<Array> {
    let (a, widths) = (x(&[3, 2]), [(2, 5), (1, 3)]);
    let case = case.strip_prefix("pad_")?;
    if let Some((mode, rest)) = case.split_once("_odd") {
        let mode = match mode {
            "reflect" => PadMode::ReflectOdd,
            _ => PadMode::SymmetricOdd,
        };
        return Some(match rest {
            "" => a.pad_with(&widths, mode),
            "_i32" => a.astype(DType::I32).pad_with(&widths, mode),
            "_one" => x(&[1]).pad_with(&[(2, 3)], mode),
            _ => x(&[4]).pad_with(&[(9, 11)], mode),
        });
    }
    let (name, rest) = case.split_once('_').unwrap_or((case, ""));
    let of = match name {
        "maximum" => PadStatistic::Maximum,
        "minimum" => PadStatistic::Minimum,
        "mean" => PadStatistic::Mean,
        "median" => PadStatistic::Median,
        _ if rest == "none" => return Some(x(&[0, 2]).pad_with(&widths, PadMode::Empty)),
        _ => return Some(a.pad_with(&widths, PadMode::Empty)),
    };
    let mode = |before, after| PadMode::Statistic {
        of,
        stat_length: vec![(before, after)],
    };
    Some(match rest {
        "sides" => x(&[5, 3]).pad_with(&[(1, 2), (2, 1)], mode(2, 3)),
        _ => x(&[5]).astype(DType::I32).pad_with(&[(1, 1)], mode(1, 4)),
    })
}

fn elementwise(case: &str) -> Option<Array> {
    let (a, b) = (x(&[2, 3]), x(&[2, 3, 4]));
    let which = Array::from([[0, 1, 2], [2, 5, -3]]);
    let cases = || [a.clone(), &a * 10, &a * 100];
    Some(match case {
        "mul_i32" => {
            let bytes = a.astype(DType::I8) * 20;
            bytes.mul_with(&bytes, DType::I32)
        }
        "mul_f32" => {
            let half = a.astype(DType::F16);
            half.mul_with(&half * 0.1, DType::F32)
        }
        "clamp" => clamp(-2.0, &a, 2.5),
        "clamp_crossed" => clamp(2.0, &a, -1.0),
        "clamp_nan" => clamp(-1.0, &Array::from([f32::NAN, 3.0]), 1.0),
        "clamp_arrays" => clamp(&a - 1, &a.zeros_like(), &a + 2),
        "select_n" => select_n(&which, &cases()),
        "select_n_scalar" => select_n(&Array::from(1), &cases()),
        "select_n_bool" => select_n(&a.gt(0), &cases()[..2]),
        "select_n_one" => select_n(&which, &cases()[..1]),
        "reshape_dimensions" => b.reshape_with(&[6, 4], Dimensions::new(&[2, 0, 1])),
        "reshape_transposed" => b.reshape_with(-1, Dimensions::new(&[2, 1, 0])),
        _ => return None,
    })
}

fn samplers(case: &str) -> Option<Array> {
    use DType::*;
    let (key, how) = (random::key(7), SamplingMethod::Approximate);
    let a = Array::from([0.05f32, 0.5, 1.0, 4.0, 300.0]);
    let b = a.flip(&[0]);
    let lam = Array::from([0.0f32, 0.3, 6.9, 7.0, 25.0, 1e4]);
    Some(match case {
        "gamma" => random::gamma_with(&key, &a, &[3, 5], F32, how),
        "gamma_f16" => random::gamma_with(&key, &a, &[3, 5], F16, how),
        "gamma_f64" => random::gamma_with(&key, &a, &[3, 5], F64, how),
        "loggamma" => random::loggamma_with(&key, &a, &[3, 5], F32, how),
        "loggamma_slope" => {
            let sum = move |a: Array| random::loggamma_with(&key, a, &[3, 5], F32, how).sum();
            grad(sum)(a)
        }
        "beta" => random::beta_with(&key, &a, &b, &[3, 5], F32, how),
        "beta_exact" => random::beta(&key, &a, &b, &[3, 5], F32),
        "chisquare" => random::chisquare_with(&key, &a, &[3, 5], F32, how),
        "poisson" => random::poisson_with(&key, &lam, &[20, 6], I32, how),
        "poisson_rbg" => {
            let key = random::key_with(7, random::KeyImpl::Rbg);
            random::poisson_with(&key, &lam, &[2, 6], I32, how)
        }
        "poisson_i64" => random::poisson_with(&key, lam.astype(F64), &[5, 6], I64, how),
        _ => return None,
    })
}

#[test]
fn options_of_functions_equal_jax() {
    let parts = [
        extremes,
        updates,
        slices,
        one_hot,
        traces,
        paddings,
        elementwise,
        samplers,
    ];
    rows_equal_jax("function_options.json", &parts, |case| match case {
        "gamma_f16" => 2e-3,
        "gamma" | "loggamma" | "loggamma_slope" | "beta" | "beta_exact" | "chisquare" => 1e-5,
        "gamma_f64" => 1e-13,
        "pad_mean_sides" => 1e-6,
        _ => 0.0,
    });
}

type Function = fn(&Array, AccuracyMode) -> Array;

const FUNCTIONS: [(&str, Function); 13] = [
    ("exp", |x, how| x.exp_with(how)),
    ("exp2", |x, how| x.exp2_with(how)),
    ("expm1", |x, how| x.expm1_with(how)),
    ("log", |x, how| x.log_with(how)),
    ("log2", |x, how| x.log2_with(how)),
    ("log1p", |x, how| x.log1p_with(how)),
    ("sqrt", |x, how| x.sqrt_with(how)),
    ("rsqrt", |x, how| x.rsqrt_with(how)),
    ("cbrt", |x, how| x.cbrt_with(how)),
    ("sin", |x, how| x.sin_with(how)),
    ("cos", |x, how| x.cos_with(how)),
    ("tan", |x, how| x.tan_with(how)),
    ("tanh", |x, how| x.tanh_with(how)),
];

#[test]
fn accuracies_in_programs_equal_jax() {
    let rows: Vec<serde_json::Value> = ramie_testing::golden::json("function_options.json");
    let mut compared = 0;
    for row in rows.iter().filter(|row| !row["texts"].is_null()) {
        let case = row["case"].as_str().expect("a name");
        let words: Vec<&str> = case.split(' ').collect();
        let (_, f) = FUNCTIONS
            .iter()
            .find(|(name, _)| *name == words[1])
            .expect(case);
        let how = match words[2] {
            "HIGHEST" => AccuracyMode::Highest,
            "DEFAULT" => AccuracyMode::Default,
            "both" => AccuracyMode::tolerance(1e-5, 0.0, 1),
            _ => AccuracyMode::tolerance(0.0, 0.1, 0),
        };
        let lowered = jit(move |x: Array| f(&x, how))
            .lower((x(&[2]),))
            .expect(case);
        let text = lowered.as_text().to_string();
        let program = make_jaxpr(move |x: Array| f(&x, how))(x(&[2])).to_string();
        for expected in row["texts"].as_array().expect("texts") {
            let expected = expected.as_str().expect("a text");
            match expected.split_once(" {") {
                Some((name, attributes)) => {
                    let line = text.lines().find(|line| line.contains("result_accuracy"));
                    let line = line.unwrap_or_else(|| panic!("{case}: no accuracy in {text}"));
                    assert!(line.contains(&format!("{name} %")), "{case}: {line}");
                    assert!(
                        line.contains(attributes),
                        "{case}: {line}, not {attributes}"
                    );
                }
                None => assert!(program.contains(expected), "{case}: {program}"),
            }
            compared += 1;
        }
    }
    assert_eq!(compared, 13 * 5);
}

#[test]
fn accuracies_are_those_of_the_backend() {
    let x = Array::from([0.25f32, 0.5, 3.0]);
    let functions = FUNCTIONS.iter().map(|(name, f)| (*name, *f));
    let more: [(&str, Function); 2] = [
        ("logistic", |x, how| x.logistic_with(how)),
        ("erfc", |x, how| x.erfc_with(how)),
    ];
    for (name, f) in functions.chain(more) {
        let plain = f(&x, AccuracyMode::Default).to_vec::<f32>();
        for how in [AccuracyMode::Highest, AccuracyMode::tolerance(0.0, 0.0, 4)] {
            assert_eq!(f(&x, how).to_vec::<f32>(), plain, "{name}");
        }
    }
    let slope = |how| grad(move |x: Array| x.tanh_with(how).sum())(x.clone()).to_vec::<f32>();
    assert_eq!(slope(AccuracyMode::Highest), slope(AccuracyMode::Default));
    if ramie_testing::is_linked() {
        let how = AccuracyMode::tolerance(0.0, 1e-9, 0);
        let compiled = jit(move |x: Array| x.exp_with(how)).compile((x.clone(),));
        let error = compiled.err().expect("too small a tolerance").to_string();
        assert!(error.contains("too small for f32"), "{error}");
    }
    let message = panic_message(|| AccuracyMode::tolerance(0.0, 0.0, 0));
    assert!(message.contains("one of which is above 0"), "{message}");
}

#[test]
fn mistakes_in_options_are_explained() {
    let x = x(&[2, 3]);
    let cases: [(&str, &dyn Fn()); 6] = [
        ("expected one axis", &|| drop(x.argmax([0, 1]))),
        ("use a signed dtype", &|| {
            drop(x.nanargmin(Reduction::over(0).dtype(DType::U8)));
        }),
        ("expected only axes and keepdims", &|| {
            drop(x.argmin(Reduction::over(0).ddof(1.0)));
        }),
        ("NonNegative excludes negative indices", &|| {
            drop(x.dynamic_slice_in_dim_with(-1, 1, 0, NonNegative::all()));
        }),
        ("index: -1 is out of bounds", &|| {
            drop(x.at(-1).wrap_negative_indices(false).get());
        }),
        ("a mode of take_along_axis only", &|| {
            drop(x.take_with(&Array::from([0]), 0, TakeMode::OneHot));
        }),
    ];
    for (expected, call) in cases {
        let message = panic_message(call);
        assert!(message.contains(expected), "{message}");
    }
}
