//! Normalization over the devices of a mesh: batch normalization is that of the whole batch, and
//! all layers equal Flax's over several axes and within groups of indices.

mod common;

use common::Golden;
use ramie_core::lax::{AxisIndexGroups, axis_index};
use ramie_core::options::ShardMapOptions;
use ramie_core::sharding::{AxisType, make_mesh_with};
use ramie_core::*;
use ramie_nn::linen::{self, Apply, Module, Variables};
use ramie_nn::{Dropout, Rngs};
use ramie_testing::cpu_devices;

fn mesh() -> Mesh {
    cpu_devices(8);
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

/// Runs a layer on each of 8 devices, and returns its results along the first axis.
fn on_each<F>(layer: F, x: &Array) -> Vec<Array>
where
    F: Fn(Array) -> Vec<Array> + Send + Sync + 'static,
{
    let options = ShardMapOptions {
        mesh: Some(make_mesh_with(&[4, 2], &["x", "y"], AxisType::Auto).unwrap()),
        check_vma: false,
        ..ShardMapOptions::new(P![("x", "y")], P![("x", "y")])
    };
    shard_map_with(layer, options)(x.clone())
}

#[test]
fn statistics_over_several_axes_and_within_groups() {
    cpu_devices(8);
    let golden = Golden::open("flax_norm");
    let pairs = [[0, 4], [5, 1], [3, 2], [6, 7]];
    let ways: [(&str, AxisIndexGroups); 3] = [
        ("axes", ["x", "y"].into()),
        ("groups", AxisIndexGroups::new("x", [[0, 2], [3, 1]])),
        ("both", AxisIndexGroups::new(["x", "y"], pairs)),
    ];
    for (way, axes) in ways {
        let case = golden.case(way);
        let x = case.inputs()[0].clone();
        let check = |name: &str, got: Vec<Array>| {
            for (i, got) in got.iter().enumerate() {
                close(got, &case.array(&format!("{name}/{i}")));
            }
        };
        let batch = norm().axis_name(axes.clone());
        let config = batch.clone();
        let linen_batch = move |x: Array| {
            let variables = batch.init(random::key(0), x.clone());
            let (y, updates) =
                batch.apply_with(&variables, x, &Apply::new().mutable("batch_stats"));
            let stats = &updates["batch_stats"];
            vec![
                y,
                stats["mean"].expand_dims(&[0]),
                stats["var"].expand_dims(&[0]),
            ]
        };
        check("linen_batch", on_each(linen_batch, &x));
        let nnx_batch = move |x: Array| {
            let mut layer = config.build(6, &mut Rngs::new(0));
            let y = layer.forward(&x);
            vec![y, layer.mean.expand_dims(&[0]), layer.var.expand_dims(&[0])]
        };
        check("nnx_batch", on_each(nnx_batch, &x));
        macro_rules! both_styles {
            ($name:literal, $config:expr) => {
                let config = $config.axis_name(axes.clone());
                let layer = config.build(6, &mut Rngs::new(0));
                let linen = move |x: Array| {
                    let variables = config.init(random::key(0), x.clone());
                    vec![config.apply(&variables, x)]
                };
                check(concat!("linen_", $name), on_each(linen, &x));
                let nnx = move |x: Array| vec![layer.forward(&x)];
                check(concat!("nnx_", $name), on_each(nnx, &x));
            };
        }
        both_styles!("layer", linen::LayerNorm::new());
        both_styles!("rms", linen::RMSNorm::new());
        both_styles!("group", linen::GroupNorm::new().num_groups(2));
        both_styles!("instance", linen::InstanceNorm::new());
    }
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
