//! Reductions: NumPy's methods, ties and mistakes.

use half::bf16;
use ramie_core::options::Reduction;
use ramie_core::{Array, DType, grad};
use ramie_testing::panic_message;

#[test]
fn the_first_nan_is_the_extreme() {
    let nan = f32::NAN;
    assert_eq!(Array::from([1.0, nan, 2.0, nan]).argmax(0).item::<i32>(), 1);
    assert_eq!(Array::from([nan, 1.0, nan]).argmin(-1).item::<i32>(), 0);
    assert_eq!(
        Array::from([f32::NEG_INFINITY; 3]).argmax(0).item::<i32>(),
        0
    );
}

#[test]
fn sums_promote_as_numpy_does() {
    let small = Array::from([100i8, 100, 100]);
    assert_eq!(small.sum().to_vec::<i32>(), [300]);
    assert_eq!(small.reduce_sum(&[0]).to_vec::<i8>(), [44]);
    assert_eq!(Array::from([200u8, 100]).sum().to_vec::<u32>(), [300]);
    assert_eq!(Array::from([true, false, true]).sum().to_vec::<i32>(), [2]);
    assert_eq!(Array::from([1i32, 2]).mean().to_vec::<f32>(), [1.5]);
    // 256 + 1 is not a bf16: an accumulator of 8 bits would stay at 256.
    let halves = Array::ones(&[1000], DType::BF16);
    assert_eq!(halves.sum().to_vec::<bf16>(), [bf16::from_f32(1000.0)]);
    assert_eq!(halves.mean().to_vec::<bf16>(), [bf16::ONE]);
    assert_eq!(halves.mean().dtype(), DType::BF16);
}

/// The sum of squares, 160000, is larger than the largest `f16`, 65504.
#[test]
fn variances_in_16_bits_are_rounded_once() {
    let how = || Reduction::all().dtype(DType::F16);
    let x = Array::from([200.0f32, -200.0, 200.0, -200.0]);
    for variance in [x.var_over(how()), x.nanvar_over(how())] {
        assert_eq!(variance.dtype(), DType::F16);
        assert_eq!(variance.astype(DType::F32).item::<f32>(), 40_000.0);
    }
}

#[test]
fn axes_disappear_or_stay() {
    let x = Array::from([[1.0f32, 2.0, 3.0], [4.0, 5.0, 9.0]]);
    assert_eq!(x.sum_over(-1).to_vec::<f32>(), [6.0, 18.0]);
    assert_eq!(x.sum_over(Reduction::over(1).keepdims()).shape(), [2, 1]);
    assert_eq!(
        x.max_over(Reduction::over([1, 0]).keepdims()).shape(),
        [1, 1]
    );
    assert_eq!(x.mean_over(0).to_vec::<f32>(), [2.5, 3.5, 6.0]);
    assert_eq!(x.sum_over([]).shape(), [2, 3]);
    assert_eq!(x.ptp_over(1).to_vec::<f32>(), [2.0, 5.0]);
    assert_eq!(x.var_over(1).to_vec::<f32>()[0], 2.0 / 3.0);
    assert_eq!(
        x.var_over(Reduction::over(1).ddof(1.0)).to_vec::<f32>()[0],
        1.0
    );
    assert!(x.var_over(Reduction::over(1).ddof(3.0)).to_vec::<f32>()[0].is_nan());
    assert_eq!(
        x.std_over(Reduction::over(1).ddof(1.0)).to_vec::<f32>()[0],
        1.0
    );
    assert_eq!(Array::from([3.0f32, 4.0]).norm().item::<f32>(), 5.0);
    assert_eq!(x.gt(2.0).all_over(1).to_vec::<bool>(), [false, true]);
    assert_eq!(x.gt(4.0).any_over(1).to_vec::<bool>(), [false, true]);
    assert_eq!((x.clone() - 1.0).count_nonzero().item::<i32>(), 5);
}

#[test]
fn ties_share_the_gradient_of_max() {
    let g = grad(|x: Array| x.max())(Array::from([1.0f32, 3.0, 3.0]));
    assert_eq!(g.to_vec::<f32>(), [0.0, 0.5, 0.5]);
    let g = grad(|x: Array| x.norm())(Array::zeros(&[2], DType::F32));
    assert!(g.to_vec::<f32>()[0].is_nan());
}

#[test]
#[should_panic(expected = "max: f32[0,3] has no elements along axes [0, 1] to choose from")]
fn no_largest_of_none() {
    let _ = Array::zeros(&[0, 3], DType::F32).max();
}

#[test]
#[should_panic(expected = "argmax: axis 0 of f32[0] has no elements")]
fn no_position_of_none() {
    let _ = Array::zeros(&[0], DType::F32).argmax(0);
}

#[test]
#[should_panic(expected = "sum: axis 2 is out of range for f32[2,3]")]
fn axes_out_of_range_are_refused() {
    let _ = Array::zeros(&[2, 3], DType::F32).sum_over(2);
}

#[test]
fn functions_without_an_initial_value_refuse_it() {
    type Refused = fn(&Array, Reduction) -> Array;
    let functions: [(&str, Refused); 13] = [
        ("mean", |x, how| x.mean_over(how)),
        ("var", |x, how| x.var_over(how)),
        ("var", |x, how| x.std_over(how)),
        ("nanmean", |x, how| x.nanmean_over(how)),
        ("nanvar", |x, how| x.nanvar_over(how)),
        ("nanvar", |x, how| x.nanstd_over(how)),
        ("norm", |x, how| x.norm_over(how)),
        ("count_nonzero", |x, how| x.count_nonzero_over(how)),
        ("average", |x, how| x.average(x, how)),
        ("softmax", |x, how| x.softmax(how)),
        ("log_softmax", |x, how| x.log_softmax(how)),
        ("logsumexp", |x, how| x.logsumexp(how)),
        ("logsumexp", |x, how| x.logmeanexp(how)),
    ];
    let x = Array::from([1.0f32, 2.0]);
    for (name, f) in functions {
        let text = panic_message(|| f(&x, Reduction::over(0).initial(1.0)));
        assert!(
            text.starts_with(&format!("{name}: got an initial value")),
            "{text}"
        );
        f(&x, Reduction::over(0).keepdims());
    }
}

#[test]
fn bits_are_combined() {
    let x = Array::from([[6i32, 3], [5, 5]]);
    assert_eq!(x.reduce_and(&[1]).to_vec::<i32>(), [2, 5]);
    assert_eq!(x.reduce_or(&[0]).to_vec::<i32>(), [7, 7]);
    assert_eq!(x.reduce_xor(&[1]).to_vec::<i32>(), [5, 0]);
}
