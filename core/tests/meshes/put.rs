//! `device_get` and `device_put` of whole trees, donated and traced; properties of meshes.

use crate::mesh;
use ramie_core::sharding::{AbstractMesh, AxisType, device_put_donating};
use ramie_core::*;
use ramie_testing::panic_message;

#[test]
fn trees_move_between_devices_and_the_host() {
    let here = devices();
    let tree = (
        Array::from([1.0f32, 2.0]) + 1.0,
        vec![Array::from(3.0f32) + 1.0],
    );
    let held = tree.0.clone();
    let there = device_put_donating(tree, here[1]);
    assert_eq!(there.0.devices(), [here[1]]);
    assert_eq!(there.1[0].devices(), [here[1]]);
    assert_eq!(
        held.to_vec::<f32>(),
        [2.0, 3.0],
        "an array with other handles is kept"
    );
    let got = device_get(&there);
    assert!(got.1[0].devices().is_empty(), "a host value");
    assert_eq!(
        (got.1[0].item::<f32>(), got.0.to_vec::<f32>()),
        (4.0, vec![2.0, 3.0])
    );
    let mesh = make_mesh(&[4], &["x"]).expect("a mesh");
    let sharded = device_put(
        &Array::zeros(&[8], DType::BF16),
        NamedSharding::new(mesh, P!["x"]),
    );
    let got = device_get(&(sharded.sum(), Array::from(true), sharded));
    assert_eq!((got.0.dtype(), got.1.dtype()), (DType::BF16, DType::Bool));
    assert_eq!(
        got.2.sharding(),
        Some(NamedSharding::new(mesh, P!["x"]).into())
    );
}

/// In JAX a single device is recorded and has no effect: arguments determine the device.
#[test]
fn a_single_device_has_no_effect_in_traces() {
    let here = devices();
    let (first, second) = (here[0], here[1]);
    let f = jit(move |x: &Array| device_put(&(x * 2.0), second) + 1.0);
    let x = device_put(&Array::from([1.0f32]), first);
    assert_eq!(f(&x).devices(), [first]);
    assert_eq!(f(&device_put(&x, second)).devices(), [second]);
    let g = grad(move |x: Array| device_put(&x, second).square().sum());
    assert_eq!(g(x).to_vec::<f32>(), [2.0]);
}

#[test]
fn freed_arrays_are_refused_everywhere() {
    let sharding = NamedSharding::new(mesh(), P!["x"]);
    let x = device_put(&Array::arange(8), sharding);
    let one = Array::arange(3) * 2;
    let (sum, other) = (x.sum(), x.clone());
    assert!(one.block_until_ready().is_ready() && !one.is_deleted());
    assert!(x.block_until_ready().is_ready() && !other.is_deleted());
    x.free();
    x.free();
    one.free();
    assert!(x.is_deleted() && other.is_deleted() && one.is_deleted());
    assert_eq!(sum.item::<i32>(), 28);
    let double = jit(|x: &Array| x * 2);
    for x in [&one, &other] {
        for text in [
            panic_message(|| x + 1),
            panic_message(|| double(x)),
            panic_message(|| x.to_vec::<i32>()),
            panic_message(|| x.addressable_shards().len()),
            panic_message(|| x.is_ready()),
            panic_message(|| x.block_until_ready().size()),
            panic_message(|| device_put(x, devices()[2])),
        ] {
            assert!(text.contains("deleted"), "{text}");
        }
    }
    assert_eq!(
        (one.shape(), one.itemsize(), one.nbytes()),
        (&[3][..], 4, 12)
    );
    let scalar = Array::from(3.0f32);
    scalar.free();
    assert!(!scalar.is_deleted());
    assert_eq!(scalar.item::<f32>(), 3.0);
    let text = panic_message(|| jit(|x: &Array| x.free())(&scalar));
    assert!(text.starts_with("free: the value of a traced"), "{text}");
}

#[test]
fn an_array_has_a_device_or_several() {
    let x = device_put(&Array::arange(8), devices()[3]);
    assert_eq!((x.device(), x.is_fully_addressable()), (devices()[3], true));
    assert_eq!(Array::from(2).device(), devices()[0]);
    let x = device_put(&x, NamedSharding::new(mesh(), P!["x"]));
    assert!(x.is_fully_addressable());
    let text = panic_message(|| x.device());
    assert!(
        text.contains("i32[8] is on 8 devices") && text.contains("x.devices()"),
        "{text}"
    );
}

#[test]
#[should_panic(expected = "device_get")]
fn traced_arrays_are_not_read() {
    let _ = make_jaxpr(|x: Array| device_get(&x))(Array::from(1.0f32));
}

#[test]
fn meshes_and_shardings_have_the_properties_of_jax() {
    let axes = AbstractMesh::new(&[2, 2], &["x", "y"], AxisType::Explicit);
    let mesh = Mesh::new(&devices()[..4], axes);
    assert_eq!(
        (
            mesh.shape()["x"],
            mesh.shape().get("z"),
            mesh.axis_size("y")
        ),
        (2, None, Some(2))
    );
    assert_eq!(mesh.shape().to_string(), "{'x': 2, 'y': 2}");
    assert_eq!(
        mesh.shape().iter().map(|(_, size)| size).product::<usize>(),
        mesh.size()
    );
    assert!(!mesh.is_multi_process());
    assert_eq!(
        mesh.with_axis_type(AxisType::Auto).axis_types(),
        [AxisType::Auto; 2]
    );
    let s = NamedSharding::new(mesh, P!["x"]);
    assert_eq!(
        (
            s.num_devices(),
            s.is_fully_addressable(),
            s.addressable_devices().len()
        ),
        (4, true, 4)
    );
    assert_eq!(s.replicated_axes(), ["y".into()]);
    assert_eq!(s.with_spec(P!["y"]).spec(), &P!["y"]);
    assert!(s.is_equivalent_to(&NamedSharding::new(mesh, P!["x", None]), 2));
    assert!(!s.is_equivalent_to(&s.with_spec(P!["y"]), 2));
    assert!(!s.is_equivalent_to(&s.with_memory_kind("pinned_host"), 2));
    let map = s.devices_indices_map(&[4, 2]);
    let rows: Vec<_> = map.iter().map(|(_, index)| index[0].clone()).collect();
    assert_eq!(rows, [0..2, 0..2, 2..4, 2..4]);
    let message = panic_message(|| mesh.shape()["z"]);
    assert!(
        message.contains("no axis is named `z`\n  help: the axes are 'x': 2"),
        "{message}"
    );
    let few = make_mesh(&[16], &["x"]).expect_err("eight devices");
    assert!(
        few.to_string()
            .contains("needs 16 devices, but there are 8"),
        "{few}"
    );
}
