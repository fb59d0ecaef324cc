//! Arrays and programs over meshes of 8 virtual devices.

use crate::eight_devices;
use ramie_core::lax::{axis_index, pmean, psum};
use ramie_core::options::{JitOptions, ShardMapOptions};
use ramie_core::sharding::{
    AbstractMesh, AxisType, Shardings, make_array_from_callback, make_array_from_parts,
    make_array_from_process_local_data, make_mesh_with, reshard, type_of, visualize_sharding,
    with_mesh, with_sharding_constraint,
};
use ramie_core::typing::AlignedBytes;
use ramie_core::*;
use ramie_testing::{is_linked, panic_message};

fn mesh(sizes: &[usize], names: &[&str], axis_type: AxisType) -> Mesh {
    eight_devices();
    make_mesh_with(sizes, names, axis_type).unwrap()
}

fn iota(shape: &[usize]) -> Array {
    let n: usize = shape.iter().product();
    Array::from_vec((0..n).map(|i| i as f32).collect(), shape)
}

#[test]
fn arrays_are_put_over_meshes_and_come_back() {
    let mesh = mesh(&[4, 2], &["x", "y"], AxisType::Auto);
    let x = iota(&[8, 6]);
    let specs = [
        P!["x", "y"],
        P!["y", "x"],
        P![("x", "y")],
        P![None, "y"],
        P![],
    ];
    for from in &specs[..] {
        if from == &specs[1] {
            continue;
        }
        let placed = device_put(&x, NamedSharding::new(mesh, from.clone()));
        assert_eq!(placed.to_vec::<f32>(), x.to_vec::<f32>(), "{from}");
        for to in &specs[..] {
            if to == &specs[1] {
                continue;
            }
            let moved = device_put(&placed, NamedSharding::new(mesh, to.clone()));
            assert_eq!(moved.to_vec::<f32>(), x.to_vec::<f32>(), "{from} to {to}");
        }
        let back = device_put(&placed, devices()[3]);
        assert_eq!(back.to_vec::<f32>(), x.to_vec::<f32>());
    }
}

#[test]
fn eager_operations_and_jit_run_over_the_mesh() {
    let mesh = mesh(&[4, 2], &["x", "y"], AxisType::Auto);
    let x = device_put(&iota(&[8, 6]), NamedSharding::new(mesh, P!["x", "y"]));
    let y = &x * 2.0 + Array::ones(&[6], DType::F32);
    assert_eq!(
        y.to_vec::<f32>(),
        (iota(&[8, 6]) * 2.0 + 1.0).to_vec::<f32>()
    );
    assert_eq!(y.sharding().unwrap().named().unwrap().spec(), &P!["x", "y"]);
    let f = jit(|a: Array, b: Array| a.matmul(&b).sin());
    let w = device_put(&iota(&[6, 4]), NamedSharding::new(mesh, P!["y", None]));
    let text = f
        .compile((x.clone(), w.clone()))
        .unwrap()
        .as_text()
        .unwrap();
    // The linked backend computes on whole arrays, and splits only results.
    assert!(is_linked() || text.contains("all-reduce"), "{text}");
    let out = f(x.clone(), w.clone());
    let plain = f(iota(&[8, 6]), iota(&[6, 4]));
    for (a, b) in out.to_vec::<f32>().iter().zip(plain.to_vec::<f32>()) {
        assert!((a - b).abs() < 1e-4);
    }
}

#[test]
fn state_stays_where_it_is() {
    let mesh = mesh(&[8], &["x"], AxisType::Auto);
    let step = jit(|s: &mut Array, by: Array| *s = &*s + by);
    let mut state = device_put(&iota(&[16]), NamedSharding::new(mesh, P!["x"]));
    for _ in 0..4 {
        step(&mut state, Array::from(1.0f32));
    }
    assert_eq!(step.compilations(), 1);
    assert_eq!(state.to_vec::<f32>(), (iota(&[16]) + 4.0).to_vec::<f32>());
    assert_eq!(state.sharding().unwrap().named().unwrap().spec(), &P!["x"]);
}

#[test]
fn types_say_how_values_are_sharded() {
    let mesh = mesh(&[4, 2], &["x", "y"], AxisType::Explicit);
    let _current = set_mesh(mesh);
    let x = device_put(&iota(&[8, 2]), P!["x", "y"]);
    assert_eq!(x.aval().to_string(), "f32[8@x,2@y]");
    assert_eq!(format!("{:#}", type_of(&x)), "float32[8@x,2@y]");
    let y = reshard(&x, P![None, "y"]);
    assert_eq!(y.aval().to_string(), "f32[8,2@y]");
    assert_eq!(y.to_vec::<f32>(), x.to_vec::<f32>());
    let f = jit(|x: Array| reshard(&x, P!["y", None]));
    let z = f(x.clone());
    assert_eq!(z.aval().to_string(), "f32[8@y,2]");
    assert_eq!(z.to_vec::<f32>(), x.to_vec::<f32>());
}

#[test]
fn each_device_runs_for_its_part() {
    let mesh = mesh(&[2, 4], &["x", "y"], AxisType::Auto);
    let f = shard_map(
        |x: Array| pmean(&x.slice_in_dim(0, 4, 1, 0), ["x", "y"]),
        mesh,
        P![("x", "y")],
        P![],
    );
    let x = iota(&[512]);
    let want: Vec<f32> = (0..4)
        .map(|i| (0..8).map(|k| (64 * k + i) as f32).sum::<f32>() / 8.0)
        .collect();
    assert_eq!(f(x.clone()).to_vec::<f32>(), want);
    assert_eq!(jit(&f)(x.clone()).to_vec::<f32>(), want);
    let index = shard_map(
        |x: Array| x + axis_index("y").astype(DType::F32),
        mesh,
        P!["y"],
        P!["y"],
    );
    let got = index(Array::zeros(&[8], DType::F32)).to_vec::<f32>();
    assert_eq!(got, [0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0]);
}

#[test]
fn programs_of_parts_are_differentiated() {
    let mesh = mesh(&[4, 2], &["x", "y"], AxisType::Auto);
    for check_vma in [true, false] {
        let options = ShardMapOptions {
            mesh: Some(mesh),
            check_vma,
            ..ShardMapOptions::new([P!["x", "y"], P!["y", None]], P!["x", None])
        };
        let product = |a: Array, b: Array| psum(&a.matmul(&b), "y").sin();
        let f = shard_map_with(product, options);
        let loss = |(a, b): (Array, Array)| f(a, b).sum();
        let plain = |(a, b): (Array, Array)| a.matmul(&b).sin().sum();
        let (a, b) = (iota(&[8, 6]) / 10.0, iota(&[6, 4]) / 10.0);
        let got = jit(grad(loss))((a.clone(), b.clone()));
        let want = grad(plain)((a.clone(), b.clone()));
        for (g, w) in [(&got.0, &want.0), (&got.1, &want.1)] {
            for (x, y) in g.to_vec::<f32>().iter().zip(w.to_vec::<f32>()) {
                assert!((x - y).abs() < 1e-3, "{x} {y} (check_vma {check_vma})");
            }
        }
    }
}

#[test]
fn arrays_rest_in_other_memories() {
    let mesh = mesh(&[4, 2], &["x", "y"], AxisType::Auto);
    let own = NamedSharding::new(mesh, P!["x", "y"]);
    let host = own.with_memory_kind("pinned_host");
    let x = iota(&[8, 6]);
    let kept = device_put(&x, host);
    assert_eq!(kept.sharding(), Some(host.into()));
    assert_eq!(kept.to_vec::<f32>(), x.to_vec::<f32>());
    let back = device_put(&kept, own);
    assert_eq!((&back + &back).to_vec::<f32>(), (&x + &x).to_vec::<f32>());
    let moved = device_put(
        &back,
        NamedSharding::new(mesh, P!["y"]).with_memory_kind("unpinned_host"),
    );
    assert_eq!(moved.to_vec::<f32>(), x.to_vec::<f32>());
    let text = panic_message(|| jit(|x: Array| x + 1.0)(kept.clone()));
    assert!(text.contains("is in pinned_host memory"), "{text}");
}

#[test]
fn arrays_are_made_part_by_part() {
    let mesh = mesh(&[4, 2], &["x", "y"], AxisType::Auto);
    let sharding = NamedSharding::new(mesh, P!["y", None]);
    let mut asked = Vec::new();
    let x = make_array_from_callback(&[4, 3], sharding, |index| {
        asked.push(index.to_vec());
        let row = |i: usize| index[1].clone().map(move |j| (3 * i + j) as f32);
        index[0].clone().flat_map(row).collect::<Vec<f32>>()
    })
    .unwrap();
    assert_eq!(asked.len(), 2, "equal parts are asked for once: {asked:?}");
    assert_eq!(x.to_vec::<f32>(), iota(&[4, 3]).to_vec::<f32>());
    let shards = x.addressable_shards();
    assert_eq!(shards.len(), 8);
    let of = |k: usize| (shards[k].index().to_vec(), shards[k].replica_id());
    assert_eq!(of(0), (vec![0..2, 0..3], 0));
    assert_eq!(of(1), (vec![2..4, 0..3], 0));
    assert_eq!(of(7), (vec![2..4, 0..3], 3));
    assert_eq!(
        shards[7].data().to_vec::<f32>(),
        [6.0, 7.0, 8.0, 9.0, 10.0, 11.0]
    );
    assert!(x.addressable_bytes().iter().all(|(_, bytes)| *bytes == 24));
    let picture = "\
┌─────────────────┐
│   CPU 0,2,4,6   │
├─────────────────┤
│   CPU 1,3,5,7   │
└─────────────────┘
";
    let shown = visualize_sharding(&x);
    assert_eq!(shown.lines().count(), picture.lines().count(), "{shown}");
    assert!(
        shown.contains("CPU 0,2,4,6") && shown.contains("CPU 1,3,5,7"),
        "{shown}"
    );
}

#[test]
fn arrays_are_made_of_what_a_process_has() {
    let mesh = mesh(&[4, 2], &["x", "y"], AxisType::Auto);
    for spec in [P!["x", "y"], P![None, ("y", "x")], P![]] {
        let sharding = NamedSharding::new(mesh, spec);
        let whole: Vec<f32> = (0..64).map(|i| i as f32).collect();
        let x = make_array_from_process_local_data(&whole, &[8, 8], sharding).unwrap();
        assert_eq!(x.to_vec::<f32>(), whole);
        let refused = make_array_from_process_local_data(&whole[1..], &[8, 8], sharding);
        assert!(refused.unwrap_err().to_string().contains("63 elements"));
    }
}

#[test]
fn captured_arrays_say_where_a_program_runs() {
    let mesh = mesh(&[4, 2], &["x", "y"], AxisType::Auto);
    let w = device_put(&iota(&[8]), NamedSharding::new(mesh, P![("x", "y")]));
    let f = jit(move |x: Array| x + &w);
    assert_eq!(
        f(iota(&[8])).to_vec::<f32>(),
        (iota(&[8]) * 2.0).to_vec::<f32>()
    );
    let placed = device_put(&iota(&[8]), NamedSharding::new(mesh, P!["y"]));
    assert_eq!(
        f(placed).to_vec::<f32>(),
        (iota(&[8]) * 2.0).to_vec::<f32>()
    );
}

#[test]
fn what_is_given_away_is_used_again() {
    let mesh = mesh(&[8], &["x"], AxisType::Auto);
    let sharding = NamedSharding::new(mesh, P!["x"]);
    let step = jit(|s: &mut (Array, Array), by: Array| {
        let sum = &s.0 + &by;
        s.1 = &s.1 + &sum;
        s.0 = sum;
    });
    let mut state = (
        device_put(&iota(&[1 << 12]), sharding),
        device_put(&iota(&[1 << 12]), sharding),
    );
    let held = state.1.clone();
    for _ in 0..3 {
        step(&mut state, Array::from(1.0f32));
    }
    // What another handle holds is not given away.
    assert_eq!(held.to_vec::<f32>(), iota(&[1 << 12]).to_vec::<f32>());
    assert_eq!(state.0.to_vec::<f32>()[..3], [3.0, 4.0, 5.0]);
    assert_eq!(state.1.to_vec::<f32>()[..3], [6.0, 10.0, 14.0]);
    let text = step
        .lower_with(&state, (Array::from(1.0f32),))
        .unwrap()
        .as_text();
    assert!(text.contains("tf.aliasing_output"), "{text}");
}

#[test]
fn other_orders_of_the_devices_are_one_program() {
    let mesh = mesh(&[8], &["x"], AxisType::Auto);
    let backwards: Vec<Device> = mesh.devices().iter().rev().copied().collect();
    let other = Mesh::new(&backwards, AbstractMesh::new(&[8], &["x"], AxisType::Auto));
    let x = device_put(&iota(&[16]), NamedSharding::new(mesh, P!["x"]));
    let y = device_put(&iota(&[16]), NamedSharding::new(other, P!["x"]));
    let sum = jit(|x: Array, y: Array| x + y);
    let twice = (iota(&[16]) * 2.0).to_vec::<f32>();
    assert_eq!(sum(x.clone(), y.clone()).to_vec::<f32>(), twice);
    assert_eq!((&y + &x).to_vec::<f32>(), twice);
}

#[test]
fn shardings_are_asked_for_and_given() {
    let mesh = mesh(&[4, 2], &["x", "y"], AxisType::Auto);
    let _current = set_mesh(mesh);
    let options = JitOptions {
        in_shardings: Some([Some(P!["x"]), None].into()),
        out_shardings: Some([Some(P!["y"]), Some(P![])].into()),
        ..JitOptions::default()
    };
    let f = jit_with(|x: Array, y: Array| (&x + &y, x.sum()), options);
    let (a, b) = f(iota(&[8]), iota(&[8]));
    assert_eq!(a.to_vec::<f32>(), (iota(&[8]) * 2.0).to_vec::<f32>());
    assert_eq!(b.item::<f32>(), 28.0);
    let spec = |a: &Array| a.sharding().unwrap().named().unwrap().spec().clone();
    assert_eq!((spec(&a), spec(&b)), (P!["y"], P![]));
    let types = |n: usize| {
        Array::shape_dtype_struct_with(&[n], DType::F32, NamedSharding::new(mesh, P!["x"]))
    };
    let lowered = f.lower((types(1 << 20), types(1 << 20))).unwrap();
    assert!(
        lowered.as_text().contains("sdy.sharding"),
        "{}",
        lowered.as_text()
    );
    let memory = lowered.compile().unwrap().memory_analysis().unwrap();
    assert!(memory.argument <= (1 << 20) * 2 + 64, "{memory:?}");
}

#[test]
fn nested_calls_constrain_their_results() {
    let mesh = mesh(&[4, 2], &["x", "y"], AxisType::Auto);
    let options = |out_shardings: Shardings| JitOptions {
        out_shardings: Some(out_shardings),
        ..JitOptions::default()
    };
    let sharding = NamedSharding::new(mesh, P!["y"]);
    let double = jit_with(|x: Array| x * 2.0, options(sharding.into()));
    let program = make_jaxpr(|x: Array| double(x) + 1.0)(iota(&[8])).to_string();
    assert!(program.contains("sharding_constraint"), "{program}");
    let outer = jit(|x: Array| double(x) + 1.0);
    let expected = (iota(&[8]) * 2.0 + 1.0).to_vec::<f32>();
    assert_eq!(outer(iota(&[8])).to_vec::<f32>(), expected);
    let too_many = jit_with(|x: Array| x, options([Some(sharding); 2].into()));
    let message = panic_message(|| jit(|x: Array| too_many(x) + 1.0)(iota(&[8])));
    assert!(message.contains("out_shardings has 2 entries"), "{message}");
}

#[test]
fn functions_on_meshes_are_not_exported() {
    let mesh = mesh(&[4, 2], &["x", "y"], AxisType::Auto);
    let sharding = NamedSharding::new(mesh, P!["x"]);
    let like = || Array::shape_dtype_struct(&[8], DType::F32);
    let plain = jit(|x: Array| x.sin());
    let constrained = jit(move |x: Array| with_sharding_constraint(&x, sharding).sin());
    let options = JitOptions {
        out_shardings: Some(sharding.into()),
        ..JitOptions::default()
    };
    let placed = jit_with(|x: Array| x.sin(), options);
    let sharded = Array::shape_dtype_struct_with(&[8], DType::F32, sharding);
    for exported in [
        export::export(&plain, (sharded,)),
        export::export(&constrained, (like(),)),
        export::export(&placed, (like(),)),
    ] {
        let error = exported.unwrap_err().to_string();
        assert!(
            error.contains("only functions for a single device"),
            "{error}"
        );
    }
    // The mesh is current, but the function does not use it.
    let exported = with_mesh(mesh, || export::export(&plain, (like(),))).unwrap();
    assert_eq!(exported.in_avals[0].shape(), [8]);
}

#[test]
fn parts_go_to_the_host_and_come_back() {
    let mesh = mesh(&[4, 2], &["x", "y"], AxisType::Auto);
    let x = iota(&[8, 6]);
    let sharded = device_put(&x, NamedSharding::new(mesh, P!["y"]));
    let parts = sharded.host_shards().unwrap();
    assert_eq!(parts.len(), 2, "equal parts are there once");
    for (i, part) in parts.iter().enumerate() {
        assert!(part.is_first());
        assert_eq!(part.index(), [4 * i..4 * i + 4, 0..6]);
        let expected: Vec<f32> = (24 * i..24 * i + 24).map(|i| i as f32).collect();
        let same = part.read(|bytes| bytes == bytemuck::cast_slice::<f32, u8>(&expected));
        assert!(same.unwrap());
    }
    let back = make_array_from_parts(&[8, 6], DType::F32, sharded.sharding().unwrap(), |index| {
        let at = index[0].start / 4;
        parts[at].read(|bytes| AlignedBytes::from(bytes))
    });
    let back = back.unwrap();
    assert_eq!(back.to_vec::<f32>(), x.to_vec::<f32>());
    assert_eq!(back.sharding(), sharded.sharding());
    let short = make_array_from_parts(&[8, 6], DType::F32, sharded.sharding().unwrap(), |_| {
        Ok(AlignedBytes::zeroed(4))
    });
    let text = short.unwrap_err().to_string();
    assert!(
        text.contains("f32[4,6], which has 96 bytes; got 4"),
        "{text}"
    );
    let uneven = NamedSharding::new(mesh, P!["x"]);
    let uneven = make_array_from_parts(&[6], DType::F32, uneven, |_| Ok(AlignedBytes::zeroed(4)));
    let text = uneven.unwrap_err().to_string();
    assert!(text.contains("into 4 parts"), "{text}");
}

#[test]
fn what_is_kept_for_the_host_is_not_written_over() {
    mesh(&[8], &["x"], AxisType::Auto);
    let step = jit(|x: &mut Array| *x = &*x + 1.0);
    let mut x = iota(&[1000]);
    step(&mut x);
    let before = x.to_vec::<f32>();
    let kept = x.host_shards().unwrap();
    step(&mut x);
    let same = kept[0].read(|bytes| bytes == bytemuck::cast_slice::<f32, u8>(&before));
    assert!(same.unwrap());
    assert_eq!(x.to_vec::<f32>()[0], before[0] + 1.0);
}
