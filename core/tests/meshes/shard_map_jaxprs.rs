//! Programs that devices run for their parts print, differentiate and batch to
//! JAX's programs.
//!
//! Each test is a program of `tests/golden/data/shard_map_jaxprs.json`, written
//! in Rust.

use crate::mesh;
use ramie_core::extend::bind1;
use ramie_core::lax::{
    Along, PcastTo, all_gather_invariant, all_gather_with, axis_index, pcast, pmax, pmean,
    ppermute, psum, psum_scatter, scan,
};
use ramie_core::options::ShardMapOptions;
use ramie_core::prim::elementwise::SelectN;
use ramie_core::sharding::Specs;
use ramie_core::*;
use ramie_testing::jaxprs;

fn f32(value: f64) -> Array {
    Array::scalar(value, DType::F32)
}

/// Manual along `x` alone, where texts do not depend on the order of a set.
fn options(in_specs: impl Into<Specs>, out_specs: impl Into<Specs>) -> ShardMapOptions {
    ShardMapOptions {
        mesh: Some(mesh()),
        axis_names: Some("x".into()),
        ..ShardMapOptions::new(in_specs, out_specs)
    }
}

fn one(
    f: impl Fn(Array) -> Array + Send + Sync + 'static,
    in_spec: PartitionSpec,
    out_spec: PartitionSpec,
) -> Box<dyn Fn(Array) -> Array + Send + Sync> {
    shard_map_with(f, options(in_spec, out_spec))
}

/// Of an argument in parts and another that all devices have.
fn two(
    f: impl Fn(Array, Array) -> Array + Send + Sync + 'static,
    out_spec: PartitionSpec,
) -> Box<dyn Fn(Array, Array) -> Array + Send + Sync> {
    shard_map_with(f, options([P!["x"], P![]], out_spec))
}

fn ring() -> Vec<(usize, usize)> {
    (0..4).map(|i| (i, (i + 1) % 4)).collect()
}

ramie_testing::programs! {
    "shard_map_jaxprs";
    elementwise |x| one(|x| x.sin(), P!["x"], P!["x"])(x);
    all_axes |x| {
        let options = ShardMapOptions { axis_names: None, ..options(P!["x"], P!["x"]) };
        shard_map_with(|x: Array| x.sin(), options)(x)
    };
    invariant_operand_varies |x, w| two(|x, w| x * w, P!["x"])(x, w);
    sum_is_invariant |x| one(|x| psum(&x, "x"), P!["x"], P![])(x);
    mean_of_invariant |x| one(|x| pmean(&x, "x"), P![], P![])(x);
    greatest |x| one(|x| pmax(&x, "x"), P!["x"], P![])(x);
    sum_without_check |x| {
        let options = ShardMapOptions { check_vma: false, ..options(P!["x"], P![]) };
        shard_map_with(|x: Array| psum(&x, "x"), options)(x)
    };
    gather_and_scatter |x| {
        let body = |x: Array| psum_scatter(&all_gather_with(&x, "x", Along::Tiled(0)).sin(), "x", Along::Tiled(0));
        one(body, P!["x"], P!["x"])(x)
    };
    gather_invariant |x| one(|x| all_gather_invariant(&x, "x", Along::Tiled(1)), P!["x"], P![])(x);
    ring_of_parts |x| one(|x| &x + ppermute(&x, "x", &ring()), P!["x"], P!["x"])(x);
    place |x| one(|x| x * axis_index("x").astype(DType::F32), P!["x"], P!["x"])(x);
    constant_varies |x| {
        let zeros = || Array::zeros(&[2], DType::F32);
        one(move |x| bind1(SelectN, &[&x.gt(f32(0.0)), &zeros(), &x]), P!["x"], P!["x"])(x)
    };
    captured |x, w| {
        shard_map_with(|x: Array| x * &w, options(P!["x"], P!["x"]))(x)
    };
    scan_carry |x| {
        let body = |x| {
            let start = pcast(&f32(0.0), "x", PcastTo::Varying);
            scan(|c: Array, e: Array| (&c + e, c), start, x).1
        };
        one(body, P!["x"], P!["x"])(x)
    };
    jvp_elementwise |x, w, t| {
        jvp(|x: Array| two(|x, w| x.sin() * w, P!["x"])(x, w.clone()), x, t)
    };
    grad_inside |x, w| {
        let body = |x: Array, w| grad(move |w: Array| psum(&(&x * w).sum(), "x"))(w);
        two(body, P![])(x, w)
    };
    batched |x, w| {
        let f = two(|x, w| &x * w + psum(&x, "x"), P!["x"]);
        vmap(|x: Array, w: Array| f(x, w))(x, w)
    };
    inner_jit |x| {
        one(|x| jit(|y: Array| psum(&(y * f32(2.0)), "x"))(x), P!["x"], P![])(x)
    };
    checkpointed |x| {
        one(|x| checkpoint(|y: Array| psum(&y.sin(), "x"))(x), P!["x"], P![])(x)
    };
    nested |x| {
        let inner = |x: Array| {
            let options = ShardMapOptions {
                axis_names: Some("y".into()),
                ..ShardMapOptions::new(P![None, "y"], P![])
            };
            shard_map_with(|x: Array| psum(&x, "y"), options)(x)
        };
        one(move |x| inner(x.sin()), P!["x"], P!["x"])(x)
    };
}

#[test]
fn every_recorded_program_is_written() {
    assert_eq!(jaxprs::names("shard_map_jaxprs"), PROGRAMS);
}
