//! Mistakes with trees and states.

use crate::document::{Case, case, error, f32};
use ramie::*;
use std::collections::BTreeMap;

pub fn cases() -> Vec<Case> {
    vec![
        error("A state for another tree", || {
            let state = State::of(&(f32(&[3]), f32(&[2])));
            let mut tree = (f32(&[3]), vec![f32(&[2])]);
            state.apply_to(&mut tree)
        }),
        error("A state with an array of another shape", || {
            let state = State::of(&(f32(&[3]), f32(&[2])));
            let mut tree = (f32(&[3]), f32(&[5]));
            state.apply_to(&mut tree)
        }),
        case("Combining states that differ", || {
            let a = State::of(&(f32(&[3]), f32(&[2])));
            let b = State::of(&(f32(&[3]),));
            a.zip(&b, |a, b| a + b)
        }),
        case("Merging states that overlap", || {
            let a = State::of(&(f32(&[3]), f32(&[2])));
            let b = State::of(&(f32(&[3]),));
            a.merge(b)
        }),
        case("Combining trees that differ", || {
            let a = (f32(&[3]), f32(&[2]));
            let b = (f32(&[3]),);
            tree::map2(&a, &b, |a, b| a + b)
        }),
        case("Combining maps with other keys", || {
            let params = BTreeMap::from([("kernel", f32(&[3])), ("bias", f32(&[2]))]);
            let grads = BTreeMap::from([("kernel", f32(&[3])), ("scale", f32(&[2]))]);
            tree::map2(&params, &grads, |p, g| p - g)
        }),
        case("Tangents of another structure", || {
            let layers = vec![f32(&[3])];
            jvp(
                |x: Vec<Array>| x[0].sin(),
                layers,
                vec![f32(&[3]), f32(&[3])],
            )
        }),
        case("Too few arrays for a tree", || {
            tree::with_leaves(&(f32(&[3]), f32(&[2])), [f32(&[3])])
        }),
        case("Turning trees of different sizes inside out", || {
            tree::transpose(&[vec![f32(&[3])], vec![f32(&[3]), f32(&[2])]])
        }),
    ]
}
