//! Elementwise operators: types of operands, and where derivatives stop.

use ramie_core::{Array, DType, grad, jit};

#[test]
fn powers_keep_the_base_s_type() {
    let base = Array::from([2i32, -3, 0, 0, -1, 7]);
    let exponent = Array::from([10i32, 3, 0, 2, 65, 1]);
    assert_eq!(
        base.power(&exponent).to_vec::<i32>(),
        [1024, -27, 1, 0, -1, 7]
    );
    let x = Array::from([2.0f32, 3.0]);
    assert_eq!(x.power(Array::from([3i32])).to_vec::<f32>(), [8.0, 27.0]);
    assert_eq!(x.power(Array::from([[1u8], [2]])).shape(), [2, 2]);
    // The derivative of x⁰ at 0 is 0, of x¹ is 1.
    let n = Array::from([0i32, 1, 2]);
    let g = grad(move |x: Array| x.power(&n).sum())(Array::zeros(&[3], DType::F32));
    assert_eq!(g.to_vec::<f32>(), [0.0, 1.0, 0.0]);
}

#[test]
fn literals_on_the_left_have_types() {
    let x = Array::from([0.75f32, 0.0]);
    assert_eq!((1.0 - &x).sqrt().to_vec::<f32>(), [0.5, 1.0]);
    let below = 1.0 - x.clone();
    assert_eq!(below.square().to_vec::<f32>(), [0.0625, 1.0]);
    assert_eq!((-0.5 * (1.0 + &x).sum()).item::<f32>(), -1.375);
    assert_eq!((1 - &x).sum().dtype(), DType::F32);
    let n = Array::from([1, 2]);
    assert_eq!((3 * &n).sum().item::<i32>(), 9);
    assert_eq!((1 << &n).to_vec::<i32>(), [2, 4]);
    let doubled: Vec<i32> = (0..2).map(|i| (i * &n).sum().item()).collect();
    assert_eq!(doubled, [0, 3]);
    assert_eq!((true & n.gt(1)).to_vec::<bool>(), [false, true]);
}

#[test]
fn weak_scalars_keep_their_digits_until_they_meet_a_type() {
    let x = Array::from([1.0f64]);
    assert_eq!((&x * 0.1).to_vec::<f64>(), [0.1]);
    let n = Array::from([1i64]);
    assert_eq!((&n + 5_000_000_000i64).to_vec::<i64>(), [5_000_000_001]);
}

#[test]
fn gradients_stop() {
    let g = grad(|x: Array| (&x * &x.stop_gradient()).sum())(Array::from([3.0f32]));
    assert_eq!(g.to_vec::<f32>(), [3.0]);
    let second = |x: Array| x.lgamma().sum();
    let twice = grad(move |x: Array| grad(second)(x).sum())(Array::from([1.0f32]));
    assert!((twice.item::<f32>() - 1.644_934).abs() < 1e-4);
}

/// What XLA defines for a divisor of zero and for the one quotient that overflows,
/// eagerly, of arguments, and of constants, which the compiler divides itself.
#[test]
fn integers_divide_by_zero_and_minus_one_everywhere() {
    let signed = [DType::I4, DType::I8, DType::I16, DType::I32, DType::I64];
    let unsigned = [DType::U4, DType::U8, DType::U16, DType::U32, DType::U64];
    let check = |dtype: DType, x: i64, y: i64, expected: [i64; 4]| {
        let operations = |x: &Array, y: &Array| {
            let results = [
                x.lax_div(y),
                x.lax_rem(y),
                x.floor_divide(y),
                x.remainder(y),
            ];
            results.map(|r| r.ravel().astype(DType::I64)).to_vec()
        };
        let [a, b] = [x, y].map(|v| Array::scalar(v, dtype).broadcast_to(&[2]));
        let ways = [
            operations(&a, &b),
            jit(move |a: Array, b: Array| operations(&a, &b))(a, b),
            jit(move || operations(&Array::scalar(x, dtype), &Array::scalar(y, dtype)))(),
            jit(move || operations(&Array::full(&[2], x, dtype), &Array::full(&[2], y, dtype)))(),
        ];
        for (way, results) in ways.iter().enumerate() {
            let got: Vec<i64> = results.iter().map(|r| r.to_vec::<i64>()[0]).collect();
            assert_eq!(got, expected, "{dtype}: {x} by {y}, way {way}");
        }
    };
    for dtype in signed {
        let min = ramie_core::dtypes::iinfo(dtype).min as i64;
        check(dtype, 7, 0, [-1, 7, -2, 0]);
        check(dtype, -7, 0, [-1, -7, -2, 0]);
        check(dtype, 0, 0, [-1, 0, -1, 0]);
        check(dtype, min, -1, [min, 0, min, 0]);
    }
    for dtype in unsigned {
        // The largest number of 64 bits is -1 as an `i64`.
        let max = Array::scalar(-1i64, DType::I64)
            .astype(dtype)
            .astype(DType::I64);
        let max = max.item::<i64>();
        check(dtype, 7, 0, [max, 7, max, 0]);
        check(dtype, 0, 0, [max, 0, max, 0]);
    }
}

/// XLA folds the leading zeros of a negative constant to a negative number.
#[test]
fn leading_zeros_of_constants_are_those_of_arguments() {
    for dtype in [DType::I8, DType::I16, DType::I32, DType::I64] {
        let x = Array::from([-1i32, -5, 3, 0]).astype(dtype);
        let count = |x: Array| x.count_leading_zeros().astype(DType::I32);
        let constant = x.clone();
        let folded = jit(move || count(Array::full_like(&constant, -5)))().to_vec::<i32>();
        assert_eq!(folded, [0; 4], "{dtype}");
        let bits = dtype.bits() as i32;
        assert_eq!(
            jit(count)(x).to_vec::<i32>(),
            [0, 0, bits - 2, bits],
            "{dtype}"
        );
    }
}
