//! Every optimizer and transformation step by step against Optax.

use crate::common;

use common::table::table;
use common::{Run, follow_group};
use ramie_core::{Array, DType, State, jit};
use ramie_optim::{GradientTransformation, identity, lbfgs};

#[test]
fn descent() {
    follow_group("descent", table("descent"));
}

#[test]
fn adams() {
    follow_group("adams", table("adams"));
}

#[test]
fn scaled() {
    follow_group("scaled", table("scaled"));
}

#[test]
fn transformations() {
    follow_group("transformations", table("transformations"));
}

#[test]
fn wrappers() {
    follow_group("wrappers", table("wrappers"));
}

#[test]
fn linesearches() {
    follow_group("linesearches", table("linesearches"));
}

#[test]
fn of_contrib() {
    follow_group("contrib", table("contrib"));
}

/// A quadratic function with its minimum at 1, 2 and 3.
fn quadratic(params: &State, _: &Array) -> Array {
    let minimum = Array::from([1.0, 2.0, 3.0]).astype(params["x"].dtype());
    ((&params["x"] - &minimum).square() * &minimum).sum()
}

#[test]
fn lbfgs_of_every_float_dtype() {
    for (dtype, tolerance) in [
        (DType::F64, 1e-14),
        (DType::F32, 1e-4),
        (DType::BF16, 0.1),
        (DType::F16, 0.01),
    ] {
        let tx = GradientTransformation::from(lbfgs().memory_size(3));
        let params = State::from_iter([("x", Array::zeros(&[3], dtype))]);
        let mut run = Run::new(&tx, &params);
        let step = jit(move |run: &mut Run| {
            let taken = std::mem::replace(run, Run::new(&identity(), &State::new()));
            *run = taken.advance(&tx, quadratic);
        });
        for _ in 0..25 {
            step(&mut run);
        }
        assert_eq!(run.params["x"].dtype(), dtype);
        let found = run.params["x"].astype(DType::F64).to_vec::<f64>();
        for (found, minimum) in found.iter().zip([1.0, 2.0, 3.0]) {
            assert!((found - minimum).abs() < tolerance, "{dtype}: {found}");
        }
    }
}
