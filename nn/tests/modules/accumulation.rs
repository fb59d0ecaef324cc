//! Gradients of a batch part by part, and warnings about state that a traced function
//! writes to a copy and drops.

use ramie_core::lax::scan;
use ramie_core::{Array, DType, State, jit, random, tree};
use ramie_nn::nnx::{self, Not, of_type};
use ramie_nn::{
    BatchNorm, BatchStat, Dropout, Linear, Module, Optimizer, Param, RngCount, Rngs, Tree,
    accumulate, accumulate_wrt, value_and_grad, value_and_grad_wrt,
};
use ramie_optim::microbatching::reshape_batch_axis;
use ramie_optim::sgd;
use ramie_testing::assert_explained;
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::{Event, Metadata, Subscriber, span};

#[derive(Clone, Module)]
struct Net {
    linear: Linear,
    norm: BatchNorm,
    dropout: Dropout,
    out: Linear,
}

impl Net {
    fn new(rate: f64) -> Net {
        let rngs = &mut Rngs::new(0);
        Net {
            linear: Linear::new(3, 8, rngs),
            norm: BatchNorm::new(8, rngs),
            dropout: Dropout::new(rate, rngs),
            out: Linear::new(8, 1, rngs),
        }
    }

    fn forward(&mut self, x: &Array) -> Array {
        let x = self.norm.forward(&self.linear.forward(x)).tanh();
        self.out.forward(&self.dropout.forward(&x))
    }

    fn loss(&mut self, (x, y): &(Array, Array)) -> Array {
        (self.forward(x) - y).square().mean()
    }
}

fn batch() -> (Array, Array) {
    let x = random::normal(&random::key(1), &[32, 3], DType::F32);
    let y = x.sum_over(1).expand_dims(&[1]);
    (x, y)
}

fn parts() -> (Array, Array) {
    reshape_batch_axis(&batch(), 8, 0)
}

#[track_caller]
fn assert_close(a: &State, b: &State) {
    assert_eq!(a.paths().collect::<Vec<_>>(), b.paths().collect::<Vec<_>>());
    for (path, a) in a.iter() {
        let far = (a.astype(DType::F32) - b[path].astype(DType::F32)).abs();
        assert!(far.max().item::<f32>() < 1e-5, "{path}: {a} {}", b[path]);
    }
}

/// What [`accumulate`] means: the derivative of each part in turn, and their means.
fn one_by_one(model: &mut Net) -> (Array, State) {
    let parts = parts();
    let mut losses = Array::from(0.0f32);
    let mut sum: Option<State> = None;
    for i in 0..4 {
        let part = tree::map(&parts, |a| a.index_in_dim(i, 0).squeeze(&[0]));
        let (loss, grads) = value_and_grad(model, |m| m.loss(&part));
        losses += loss;
        sum = Some(match sum {
            Some(sum) => sum.zip(&grads, |a, b| a + b),
            None => grads,
        });
    }
    (losses / 4.0, sum.unwrap().map(|g| g / 4.0))
}

#[test]
fn parts_are_differentiated_in_turn_and_pass_their_state_on() {
    let (mut whole, mut model) = (Net::new(0.5), Net::new(0.5));
    let compiled =
        jit(|m: &mut Net, parts: (Array, Array)| accumulate(m, parts, |m, p| m.loss(&p)));
    let mut jitted = Net::new(0.5);
    // The second call goes on where the first ended.
    for _ in 0..2 {
        let (expected, expected_grads) = one_by_one(&mut whole);
        let (loss, grads) = accumulate(&mut model, parts(), |m, part| m.loss(&part));
        assert!((loss.item::<f32>() - expected.item::<f32>()).abs() < 1e-5);
        assert_close(&grads, &expected_grads);
        assert_close(&State::of(&model), &State::of(&whole));
        let (loss, grads) = compiled(&mut jitted, parts());
        assert!((loss.item::<f32>() - expected.item::<f32>()).abs() < 1e-5);
        assert_close(&grads, &expected_grads);
        assert_close(&State::of(&jitted), &State::of(&whole));
    }
    assert_eq!(model.dropout.rngs.unwrap().count.item::<u32>(), 8);
    assert!(model.norm.mean.abs().max().item::<f32>() > 1e-3);
}

#[test]
fn parts_make_the_gradient_of_the_whole_batch() {
    let mut model = Net::new(0.5);
    model.eval();
    let (loss, grads) = value_and_grad(&mut model, |m| m.loss(&batch()));
    let ((mean, norms), sums) = accumulate(&mut model, parts(), |m, part| {
        let y = m.forward(&part.0);
        ((&y - &part.1).square().mean(), y)
    });
    assert!((mean.item::<f32>() - loss.item::<f32>()).abs() < 1e-5);
    assert_eq!(norms.shape(), [4, 8, 1]);
    assert_close(&sums, &grads);

    let out = || nnx::PathContains("out");
    let (_, some) = accumulate_wrt(&mut model, out(), parts(), |m, part| m.loss(&part));
    let (_, expected) = value_and_grad_wrt(&mut model, out(), |m| m.loss(&batch()));
    assert_close(&some, &expected);
}

#[test]
fn a_program_of_parts_does_not_grow_with_their_number() {
    let step = |m: &mut Net, parts: (Array, Array)| accumulate(m, parts, |m, p| m.loss(&p)).0;
    let text = |size: usize| {
        let parts = reshape_batch_axis(&batch(), size, 0);
        let lowered = jit(step).lower_with(&Net::new(0.5), (parts,)).unwrap();
        lowered.as_text().lines().count()
    };
    assert_eq!(text(16), text(2));
}

/// Each part adds what `bf16` next to 256 cannot hold.
#[test]
fn gradients_of_narrow_types_are_summed_in_f32() {
    let mut model = (Param::new(Array::scalar(1.0, DType::BF16)),);
    let mut slopes = vec![1.0f32; 32];
    slopes[0] = 256.0;
    let slopes = Array::from(slopes).astype(DType::BF16);
    let (_, grads) = accumulate(&mut model, slopes, |m, slope| &*m.0 * slope);
    assert_eq!(grads["0"].dtype(), DType::BF16);
    assert_eq!(grads["0"].astype(DType::F32).item::<f32>(), 9.0); // 287 / 32 = 8.97
}

#[test]
#[should_panic(expected = "accumulate: `0` has 4 microbatches, but `1` has 3")]
fn parts_of_different_numbers_are_refused() {
    let parts = (
        Array::zeros(&[4, 2], DType::F32),
        Array::zeros(&[3], DType::F32),
    );
    accumulate(&mut Net::new(0.5), parts, |m, p| m.loss(&p));
}

#[test]
fn a_part_that_changes_the_structure_is_refused() {
    let call = || {
        accumulate(&mut Net::new(0.5), parts(), |m, p| {
            m.eval();
            m.loss(&p)
        })
    };
    assert_explained(
        call,
        &[
            "accumulate: a microbatch changed the structure of the model",
            "at `norm.use_running_average`, before has `UseRunningAverage(false)`, after has \
             `UseRunningAverage(true)`",
        ],
    );
}

/// Collects warnings.
#[derive(Clone, Default)]
struct Warnings(Arc<Mutex<Vec<String>>>);

impl Visit for Warnings {
    fn record_debug(&mut self, _: &Field, value: &dyn std::fmt::Debug) {
        self.0.lock().unwrap().push(format!("{value:?}"));
    }
}

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == tracing::Level::WARN
    }
    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }
    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

/// The first lines of the warnings of a function, and the lines that they name.
fn warnings(f: impl FnOnce()) -> Vec<String> {
    let collected = Warnings::default();
    tracing::subscriber::with_default(collected.clone(), f);
    let all = collected.0.lock().unwrap();
    for warning in all.iter() {
        assert!(
            warning.contains("  written at nn/tests/modules/accumulation.rs:"),
            "{warning}"
        );
        assert!(warning.contains("nn::accumulate"), "{warning}");
    }
    let first = |w: &String| {
        w.lines()
            .next()
            .unwrap()
            .split(" is lost")
            .next()
            .unwrap()
            .to_owned()
    };
    all.iter().map(first).collect()
}

#[derive(Tree)]
struct Trainer {
    optimizer: Optimizer,
    model: Net,
}

fn trainer() -> Trainer {
    let model = Net::new(0.5);
    Trainer {
        optimizer: Optimizer::new(&model, sgd(0.1)),
        model,
    }
}

#[test]
fn the_derivative_of_a_copy_is_reported_with_the_paths_of_the_model() {
    let step = jit(|t: &mut Trainer, x: Array, y: Array| {
        let part = (x, y);
        let (loss, grads) = value_and_grad(&mut t.model.clone(), |m| m.loss(&part));
        t.optimizer.update(&mut t.model, grads);
        loss
    });
    let (x, y) = batch();
    let mut trainer = trainer();
    let found = warnings(|| {
        step(&mut trainer, x.clone(), y.clone());
    });
    assert_eq!(
        found,
        [
            "warning: a new value of `model.norm.mean`, a batch_stat f32[8],",
            "warning: a new value of `model.norm.var`, a batch_stat f32[8],",
            "warning: a new value of `model.dropout.rngs.count`, a rng_count u32[],",
        ]
    );
    let again = warnings(|| {
        step(&mut trainer, x.clone(), y.clone());
        // Another program of the same lines.
        step(
            &mut trainer,
            x.slice_in_dim(0, 8, 1, 0),
            y.slice_in_dim(0, 8, 1, 0),
        );
    });
    assert_eq!(again, [""; 0]);
}

#[test]
fn copies_in_the_steps_of_a_loop_are_reported() {
    let model = Net::new(0.5);
    let found = warnings(|| {
        let step = |sum: Array, part: (Array, Array)| (sum + model.clone().loss(&part), ());
        scan(step, Array::from(0.0f32), parts());
    });
    // One for the mean and the variance, which have one type and are written at one line.
    let expected = [
        "warning: a new value of a batch_stat f32[8]",
        "warning: a new value of a rng_count u32[]",
    ];
    assert_eq!(found, expected);

    // In a program the path is known: the loop is within a trace of the model.
    let in_loop = jit(|t: &mut Trainer, x: Array| {
        scan(
            |sum: Array, x: Array| {
                let mut copy = nnx::clone(&t.model.dropout);
                (sum + copy.forward(&x).sum(), ())
            },
            Array::from(0.0f32),
            x,
        )
        .0
    });
    let found = warnings(|| {
        in_loop(&mut trainer(), parts().0);
    });
    assert_eq!(
        found,
        ["warning: a new value of `model.dropout.rngs.count`, a rng_count u32[],"]
    );
}

#[test]
fn what_transformations_write_to_a_copy_is_reported() {
    type Transformation = fn(&mut Dropout, Array);
    let transformations: [Transformation; 4] = [
        |d, x| drop(nnx::remat(d, x, |d, x| d.forward(&x))),
        |d, x| drop(nnx::vmap(d, x, None, |d, x| d.forward(&x))),
        |d, x| {
            drop(nnx::scan(d, (), x, nnx::Carry, |d, (), x| {
                ((), d.forward(&x))
            }))
        },
        |d, x| nnx::fori_loop(0, 2, d, |_, d| drop(d.forward(&x))),
    ];
    for transform in transformations {
        let step = jit(move |t: &mut Trainer, x: Array| transform(&mut t.model.dropout.clone(), x));
        let found = warnings(|| step(&mut trainer(), batch().0));
        let expected = "warning: a new value of `model.dropout.rngs.count`, a rng_count u32[],";
        assert_eq!(found, [expected]);
    }
}

#[test]
fn copies_that_lose_nothing_are_not_reported() {
    let found = warnings(|| {
        let (x, y) = batch();
        let part = (x.clone(), y.clone());
        let step = jit(|t: &mut Trainer, x: Array, y: Array| {
            let part = (x.clone(), y);
            // An evaluation.
            let mut copy = t.model.clone();
            copy.eval();
            let before = copy.loss(&part);
            // A copy that becomes the model.
            let mut copy = t.model.clone();
            let (_, grads) = value_and_grad(&mut copy, |m| m.loss(&part));
            t.model = copy;
            t.optimizer.update(&mut t.model, grads);
            // A copy whose state the model takes over.
            let mut copy = nnx::clone(&t.model);
            copy.loss(&part);
            nnx::update(&mut t.model, nnx::state(&copy, Not(of_type::<Param>())));
            // The same numbers for a copy and then for the model.
            let (a, b) = (
                t.model.clone().dropout.forward(&x),
                t.model.dropout.forward(&x),
            );
            // Streams that begin and end in the program.
            let mut rngs = Rngs::new(1);
            rngs.clone().params();
            rngs.params();
            before + a.sum() + b.sum()
        });
        step(&mut trainer(), x.clone(), y.clone());
        // Outside of a traced function, a copy is a copy.
        let model = Net::new(0.5);
        model.clone().loss(&part);
        // As an argument, too.
        jit(|mut m: Net, x: Array| m.forward(&x))(model.clone(), x.clone());
        // And what transformations copy.
        let mut model = model;
        nnx::scan(&mut model.dropout, (), x.clone(), nnx::Carry, |d, (), x| {
            ((), d.forward(&x))
        });
        accumulate(&mut model, parts(), |m, part| m.loss(&part));
        nnx::together((&mut model, &mut Net::new(0.1)), |both| {
            value_and_grad(both, |(a, b)| a.loss(&part) + b.loss(&part))
        });
    });
    assert_eq!(found, [""; 0]);
}

/// A layer of one's own is seen by its variables.
#[derive(Clone, Module)]
struct Counter {
    weight: Param,
    mean: BatchStat,
    calls: RngCount,
}

#[test]
fn variables_of_other_layers_are_seen() {
    let counter = Counter {
        weight: Param::new(Array::from(1.0f32)),
        mean: BatchStat::new(Array::from(0.0f32)),
        calls: RngCount::new(Array::from(0u32)),
    };
    let step = jit(move |x: Array| {
        let mut copy = counter.clone();
        *copy.mean += &x;
        copy.calls.set(&*copy.calls + 1);
        *copy.weight = x.clone(); // as in the steps of an inner loop
        x
    });
    let found = warnings(|| drop(step(Array::from(1.0f32))));
    let expected = [
        "warning: a new value of a batch_stat f32[]",
        "warning: a new value of a rng_count u32[]",
    ];
    assert_eq!(found, expected);
}
