//! Cases that transformations rarely meet.

use ramie_core::extend::bind1;
use ramie_core::lax::{conv_general_dilated, fori_loop};
use ramie_core::options::Convolution;
use ramie_core::prim::elementwise::Clamp;
use ramie_core::prim::index::{Gather, GatherDimensionNumbers};
use ramie_core::*;
use ramie_testing::panic_message;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn number(x: f32) -> Array {
    Array::from(x)
}

#[test]
fn a_computed_bound_of_a_loop_is_known() {
    let n = Array::from([1, 2]).sum();
    let f = move |x: Array| fori_loop(0, n.clone(), |_, x: Array| x * 2.0, x);
    assert_eq!(f(number(1.0)).item::<f32>(), 8.0);
    assert_eq!(jit(f.clone())(number(1.0)).item::<f32>(), 8.0);
    assert_eq!(grad(f.clone())(number(1.0)).item::<f32>(), 8.0);
    let rows = vmap(f)(Array::from([1.0f32, 2.0]));
    assert_eq!(rows.to_vec::<f32>(), [8.0, 16.0]);
}

#[test]
fn the_smallest_exponent_has_a_derivative() {
    let slope = grad(|x: Array| x.integer_pow(i32::MIN));
    assert_eq!(slope(number(2.0)).item::<f32>(), 0.0);
    assert_eq!(slope(number(1.0)).item::<f32>(), -(2f32.powi(31)));
}

#[test]
fn the_order_of_polygamma_has_no_derivative() {
    let refused = panic_message(|| drop(grad(|n: Array| n.polygamma(3.0))(number(1.0))));
    assert!(
        refused.starts_with("polygamma: has no derivative with respect to its first operand"),
        "{refused}"
    );
    let slope = grad(|x: Array| number(1.0).polygamma(x))(number(3.0));
    let expected = number(2.0).polygamma(3.0);
    assert!((slope - expected).item::<f32>().abs() < 1e-6);
}

#[test]
fn a_lower_bound_above_the_upper_one_has_no_derivative() {
    let clamp = |(lo, x, hi): (Array, Array, Array)| bind1(Clamp, &[&lo, &x, &hi]);
    let slopes = |lo, x, hi| {
        let (a, b, c) = grad(clamp)((number(lo), number(x), number(hi)));
        [a, b, c].map(|slope| slope.item::<f32>())
    };
    assert_eq!(slopes(1.0, 0.5, 0.0), [0.0, 0.0, 1.0]);
    assert_eq!(slopes(0.0, -0.5, 1.0), [1.0, 0.0, 0.0]);
}

#[test]
fn an_effect_in_a_checkpoint_happens_once() {
    let calls = Arc::new(AtomicUsize::new(0));
    let count = calls.clone();
    let f = checkpoint(move |x: Array| {
        let count = count.clone();
        let next = move |_: Array| Array::from(1.0 + count.fetch_add(1, Ordering::SeqCst) as f32);
        let like = Array::shape_dtype_struct(&[], DType::F32);
        (&x * io_callback(next, like, x.stop_gradient())).sin()
    });
    let slope = grad(f)(number(0.5));
    assert_eq!(slope.item::<f32>(), 0.5f32.cos());
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

#[test]
fn own_rules_hold_inside_compile_time_eval() {
    let f = custom_vjp(|x: Array| x, |x: Array| (x, ()), |(), ct: Array| ct * 5.0);
    let slope = grad(move |x: Array| compile_time_eval(|| f(x)));
    assert_eq!(slope(number(2.0)).item::<f32>(), 5.0);
}

#[test]
fn invalid_types_and_sizes_are_refused() {
    let x = Array::ones(&[1, 1, 4], DType::C64);
    let how = Convolution::new().preferred_element_type(DType::I32);
    let refused = panic_message(|| drop(conv_general_dilated(&x, &x, &how)));
    assert!(
        refused.contains("products of c64 cannot be accumulated in i32"),
        "{refused}"
    );
    let gather = Gather::new(GatherDimensionNumbers::new(&[1], &[], &[]), &[5]);
    let none = Array::zeros(&[3, 0], DType::I32);
    let refused = panic_message(|| drop(Array::from([1, 2]).gather(&none, gather)));
    assert!(
        refused.contains("slice size 5 is invalid along axis 0"),
        "{refused}"
    );
}

#[test]
fn large_indices_are_out_of_bounds() {
    let pick = |x: Array, i: Array| x.take(&i, 0);
    for index in [1i64 << 32, -(1i64 << 32)] {
        let (x, i) = (Array::from([1f32, 2.0]), Array::from([index]));
        let (error, _) = checkify::checkify(pick, checkify::Errors::INDEX)(x, i);
        assert!(error.get().is_some(), "{index}");
    }
}
