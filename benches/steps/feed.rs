//! `feed`: train steps of the digits classifier on shuffled batches of 128, which a `DataLoader`
//! makes and copies to the device while steps run, and on a single batch that stays there. There
//! is one line for each number of workers. `waited_share` is the share of time in which a step
//! had to wait for its batch.

use crate::digits::{parts, train_step};
use crate::measure::Plan;
use crate::report::{Line, Times};
use ramie::core::{Array, Result, jit, tree};
use ramie::data::{DataLoader, DevicePrefetch, Placement, Resumable, digits};
use std::time::Instant;

const BATCH: usize = 128;
/// Steps per sample.
const STEPS: usize = 1000;

pub fn measure(plan: &Plan) -> Result<()> {
    let steps = plan.steps.unwrap_or(STEPS);
    let digits = digits::load().expect("the data is in the program").train;
    let count = digits.len();
    let pixels = digits.images.into_shape_with_order((count, 64));
    let pixels = pixels.expect("64 pixels for each image");
    let step = jit(train_step);
    for workers in [None, Some(0), Some(1), Some(2)] {
        let (mut trainer, ..) = parts();
        let loader = DataLoader::new((pixels.clone(), digits.labels.clone()))
            .batch_size(BATCH)
            .shuffle(0)
            .drop_last()
            .workers(workers.unwrap_or(0))
            .epochs(None);
        let mut batches = loader.iter().prefetch_to_device(2, Placement::default());
        let next = |batches: &mut DevicePrefetch<_, _>| -> (Array, Array) {
            let batch = batches.next().expect("epochs without end");
            batch.expect("a batch")
        };
        let resident = next(&mut batches);
        let mut run = |batches: &mut DevicePrefetch<_, _>, steps: usize| {
            let mut loss = None;
            for _ in 0..steps {
                let (x, y) = match workers {
                    None => resident.clone(),
                    Some(_) => next(batches),
                };
                loss = Some(step(&mut trainer, x, y).0);
            }
            tree::block_until_ready(&trainer);
            loss.map_or(f32::NAN, |loss| loss.item::<f32>())
        };
        run(&mut batches, plan.warmup.max(1));
        let mut loss = f32::NAN;
        let (start, before) = (Instant::now(), batches.waited());
        let times = Times::sample(plan, steps, || loss = run(&mut batches, steps));
        let all = start.elapsed().as_secs_f64();
        let waited = (batches.waited() - before).as_secs_f64();
        let line = match workers {
            None => Line::of("feed").text("batches", "resident"),
            Some(workers) => Line::of("feed")
                .text("batches", "loaded")
                .value("workers", workers)
                .value("waited_share", format_args!("{:.4}", waited / all)),
        };
        line.times(&times)
            .value("steps", steps)
            .value("loss", loss)
            .print();
    }
    Ok(())
}
