//! Functions of arrays: reports about NumPy, JAX and PyTorch.
use ramie_core::options::{Attention, Exact};
use ramie_core::{Array, DType, grad, random, stack};

fn close(got: &[f32], expected: &[f32], tolerance: f32) -> bool {
    got.len() == expected.len()
        && got
            .iter()
            .zip(expected)
            .all(|(a, b)| near(*a, *b, tolerance))
}

/// Whether both are the same number up to a relative tolerance; infinities must be equal.
fn near(got: f32, expected: f32, tolerance: f32) -> bool {
    got == expected || (got - expected).abs() <= tolerance * (1.0 + expected.abs())
}

/// numpy/numpy#21091, #12282 and pytorch/pytorch#133998. Quantiles of data with an infinity are NaN,
/// because the neighbor that has no weight is multiplied by it: `0 * inf`.
/// Right: a quantile that falls on an element is this element (the quantiles of orders 0, 0.5 and 1 of three
/// elements are the elements), and one between a number and an infinity is the infinity.
#[test]
fn quantiles_of_data_with_infinities() {
    let inf = f32::INFINITY;
    let mut wrong = Vec::new();
    for (data, q, expected) in [
        ([1.0, 2.0, inf], 0.0, 1.0),
        ([1.0, 2.0, inf], 0.5, 2.0),
        ([1.0, 2.0, inf], 0.75, inf),
        ([1.0, 2.0, inf], 1.0, inf),
        ([-inf, 2.0, 3.0], 0.0, -inf),
        ([-inf, 2.0, 3.0], 0.25, -inf),
        ([-inf, 2.0, 3.0], 0.5, 2.0),
        ([-inf, 2.0, 3.0], 1.0, 3.0),
    ] {
        let x = Array::from(data);
        for (name, got) in [
            ("quantile", x.quantile(q)),
            ("nanquantile", x.nanquantile(q)),
        ] {
            let got = got.item::<f32>();
            if got != expected {
                wrong.push(format!(
                    "{name} {q} of {data:?}: {got}, expected {expected}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// numpy/numpy#11439, IntelPython/dpnp#2986. Interpolation returns NaN at a point whose neighbor has an
/// infinite value.
/// Right: at a point, the value of the point, whatever its neighbors are; between a finite and an infinite
/// value, the infinity.
#[test]
fn interpolation_returns_the_values_of_its_points() {
    let (xp, fp) = (
        Array::from([1.0f32, 2.0, 3.0, 4.0]),
        Array::from([1.0f32, 2.0, f32::INFINITY, 4.0]),
    );
    let x = Array::from([1.0f32, 1.5, 2.0, 2.5, 3.0, 4.0]);
    let expected = [1.0, 1.5, 2.0, f32::INFINITY, f32::INFINITY, 4.0];
    let got = x.interp(&xp, &fp).to_vec::<f32>();
    assert_eq!(got, expected);
}

/// numpy/numpy#22688. The median of large numbers overflows, because the two middle ones are added before
/// they are halved.
/// Right: a median lies between the smallest and the largest element; that of equal numbers is the number.
#[test]
fn medians_of_large_numbers_do_not_overflow() {
    let mut wrong = Vec::new();
    for (dtype, large) in [
        (DType::F16, 4e4f32),
        (DType::BF16, 3e38),
        (DType::F32, 3e38),
    ] {
        for data in [
            vec![large; 2],
            vec![large; 3],
            vec![1.0, large, large, large],
        ] {
            let x = Array::from(data.clone()).astype(dtype);
            for (name, got) in [
                ("median", x.median()),
                ("nanmedian", x.nanmedian()),
                ("quantile", x.quantile(0.5)),
            ] {
                let got = got.astype(DType::F32).item::<f32>();
                if !near(got, large, 0.01) {
                    wrong.push(format!("{name} of {data:?} in {dtype}: {got}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// jax-ml/jax#6811, pytorch/pytorch#31829. The derivative of `logsumexp` is NaN if all operands are minus
/// infinity, the logarithm of 0. Dynamic programs over logarithms (CTC, hidden Markov models) and fully masked
/// rows have such operands.
/// Right: `log(0 + 0 eˣ)` does not depend on `x`, so its derivative is 0; NaN would reach all parameters.
#[test]
fn the_derivative_of_a_sum_of_impossible_events_is_zero() {
    let none = f64::NEG_INFINITY;
    let of_two = |x: Array| stack(&[Array::from(f32::NEG_INFINITY), x + none], 0).logsumexp(0);
    let mut wrong = Vec::new();
    let one = || Array::from(1.0f32);
    for (name, got) in [
        ("logsumexp", grad(of_two)(one())),
        (
            "logaddexp",
            grad(|x: Array| (x + none).logaddexp(none))(one()),
        ),
        (
            "logsumexp of one",
            grad(|x: Array| stack(&[x + none], 0).logsumexp(0))(one()),
        ),
        (
            "cumlogsumexp",
            grad(|x: Array| {
                let x = stack(&[Array::from(f32::NEG_INFINITY), &x + none, x], 0);
                x.cumlogsumexp(0).index(-1)
            })(one()),
        ),
    ] {
        let got = got.item::<f32>();
        let expected = if name == "cumlogsumexp" { 1.0 } else { 0.0 };
        if got != expected {
            wrong.push(format!("{name}: {got}, expected {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("; "));
}

/// pytorch/pytorch#185770 and pull request #195197. SiLU and GELU of minus infinity are NaN: `-inf * 0`.
/// Right: the limit, which is 0, as for large negative numbers; masked logits are minus infinity.
#[test]
fn activations_of_infinity_are_their_limits() {
    let mut wrong = Vec::new();
    for dtype in [DType::F32, DType::BF16, DType::F16] {
        let x = Array::from([f32::NEG_INFINITY, f32::INFINITY]).astype(dtype);
        for (name, y, low) in [
            ("silu", x.silu(), 0.0),
            ("gelu", x.gelu(), 0.0),
            ("exact gelu", x.gelu_with(Exact), 0.0),
            ("mish", x.mish(), 0.0),
            ("hard_silu", x.hard_silu(), 0.0),
            ("softplus", x.softplus(), 0.0),
            ("relu", x.relu(), 0.0),
            ("elu", x.elu(1.0), -1.0),
        ] {
            let y = y.astype(DType::F32).to_vec::<f32>();
            if y != [low, f32::INFINITY] {
                wrong.push(format!("{name} in {dtype}: {y:?}, expected [{low}, inf]"));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// pytorch/pytorch#174668, tensorflow/tensorflow#36128. Counts of a histogram are computed or returned in the
/// dtype of the data, so they are wrong from 2048 on in `f16`, and from 256 on in `bf16`.
/// Right: the numbers of elements, which add up to the number of all elements.
#[test]
fn histograms_of_narrow_numbers_count_exactly() {
    let mut wrong = Vec::new();
    for dtype in [DType::F32, DType::F16, DType::BF16] {
        for n in [301, 4099, 70_001] {
            let mut data = vec![0.0f32; n];
            data.extend([1.0, 1.0]);
            let (counts, _) = Array::from(data).astype(dtype).histogram(2);
            let counts = counts.astype(DType::F32).to_vec::<f32>();
            if counts != [n as f32, 2.0] {
                wrong.push(format!("{dtype}: {counts:?}, expected [{n}, 2]"));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// jax-ml/jax#14397, #18450 and #7440. The derivative of a power with exponent 0 is NaN at 0: `0 * x^(-1)`.
/// Right: `x^0` is the constant 1, so its derivative is 0 everywhere; that of `1 + x + x²` at 0 is 1, whether
/// the exponents are integers or floats.
#[test]
fn the_derivative_of_a_polynomial_at_zero() {
    for dtype in [DType::I32, DType::F32] {
        let exponents = Array::from([0i32, 1, 2]).astype(dtype);
        let slope =
            |x: f32| grad(|x: Array| x.power(&exponents).sum())(Array::from(x)).item::<f32>();
        for (x, expected) in [(0.5, 2.0), (0.0, 1.0)] {
            let got = slope(x);
            assert!(
                near(got, expected, 1e-6),
                "exponents {dtype}, at {x}: {got}, expected {expected}"
            );
        }
    }
}

/// A product of booleans was refused; JAX computes it.
/// Right: whether any pair of elements is true, as in a product of relations, however many are.
#[test]
fn products_of_booleans_are_true_if_any_pair_is() {
    let a = Array::from([[true, false, true], [false, false, false]]);
    let b = Array::from([[false, true], [true, true], [true, false]]);
    let product = a.matmul(&b);
    assert_eq!(product.dtype(), DType::Bool);
    assert_eq!(product.to_vec::<bool>(), [true, true, false, false]);
    let many = Array::ones(&[1 << 20], DType::Bool);
    assert!(many.dot(&many).item::<bool>());
}

/// Nested arrays of three and four axes did not convert.
#[test]
fn nested_arrays_of_up_to_four_axes_are_arrays() {
    let three = Array::from([[[1, 2], [3, 4], [5, 6]]]);
    assert_eq!(three.shape(), [1, 3, 2]);
    assert_eq!(three.to_vec::<i32>(), [1, 2, 3, 4, 5, 6]);
    let four = Array::from([[[[1.0f32], [2.0]]], [[[3.0], [4.0]]]]);
    assert_eq!(four.shape(), [2, 1, 2, 1]);
    assert_eq!(four.to_vec::<f32>(), [1.0, 2.0, 3.0, 4.0]);
}

/// A percentage given to `quantile` was clamped to the maximum.
/// Right: a refusal, and NaN where the number is not known.
#[test]
fn quantiles_out_of_range_are_refused() {
    let x = Array::arange(100).astype(DType::F32);
    let message = ramie_testing::panics::panic_message(|| x.quantile(95));
    assert!(
        message.contains("q is 95, expected a number from 0 to 1"),
        "{message}"
    );
    assert!(message.contains("`percentile`"), "{message}");
    let q = Array::from([0.5f32, 1.5, -0.1]);
    let got = x.quantile(&q).to_vec::<f32>();
    assert!(
        got[0] == 49.5 && got[1].is_nan() && got[2].is_nan(),
        "{got:?}"
    );
}

/// NVIDIA/apex#1390, robertknight/rten#1321. A query that may see no key (of a padded row, or of an empty
/// sequence) gets the mean of all values, the padding included, because all its logits are equal.
/// Right: what a mask excludes has no influence. PyTorch and the ONNX specification of attention return 0; NaN
/// would at least be noticed. Rows that see a key do not change.
#[test]
fn a_query_that_sees_no_key_does_not_see_the_padding() {
    let x = |key: u64, shape: &[usize]| random::normal(&random::key(key), shape, DType::F32);
    let (q, k, v) = (
        x(0, &[2, 2, 1, 4]),
        x(1, &[2, 3, 1, 4]),
        x(2, &[2, 3, 1, 4]),
    );
    // In the first sequence, the first query sees nothing; the second sequence is empty.
    let mask = Array::from([
        [false, false, false],
        [true, true, false],
        [false; 3],
        [false; 3],
    ]);
    let mask = mask.reshape(&[2, 1, 2, 3]);
    let mut wrong = Vec::new();
    for (name, how) in [
        ("mask", Attention::new().mask(&mask)),
        ("mask, in blocks", Attention::new().mask(&mask).blockwise(2)),
        (
            "lengths",
            Attention::new().key_value_lengths(&Array::from([0i32, 0])),
        ),
    ] {
        let of = |v: &Array| how.of(&q, &k, v).to_vec::<f32>();
        let (one, other) = (of(&v), of(&(&v * 100.0)));
        // The rows without a visible key: all but the second one of the mask.
        let hidden = |row: usize| name == "lengths" || row != 1;
        for row in (0..4).filter(|row| hidden(*row)) {
            let (a, b) = (&one[4 * row..4 * row + 4], &other[4 * row..4 * row + 4]);
            let is_nan = a.iter().chain(b).all(|x| x.is_nan());
            if !is_nan && a != b {
                wrong.push(format!(
                    "{name}, row {row}: {a:?}; for other hidden values {b:?}"
                ));
            }
        }
        if name != "lengths" {
            let seen = Attention::new().of(
                &q.index((..1, 1..2)),
                &k.index((..1, ..2)),
                &v.index((..1, ..2)),
            );
            assert!(
                close(&one[4..8], &seen.to_vec::<f32>(), 1e-5),
                "{name}, row 1: {:?}",
                &one[4..8]
            );
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
