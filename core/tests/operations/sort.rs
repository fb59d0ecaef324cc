//! Sorting: NumPy's methods.

use ramie_core::lax::sort;
use ramie_core::{Array, grad};

#[test]
fn methods_of_numpy() {
    let x = Array::from([[3.0f32, f32::NAN, 1.0], [-0.0, 0.0, -1.0]]);
    let sorted = x.sort(1).to_vec::<f32>();
    assert_eq!(sorted[..2], [1.0, 3.0]);
    assert!(sorted[2].is_nan());
    assert_eq!(x.argsort(-1).to_vec::<i32>(), [2, 0, 1, 2, 0, 1]);
    assert_eq!(x.argsort(0).to_vec::<i32>(), [1, 1, 1, 0, 0, 0]);
    let (values, at) = Array::from([1, 5, 3, 5]).top_k(3);
    assert_eq!(values.to_vec::<i32>(), [5, 5, 3]);
    assert_eq!(at.to_vec::<i32>(), [1, 3, 2]);
    let keys = [Array::from([1, 0, 1, 0]), Array::from([2, 3, 1, 4])];
    let both = sort(&keys, 0, 2);
    assert_eq!(both[1].to_vec::<i32>(), [3, 4, 1, 2]);
}

#[test]
fn gradients_follow_the_order() {
    let weights = Array::from([1.0f32, 10.0, 100.0]);
    let x = Array::from([2.0f32, 3.0, 1.0]);
    let g = grad(|x: Array| (x.sort(0) * &weights).sum())(x.clone());
    assert_eq!(g.to_vec::<f32>(), [10.0, 100.0, 1.0]);
    let g = grad(|x: Array| x.top_k(2).0.sum())(x);
    assert_eq!(g.to_vec::<f32>(), [1.0, 1.0, 0.0]);
}

#[test]
#[should_panic(expected = "top_k: axis 0 has 2 elements, fewer than k = 3")]
fn more_than_there_are() {
    let _ = Array::from([1, 2]).top_k(3);
}
