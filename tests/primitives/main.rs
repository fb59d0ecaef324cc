//! Every primitive of the catalogue: values and derivatives recorded from JAX
//! or worked out by hand, derivatives of first and second order against
//! differences, reverse mode against forward mode, batches against loops, on
//! every element type that the primitive takes.
//!
//! `RAMIE_PRIMITIVES=sort,top_k` checks the cases of those operations only.

mod by_hand;
mod control;
mod coverage;
mod custom;
mod differentiation;
mod programs;
mod sources;
mod tables;
mod windows;

use ramie_core::prim::catalogue;
use ramie_testing::apply::{self, Operation};
use ramie_testing::case::Case;
use ramie_testing::check::{self, Failures};
use ramie_testing::golden::{Golden, Row};

/// From a recorded row to the operation it applies, if it is known there.
type Apply = dyn Fn(&Row) -> Option<Box<Operation>>;

/// Recordings, one a family of primitives, each with what applies its rows.
const RECORDINGS: &[(&str, &Apply)] = &[
    ("convolution", &ramie_testing::convolution::apply),
    ("lax", &ramie_testing::lax::apply),
    ("primitives", &apply::apply),
    ("linalg", &ramie_testing::linalg::apply),
    ("special", &apply::apply),
    ("windows", &ramie_testing::windows::apply),
];

/// All cases; rows that cannot be applied are failures.
fn cases(failures: &mut Failures) -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, apply) in RECORDINGS {
        let golden = Golden::open(name);
        cases.extend(ramie_testing::recorded(
            golden,
            &golden.ops(),
            apply,
            failures,
        ));
    }
    cases.extend(tables::cases());
    cases.extend(by_hand::cases());
    cases.extend(programs::cases());
    cases.extend(custom::cases());
    cases.extend(control::cases());
    cases.extend(windows::cases());
    cases
}

#[test]
fn primitives_obey_their_rules() {
    let mut failures = Failures::default();
    let mut cases = cases(&mut failures);
    check::nest_first(&mut cases);
    if let Ok(only) = std::env::var("RAMIE_PRIMITIVES") {
        cases.retain(|case: &Case| only.split(',').any(|op| op == case.op));
        check::cases(&cases, &mut failures);
        println!("{} cases of {only}", cases.len());
        return failures.finish();
    }
    let applied = coverage::check(&catalogue(), &cases, &mut failures);
    check::eagerly(&cases, &mut failures);
    check::cases(&cases, &mut failures);
    println!("primitives: {applied}, cases: {}", cases.len());
    failures.finish();
}

#[test]
fn derivatives_are_where_jax_has_them() {
    let mut failures = Failures::default();
    let cases = cases(&mut failures);
    differentiation::check(&catalogue(), &cases, &mut failures);
    failures.finish();
}

#[test]
fn the_catalogue_is_complete() {
    sources::check(&catalogue());
}
