//! Mistakes with meshes, shardings and programs over several devices.

use crate::document::{Case, case, error, f32};
use ramie::*;

fn mesh() -> Mesh {
    make_mesh(&[4, 2], &["x", "y"]).unwrap()
}

fn explicit() -> Mesh {
    make_mesh_with(&[4, 2], &["x", "y"], AxisType::Explicit).unwrap()
}

pub fn cases() -> Vec<Case> {
    vec![
        error("A mesh of more devices than there are", || {
            make_mesh(&[4, 4], &["x", "y"])
        }),
        case("A mesh with two axes of one name", || {
            make_mesh(&[4, 2], &["x", "x"])
        }),
        case("A mesh with more sizes than names", || {
            make_mesh(&[4, 2], &["x"])
        }),
        case("Sharding over an axis that the mesh does not have", || {
            NamedSharding::new(mesh(), P!["z"])
        }),
        case("Sharding two dimensions over one axis", || {
            NamedSharding::new(mesh(), P!["x", "x"])
        }),
        case("A dimension that does not come apart", || {
            device_put(&f32(&[6]), NamedSharding::new(mesh(), P!["x"]))
        }),
        case("A spec with more entries than dimensions", || {
            device_put(&f32(&[8]), NamedSharding::new(mesh(), P!["x", "y"]))
        }),
        case("A spec where no mesh is current", || {
            device_put(&f32(&[8]), P!["x"])
        }),
        case("A constraint that does not fit", || {
            let sharding = NamedSharding::new(mesh(), P!["x"]);
            jit(move |x: Array| with_sharding_constraint(&x, sharding))(f32(&[6]))
        }),
        case("Arguments on different devices", || {
            let small = Mesh::new(
                &devices()[..2],
                AbstractMesh::new(&[2], &["x"], AxisType::Auto),
            );
            let on = |mesh| device_put(&f32(&[8]), NamedSharding::new(mesh, P!["x"]));
            jit(|x: Array, y: Array| x + y)(on(mesh()), on(small))
        }),
        case("An argument that in_shardings wants elsewhere", || {
            let options = JitOptions {
                in_shardings: Some(NamedSharding::new(mesh(), P!["x"]).into()),
                ..JitOptions::default()
            };
            let x = device_put(&f32(&[8]), NamedSharding::new(mesh(), P!["y"]));
            jit_with(|x: Array| x, options)(x)
        }),
        case("out_shardings of more results than there are", || {
            let options = JitOptions {
                out_shardings: Some([P!["x"], P!["y"]].into()),
                ..JitOptions::default()
            };
            with_mesh(mesh(), || jit_with(|x: Array| x, options)(f32(&[8])))
        }),
        case("Operands that are sharded differently", || {
            with_mesh(explicit(), || {
                let x = device_put(&f32(&[8]), P!["x"]);
                let y = device_put(&f32(&[8]), P!["y"]);
                x + y
            })
        }),
        case("A product whose result may be sharded in two ways", || {
            with_mesh(explicit(), || {
                let x = device_put(&f32(&[8, 16]), P!["x", "y"]);
                let w = device_put(&f32(&[16, 8]), P!["y"]);
                einsum("bd,df->bf", &[&x, &w])
            })
        }),
        case(
            "A product whose summed axes are sharded differently",
            || {
                with_mesh(explicit(), || {
                    let x = device_put(&f32(&[8, 16]), P![None, "x"]);
                    x.matmul(device_put(&f32(&[16, 8]), P!["y"]))
                })
            },
        ),
        case("A product sharded twice over one axis", || {
            with_mesh(explicit(), || {
                let x = device_put(&f32(&[8, 16]), P!["x"]);
                x.matmul(device_put(&f32(&[16, 8]), P![None, "x"]))
            })
        }),
        case("A reshape of a sharded dimension", || {
            with_mesh(explicit(), || {
                device_put(&f32(&[8, 16]), P!["x"]).reshape(&[16, 8])
            })
        }),
        case("Rows at indices, of rows that are sharded", || {
            with_mesh(explicit(), || {
                let rows = array([0, 5]);
                device_put(&f32(&[8, 16]), P!["x"]).index(rows)
            })
        }),
        case(
            "A part of a sharded dimension that does not come apart",
            || with_mesh(explicit(), || device_put(&f32(&[8]), P!["x"]).index(0)),
        ),
        case("Sums along a sharded dimension", || {
            with_mesh(explicit(), || device_put(&f32(&[8]), P!["x"]).cumsum(0))
        }),
        case("A scan along a sharded dimension", || {
            with_mesh(explicit(), || {
                let xs = device_put(&f32(&[8]), P!["x"]);
                scan(|sum: Array, x: Array| (sum + x, ()), array(0.0), xs).0
            })
        }),
        case("vmap over dimensions that are sharded differently", || {
            with_mesh(explicit(), || {
                let x = device_put(&f32(&[8]), P!["x"]);
                let y = device_put(&f32(&[8]), P!["y"]);
                vmap(|x: Array, y: Array| x + y)(x, y)
            })
        }),
        case("An operation on values that are still to be summed", || {
            with_mesh(explicit(), || {
                let x = device_put(&f32(&[8, 16]), P!["x", "y"]);
                let w = device_put(&f32(&[16, 8]), P!["y"]);
                let f = |x: Array, w: Array| {
                    let parts = x.matmul_sharded(&w, P!["x"].with_unreduced("y"));
                    parts.sin()
                };
                make_jaxpr(f)(x, w)
            })
        }),
        case("out_sharding where no mesh is current", || {
            Array::zeros_sharded(&[8], DType::F32, P!["x"])
        }),
        case(
            "out_sharding over an axis that types do not speak of",
            || with_mesh(mesh(), || Array::zeros_sharded(&[8], DType::F32, P!["x"])),
        ),
        case("out_sharding for more dimensions than there are", || {
            with_mesh(explicit(), || {
                f32(&[8, 16]).reshape_sharded(&[128], P!["x", "y"])
            })
        }),
        case("reshard over an axis that types do not speak of", || {
            with_mesh(mesh(), || reshard(&f32(&[8]), P!["x"]))
        }),
        case("shard_map without a mesh", || {
            shard_map_with(|x: Array| x, ShardMapOptions::new(P!["x"], P!["x"]))(f32(&[8]))
        }),
        case("in_specs for more arguments than there are", || {
            shard_map(|x: Array| x, mesh(), [P!["x"], P!["y"]], P!["x"])
        }),
        case("in_specs over an axis that the mesh does not have", || {
            shard_map(|x: Array| x, mesh(), P!["z"], P!["x"])(f32(&[8]))
        }),
        case("An argument that in_specs cannot part", || {
            shard_map(|x: Array| x, mesh(), P!["x"], P!["x"])(f32(&[6]))
        }),
        case(
            "A result that may differ where out_specs says it does not",
            || shard_map(|x: Array| x * 2.0, mesh(), P!["x"], P![])(f32(&[8])),
        ),
        case("out_specs for a result without dimensions", || {
            shard_map(|x: Array| x.sum(), mesh(), P!["x"], P!["x"])(f32(&[8]))
        }),
        case("A collective over an axis that is not mapped", || {
            shard_map(|x: Array| psum(&x, "z"), mesh(), P!["x"], P!["x"])(f32(&[8]))
        }),
        case("A loop whose value comes to vary", || {
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
        case("A tangent that varies where its value does not", || {
            let f = |p: Array, t: Array| jvp(|p: Array| p.sin(), p, t).1;
            shard_map(f, mesh(), [P![], P!["x"]], P!["x"])(f32(&[2]), f32(&[8]))
        }),
        error("Parts of an array with another number of elements", || {
            let sharding = NamedSharding::new(mesh(), P!["x"]);
            make_array_from_callback(&[8], sharding, |_| vec![0.0f32; 3])
        }),
        case("Two dimensions of one name", || {
            logical_to_mesh(&P!["batch", "batch"])
        }),
        case("A dimension of two names", || {
            LogicalAxisRules::new().to_mesh(&P![("batch", "length")])
        }),
    ]
}
