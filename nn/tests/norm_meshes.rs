//! Batch normalization over the devices of a mesh is that of the whole batch.

use ramie_core::lax::axis_index;
use ramie_core::sharding::{AxisType, make_mesh_with};
use ramie_core::*;
use ramie_nn::linen::{self, Apply, Module, Variables};
use ramie_nn::{Dropout, Rngs};
use ramie_testing::cpu_devices;

fn mesh() -> Mesh {
    cpu_devices(4);
    make_mesh_with(&[4], &["x"], AxisType::Auto).unwrap()
}

fn norm() -> linen::BatchNorm {
    linen::BatchNorm::new()
        .use_running_average(false)
        .momentum(0.5)
}

fn close(got: &Array, expected: &Array) {
    assert_eq!(got.shape(), expected.shape());
    let worst = (got - expected).abs().max().item::<f32>();
    assert!(worst < 1e-5, "{got:?}\n{expected:?}");
}

#[test]
fn statistics_are_those_of_the_whole_batch() {
    let mesh = mesh();
    let x = (Array::arange(24).astype(DType::F32) * 0.7)
        .sin()
        .reshape(&[8, 3]);
    let variables = norm().init(random::key(0), x.clone());
    let whole = |variables: Variables, x: Array| {
        let (y, updates) = norm().apply_with(&variables, x, &Apply::new().mutable("batch_stats"));
        (y, updates["batch_stats"].clone())
    };
    let parts = shard_map(
        |variables: Variables, x: Array| {
            let norm = norm().axis_name("x");
            let (y, updates) = norm.apply_with(&variables, x, &Apply::new().mutable("batch_stats"));
            let stats = &updates["batch_stats"];
            (y, stats["mean"].clone(), stats["var"].clone())
        },
        mesh,
        [P![], P!["x"]],
        [P!["x"], P![], P![]],
    );
    let (y, stats) = whole(variables.clone(), x.clone());
    let (got, mean, var) = parts(variables.clone(), x.clone());
    close(&got, &y);
    close(&mean, &stats["mean"]);
    close(&var, &stats["var"]);

    // So are gradients, which go through the statistics of all devices.
    let weight = Array::arange(24).astype(DType::F32).cos().reshape(&[8, 3]);
    let of_whole = grad(|x: Array| (whole(variables.clone(), x).0 * &weight).sum())(x.clone());
    let of_parts = grad(|x: Array| (parts(variables.clone(), x).0 * &weight).sum())(x);
    close(&of_parts, &of_whole);
}

#[test]
fn dropout_of_parts() {
    let mesh = mesh();
    let x = Array::ones(&[8, 16], DType::F32);
    let each = shard_map(
        |x: Array| {
            // Each device has a key of its own.
            let key = random::key(0).fold_in(axis_index("x"));
            let mut dropout = Dropout::with_rate(0.5).build_without_keys();
            dropout.forward_with(&x, None, Some(&key))
        },
        mesh,
        [P!["x"]],
        P!["x"],
    );
    let got = each(x.clone());
    let parts: Vec<Array> = (0..4u32)
        .map(|device| {
            let key = random::key(0).fold_in(Array::scalar(device, DType::U32));
            let mut dropout = Dropout::new(0.5, &mut Rngs::new(0));
            let part = x.slice_in_dim(2 * device as usize, 2 * device as usize + 2, 1, 0);
            dropout.forward_with(&part, None, Some(&key))
        })
        .collect();
    let expected = concatenate(&parts, 0);
    assert_eq!(got.to_vec::<f32>(), expected.to_vec::<f32>());
}
