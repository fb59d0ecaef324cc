//! Collectives between devices, over one axis of a mesh, several, and axes in
//! another order: values, derivatives and batches beside JAX, also in the bodies
//! of control flow and under `vmap`.

use crate::eight_devices;
use ramie_core::lax::{
    Along, all_gather_with, all_to_all, axis_index, axis_size, cond, pbroadcast, pmax, pmean, pmin,
    ppermute, pshuffle, psum, psum_scatter, pswapaxes, pvary, scan, while_loop,
};
use ramie_core::options::{ShardMapOptions, VmapOptions};
use ramie_core::sharding::{AxisName, SpecEntry};
use ramie_core::*;
use ramie_testing::apply::Operation;
use ramie_testing::check::Failures;
use ramie_testing::golden::{Golden, Row};
use serde_json::Value;

static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());

type Body = std::sync::Arc<dyn Fn(Array) -> Array + Send + Sync>;

fn numbers(value: &Value) -> Vec<usize> {
    let items = value.as_array().cloned().unwrap_or_default();
    items.iter().map(|n| n.as_u64().unwrap() as usize).collect()
}

fn names(value: &Value) -> Vec<AxisName> {
    let items = value.as_array().expect("names").iter();
    items.map(|n| n.as_str().unwrap().into()).collect()
}

fn spec(value: &Value) -> PartitionSpec {
    let dims = value.as_array().expect("a list for each dimension").iter();
    PartitionSpec::new(dims.map(|d| SpecEntry::from(&names(d)[..])))
}

fn mesh(sizes: &[usize]) -> Mesh {
    eight_devices();
    make_mesh(sizes, &["x", "y", "z"][..sizes.len()]).unwrap()
}

/// The collective of a row.
fn collective(row: &Row) -> Body {
    let p = row.params.clone();
    let axes = names(&p["axes"]);
    let number = |name: &str| p[name].as_i64().unwrap_or(0) as isize;
    let (axis, split, concat) = (number("axis"), number("split"), number("concat"));
    let source = number("source") as usize;
    let along = match p["tiled"].as_bool() {
        Some(true) => Along::Tiled,
        _ => Along::Stacked,
    };
    let pairs = p["perm"].as_array().cloned().unwrap_or_default();
    let pairs: Vec<Vec<usize>> = pairs.iter().map(numbers).collect();
    let pairs: Vec<(usize, usize)> = pairs.iter().map(|p| (p[0], p[1])).collect();
    let sources = numbers(&p["sources"]);
    let op = row.op.clone();
    std::sync::Arc::new(move |x: Array| {
        let axes = &axes[..];
        match op.as_str() {
            "psum" => psum(&x, axes),
            "pmean" => pmean(&x, axes),
            "pmax" => pmax(&x, axes),
            "pmin" => pmin(&x, axes),
            "axis_index" => &x * (axis_index(axes) + 1).astype(x.dtype()),
            "axis_size" => &x * axis_size(axes) as i32,
            "all_gather" => all_gather_with(&x, axes, along(axis)),
            "psum_scatter" => psum_scatter(&x, axes, along(axis)),
            "all_to_all" => all_to_all(&x, axes, along(split), concat),
            "ppermute" => ppermute(&x, axes, &pairs),
            "pshuffle" => pshuffle(&x, axes, &sources),
            "pbroadcast" => pbroadcast(&x, axes, source),
            "pswapaxes" => pswapaxes(&x, axes, axis),
            other => panic!("no collective is called {other}"),
        }
    })
}

/// The function of the body, with the collective in what the row says.
fn within(around: &str, f: Body, all: Vec<AxisName>) -> Body {
    match around {
        "plain" => f,
        "jit" => std::sync::Arc::new(move |x: Array| jit(|x: Array| f(x))(x)),
        "remat" => std::sync::Arc::new(move |x: Array| {
            let f = f.clone();
            checkpoint(move |x: Array| f(x.cos()).sin())(x)
        }),
        "scan" => std::sync::Arc::new(move |x: Array| {
            let f = f.clone();
            let one = Array::scalar(1.0, x.dtype());
            let xs = stack(&[x.clone(), &x * &x], 0);
            let ys = scan(move |n: Array, x: Array| (&n + 1, f(x * n)), one, xs).1;
            ys.index(0) + ys.index(1)
        }),
        "cond" => std::sync::Arc::new(move |x: Array| {
            let (f, g) = (f.clone(), f.clone());
            let largest = pmax(&x.stop_gradient().max(), &all[..]);
            cond(
                largest.gt(0.0),
                move |x| f(x),
                move |x: Array| g(&x * &x),
                x,
            )
        }),
        "while" => std::sync::Arc::new(move |x: Array| {
            let start = (0.into_array(), pvary(&x, &all[..]));
            let body = |(i, c): (Array, Array)| (i + 1, pvary(&f(c * 0.5), &all[..]) + &x);
            while_loop(|(i, _): (Array, Array)| i.lt(3), body, start).1
        }),
        "vmap" => std::sync::Arc::new(move |x: Array| {
            let options = VmapOptions {
                in_axes: [Some(1)].into(),
                axis_name: Some("b".into()),
                ..VmapOptions::default()
            };
            let f = f.clone();
            vmap_with(move |x: Array| f(x), options)(x)
        }),
        other => panic!("nothing is called {other}"),
    }
}

fn operation(row: &Row) -> Option<Box<Operation>> {
    let p = &row.params;
    let mesh = mesh(&numbers(&p["mesh"]));
    let around = p["around"].as_str().unwrap();
    let f = within(around, collective(row), mesh.axis_names().to_vec());
    let options = ShardMapOptions {
        mesh: Some(mesh),
        check_vma: p["vma"].as_bool().unwrap(),
        ..ShardMapOptions::new(spec(&p["in"]), spec(&p["out"][0]))
    };
    let body = move |x: Array| {
        let y = f(x);
        match y.ndim() {
            0 => y.reshape(&[1]),
            _ => y,
        }
    };
    let whole = shard_map_with(body, options);
    if around == "jit" {
        let whole = jit(whole);
        return Some(Box::new(move |x: &[Array]| vec![whole(x[0].clone())]));
    }
    Some(Box::new(move |x: &[Array]| vec![whole(x[0].clone())]))
}

#[test]
fn collectives_agree_with_jax() {
    let _alone = ONE_AT_A_TIME.lock();
    mesh(&[8]);
    let golden = Golden::open("collectives_on_meshes");
    let ops = golden.ops();
    assert_eq!(ops.len(), 13);
    let mut failures = Failures::default();
    let cases = ramie_testing::recorded(golden, &ops, &operation, &mut failures);
    ramie_testing::check::eagerly(&cases, &mut failures);
    // The virtual devices share one pool of threads, and a collective keeps its
    // thread until all devices are there: with many in one program, each device
    // in another, none would come.
    for few in cases.chunks(2) {
        ramie_testing::check::cases(few, &mut failures);
    }
    failures.finish();
}

/// Over mapped axes and a mesh's together: the same as where all are mapped.
#[test]
fn mapped_axes_beside_those_of_a_mesh() {
    let _alone = ONE_AT_A_TIME.lock();
    let named = |name: &str| VmapOptions {
        axis_name: Some(name.into()),
        ..VmapOptions::default()
    };
    let choices: [[&str; 2]; 4] = [["b", "x"], ["x", "b"], ["y", "b"], ["b", "y"]];
    for axes in choices {
        let functions: [Body; 6] = [
            std::sync::Arc::new(move |x: Array| psum(&x, axes)),
            std::sync::Arc::new(move |x: Array| all_gather_with(&x, axes, 1)),
            std::sync::Arc::new(move |x: Array| all_gather_with(&x, axes, Along::Tiled(0))),
            std::sync::Arc::new(move |x: Array| psum_scatter(&x, axes, Along::Tiled(0))),
            std::sync::Arc::new(move |x: Array| all_to_all(&x, axes, Along::Tiled(0), 1)),
            std::sync::Arc::new(move |x: Array| &x * axis_index(axes).astype(DType::F32)),
        ];
        for (i, f) in functions.into_iter().enumerate() {
            let (g, h) = (f.clone(), f);
            let body = move |x: Array| {
                let f = g.clone();
                let each = vmap_with(move |x: Array| f(x), named("b"));
                each(x.squeeze(&[0, 1])).expand_dims(&[0, 1])
            };
            let options = ShardMapOptions {
                mesh: Some(mesh(&[4, 2])),
                check_vma: false,
                ..ShardMapOptions::new(P!["x", "y"], P!["x", "y"])
            };
            let whole = shard_map_with(body, options);
            let plain = move |x: Array| {
                let f = h.clone();
                let b = move |x: Array| {
                    let f = f.clone();
                    vmap_with(move |x: Array| f(x), named("b"))(x)
                };
                let y = move |x: Array| vmap_with(b.clone(), named("y"))(x);
                vmap_with(y, named("x"))(x)
            };
            let x = Array::iota(&[4 * 2 * 3 * 24 * 2], 0, DType::F32).reshape(&[4, 2, 3, 24, 2]);
            let (got, want) = (jit(&whole)(x.clone()), plain(x));
            assert_eq!(got.shape(), want.shape(), "{axes:?} {i}");
            assert_eq!(got.to_vec::<f32>(), want.to_vec::<f32>(), "{axes:?} {i}");
        }
    }
}
