//! Mistakes and failures.

use crate::{Net, loader, loss, net, points};
use ramie_core::Array;
use ramie_data::DataLoader;
use ramie_train::{EarlyStopping, Error, Monitor, Trainer, Training};

#[test]
fn data_without_a_batch_is_an_error() {
    let empty = DataLoader::new(points(4)).batch_size(8).drop_last();
    let error = Trainer::new(loss)
        .quiet()
        .fit(&mut net(), empty)
        .unwrap_err();
    let message = "there is no batch to train on: the dataset has 4 elements, less than the batch size 8, and the \
                   loader drops incomplete batches\n  help: use a batch size of at most 4, or remove `drop_last`";
    assert_eq!(error.to_string(), message);
    let empty = || DataLoader::new(points(0)).batch_size(8).drop_last();
    let error = Trainer::new(loss).quiet().fit(&mut net(), empty());
    let message = "there is no batch to train on: the dataset is empty\n  help: pass data with at least one element";
    assert_eq!(error.unwrap_err().to_string(), message);
    let error = Trainer::new(loss).quiet().validate(empty());
    let error = error.fit(&mut net(), loader()).unwrap_err();
    assert!(
        matches!(
            error,
            Error::NoValidationBatches {
                dropped: None | Some((0, 8))
            }
        ),
        "{error}"
    );
}

#[test]
fn a_metric_that_is_not_finite_ends_the_run() {
    let diverges = |model: &mut Net, x, y| {
        let (loss, error) = loss(model, x, y);
        (loss.log() * 0.0 + loss / 0.0, error)
    };
    let error = Trainer::new(diverges)
        .quiet()
        .fit(&mut net(), loader())
        .unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("step 1: the metric `loss` is inf"),
        "{error}"
    );
    let history = Trainer::new(diverges)
        .allow_non_finite()
        .quiet()
        .fit(&mut net(), loader());
    assert_eq!(history.unwrap().get("loss").len(), 6);
}

/// Neither the learning rate nor the gradients are the cause.
#[test]
fn labels_out_of_range_are_named_as_the_cause() {
    use ramie_nn::{Linear, Rngs};
    use ramie_optim::{adam, softmax_cross_entropy_with_integer_labels};
    let loss = |model: &mut Linear, x: Array, labels: Array| {
        softmax_cross_entropy_with_integer_labels(&model.forward(&x), &labels).mean()
    };
    for (wrong, step) in [(-1, 1), (-100, 1), (3, 1), (3, 4)] {
        let (x, _) = points(16);
        let mut labels = vec![0i32; 16];
        labels[4 * (step - 1) + 1] = wrong;
        let mut state = Training::new(Linear::new(2, 3, &mut Rngs::new(0)), adam(0.01));
        let data = DataLoader::new((x, labels)).batch_size(4);
        let error = Trainer::new(loss)
            .quiet()
            .fit(&mut state, data)
            .unwrap_err();
        let text = error.to_string();
        assert!(
            text.starts_with(&format!("step {step}: the metric `loss` is NaN\n  help: ")),
            "{text}"
        );
        assert!(
            text.contains("at least 0 and less than the number of classes"),
            "{text}"
        );
        assert_eq!(text.contains("learning rate"), step > 1, "{text}");
    }
}

#[test]
fn an_observed_metric_must_exist() {
    let error = Trainer::new(loss)
        .metrics(["loss", "error"])
        .early_stopping(EarlyStopping::new(Monitor::min("val_loss")))
        .quiet()
        .fit(&mut net(), loader())
        .unwrap_err();
    let expected = "there is no metric `val_loss` to observe; existing metrics: epoch_error, epoch_loss, error, \
                    loss\n  help: use one of these names";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_folder_that_is_a_file_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run");
    std::fs::write(&file, "").unwrap();
    let error = Trainer::new(loss)
        .folder(&file)
        .quiet()
        .fit(&mut net(), loader())
        .unwrap_err();
    let message = error.to_string();
    let (what, help) = message.split_once('\n').expect("a remedy");
    assert!(
        what.contains("run: the directory cannot be created: "),
        "{message}"
    );
    assert_eq!(
        help,
        "  help: choose another path, or remove the existing file"
    );
}

#[test]
#[should_panic(expected = "the metric `loss` is f32[8,1], but metrics are scalars")]
fn metrics_must_be_scalars() {
    let step = |x: &mut Array, points: Array| {
        *x = &*x + points.mean();
        points
    };
    let points = DataLoader::new(ndarray::Array2::<f32>::zeros((8, 1))).batch_size(8);
    let mut x = Array::from(0.0f32);
    Trainer::from_step(step)
        .quiet()
        .fit(&mut x, points)
        .unwrap();
}

#[test]
#[should_panic(expected = "a train step changes its state, so `validate` cannot call it")]
fn a_step_is_not_validated() {
    let step = |x: &mut Array, points: Array| {
        *x = &*x + points.mean();
        x.clone()
    };
    let points = || DataLoader::new(ndarray::Array1::<f32>::zeros(8)).batch_size(8);
    let _ = Trainer::from_step(step).validate(points());
}

#[test]
fn a_validation_without_a_batch_is_an_error() {
    let empty = DataLoader::new(points(4)).batch_size(8).drop_last();
    let trainer = Trainer::new(loss).validate(empty).quiet();
    let error = trainer.fit(&mut net(), loader()).unwrap_err().to_string();
    assert!(
        error.starts_with("there is no batch to validate on"),
        "{error}"
    );
}

#[test]
fn only_the_loss_must_be_finite() {
    let undefined = |model: &mut Net, x, y| {
        let (loss, error) = loss(model, x, y);
        (loss, error / 0.0)
    };
    let trainer = Trainer::new(undefined).metrics(["loss", "error"]).quiet();
    let history = trainer.fit(&mut net(), loader()).unwrap();
    assert_eq!(history.last("error"), Some(f64::INFINITY));
}

#[test]
fn an_error_prints_its_message() {
    let error = Error::from(std::io::Error::other("no space"));
    assert_eq!(format!("{error:?} {error}"), "no space no space");
}

#[test]
#[should_panic(expected = "1 names for metrics, but the function returns 2 arrays")]
fn each_metric_needs_a_name() {
    let trainer = Trainer::new(loss).metrics(["loss"]).quiet();
    let _ = trainer.fit(&mut net(), loader());
}

#[test]
#[should_panic(expected = "`keep_best` needs a folder")]
fn the_best_state_needs_a_folder() {
    let trainer = Trainer::new(loss).keep_best(Monitor::min("epoch_loss"));
    let _ = trainer.quiet().fit(&mut net(), loader());
}

#[test]
#[should_panic(expected = "3 microbatches do not divide a batch of 8")]
fn microbatches_divide_the_batch() {
    let trainer = Trainer::new(loss).accumulate(3).quiet();
    let _ = trainer.fit(&mut net(), loader());
}

#[test]
#[should_panic(expected = "a train step computes its own gradient, so `accumulate` cannot")]
fn a_step_is_not_divided() {
    let step = |state: &mut Training<Net>, x: Array, y: Array| loss(&mut state.model, x, y);
    let _ = Trainer::from_step(step).accumulate(2);
}

#[test]
#[should_panic(expected = "the number of epochs must be at least 1")]
fn a_run_has_an_epoch() {
    let _ = Trainer::new(loss).epochs(0);
}
