//! A run computes the same as a loop that is written by hand.

use crate::{Net, loader, loss, net, points};
use ramie_core::{Array, State, jit};
use ramie_data::{DataLoader, Placement, Resumable};
use ramie_nn::{Module as _, value_and_grad};
use ramie_train::{Error, History, PerCall, Same, Trainer, Training};

fn step(state: &mut Training<Net>, x: Array, y: Array) -> (Array, Array) {
    let (result, grads) = value_and_grad(&mut state.model, |m| loss(m, x, y));
    state.optimizer.update(&mut state.model, grads);
    result
}

/// Trains by hand; returns the losses and the final state.
fn by_hand(epochs: usize) -> (Vec<f64>, Training<Net>) {
    let (mut state, mut losses) = (net(), Vec::new());
    let step = jit(step);
    for batch in loader()
        .epochs(epochs)
        .iter()
        .prefetch_to_device(2, Placement::default())
    {
        let (x, y) = batch.unwrap();
        losses.push(f64::from(step(&mut state, x, y).0.item::<f32>()));
    }
    (losses, state)
}

fn values(history: &ramie_train::History, name: &str) -> Vec<f64> {
    history.get(name).iter().map(|(_, value)| *value).collect()
}

fn assert_same(a: &Training<Net>, b: &Training<Net>) {
    let (a, b) = (State::of(a), State::of(b));
    for (path, x) in a.iter() {
        assert_eq!(
            x.try_to_bytes().unwrap(),
            b[path].try_to_bytes().unwrap(),
            "{path}"
        );
    }
}

#[test]
fn a_loss_is_trained_as_by_hand() {
    let (losses, expected) = by_hand(3);
    let mut state = net();
    let trainer = Trainer::new(loss)
        .metrics(["loss", "error"])
        .epochs(3)
        .quiet();
    let history = trainer.fit(&mut state, loader()).unwrap();
    assert_eq!(values(&history, "loss"), losses);
    assert_eq!(history.get("error").len(), 18);
    assert_same(&state, &expected);
    // Five batches of 8 rows and one of 4.
    let mean = |l: &[f64]| (8.0 * l[..5].iter().sum::<f64>() + 4.0 * l[5]) / 44.0;
    let means = [&losses[..6], &losses[6..12], &losses[12..]].map(mean);
    assert_eq!(values(&history, "epoch_loss"), means);
}

/// tensorflow/tensorflow#38596, Lightning-AI/pytorch-lightning#2924: a smaller last batch counted as much
/// as a full one.
#[test]
fn the_mean_of_an_epoch_does_not_depend_on_the_size_of_its_batches() {
    let rows = || DataLoader::new(vec![1.0f32, 1.0, 1.0, 1.0, 6.0]);
    let step = |state: &mut (Array,), rows: Array| {
        state.0 = &state.0 + 1;
        (rows.mean(), rows.mean() * 2)
    };
    let trainer = || Trainer::from_step(step).metrics(["loss", "twice"]).quiet();
    let check = |history: History, what: &str| {
        let means = ["epoch_loss", "epoch_twice"].map(|name| history.last(name).unwrap());
        assert!(
            (means[0] - 2.0).abs() < 1e-6 && (means[1] - 4.0).abs() < 1e-6,
            "{what}: {means:?}"
        );
    };
    for size in [1, 2, 3, 4, 5] {
        let mut state = (Array::from(0.0f32),);
        let history = trainer().fit(&mut state, rows().batch_size(size));
        check(history.unwrap(), &format!("batches of {size}"));
        let history = trainer().fit(&mut state, PerCall::new(2, rows().batch_size(size)));
        check(history.unwrap(), &format!("stacks of batches of {size}"));
    }
    // Also across an interruption.
    let folder = tempfile::tempdir().unwrap();
    let mut state = (Array::from(0.0f32),);
    let run = || trainer().folder(folder.path()).checkpoint_every(1);
    let failing = run().every(2, |context| match context.status.step {
        2 => Err(Error::other("out of luck")),
        _ => Ok(()),
    });
    failing.fit(&mut state, rows().batch_size(2)).unwrap_err();
    check(
        run().fit(&mut state, rows().batch_size(2)).unwrap(),
        "resumed",
    );
}

#[test]
fn a_step_is_run_as_by_hand() {
    let (losses, expected) = by_hand(2);
    let mut state = net();
    let history = Trainer::from_step(step)
        .steps(12)
        .quiet()
        .fit(&mut state, loader())
        .unwrap();
    assert_eq!(values(&history, "loss"), losses);
    assert_same(&state, &expected);
}

#[test]
fn several_steps_per_call_have_the_same_losses() {
    let (losses, _) = by_hand(2);
    let mut state = net();
    let trainer = Trainer::new(loss).epochs(2).quiet();
    let history = trainer.fit(&mut state, PerCall::new(4, loader())).unwrap();
    let got = values(&history, "loss");
    assert_eq!(got.len(), losses.len());
    for (got, expected) in got.iter().zip(&losses) {
        assert!(
            (got - expected).abs() <= 1e-5 * expected,
            "{got} {expected}"
        );
    }
}

#[test]
fn microbatches_have_the_gradient_of_the_whole_batch() {
    let train = |microbatches: Option<usize>| {
        let mut state = net();
        state.model.eval(); // dropout draws other keys for parts
        let trainer = match microbatches {
            None => Trainer::new(loss),
            Some(n) => Trainer::new(loss).accumulate(n),
        };
        let loader = DataLoader::new(points(40)).batch_size(8).shuffle(3);
        let history = trainer.epochs(2).quiet().fit(&mut state, loader).unwrap();
        values(&history, "loss")
    };
    for (a, b) in train(None).iter().zip(train(Some(4))) {
        assert!((a - b).abs() <= 1e-5 * a, "{a} {b}");
    }
}

#[test]
fn a_validation_weights_a_smaller_last_batch_by_its_rows() {
    let run = |batch_size| {
        let mut state = net();
        let history = Trainer::new(loss)
            .validate(DataLoader::new(points(10)).batch_size(batch_size))
            .quiet()
            .fit(&mut state, loader())
            .unwrap();
        history.last("val_loss").unwrap()
    };
    let (whole, parts) = (run(10), run(4));
    assert!((whole - parts).abs() <= 1e-6 * whole, "{whole} {parts}");
}

/// Rows that fill the last batch up are not rows of the data.
#[test]
fn a_validation_weights_batches_by_the_rows_that_count() {
    let run = |batch_size| {
        let data = DataLoader::new(vec![1.0f32, 1.0, 1.0, 1.0, 6.0]).batch_size(batch_size);
        let mut state = Array::from(0.0f32);
        let step = |state: &mut Array, rows: Array| {
            *state = &*state + 1;
            rows.mean()
        };
        let history = Trainer::from_step(step)
            .validate_with(
                |_: &Array, (rows, mask): (Array, Array)| {
                    rows.mean_over(ramie_core::options::Reduction::all().mask(&mask))
                },
                data.masked(),
            )
            .quiet()
            .fit(&mut state, DataLoader::new(vec![1.0f32]).batch_size(1))
            .unwrap();
        history
            .last("val_metric")
            .or(history.last("val_loss"))
            .unwrap()
    };
    for batch_size in [1, 2, 4, 5] {
        assert_eq!(run(batch_size), 2.0, "batches of {batch_size}");
    }
}

#[test]
fn a_validation_may_return_other_metrics_than_the_step() {
    let history = Trainer::new(loss)
        .metrics(["loss", "error"])
        .validate_with(
            |state: &Training<Net>, (x, y)| loss(&mut state.model.evaluated(), x, y).0,
            DataLoader::new(points(8)).batch_size(8),
        )
        .quiet()
        .fit(&mut net(), loader())
        .unwrap();
    let names = history.names().filter(|name| name.starts_with("val_"));
    assert_eq!(names.collect::<Vec<_>>(), ["val_loss"]);
}

#[test]
fn the_same_batch_is_trained_in_each_step() {
    let (x, y) = points(44);
    let x = Array::from(&x);
    let y = Array::from(&y);
    let mut state = net();
    let history = Trainer::new(loss)
        .steps(20)
        .quiet()
        .fit(&mut state, Same((x, y)))
        .unwrap();
    assert_eq!(history.get("loss").len(), 20);
    assert!(history.last("loss") < history.get("loss").first().map(|l| l.1));
}
