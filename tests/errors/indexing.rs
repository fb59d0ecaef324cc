//! Errors of indexing.

use crate::document::{Case, case, f32};
use ramie::numpy::Ellipsis;
use ramie::*;

pub fn cases() -> Vec<Case> {
    vec![
        case("index: out of bounds", || {
            let x = f32(&[3]);
            x.index(3)
        }),
        case("index: more indices than axes", || {
            let x = f32(&[2, 3]);
            x.index((0, 1, 2))
        }),
        case("index: expected integers or a boolean mask", || {
            let x = f32(&[5]);
            x.index(f32(&[2]))
        }),
        case("index: the mask does not fit the axes", || {
            let x = f32(&[2, 3]);
            let mask = f32(&[2, 4]).gt(0);
            x.index(&mask)
        }),
        case("index: Ellipsis appears twice", || {
            f32(&[2, 3]).index((Ellipsis, 0, Ellipsis))
        }),
        case("index: the step of a slice is 0", || {
            f32(&[5]).index(s(..).step(0))
        }),
        case(
            "at: the value does not broadcast to the selected elements",
            || {
                let x = f32(&[5]);
                x.at(0..2).set(f32(&[3]))
            },
        ),
        case("at: a float does not fit into an array of integers", || {
            let counts = Array::arange(3);
            counts.at(0).set(f32(&[]))
        }),
        case(
            "at: a number does not fit into an array of integers",
            || {
                let counts = Array::arange(3);
                counts.at(0).set(0.5)
            },
        ),
        case("take: expected integer indices", || {
            f32(&[5]).take(&f32(&[2]), 0)
        }),
        case("repeat_sized: expected one count per element", || {
            f32(&[5]).repeat_sized(Array::arange(2), 0, 8)
        }),
        case("take: axis out of range", || {
            f32(&[5]).take(&Array::arange(2), 1)
        }),
        case("take: the axis is empty", || {
            f32(&[0, 3]).take(&Array::arange(2), 0)
        }),
        case("at(…).apply: no reverse-mode derivative", || {
            let squared = |x: Array| x.at([2, 2]).apply(|v| v.square()).sum();
            grad(squared)(f32(&[3]))
        }),
        case("take_along_axis: indices of another rank", || {
            f32(&[2, 3]).take_along_axis(&Array::arange(2), 1)
        }),
        case("dynamic_slice: the slice is larger than the array", || {
            f32(&[5]).dynamic_slice(&[0], &[6])
        }),
        case("dynamic_slice: too few start indices", || {
            f32(&[5, 2]).dynamic_slice(&[0], &[2, 2])
        }),
        case(
            "dynamic_update_slice: the update is larger than the array",
            || f32(&[5]).dynamic_update_slice(&f32(&[6]), &[0]),
        ),
        case("dynamic_update_slice: the update has another dtype", || {
            Array::arange(5).dynamic_update_slice(&f32(&[2]), &[0])
        }),
        case("index: the mask is traced", || {
            let positive = jit(|x: Array| x.index(x.gt(0)));
            positive(f32(&[3]))
        }),
    ]
}
