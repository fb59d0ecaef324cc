//! Arrays assembled from shards, orders of devices, filled arrays, and batches of any size.

use crate::{eight_devices, mesh};
use ramie_core::sharding::*;
use ramie_core::typing::Like;
use ramie_core::*;
use ramie_testing::panic_message;

/// The shards of an array, moved to their devices.
fn shards(x: &Array, to: NamedSharding) -> Vec<Array> {
    let placed = device_put(x, to);
    let shards = placed.addressable_shards();
    shards.iter().map(|s| s.data() + 0).collect()
}

#[test]
fn shards_become_an_array_without_a_copy() {
    let to = NamedSharding::new(mesh(), P!["y", "x"]);
    let x = Array::arange(32).reshape(&[4, 8]);
    let made = make_array_from_single_device_arrays(&[4, 8], to, shards(&x, to)).expect("an array");
    assert_eq!(made.sharding(), Some(to.into()));
    assert_eq!(made.to_vec::<i32>(), x.to_vec::<i32>());
    // Arrays with other handles are copied, and stay usable.
    let kept = shards(&x, to);
    let made = make_array_from_single_device_arrays(&[4, 8], to, kept.clone()).expect("an array");
    kept[0].free();
    assert_eq!((&made + 1).to_vec::<i32>(), (&x + 1).to_vec::<i32>());
    // A device alone, and replicas.
    let one = device_put(&Array::arange(3), devices()[2]);
    let made = make_array_from_single_device_arrays(&[3], devices()[2], vec![one]);
    assert_eq!(made.expect("an array").device(), devices()[2]);
    let all = NamedSharding::new(mesh(), P![]);
    let made = make_array_from_single_device_arrays(&[4, 8], all, shards(&x, all));
    assert_eq!(made.expect("an array").to_vec::<i32>(), x.to_vec::<i32>());
}

#[test]
fn shards_that_do_not_fit_are_refused() {
    let to = NamedSharding::new(mesh(), P!["x"]);
    let x = Array::arange(8);
    let error = |shape: &[usize], arrays| {
        let result = make_array_from_single_device_arrays(shape, to, arrays);
        result.expect_err("an error").to_string()
    };
    let text = error(&[8], shards(&x, to)[..7].to_vec());
    assert!(
        text.contains("got 7 arrays, but") && text.contains("has 8 devices"),
        "{text}"
    );
    let text = error(&[8], Vec::new());
    assert!(text.contains("got 0 arrays"), "{text}");
    let mut swapped = shards(&x, to);
    swapped.swap(1, 2);
    let text = error(&[8], swapped);
    assert!(
        text.contains("array 1 is i32[2]") && text.contains("device_put"),
        "{text}"
    );
    let text = error(&[16], shards(&x, to));
    assert!(
        text.contains("array 0 is i32[2]") && text.contains("is i32[4] on"),
        "{text}"
    );
    let mut mixed = shards(&x, to);
    mixed[5] = mixed[5].astype(DType::F32);
    let text = error(&[8], mixed);
    assert!(text.contains("array 5 is f32[2]"), "{text}");
    let text = error(&[9], shards(&x, to));
    assert!(text.contains("into 4 parts, but its size is 9"), "{text}");
}

/// On one process, the local part is the whole, as in JAX.
#[test]
fn local_arrays_become_global_ones() {
    let mesh = mesh();
    assert_eq!(mesh.local_mesh(), mesh);
    let local = (Array::arange(8), Array::from([[1.0f32, 2.0]; 4]));
    let specs = [P!["x"], P!["x", "y"]];
    let global = host_local_array_to_global_array(&local, mesh, specs.clone()).expect("arrays");
    assert_eq!(
        global.0.sharding(),
        Some(NamedSharding::new(mesh, P!["x"]).into())
    );
    assert_eq!(global.0.to_vec::<i32>(), local.0.to_vec::<i32>());
    assert_eq!(
        global.1.sharding(),
        Some(NamedSharding::new(mesh, P!["x", "y"]).into())
    );
    assert_eq!(global.1.shape(), [4, 2]);
    let back = global_array_to_host_local_array(&global, mesh, specs).expect("arrays");
    assert!(back.0.same(&global.0) && back.1.same(&global.1));
    let odd = host_local_array_to_global_array(&Array::arange(3), mesh, P!["x"]);
    let text = odd.expect_err("an error").to_string();
    assert!(text.contains("into 4 parts, but its size is 3"), "{text}");
}

/// The ids are those of `jax.experimental.mesh_utils` (JAX 0.12) for devices of these granules.
#[test]
fn devices_are_ordered_for_two_networks() {
    eight_devices();
    let all = devices();
    let ids = |order: Result<Vec<Device>>| {
        let order = order.expect("an order");
        order.iter().map(|d| d.id()).collect::<Vec<i32>>()
    };
    let odd = |d: Device| i64::from(d.id() % 2);
    assert_eq!(
        ids(create_hybrid_device_mesh(&[2, 2], &[1, 2], all, odd)),
        [0, 2, 1, 3, 4, 6, 5, 7]
    );
    assert_eq!(
        ids(create_hybrid_device_mesh(&[1, 4], &[2, 1], all, odd)),
        [0, 2, 4, 6, 1, 3, 5, 7]
    );
    let backwards = |d: Device| i64::from(3 - d.id() / 2);
    assert_eq!(
        ids(create_hybrid_device_mesh(&[2, 1], &[2, 2], all, backwards)),
        [6, 4, 7, 5, 2, 0, 3, 1]
    );
    let error = create_hybrid_device_mesh(&[2, 2], &[1, 4], all, odd).unwrap_err();
    assert!(error.to_string().contains("have 2 granules"), "{error}");
    let error = create_hybrid_device_mesh(&[2, 1], &[1, 2], all, odd).unwrap_err();
    assert!(
        error.to_string().contains("granule 0 has 4 devices"),
        "{error}"
    );
}

#[test]
fn axes_of_meshes_have_types() {
    let mesh = mesh();
    assert_eq!(mesh.device_ids(), [0, 1, 2, 3, 4, 5, 6, 7]);
    let axes = mesh.abstract_mesh();
    let names = |axes: Vec<AxisName>| axes.iter().map(AxisName::to_string).collect::<Vec<_>>();
    assert_eq!(names(axes.auto_axes()), ["x", "y"]);
    assert!(axes.explicit_axes().is_empty() && axes.manual_axes().is_empty());
    let types = [AxisType::Explicit, AxisType::Manual, AxisType::Explicit];
    let axes = AbstractMesh::with_axis_types(&[2, 2, 2], &["a", "b", "c"], &types);
    assert_eq!(names(axes.explicit_axes()), ["a", "c"]);
    assert_eq!(names(axes.manual_axes()), ["b"]);
}

#[test]
fn arrays_are_filled_where_they_belong() {
    let to = NamedSharding::new(mesh(), P!["x", "y"]);
    for x in [
        Array::full_with(&[8, 6], 3, DType::BF16, to),
        Array::zeros(&[2], DType::BF16).full_like_with(3, Like::new().shape(&[8, 6]).sharding(to)),
        device_put(&Array::zeros(&[8, 6], DType::BF16), to).full_like(3),
    ] {
        assert_eq!((x.sharding(), x.dtype()), (Some(to.into()), DType::BF16));
        assert_eq!(x.addressable_shards()[0].data().shape(), [2, 3]);
        assert_eq!(x.astype(DType::I32).to_vec::<i32>(), [3; 48]);
    }
    // Shards that a program fills, on the device that the shard belongs to.
    let x = Array::full_with(&[512, 512], true, DType::Bool, to);
    assert!(x.all().item::<bool>());
    let bytes = x.addressable_bytes();
    assert!(bytes.iter().all(|&(_, n)| n == 512 * 64) && bytes.len() == 8);
    let x = Array::full_with(&[3], 2.5f32, DType::F32, devices()[4]);
    assert_eq!(
        (x.device(), x.to_vec::<f32>()),
        (devices()[4], vec![2.5; 3])
    );
    let x = Array::full_with(&[], 7, DType::I32, NamedSharding::new(mesh(), P![]));
    assert_eq!((x.devices().len(), x.item::<i32>()), (8, 7));
    // An explicit mesh is part of the type; a mesh that is current changes nothing.
    let explicit = mesh().with_axis_type(AxisType::Explicit);
    let sharding = NamedSharding::new(explicit, P!["x"]);
    let x = with_mesh(mesh(), || Array::full_with(&[8], 1, DType::I32, sharding));
    assert_eq!(x.aval().to_string(), "i32[8@x]");
    let f = jit(move |x: Array| x + Array::full_with(&[8, 6], 1, DType::F32, to));
    assert_eq!(
        f(Array::zeros(&[8, 6], DType::F32)).to_vec::<f32>(),
        [1.0; 48]
    );
    let text = panic_message(|| Array::full_with(&[7, 6], 0, DType::F32, to));
    assert!(
        text.starts_with("full:") && text.contains("its size is 7"),
        "{text}"
    );
}

#[test]
fn batches_of_any_size_run_on_a_mesh() {
    let mesh = ramie_testing::cpu_mesh(&[8], &["data"]);
    let to = NamedSharding::new(mesh, P!["data"]);
    let w = Array::from([[0.5f32, -1.0], [2.0, 0.25], [1.5, 3.0]]);
    let model = {
        let w = w.clone();
        move |(x, y): (Array, Array)| {
            assert_eq!(x.shape()[0], y.shape()[0]);
            let z = x.matmul(&w);
            (z.sum_over(1) * y.astype(DType::F32), z)
        }
    };
    let forward = jit(model.clone());
    let sharded = pad_shard_unpad(&*forward, to);
    for rows in [13, 16, 1, 8] {
        let x = (Array::iota(&[rows, 3], 0, DType::F32) * 0.5).sin();
        let batch = (x, Array::arange(rows));
        let (got, want) = (sharded(&batch), model(batch.clone()));
        assert_eq!(got.0.shape(), [rows]);
        // Compiled for another number of rows, XLA rounds some sums differently.
        for (got, want) in [(&got.0, &want.0), (&got.1, &want.1)] {
            assert!(
                got.allclose_with(want, (1e-6, 1e-6)).item::<bool>(),
                "{got}, {want}"
            );
        }
    }
    assert_eq!(forward.compilations(), 2, "of 8 and of 16 rows");
    let forward = jit(model);
    let sharded = pad_shard_unpad_with(&*forward, to, 2);
    for rows in [13, 16, 1] {
        let batch = (Array::ones(&[rows, 3], DType::F32), Array::arange(rows));
        assert_eq!(sharded(&batch).1.shape(), [rows, 2]);
    }
    assert_eq!(forward.compilations(), 1, "all of 16 rows");
    let batch = (Array::ones(&[3, 3], DType::F32), Array::arange(4));
    let text = panic_message(|| sharded(&batch));
    assert!(
        text.contains("no common number of rows: f32[3,3], i32[4]"),
        "{text}"
    );
    let mean = pad_shard_unpad(|x: Array| x.mean(), to);
    let text = panic_message(|| mean(&Array::arange(5)));
    assert!(text.contains("but the padded batch has 8 rows"), "{text}");
    assert!(
        text.contains("was called at core/tests/meshes/assemble.rs"),
        "{text}"
    );
}

#[test]
fn dimensions_are_destructured() {
    let [a, b] = Array::zeros(&[2, 3], DType::F32).dims();
    assert_eq!((a, b), (2, 3));
    let [] = Array::from(1.0f32).dims();
    let text = panic_message(|| {
        let [a, b, c] = Array::zeros(&[2, 3], DType::F32).dims();
        a + b + c
    });
    assert!(
        text.contains("f32[2,3] has 2 dimensions, but the program expects 3"),
        "{text}"
    );
}
