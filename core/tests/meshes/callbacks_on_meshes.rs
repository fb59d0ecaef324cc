//! Functions of the host called by programs that run on several devices.

use crate::mesh;
use ramie_core::lax::{cond, fori_loop, while_loop};
use ramie_core::options::ShardMapOptions;
use ramie_core::sharding::Specs;
use ramie_core::*;
use ramie_testing::panic_message;

fn numbers(shape: &[usize]) -> Array {
    let n: usize = shape.iter().product();
    Array::from_vec((0..n).map(|i| (i as f32 * 0.7).sin()).collect(), shape)
}

fn on_mesh(in_specs: impl Into<Specs>, out_specs: impl Into<Specs>) -> ShardMapOptions {
    ShardMapOptions {
        mesh: Some(mesh()),
        ..ShardMapOptions::new(in_specs, out_specs)
    }
}

type One = Box<dyn Fn(Array) -> Array + Send + Sync>;

/// What functions of the host were called with, in the order of their sums.
#[derive(Clone, Default)]
struct Calls(std::sync::Arc<std::sync::Mutex<Vec<Vec<f32>>>>);

impl Calls {
    fn log(&self) -> impl Fn(Array) + Send + Sync + 'static {
        let calls = self.clone();
        move |x: Array| calls.0.lock().unwrap().push(x.to_vec())
    }
    fn doubled(&self) -> impl Fn(Array) -> Array + Send + Sync + 'static {
        let log = self.log();
        move |x: Array| {
            let twice: Vec<f32> = x.to_vec::<f32>().iter().map(|v| v * 2.0).collect();
            let shape = x.shape().to_vec();
            log(x);
            Array::from_vec(twice, &shape)
        }
    }
    fn take(&self) -> Vec<Vec<f32>> {
        effects_barrier().expect("no callback fails");
        let mut calls = std::mem::take(&mut *self.0.lock().unwrap());
        calls.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
        calls
    }
}

#[test]
fn a_barrier_waits_for_programs_without_results() {
    let mesh = mesh();
    let x = device_put(&numbers(&[8, 2]), NamedSharding::new(mesh, P!["x", "y"]));
    let calls = Calls::default();
    let program = jit(|x: Array| {
        let log = calls.log();
        let slow = move |x: Array| {
            std::thread::sleep(std::time::Duration::from_millis(100));
            log(x);
        };
        debug::callback(slow, x.sum());
    });
    for _ in 0..3 {
        program(x.clone());
    }
    assert_eq!(calls.take().len(), 3);
}

/// A program over a mesh calls a function of the host once, with whole arrays; a
/// program that each device runs calls it on each device, with that device's part.
#[test]
fn programs_over_meshes_call_functions_of_the_host() {
    let mesh = mesh();
    let x = device_put(&numbers(&[8, 2]), NamedSharding::new(mesh, P!["x", "y"]));
    let (host, calls) = (x.to_vec::<f32>(), Calls::default());
    let forms: Vec<(&str, One)> = vec![
        ("debug::callback", {
            let calls = calls.clone();
            Box::new(move |x: Array| {
                debug::callback(calls.log(), x.clone());
                x * 2.0
            })
        }),
        ("pure_callback", {
            let calls = calls.clone();
            Box::new(move |x: Array| {
                let like = Array::shape_dtype_struct(x.shape(), x.dtype());
                pure_callback(calls.doubled(), like, x)
            })
        }),
        ("io_callback", {
            let calls = calls.clone();
            Box::new(move |x: Array| {
                let like = Array::shape_dtype_struct(x.shape(), x.dtype());
                io_callback(calls.doubled(), like, x)
            })
        }),
    ];
    // The compiler may merge calls of pure functions.
    let seen = |name: &str, mut calls: Vec<Vec<f32>>| {
        if name == "pure_callback" {
            calls.dedup();
        }
        calls
    };
    let expected = |name: &str, times: usize| match name {
        "pure_callback" => 1,
        _ => times,
    };
    for (name, f) in &forms {
        let f = |x: Array| f(x);
        let whole = |how: &str, times: usize, got: Array| {
            let want: Vec<f32> = host.iter().map(|v| v * 2.0).collect();
            assert_eq!(got.to_vec::<f32>(), want, "{name} {how}");
            let seen = seen(name, calls.take());
            assert_eq!(
                seen,
                vec![host.clone(); expected(name, times)],
                "{name} {how}"
            );
        };
        whole("jitted", 1, jit(f)(x.clone()));
        whole("nested", 1, jit(|x: Array| jit(f)(x))(x.clone()));
        let chosen = jit(|p: Array, x: Array| cond(p, f, |x: Array| x * 0.0, x));
        whole("in cond", 1, chosen(Array::from(true), x.clone()));
        let looped = jit(|x: Array| {
            let step = |(i, _): (Array, Array)| (&i + 1, f(x.clone()));
            while_loop(
                |(i, _): (Array, Array)| i.lt(3),
                step,
                (0.into_array(), x.clone()),
            )
            .1
        });
        whole("in while_loop", 3, looped(x.clone()));
        let scanned = jit(|x: Array| fori_loop(0, 3, |_, _: Array| f(x.clone()), x.clone()));
        whole("in scan", 3, scanned(x.clone()));
        let parts = |how: &str, times: usize, got: Array| {
            let want: Vec<f32> = host.iter().map(|v| v * 2.0).collect();
            assert_eq!(got.to_vec::<f32>(), want, "{name} {how}");
            let rows: Vec<&[f32]> = host.chunks(2).collect();
            let mut want: Vec<Vec<f32>> = rows
                .chunks(2)
                .flat_map(|pair| (0..2).map(|j| vec![pair[0][j], pair[1][j]]))
                .flat_map(|part| vec![part; expected(name, times)])
                .collect();
            want.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
            assert_eq!(seen(name, calls.take()), want, "{name} {how}");
        };
        let specs = || on_mesh(P!["x", "y"], P!["x", "y"]);
        let mapped = shard_map_with(f, specs());
        let mapped = |x: Array| mapped(x);
        parts("in shard_map", 1, jit(mapped)(x.clone()));
        let scanned = jit(|x: Array| fori_loop(0, 3, |_, _: Array| mapped(x.clone()), x.clone()));
        parts("of shard_map in scan", 3, scanned(x.clone()));
        let inside = |x: Array| fori_loop(0, 3, |_, _: Array| f(x.clone()), x.clone());
        parts(
            "in scan in shard_map",
            3,
            jit(shard_map_with(inside, specs()))(x.clone()),
        );
        let some = ShardMapOptions {
            axis_names: Some("x".into()),
            ..on_mesh(P!["x"], P!["x"])
        };
        let refused = panic_message(|| drop(jit(shard_map_with(f, some))(x.clone())));
        assert!(
            refused.contains("leaves some axes of the mesh automatic"),
            "{refused}"
        );
    }
    let printed = jit(|x: Array| {
        debug::print("sum {}", &[&x.sum()]);
        grad(|x: Array| {
            debug::callback(calls.log(), x.clone());
            x.square().sum()
        })(x)
    });
    let slope = printed(x.clone()).to_vec::<f32>();
    assert_eq!(slope, host.iter().map(|v| v * 2.0).collect::<Vec<f32>>());
    assert_eq!(calls.take(), [host]);
}
