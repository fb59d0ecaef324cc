//! Errors of meshes, sharding and `shard_map`.

use crate::document::{Case, case, error, f32};
use ramie::lax::{fori_loop, psum, scan};
use ramie::options::{JitOptions, ShardMapOptions};
use ramie::sharding::{
    AbstractMesh, AxisType, LogicalAxisRules, logical_to_mesh, make_array_from_callback,
    make_mesh_with, reshard, with_mesh, with_sharding_constraint,
};
use ramie::*;

fn mesh() -> Mesh {
    make_mesh(&[4, 2], &["x", "y"]).unwrap()
}

fn explicit() -> Mesh {
    make_mesh_with(&[4, 2], &["x", "y"], AxisType::Explicit).unwrap()
}

pub fn cases() -> Vec<Case> {
    vec![
        error("make_mesh: not enough devices", || {
            make_mesh(&[4, 4], &["x", "y"])
        }),
        case("make_mesh: two axes have the same name", || {
            make_mesh(&[4, 2], &["x", "x"])
        }),
        case("make_mesh: different numbers of sizes and names", || {
            make_mesh(&[4, 2], &["x"])
        }),
        case("NamedSharding: axis not found in the mesh", || {
            NamedSharding::new(mesh(), P!["z"])
        }),
        case("NamedSharding: duplicate entries for an axis", || {
            NamedSharding::new(mesh(), P!["x", "x"])
        }),
        case(
            "device_put: dimension not divisible by the number of parts",
            || device_put(&f32(&[6]), NamedSharding::new(mesh(), P!["x"])),
        ),
        case(
            "device_put: the spec has more entries than the array has dimensions",
            || device_put(&f32(&[8]), NamedSharding::new(mesh(), P!["x", "y"])),
        ),
        case("device_put: no mesh is current", || {
            device_put(&f32(&[8]), P!["x"])
        }),
        case(
            "with_sharding_constraint: dimension not divisible by the number of parts",
            || {
                let sharding = NamedSharding::new(mesh(), P!["x"]);
                jit(move |x: Array| with_sharding_constraint(&x, sharding))(f32(&[6]))
            },
        ),
        case("jit: arguments are on different devices", || {
            let small = Mesh::new(
                &devices()[..2],
                AbstractMesh::new(&[2], &["x"], AxisType::Auto),
            );
            let on = |mesh| device_put(&f32(&[8]), NamedSharding::new(mesh, P!["x"]));
            jit(|x: Array, y: Array| x + y)(on(mesh()), on(small))
        }),
        case("jit: in_shardings requires another sharding", || {
            let options = JitOptions {
                in_shardings: Some(NamedSharding::new(mesh(), P!["x"]).into()),
                ..JitOptions::default()
            };
            let x = device_put(&f32(&[8]), NamedSharding::new(mesh(), P!["y"]));
            jit_with(|x: Array| x, options)(x)
        }),
        case("jit: out_shardings has too many entries", || {
            let options = JitOptions {
                out_shardings: Some([P!["x"], P!["y"]].into()),
                ..JitOptions::default()
            };
            with_mesh(mesh(), || jit_with(|x: Array| x, options)(f32(&[8])))
        }),
        case("add: incompatible shardings", || {
            with_mesh(explicit(), || {
                let x = device_put(&f32(&[8]), P!["x"]);
                let y = device_put(&f32(&[8]), P!["y"]);
                x + y
            })
        }),
        case("einsum: ambiguous output sharding", || {
            with_mesh(explicit(), || {
                let x = device_put(&f32(&[8, 16]), P!["x", "y"]);
                let w = device_put(&f32(&[16, 8]), P!["y"]);
                einsum("bd,df->bf", &[&x, &w])
            })
        }),
        case(
            "matmul: contracting dimensions with inconsistent sharding",
            || {
                with_mesh(explicit(), || {
                    let x = device_put(&f32(&[8, 16]), P![None, "x"]);
                    x.matmul(device_put(&f32(&[16, 8]), P!["y"]))
                })
            },
        ),
        case("matmul: illegally sharded result", || {
            with_mesh(explicit(), || {
                let x = device_put(&f32(&[8, 16]), P!["x"]);
                x.matmul(device_put(&f32(&[16, 8]), P![None, "x"]))
            })
        }),
        case("reshape: not supported for a sharded dimension", || {
            with_mesh(explicit(), || {
                device_put(&f32(&[8, 16]), P!["x"]).reshape(&[16, 8])
            })
        }),
        case("index: output sharding could not be resolved", || {
            with_mesh(explicit(), || {
                let rows = array([0, 5]);
                device_put(&f32(&[8, 16]), P!["x"]).index(rows)
            })
        }),
        case(
            "slice: sharded dimension not divisible by the mesh axes",
            || with_mesh(explicit(), || device_put(&f32(&[8]), P!["x"]).index(0)),
        ),
        case("cumsum: the dimension must be unsharded", || {
            with_mesh(explicit(), || device_put(&f32(&[8]), P!["x"]).cumsum(0))
        }),
        case("scan: the first dimension of xs must be replicated", || {
            with_mesh(explicit(), || {
                let xs = device_put(&f32(&[8]), P!["x"]);
                scan(|sum: Array, x: Array| (sum + x, ()), array(0.0), xs).0
            })
        }),
        case("vmap: inconsistent shardings of the batch axis", || {
            with_mesh(explicit(), || {
                let x = device_put(&f32(&[8]), P!["x"]);
                let y = device_put(&f32(&[8]), P!["y"]);
                vmap(|x: Array, y: Array| x + y)(x, y)
            })
        }),
        case("Operations: unreduced rule is not implemented", || {
            with_mesh(explicit(), || {
                let x = device_put(&f32(&[8, 16]), P!["x", "y"]);
                let w = device_put(&f32(&[16, 8]), P!["y"]);
                let f = |x: Array, w: Array| {
                    let parts = x.matmul_with(&w, P!["x"].with_unreduced("y"));
                    parts.sin()
                };
                make_jaxpr(f)(x, w)
            })
        }),
        case("out_sharding: no mesh is current", || {
            Array::full_with(&[8], 0, DType::F32, P!["x"])
        }),
        case("out_sharding: the axis is not explicit", || {
            with_mesh(mesh(), || Array::full_with(&[8], 0, DType::F32, P!["x"]))
        }),
        case("out_sharding: too many entries for the result", || {
            with_mesh(explicit(), || {
                f32(&[8, 16]).reshape_with(&[128], P!["x", "y"])
            })
        }),
        case("reshard: the axis is not explicit", || {
            with_mesh(mesh(), || reshard(&f32(&[8]), P!["x"]))
        }),
        case("shard_map: no mesh was passed, and none is current", || {
            shard_map_with(|x: Array| x, ShardMapOptions::new(P!["x"], P!["x"]))(f32(&[8]))
        }),
        case("shard_map: in_specs has too many entries", || {
            shard_map(|x: Array| x, mesh(), [P!["x"], P!["y"]], P!["x"])
        }),
        case("shard_map: in_specs axis not found in the mesh", || {
            shard_map(|x: Array| x, mesh(), P!["z"], P!["x"])(f32(&[8]))
        }),
        case(
            "shard_map: dimension not divisible by the number of parts",
            || shard_map(|x: Array| x, mesh(), P!["x"], P!["x"])(f32(&[6])),
        ),
        case(
            "shard_map: replication of the result cannot be statically inferred",
            || shard_map(|x: Array| x * 2.0, mesh(), P!["x"], P![])(f32(&[8])),
        ),
        case(
            "shard_map: out_specs has too many entries for the result",
            || shard_map(|x: Array| x.sum(), mesh(), P!["x"], P!["x"])(f32(&[8])),
        ),
        case(
            "shard_map: collective over an axis that is not mapped",
            || shard_map(|x: Array| psum(&x, "z"), mesh(), P!["x"], P!["x"])(f32(&[8])),
        ),
        case("shard_map: the carry of a loop becomes varying", || {
            let f = |x: Array| {
                fori_loop(
                    0,
                    3,
                    |_, sum: Array| sum + &x,
                    Array::zeros(&[2], DType::F32),
                )
            };
            shard_map(f, mesh(), P!["x"], P!["x"])(f32(&[8]))
        }),
        case("shard_map: the tangent varies over other mesh axes", || {
            let f = |p: Array, t: Array| jvp(|p: Array| p.sin(), p, t).1;
            shard_map(f, mesh(), [P![], P!["x"]], P!["x"])(f32(&[2]), f32(&[8]))
        }),
        error(
            "make_array_from_callback: a shard has the wrong number of bytes",
            || {
                let sharding = NamedSharding::new(mesh(), P!["x"]);
                make_array_from_callback(&[8], sharding, |_| vec![0.0f32; 3])
            },
        ),
        case("logical_to_mesh: a name occurs more than once", || {
            logical_to_mesh(&P!["batch", "batch"])
        }),
        case(
            "LogicalAxisRules::to_mesh: an entry has several names",
            || LogicalAxisRules::new().to_mesh(&P![("batch", "length")]),
        ),
    ]
}
