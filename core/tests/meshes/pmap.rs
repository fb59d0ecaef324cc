//! Functions that several devices run for one example each, beside JAX.

use crate::eight_devices;
use ramie_core::lax::{all_gather, all_to_all, axis_index, ppermute, psum, psum_scatter};
use ramie_core::options::PmapOptions;
use ramie_core::*;
use ramie_testing::apply::Operation;
use ramie_testing::golden::{Golden, Row};

fn function(name: &str, x: &Array) -> Array {
    let ring: Vec<(usize, usize)> = (0..8).map(|k| (k, (k + 1) % 8)).collect();
    match name {
        "square" => x * x,
        "normalise" => x / psum(&x.abs(), "i"),
        "sum" => psum(x, "i"),
        "gather" => all_gather(x, "i").sin(),
        "exchange" => all_to_all(x, "i", 0, 0) * (axis_index("i") + 1),
        "neighbour" => x + ppermute(x, "i", &ring) * 2,
        "scatter" => psum_scatter(x, "i", 0),
        "total" => x.sum(),
        other => panic!("no function is called {other}"),
    }
}

fn operation(row: &Row) -> Option<Box<Operation>> {
    let name = row.params["function"].as_str()?.to_string();
    let axis = |v: &serde_json::Value| v.as_i64().map(|n| n as isize);
    let axes = row.params["in_axes"].as_array()?.iter().map(axis);
    let axes: Vec<Option<isize>> = axes.collect();
    let options = PmapOptions {
        out_axes: axis(&row.params["out_axes"]).into(),
        axis_name: Some("i".into()),
        ..PmapOptions::default()
    };
    if name == "matmul" {
        let options = PmapOptions {
            in_axes: [axes[0], axes[1]].into(),
            ..options
        };
        let f = pmap_with(|x: Array, w: Array| x.matmul(&w).tanh(), options);
        return Some(Box::new(move |x| vec![f(x[0].clone(), x[1].clone())]));
    }
    let options = PmapOptions {
        in_axes: axes[0].into(),
        ..options
    };
    let f = pmap_with(move |x: Array| function(&name, &x), options);
    Some(Box::new(move |x| vec![f(x[0].clone())]))
}

#[test]
fn functions_agree_with_jax() {
    eight_devices();
    let golden = Golden::open("pmap");
    let mut failures = ramie_testing::check::Failures::default();
    let cases = ramie_testing::recorded(golden, &["pmap"], &operation, &mut failures);
    ramie_testing::check::eagerly(&cases, &mut failures);
    ramie_testing::check::cases(&cases, &mut failures);
    failures.finish();
}

fn numbers(shape: &[usize]) -> Array {
    let n = shape.iter().product();
    Array::iota(&[n], 0, DType::F32).reshape(shape)
}

#[test]
fn results_stay_on_the_devices() {
    eight_devices();
    let half = devices()[4..].to_vec();
    let options = PmapOptions {
        devices: Some(half.clone()),
        ..PmapOptions::default()
    };
    let double = pmap_with(|x: Array| x * 2.0, options);
    let out = double(numbers(&[4, 3]));
    assert_eq!(
        out.to_vec::<f32>(),
        (numbers(&[4, 3]) * 2.0).to_vec::<f32>()
    );
    let shards = out.addressable_shards();
    assert_eq!(shards.len(), 4);
    for (i, shard) in shards.iter().enumerate() {
        assert_eq!(shard.device(), half[i]);
        assert_eq!(shard.data().shape(), [1, 3]);
    }
    // They go on where they are.
    let again = double(out);
    assert_eq!(
        again.to_vec::<f32>(),
        (numbers(&[4, 3]) * 4.0).to_vec::<f32>()
    );
}

#[test]
fn trees_and_one_compilation() {
    eight_devices();
    static TRACED: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    let step = pmap(|(a, b): (Array, Array), c: Array| {
        TRACED.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        (a + &b, (b, c))
    });
    for _ in 0..3 {
        let (sum, (b, c)) = step((numbers(&[8, 2]), numbers(&[8])), numbers(&[8, 1, 2]));
        let want = numbers(&[8, 2]) + numbers(&[8]).expand_dims(&[1]);
        assert_eq!(sum.to_vec::<f32>(), want.to_vec::<f32>());
        assert_eq!((b.shape(), c.shape()), (&[8][..], &[8, 1, 2][..]));
    }
    assert_eq!(TRACED.load(std::sync::atomic::Ordering::Relaxed), 1);
}

#[test]
#[should_panic(expected = "pmap: the mapped axis has size 9, but there are 8 devices")]
fn more_than_there_are_devices() {
    eight_devices();
    pmap(|x: Array| x)(numbers(&[9]));
}

#[test]
#[should_panic(expected = "pmap: 2 devices were passed, but the mapped axis has size 3")]
fn another_number_of_devices() {
    eight_devices();
    let options = PmapOptions {
        devices: Some(devices()[..2].to_vec()),
        ..PmapOptions::default()
    };
    pmap_with(|x: Array| x, options)(numbers(&[3]));
}

#[test]
#[should_panic(expected = "pmap: batch sizes differ: argument `0` has 4, argument `1` has 3")]
fn sizes_that_differ() {
    eight_devices();
    pmap(|x: Array, y: Array| (x, y))(numbers(&[4]), numbers(&[3]));
}
