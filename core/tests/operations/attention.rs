//! Attention in blocks is attention, in less memory.

use ramie_core::options::Attention;
use ramie_core::{Array, DType, grad, jit, random, value_and_grad, vmap};

/// Queries `[2, 7, 4, 3]`, keys and values `[2, 10, 2, 3]`, and a bias.
type Operands = (Array, Array, Array, Option<Array>);

fn normal(seed: u64, shape: &[usize]) -> Array {
    random::normal(&random::key(seed), shape, DType::F32)
}

fn operands(bias: Option<Array>) -> Operands {
    (
        normal(0, &[2, 7, 4, 3]),
        normal(1, &[2, 10, 2, 3]),
        normal(2, &[2, 10, 2, 3]),
        bias,
    )
}

/// A number that tells the elements of the result apart, the result and the
/// residual.
fn loss(how: &Attention) -> impl Fn(Operands) -> (Array, (Array, Array)) + Send + Sync + 'static {
    let how = how.clone();
    move |(q, k, v, bias)| {
        let how = match &bias {
            None => how.clone(),
            Some(bias) => how.clone().bias(bias),
        };
        let (out, residual) = how.with_residual(&q, &k, &v);
        let weights = Array::arange(out.size()).astype(DType::F32).cos();
        ((&out * weights.reshape(out.shape())).sum(), (out, residual))
    }
}

fn numbers(x: &Array) -> Vec<f32> {
    x.astype(DType::F32).to_vec()
}

#[track_caller]
fn close(what: &str, got: &Array, expected: &Array, tolerance: f32) {
    assert_eq!(
        (got.shape(), got.dtype()),
        (expected.shape(), expected.dtype()),
        "{what}"
    );
    let worst = numbers(got)
        .iter()
        .zip(numbers(expected))
        .map(|(g, e)| (g - e).abs())
        .fold(
            0.0f32,
            |a, d| if d.is_nan() { f32::INFINITY } else { a.max(d) },
        );
    assert!(worst <= tolerance, "{what}: {worst:e}");
}

/// Values and gradients of a configuration, in blocks of many sizes and at once.
#[track_caller]
fn equal(name: &str, how: Attention, bias: Option<Array>) {
    let ((_, (out, residual)), grads) = jit(value_and_grad(loss(&how)))(operands(bias.clone()));
    for block in [4, 5, 64] {
        let f = jit(value_and_grad(loss(&how.clone().blockwise(block))));
        let ((_, (y, r)), g) = f(operands(bias.clone()));
        let what = format!("{name} in blocks of {block}");
        close(&what, &y, &out, 2e-6);
        close(&format!("{what}: residual"), &r, &residual, 2e-6);
        close(&format!("{what}: queries"), &g.0, &grads.0, 5e-6);
        close(&format!("{what}: keys"), &g.1, &grads.1, 5e-6);
        close(&format!("{what}: values"), &g.2, &grads.2, 5e-6);
        if let Some((got, expected)) = g.3.zip(grads.3.clone()) {
            close(&format!("{what}: bias"), &got, &expected, 5e-6);
        }
    }
}

#[test]
fn blocks_are_equal_with_all_that_is_seen() {
    let mask = normal(3, &[2, 4, 7, 10]).gt(-0.5);
    let lengths = |a: i32, b: i32| Array::from([a, b]);
    let segments = |n: usize, each: usize| {
        let one: Vec<i32> = (0..n).map(|i| (i / each) as i32).collect();
        Array::from(one).reshape(&[1, n]).broadcast_to(&[2, n])
    };
    let new = Attention::new;
    let seen = |seed, shape: &[usize]| normal(seed, shape).gt(0.0);
    equal("all", new(), None);
    equal("causal", new().causal(), None);
    equal("window and scale", new().window(2, 1).scale(0.3), None);
    equal("mask", new().mask(&mask), None);
    equal("one mask", new().mask(&seen(4, &[7, 10])), None);
    equal("mask of keys", new().mask(&seen(5, &[2, 1, 1, 10])), None);
    equal("mask of queries", new().mask(&seen(5, &[2, 1, 7, 1])), None);
    equal("bias", new(), Some(normal(6, &[2, 4, 7, 10])));
    equal("bias of heads", new().causal(), Some(normal(6, &[4, 1, 1])));
    equal("bias of keys", new(), Some(normal(6, &[1, 1, 10])));
    let some = new()
        .query_lengths(&lengths(5, 7))
        .key_value_lengths(&lengths(10, 4));
    equal("lengths", some, None);
    equal(
        "segments",
        new().segments(&segments(7, 3), &segments(10, 4)),
        None,
    );
    let all = new()
        .mask(&mask)
        .causal()
        .window(4, 4)
        .key_value_lengths(&lengths(9, 5))
        .segments(&segments(7, 4), &segments(10, 4));
    equal("everything", all, Some(normal(7, &[1, 4, 7, 10])));
}

#[test]
fn a_bias_hides_the_keys_of_whole_blocks() {
    // The first blocks contain only products of -inf.
    let hidden = |i: i32| !(5..8).contains(&i);
    let bias: Vec<f32> = (0..10)
        .map(|i| if hidden(i) { f32::NEG_INFINITY } else { 0.0 })
        .collect();
    equal("hidden keys", Attention::new(), Some(Array::from(bias)));
}

#[test]
fn segments_are_sequences_of_their_own() {
    // Two sequences in a row, and each alone.
    let x = normal(0, &[1, 6, 2, 4]);
    let ids = Array::from([[0, 0, 0, 0, 1, 1]]);
    let packed = Attention::new()
        .causal()
        .segments(&ids, &ids)
        .of(&x, &x, &x);
    for (from, to) in [(0, 4), (4, 6)] {
        let part = x.slice_in_dim(from, to, 1, 1);
        let alone = Attention::new().causal().of(&part, &part, &part);
        close("alone", &packed.slice_in_dim(from, to, 1, 1), &alone, 1e-6);
    }
}

#[test]
fn blocks_without_batch_in_batches_and_narrow() {
    let total = |how: Attention| {
        move |(q, k, v): (Array, Array, Array)| how.of(&q, &k, &v).astype(DType::F32).square().sum()
    };
    let total_of_batch = |how: Attention| {
        move |(q, k, v): (Array, Array, Array)| {
            let how = how.clone();
            vmap(move |q: Array, k: Array, v: Array| how.of(&q, &k, &v).square().sum())(q, k, v)
                .sum()
        }
    };
    let blocks = || Attention::new().blockwise(4);
    let compared = jit(|q: Array, k: Array, v: Array| {
        let whole = Attention::new().causal().of(&q, &k, &v);
        let causal = |q: Array, k: Array, v: Array| blocks().causal().of(&q, &k, &v);
        let each = vmap(causal)(q.clone(), k.clone(), v.clone());
        let all = (q.clone(), k.clone(), v.clone());
        let expected = grad(total(Attention::new()))(all.clone());
        let got = grad(total_of_batch(blocks()))(all);
        // Eight bits of mantissa.
        let [nq, nk, nv] = [&q, &k, &v].map(|x| x.astype(DType::BF16));
        let narrow = blocks().of(&nq, &nk, &nv);
        let slope = grad(total(blocks()))((nq, nk, nv)).0;
        [
            [each, whole],
            [got.1, expected.1],
            [narrow, Attention::new().of(&q, &k, &v)],
            [slope, expected.0],
        ]
    });
    let (q, k, v, _) = operands(None);
    let [each, gradient, narrow, slope] = compared(q, k, v);
    close("vmap", &each[0], &each[1], 1e-6);
    close("gradient in batches", &gradient[0], &gradient[1], 1e-5);
    assert_eq!([narrow[0].dtype(), slope[0].dtype()], [DType::BF16; 2]);
    let wide = |x: &Array| x.astype(DType::F32);
    close("bf16", &wide(&narrow[0]), &narrow[1], 3e-2);
    close("gradient in bf16", &wide(&slope[0]), &slope[1], 5e-2);
}

/// Bytes of intermediate values of the gradient for sequences of a length.
fn memory(length: usize, how: &Attention) -> i64 {
    let like = || Array::shape_dtype_struct(&[1, length, 2, 16], DType::F32);
    let how = how.clone();
    let f = jit(grad(move |(q, k, v): (Array, Array, Array)| {
        how.of(&q, &k, &v).square().sum()
    }));
    let compiled = f
        .lower(((like(), like(), like()),))
        .expect("lowers")
        .compile();
    compiled
        .expect("compiles")
        .memory_analysis()
        .expect("memory")
        .temp
}

#[test]
fn memory_of_blocks_grows_with_the_length() {
    let blocks = Attention::new().causal().blockwise(64);
    let (small, large) = (memory(1024, &blocks), memory(4096, &blocks));
    assert!(small > 0 && large < 5 * small, "{small} and {large} bytes");
    // Where all products are kept it grows with the square.
    let plain = Attention::new().causal();
    let (less, more) = (memory(1024, &plain), memory(4096, &plain));
    assert!(
        more > 12 * less && more > 8 * large,
        "{less} and {more} bytes"
    );
}

#[test]
#[should_panic(expected = "does not broadcast to [B, N, T, S] = [2, 4, 7, 10]")]
fn a_mask_of_another_shape_is_named() {
    let (q, k, v, _) = operands(None);
    Attention::new()
        .mask(&normal(0, &[2, 7, 10]).gt(0.0))
        .of(&q, &k, &v);
}

#[test]
#[should_panic(expected = "one number for each position of each sequence")]
fn segments_of_another_shape_are_named() {
    let (q, k, v, _) = operands(None);
    let ids = Array::zeros(&[2, 7], DType::I32);
    Attention::new().segments(&ids, &ids).of(&q, &k, &v);
}
