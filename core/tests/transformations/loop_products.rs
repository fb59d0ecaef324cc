//! Sums of products that the lowering of a loop takes out of it, on a single CPU device.

use ramie_core::lax::scan_with;
use ramie_core::options::ScanOptions;
use ramie_core::*;

const STEPS: usize = 64;
const ROWS: usize = 8;
const WIDTH: usize = 64;

/// Inputs, the first state and three matrices.
fn arguments() -> Vec<Array> {
    let key = random::key(0);
    let normal = |i: u32, shape: &[usize], scale: f32| {
        random::normal(&key.fold_in(i), shape, DType::F32) * scale
    };
    let matrix = |i: u32| normal(i, &[WIDTH, WIDTH], 0.1);
    let x = normal(0, &[STEPS, ROWS, WIDTH], 1.0);
    let h = normal(1, &[ROWS, WIDTH], 1.0);
    vec![x, h, matrix(2), matrix(3), matrix(4)]
}

/// A recurrent layer with a map of each state.
fn layer(args: &[Array], options: ScanOptions) -> (Array, Array) {
    let [x, h, from_input, from_state, to_result] = args else {
        panic!("five arguments");
    };
    let (u, v, w) = (from_input.clone(), from_state.clone(), to_result.clone());
    let step = move |h: Array, x: Array| {
        let h = (x.matmul(&u) + h.matmul(&v)).tanh();
        let y = h.matmul(&w);
        (h, y)
    };
    scan_with(step, h.clone(), x.clone(), options)
}

fn loss(args: &[Array], options: ScanOptions) -> Array {
    let (h, ys) = layer(args, options);
    let weights = Array::arange(ys.size())
        .reshape(ys.shape())
        .astype(DType::F32);
    (ys * weights.sin()).sum() + h.square().sum()
}

fn options(unroll: usize, reverse: bool) -> ScanOptions {
    ScanOptions {
        unroll,
        reverse,
        length: None,
    }
}

#[track_caller]
fn assert_close(got: &Array, expected: &Array) {
    let scale = expected.abs().max().item::<f32>();
    let error = (got - expected).abs().max().item::<f32>();
    assert!(error <= 1e-4 * scale, "{error} of {scale}");
}

#[test]
fn values_and_gradients_are_those_of_unrolled_steps() {
    for reverse in [false, true] {
        let by = |unroll: usize| {
            let how = options(unroll, reverse);
            let values = jit(move |args: Vec<Array>| layer(&args, how));
            let grads = jit(grad(move |args: Vec<Array>| loss(&args, how)));
            (values(arguments()), grads(arguments()))
        };
        let (divided, unrolled) = (by(1), by(0));
        assert_close(&divided.0.0, &unrolled.0.0);
        assert_close(&divided.0.1, &unrolled.0.1);
        for (got, expected) in divided.1.iter().zip(&unrolled.1) {
            assert_close(got, expected);
        }
    }
}

#[test]
fn sums_over_all_steps_are_outside_of_the_loop() {
    let how = options(1, false);
    let all = format!("tensor<{}x{WIDTH}xf32>", STEPS * ROWS);
    let matrix = format!("tensor<{WIDTH}x{WIDTH}xf32>");
    let step = format!("tensor<{ROWS}x{WIDTH}xf32>");
    let count = |text: &str, [a, b, out]: [&str; 3]| {
        let products = text.lines().filter(|line| line.contains("dot_general"));
        let signature = format!("({a}, {b}) -> {out}");
        products.filter(|line| line.contains(&signature)).count()
    };
    let text = jit(move |args: Vec<Array>| layer(&args, how))
        .lower((arguments(),))
        .expect("the program lowers")
        .as_text();
    assert_eq!(count(&text, [&step, &matrix, &step]), 3, "{text}");
    let text = jit(grad(move |args: Vec<Array>| loss(&args, how)))
        .lower((arguments(),))
        .expect("the program lowers")
        .as_text();
    // The gradients of the three matrices.
    assert_eq!(count(&text, [&all, &all, &matrix]), 3, "{text}");
    // Three products forward, and the gradients of their left operands.
    assert_eq!(count(&text, [&step, &matrix, &step]), 6, "{text}");
}

#[test]
fn loops_of_many_rows_or_few_steps_stay_as_they_are() {
    let large = |steps: usize, rows: usize| {
        let args = vec![
            Array::zeros(&[steps, rows, WIDTH], DType::F32),
            Array::zeros(&[rows, WIDTH], DType::F32),
            Array::zeros(&[WIDTH, WIDTH], DType::F32),
            Array::zeros(&[WIDTH, WIDTH], DType::F32),
            Array::zeros(&[WIDTH, WIDTH], DType::F32),
        ];
        let how = options(1, false);
        let program = jit(grad(move |args: Vec<Array>| loss(&args, how)));
        let text = program
            .lower((args,))
            .expect("the program lowers")
            .as_text();
        let all = format!("tensor<{}x{WIDTH}xf32>", steps * rows);
        text.contains(&all)
    };
    assert!(large(STEPS, ROWS));
    assert!(!large(3, 256));
    assert!(!large(4, 3));
}
