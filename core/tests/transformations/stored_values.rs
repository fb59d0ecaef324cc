//! Values that programs for one CPU store behind a barrier instead of computing them again.

use ramie_core::*;
use ramie_testing::is_linked;

const ROWS: usize = 64;
const WIDTH: usize = 64;

fn matrix(i: u32, rows: usize) -> Array {
    random::normal(&random::key(i), &[rows, WIDTH], DType::F32)
}

/// The loss of a network with residual connections, each around a normalized product.
fn loss(x: &Array, matrices: &[Array]) -> Array {
    let last = matrices.iter().fold(x.clone(), |x, w| {
        let centered = &x - x.mean_over(Reduction::over(-1).keepdims());
        let size = centered.square().mean_over(Reduction::over(-1).keepdims());
        let normalized = centered * (size + 1e-6).rsqrt();
        x + normalized.matmul(w) * 0.1
    });
    last.square().mean()
}

/// Returns the gradients of a network's loss and the number of barriers in their program.
fn gradients(layers: u32, rows: usize) -> (Vec<Array>, usize) {
    let arguments = (
        matrix(0, rows),
        (1..=layers).map(|i| matrix(i, WIDTH)).collect(),
    );
    let f = jit(|x: Array, matrices: Vec<Array>| {
        let all = move |mut all: Vec<Array>| {
            let x = all.remove(0);
            loss(&x, &all)
        };
        grad(all)([vec![x], matrices].concat())
    });
    let text = f.lower(arguments.clone()).unwrap().as_text();
    let barriers = text.matches("stablehlo.optimization_barrier").count();
    (f(arguments.0, arguments.1), barriers)
}

#[test]
fn sums_over_layers_are_stored() {
    let barriers = |layers| gradients(layers, ROWS).1;
    let (few, many) = (barriers(4), barriers(16));
    // Only XLA would compute the sums again.
    let expected = if is_linked() { 0 } else { 12 + few };
    assert!(many >= expected, "{few} and {many} barriers");
    let (compiled, eager) = (gradients(16, ROWS).0, disable_jit(|| gradients(16, ROWS).0));
    for (x, y) in compiled.iter().zip(&eager) {
        let scale = y.abs().max().item::<f32>();
        let error = (x - y).abs().max().item::<f32>();
        assert!(error <= 1e-5 * scale, "{error} of {scale}");
    }
}

#[test]
fn small_values_are_computed_again() {
    assert_eq!(gradients(16, 8).1, 0);
}

#[test]
fn the_values_within_one_loop_are_not_stored() {
    let f = jit(|x: Array| (0..100).fold(x, |x, _| x.sin() * 2.0 + x.square()));
    let text = f.lower((matrix(0, ROWS),)).unwrap().as_text();
    assert!(!text.contains("optimization_barrier"), "{text}");
}

/// XLA compiles small loops in another way, in which a barrier aborts the process.
#[test]
fn programs_with_other_barriers_run() {
    let matrices: Vec<Array> = (1..=8).map(|i| matrix(i, WIDTH)).collect();
    let f = jit(move |x: Array| {
        let gradient = grad({
            let matrices = matrices.clone();
            move |x: Array| loss(&x, &matrices)
        })(x);
        let small = fori_loop(
            0,
            8,
            |_, (y, z): (Array, Array)| {
                let (y, z) = optimization_barrier((y.sin() * 2.0, z.cos()));
                (&y + &z, optimization_barrier(y * z))
            },
            (gradient.max(), gradient.min()),
        );
        (gradient, small)
    });
    let (compiled, eager) = (f(matrix(0, ROWS)), disable_jit(|| f(matrix(0, ROWS))));
    assert!((compiled.0 - eager.0).abs().max().item::<f32>() < 1e-5);
    assert!((compiled.1.0 - eager.1.0).abs().item::<f32>() < 1e-5);
}

/// Stored values in the body of a loop.
#[test]
fn loops_store_values() {
    let matrices: Vec<Array> = (1..=8).map(|i| matrix(i, WIDTH)).collect();
    let f = jit(move |x: Array| {
        let descend = |_: Array, x: Array| {
            let matrices = matrices.clone();
            let gradient = grad(move |x: Array| loss(&x, &matrices))(x.clone());
            x - gradient
        };
        fori_loop(0, 3, descend, x)
    });
    let text = f.lower((matrix(0, ROWS),)).unwrap().as_text();
    assert_eq!(
        text.contains("optimization_barrier"),
        !is_linked(),
        "{text}"
    );
    let (compiled, eager) = (f(matrix(0, ROWS)), disable_jit(|| f(matrix(0, ROWS))));
    assert!((compiled - eager).abs().max().item::<f32>() < 1e-4);
}
