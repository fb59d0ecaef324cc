//! Errors of pytrees and states.

use crate::document::{Case, case, error, f32};
use ramie::*;
use std::collections::BTreeMap;

pub fn cases() -> Vec<Case> {
    vec![
        error(
            "State::apply_to: the state has other paths than the tree",
            || {
                let state = State::of(&(f32(&[3]), f32(&[2])));
                let mut tree = (f32(&[3]), vec![f32(&[2])]);
                state.apply_to(&mut tree)
            },
        ),
        error("State::apply_to: an array has another shape", || {
            let state = State::of(&(f32(&[3]), f32(&[2])));
            let mut tree = (f32(&[3]), f32(&[5]));
            state.apply_to(&mut tree)
        }),
        case("State::zip: the states have different paths", || {
            let a = State::of(&(f32(&[3]), f32(&[2])));
            let b = State::of(&(f32(&[3]),));
            a.zip(&b, |a, b| a + b)
        }),
        case("State::merge: both states have an array at a path", || {
            let a = State::of(&(f32(&[3]), f32(&[2])));
            let b = State::of(&(f32(&[3]),));
            a.merge(b)
        }),
        case("tree::map2: the trees have different structures", || {
            let a = (f32(&[3]), f32(&[2]));
            let b = (f32(&[3]),);
            tree::map2(&a, &b, |a, b| a + b)
        }),
        case("tree::map2: the trees have different keys", || {
            let params = BTreeMap::from([("kernel", f32(&[3])), ("bias", f32(&[2]))]);
            let grads = BTreeMap::from([("kernel", f32(&[3])), ("scale", f32(&[2]))]);
            tree::map2(&params, &grads, |p, g| p - g)
        }),
        case(
            "TreeDef::flatten_up_to: the tree lacks a key of the definition",
            || {
                let params = BTreeMap::from([("kernel", f32(&[3])), ("bias", f32(&[2]))]);
                let moments = BTreeMap::from([("kernel", (f32(&[3]), f32(&[3])))]);
                tree::structure(&params).flatten_up_to(&moments)
            },
        ),
        case("jvp: the tangent has another structure", || {
            let layers = vec![f32(&[3])];
            jvp(
                |x: Vec<Array>| x[0].sin(),
                layers,
                vec![f32(&[3]), f32(&[3])],
            )
        }),
        case("tree::with_leaves: too few arrays", || {
            tree::with_leaves(&(f32(&[3]), f32(&[2])), [f32(&[3])])
        }),
        case(
            "tree::transpose: the trees have different structures",
            || tree::transpose(&[vec![f32(&[3])], vec![f32(&[3]), f32(&[2])]]),
        ),
    ]
}
