//! `loader`: epochs of a `DataLoader` on the host. There is one line for each dataset and number
//! of workers.

use crate::measure::Plan;
use crate::report::{Line, Times};
use ndarray::{Array2, Array3, Array4, ArrayD, ArrayView1, ArrayViewD};
use ramie::data::{DataLoader, IntoSource, SourceExt};
use std::hint::black_box;

const BATCH: usize = 128;

/// Measures every case with zero, one and two workers.
pub fn measure(plan: &Plan) {
    let rows = (
        Array2::<f32>::from_shape_fn((65_536, 64), |(i, j)| (i + j) as f32),
        labels(65_536),
    );
    report(plan, "rows", 65_536, |workers| {
        let loader = loaded(DataLoader::new(rows.clone()), workers);
        move || {
            loader
                .iter()
                .map(|b| b.expect("a batch"))
                .map(|(x, y)| bytes(x.into_dyn().view(), y.view()))
                .sum()
        }
    });
    let images =
        Array3::from_shape_fn((16_384, 28, 28), |(i, j, k)| (i + 3 * j + 5 * k) as u8).into_dyn();
    pictures(plan, "images", images);
    let images = Array4::from_shape_fn((1024, 96, 96, 3), |(i, j, k, c)| {
        (i + 3 * j + 5 * k + c) as u8
    });
    pictures(plan, "pictures", images.into_dyn());
}

/// Measures images whose brightness is scaled to the range from -1 to 1, element by element.
fn pictures(plan: &Plan, case: &str, images: ArrayD<u8>) {
    let count = images.shape()[0];
    report(plan, case, count, |workers| {
        let source = (images.clone(), labels(count)).into_source();
        let source = source.map(|(x, y)| (x.mapv(|p| f32::from(p) / 127.5 - 1.0), y));
        let loader = loaded(DataLoader::new(source), workers);
        move || {
            loader
                .iter()
                .map(|b| b.expect("a batch"))
                .map(|(x, y)| bytes(x.view(), y.view()))
                .sum()
        }
    });
}

fn labels(count: usize) -> Vec<i32> {
    (0..count as i32).map(|i| i % 10).collect()
}

fn loaded<B: Send + 'static>(loader: DataLoader<B>, workers: usize) -> DataLoader<B> {
    let loader = loader.batch_size(BATCH).shuffle(0).drop_last();
    loader.workers(workers).persistent_workers()
}

fn bytes(x: ArrayViewD<'_, f32>, y: ArrayView1<'_, i32>) -> usize {
    black_box(4 * (x.len() + y.len()))
}

fn report<F: Fn() -> usize>(plan: &Plan, case: &str, count: usize, epoch: impl Fn(usize) -> F) {
    for workers in [0, 1, 2] {
        let epoch = epoch(workers);
        let bytes = epoch();
        let times = Times::sample(plan, 1, || {
            black_box(epoch());
        });
        let elements = (count / BATCH * BATCH) as f64;
        let rate = |n: f64| format!("{:.0}", n / times.best());
        Line::of("loader")
            .text("case", case)
            .value("workers", workers)
            .times(&times)
            .value("elements_per_s", rate(elements))
            .value("bytes_per_s", rate(bytes as f64))
            .print();
    }
}
