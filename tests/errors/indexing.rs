//! Mistakes with indices.

use crate::document::{Case, case, f32};
use ramie::*;

pub fn cases() -> Vec<Case> {
    vec![
        case("An index out of bounds", || {
            let x = f32(&[3]);
            x.index(3)
        }),
        case("More indices than axes", || {
            let x = f32(&[2, 3]);
            x.index((0, 1, 2))
        }),
        case("Indices that are no integers", || {
            let x = f32(&[5]);
            x.index(f32(&[2]))
        }),
        case("A mask of another shape", || {
            let x = f32(&[2, 3]);
            let mask = f32(&[2, 4]).gt(0);
            x.index(&mask)
        }),
        case("Two ellipses", || {
            f32(&[2, 3]).index((Ellipsis, 0, Ellipsis))
        }),
        case("A step of zero", || f32(&[5]).index(s(..).step(0))),
        case("Setting elements to an array of another shape", || {
            let x = f32(&[5]);
            x.at(0..2).set(f32(&[3]))
        }),
        case("Setting integers to fractions", || {
            let counts = Array::arange(3);
            counts.at(0).set(f32(&[]))
        }),
        case("Taking by indices that are no integers", || {
            f32(&[5]).take(&f32(&[2]), 0)
        }),
        case("Taking along an axis that is not there", || {
            f32(&[5]).take(&Array::arange(2), 1)
        }),
        case("Taking from an empty axis", || {
            f32(&[0, 3]).take(&Array::arange(2), 0)
        }),
        case(
            "The gradient of a function applied to repeated elements",
            || {
                let squared = |x: Array| x.at([2, 2]).apply(|v| v.square()).sum();
                grad(squared)(f32(&[3]))
            },
        ),
        case("Taking along an axis with indices of another rank", || {
            f32(&[2, 3]).take_along_axis(&Array::arange(2), 1)
        }),
        case("A dynamic slice larger than the array", || {
            f32(&[5]).dynamic_slice(&[0], &[6])
        }),
        case("A dynamic slice with too few starts", || {
            f32(&[5, 2]).dynamic_slice(&[0], &[2, 2])
        }),
        case("A dynamic update larger than the array", || {
            f32(&[5]).dynamic_update_slice(&f32(&[6]), &[0])
        }),
        case("A dynamic update of another type", || {
            Array::arange(5).dynamic_update_slice(&f32(&[2]), &[0])
        }),
        case("Rows that are chosen by a traced mask", || {
            let positive = jit(|x: Array| x.index(x.gt(0)));
            positive(f32(&[3]))
        }),
    ]
}
