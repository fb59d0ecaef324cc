//! Batches on devices and over meshes of virtual ones.

use ndarray::{Array, array};
use ramie_core::sharding::with_mesh;
use ramie_core::{DType, NamedSharding, P, devices, jit, make_mesh};
use ramie_data::{
    DataLoader, HostArray, IntoSource, Placement, Result, Resumable, SourceExt, Stream, StreamExt,
    ToDevice, collate,
};
use ramie_testing::cpu_devices;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Before anything else in each test: eight virtual devices.
fn start() {
    cpu_devices(8);
    assert_eq!(devices().len(), 8);
}

fn pixels(n: usize) -> ndarray::Array2<f32> {
    Array::from_shape_fn((n, 4), |(i, j)| (10 * i + j) as f32)
}

#[test]
fn batches_become_trees_of_arrays() {
    start();
    let here = Placement::default();
    let (x, y) = (array![[1.0f32, 2.0]].reversed_axes(), array![true])
        .to_device(&here)
        .unwrap();
    assert_eq!(
        (x.shape(), x.to_vec::<f32>()),
        (&[2, 1][..], vec![1.0, 2.0])
    );
    assert_eq!(y.dtype(), DType::Bool);
    let maps: BTreeMap<String, _> = [("a".to_string(), vec![array![1i32], array![2]])].into();
    assert_eq!(maps.to_device(&here).unwrap()["a"][1].item::<i32>(), 2);
    let padded = collate::padded(&[2], 0u8)(vec![vec![1], vec![2, 3]]).unwrap();
    let (values, lengths) = padded.to_device(&here).unwrap();
    assert_eq!(
        (values.dtype(), lengths.to_vec::<i32>()),
        (DType::U8, vec![1, 2])
    );
    let bytes = HostArray::new(DType::BF16, &[2], vec![0x80, 0x3f, 0, 0x40]).unwrap();
    assert_eq!(
        bytes
            .to_device(&here)
            .unwrap()
            .astype(DType::F32)
            .to_vec::<f32>(),
        [1.0, 2.0]
    );
    let there = Placement::from(devices()[3]);
    assert_eq!(
        array![1.0f32].to_device(&there).unwrap().devices(),
        [devices()[3]]
    );
}

#[test]
fn batches_are_ahead_on_the_device_and_the_state_is_not() {
    start();
    let made = Arc::new(AtomicUsize::new(0));
    let counter = made.clone();
    let source = pixels(100).into_source().map(move |x| {
        counter.fetch_add(1, Ordering::SeqCst);
        x
    });
    let loader = DataLoader::new(source).batch_size(1).shuffle(0);
    let mut batches = loader.iter().prefetch_to_device(2, Placement::default());
    let double = jit(|x: ramie_core::Array| x * 2.0);
    let first = double(batches.next().unwrap().unwrap());
    // The one in use, and two ahead.
    let start = Instant::now();
    while made.load(Ordering::SeqCst) < 3 && start.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(1));
    }
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(made.load(Ordering::SeqCst), 3);
    assert_eq!(batches.state().position(), 1);
    let state = batches.state();
    drop(batches);
    let all = |b: Result<ramie_core::Array>| b.unwrap().to_vec::<f32>();
    let rest: Vec<_> = loader
        .resume(&state)
        .unwrap()
        .prefetch_to_device(1, devices()[0])
        .map(all)
        .collect();
    let whole: Vec<_> = loader
        .iter()
        .map(|b| b.unwrap().into_raw_vec_and_offset().0)
        .collect();
    assert_eq!(rest, whole[1..]);
    assert_eq!(
        first.to_vec::<f32>(),
        whole[0].iter().map(|x| 2.0 * x).collect::<Vec<_>>()
    );
    drop(loader);
    assert_eq!(Arc::strong_count(&made), 1);
}

#[test]
fn streams_go_to_devices_too() {
    start();
    let stream = || {
        pixels(10)
            .into_source()
            .stream()
            .window_shuffle(4, 1)
            .batch(3)
    };
    let mut batches = stream()
        .into_iter()
        .prefetch_to_device(2, Placement::default());
    batches.next();
    let position = batches.state();
    let mut again = stream();
    again.restore(&position).unwrap();
    let rest: Vec<_> = again
        .iter()
        .map(|b| b.unwrap().into_raw_vec_and_offset().0)
        .collect();
    assert_eq!(
        batches
            .map(|b| b.unwrap().to_vec::<f32>())
            .collect::<Vec<_>>(),
        rest
    );
}

#[test]
fn a_mesh_has_one_global_array_of_each_batch() {
    start();
    let mesh = make_mesh(&[4, 2], &["data", "model"]).unwrap();
    let sharding = NamedSharding::new(mesh, P!["data", "model"]);
    let source = (pixels(20), vec![1i32; 20]);
    let loader = DataLoader::new(source)
        .batch_size(8)
        .shard_for(sharding)
        .drop_last()
        .workers(1);
    let batches: Vec<_> = loader
        .iter()
        .prefetch_to_device(2, sharding)
        .collect::<Result<_>>()
        .unwrap();
    assert_eq!(batches.len(), 2);
    let (x, y) = &batches[1];
    assert_eq!((x.shape(), y.shape()), (&[8, 4][..], &[8][..]));
    assert_eq!(x.addressable_shards()[0].data().shape(), [2, 2]);
    assert_eq!(y.addressable_shards()[0].data().shape(), [2]);
    assert_eq!(
        x.to_vec::<f32>(),
        pixels(20).into_raw_vec_and_offset().0[32..64]
    );
    // The current mesh.
    let x = with_mesh(mesh, || {
        pixels(8).to_device(&Placement::from(P![("data", "model")]))
    });
    assert_eq!(
        x.unwrap().addressable_shards()[7].data().to_vec::<f32>(),
        [70.0, 71.0, 72.0, 73.0]
    );
    // A batch that does not come apart is an error, not a panic.
    let e = pixels(6)
        .to_device(&sharding.into())
        .unwrap_err()
        .to_string();
    assert!(
        e.contains("6 rows do not divide evenly over the 4 shards"),
        "{e}"
    );
    let e = pixels(3).slice(ndarray::s![.., ..3]).to_owned();
    let odd = DataLoader::new(e)
        .batch_size(4)
        .masked()
        .iter()
        .prefetch_to_device(1, sharding)
        .next();
    assert!(
        matches!(odd, Some(Err(ramie_data::Error::Panic(_)))),
        "{odd:?}"
    );
}
