//! The derivative of products over axes.

use crate::Array;
use crate::passes::jvp_of;
use crate::typing::Dims;

/// Computes the tangent of the product of `x` over `axes`, where `g` is the tangent of `x`.
/// Multiplies pairs until one element is left, since a formula with divisions fails for zeros.
pub(super) fn tangent(g: &Array, x: &Array, axes: &[usize]) -> Array {
    let kept: Dims = (0..x.ndim()).filter(|d| !axes.contains(d)).collect();
    let permutation: Vec<isize> = axes.iter().chain(&kept).map(|&d| d as isize).collect();
    let n: usize = axes.iter().map(|&d| x.shape()[d]).product();
    let mut shape: Dims = kept.iter().map(|&d| x.shape()[d]).collect();
    if n == 0 {
        return Array::zeros(&shape, g.dtype());
    }
    shape.insert(0, n);
    let front = |x: &Array| x.transpose(&permutation).reshape(&shape);
    let halved = |x: &[Array]| vec![halved(x[0].clone())];
    let (_, mut tangents) = jvp_of(halved, &[front(x)], &[Some(front(g))]);
    tangents.pop().expect("the tangent of a product")
}

/// Computes the product over the first axis by repeated halving.
fn halved(mut x: Array) -> Array {
    while x.shape()[0] > 1 {
        let n = x.shape()[0];
        let half = n.div_ceil(2);
        let first = x.slice_axis(0, 0, half);
        let mut second = x.slice_axis(0, half, n);
        if n % 2 == 1 {
            let mut widths = vec![(0, 0); x.ndim()];
            widths[0].1 = 1;
            second = second.pad(&widths, 1);
        }
        x = &first * &second;
    }
    x.squeeze(&[0])
}
