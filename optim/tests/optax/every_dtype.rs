//! Every optimizer with parameters and gradients in `bf16` and `f16` makes the updates that it makes with
//! the same numbers in `f32`, rounded once.

use crate::common;

use common::grid;
use common::table::{GROUPS, Table, table};
use ramie_core::dtypes::finfo;
use ramie_core::lax::scan;
use ramie_core::{Array, DType, State, jit};
use ramie_optim::*;

const STEPS: usize = 200;

/// How many optimizers one program has.
const TOGETHER: usize = 6;

/// Every optimizer of the table whose steps depend on the gradients alone. Line searches evaluate the
/// objective at rounded parameters; `lbfgs_of_every_float_dtype` tests them.
fn optimizers() -> Table {
    let groups = GROUPS.into_iter().filter(|g| *g != "linesearches");
    let mut all: Table = groups.flat_map(table).collect();
    let lbfgs = lbfgs().learning_rate(0.1).linesearch(identity());
    all.push(("lbfgs", lbfgs.into()));
    let measure = |updates: &State| State::of(&global_norm(updates));
    all.push(("measure", chain((measure_with_ema_of(measure), sgd(0.1)))));
    all
}

fn measure_with_ema_of(norm: fn(&State) -> State) -> GradientTransformation {
    monitor([("norm", measure_with_ema(norm, ema(0.999)))])
}

/// Shapes, magnitudes of parameters and of gradients.
const ARRAYS: [(&str, &[usize], f64, f64); 4] = [
    ("bias", &[6], 1.0, 1.0),
    ("kernel", &[3, 2], 300.0, 1e3),
    ("scale", &[2, 2], 0.1, 1e-3),
    ("tiny", &[2, 3], 1.0, 1e-6),
];

fn params() -> State {
    let array =
        |(name, shape, size, _): (&'static str, &[usize], f64, f64)| (name, grid(shape, size, 0.3));
    ARRAYS.into_iter().map(array).collect()
}

/// Gradients of all steps: of all magnitudes, zeros, or one element that is not zero.
fn gradients(kind: &str) -> State {
    let array = |(name, shape, _, size): (&'static str, &[usize], f64, f64)| {
        let all: Vec<usize> = std::iter::once(STEPS)
            .chain(shape.iter().copied())
            .collect();
        let numbers = grid(&all, size, 1.1);
        let numbers = match (kind, name) {
            ("all", _) => numbers,
            ("one", "kernel") => numbers * Array::from([[0.0f32, 0.0], [1.0, 0.0], [0.0, 0.0]]),
            _ => numbers.zeros_like(),
        };
        (name, numbers)
    };
    ARRAYS.into_iter().map(array).collect()
}

/// A quadratic function whose second derivatives are powers of two.
fn objective(params: &State) -> Array {
    tree::squared_norm(&params.astype(DType::F32)) * 0.25
}

/// Computes the updates of all steps by some of the optimizers.
fn all_updates(first: usize) -> impl Fn(State, State) -> Vec<State> {
    let all = jit(move |params: State, grads: State| -> Vec<State> {
        let some = optimizers().into_iter().skip(first).take(TOGETHER);
        let each = some.map(|(_, tx)| {
            let body = |(state, step): (OptState, Array), grads: State| {
                let value = 4.0f64 / (step.astype(DType::F32) + 1.0);
                let extra = ExtraArgs::new()
                    .value(&value)
                    .grad(&grads)
                    .value_fn(&objective);
                let (updates, state) = tx.update_with(grads.clone(), state, Some(&params), &extra);
                ((state, step + 1), updates)
            };
            let start = (tx.init(&params), Array::scalar(0, DType::I32));
            scan(body, start, grads.clone()).1
        });
        each.collect()
    });
    move |params, grads| all(params, grads)
}

fn numbers(a: &Array) -> Vec<f32> {
    a.astype(DType::F32).to_vec()
}

/// The largest difference relative to the largest update of the array in the same step, or NaN where one
/// of the updates is not finite.
fn difference(got: &State, wide: &State, dtype: DType) -> f32 {
    let smallest = finfo(dtype).smallest_normal as f32;
    let mut worst = 0.0f32;
    for (path, wide) in wide.iter() {
        assert_eq!(got[path].dtype(), dtype, "{path}");
        let (got, expected) = (numbers(&got[path]), numbers(&wide.astype(dtype)));
        let size = got.len() / STEPS;
        for (got, expected) in got.chunks(size).zip(expected.chunks(size)) {
            let largest = expected.iter().fold(smallest, |most, e| most.max(e.abs()));
            for (g, e) in got.iter().zip(expected) {
                let apart = if g == e { 0.0 } else { (g - e).abs() / largest };
                worst = if apart.is_nan() || worst.is_nan() {
                    f32::NAN
                } else {
                    worst.max(apart)
                };
            }
        }
    }
    worst
}

#[test]
fn narrow_parameters_get_the_updates_of_f32() {
    check(|chunk| chunk % 2 == 0);
}

#[test]
fn narrow_parameters_get_the_updates_of_f32_too() {
    check(|chunk| chunk % 2 == 1);
}

/// Returns whether the processor has instructions for arithmetic of f16.
fn has_f16_arithmetic() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx512fp16");
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

fn check(which: fn(usize) -> bool) {
    let names: Vec<&str> = optimizers().iter().map(|(name, _)| *name).collect();
    let mut wrong = Vec::new();
    for (chunk, names) in names
        .chunks(TOGETHER)
        .enumerate()
        .filter(|(chunk, _)| which(*chunk))
    {
        let run = all_updates(chunk * TOGETHER);
        for dtype in [DType::BF16, DType::F16] {
            let apart = ["all", "none", "one"].map(|kind| {
                let (params, grads) = (params().astype(dtype), gradients(kind).astype(dtype));
                let (wide_params, wide_grads) =
                    (params.astype(DType::F32), grads.astype(DType::F32));
                let got = run(params, grads);
                let wide = run(wide_params, wide_grads);
                let each = got
                    .iter()
                    .zip(&wide)
                    .map(|(got, wide)| difference(got, wide, dtype));
                each.collect::<Vec<f32>>()
            });
            for (i, name) in names.iter().enumerate() {
                // XLA's code for such processors, unlike that for AVX-512 alone, rounds the moments of bf16 the
                // other way: by two units of bf16.
                let narrowest = match (*name, dtype) {
                    ("adam_bf16", DType::F16) if has_f16_arithmetic() => DType::BF16,
                    _ => dtype,
                };
                let unit = finfo(narrowest).eps as f32;
                let [all, none, one] = [0, 1, 2].map(|kind| apart[kind][i]);
                println!("| {name} | {dtype} | {all:.1e} | {none:.1e} | {one:.1e} |");
                if [all, none, one]
                    .iter()
                    .any(|w| w.is_nan() || *w > 4.0 * unit)
                {
                    wrong.push(format!(
                        "{name} in {dtype}: {all:.1e}, {none:.1e}, {one:.1e}"
                    ));
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differ\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
