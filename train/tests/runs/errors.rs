//! Mistakes and failures.

use crate::{loader, loss, net, points};
use ramie_data::DataLoader;
use ramie_train::{EarlyStopping, Error, Monitor, Trainer};

#[test]
fn data_without_a_batch_is_an_error() {
    let empty = DataLoader::new(points(4)).batch_size(8).drop_last();
    let error = Trainer::new(loss)
        .quiet()
        .fit(&mut net(), empty)
        .unwrap_err();
    assert!(matches!(error, Error::NoBatches), "{error}");
    assert!(error.to_string().contains("smaller than one batch"));
}

#[test]
fn a_metric_that_is_not_finite_ends_the_run() {
    let diverges = |model: &mut crate::Net, x, y| {
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

#[test]
fn an_observed_metric_must_exist() {
    let error = Trainer::new(loss)
        .metrics(["loss", "error"])
        .early_stopping(EarlyStopping::new(Monitor::min("val_loss")))
        .quiet()
        .fit(&mut net(), loader())
        .unwrap_err();
    let expected = "there is no metric `val_loss` to observe; existing metrics: epoch_error, epoch_loss, error, loss";
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
    assert!(
        error
            .to_string()
            .contains("run: the directory cannot be created"),
        "{error}"
    );
}

#[test]
#[should_panic(expected = "the metric `loss` is f32[8,1], but metrics are scalars")]
fn metrics_must_be_scalars() {
    let step = |x: &mut ramie_core::Array, points: ramie_core::Array| {
        *x = &*x + points.mean();
        points
    };
    let points = DataLoader::new(ndarray::Array2::<f32>::zeros((8, 1))).batch_size(8);
    let mut x = ramie_core::Array::from(0.0f32);
    Trainer::from_step(step)
        .quiet()
        .fit(&mut x, points)
        .unwrap();
}

#[test]
#[should_panic(expected = "a train step changes its state, so `validate` cannot call it")]
fn a_step_is_not_validated() {
    let step = |x: &mut ramie_core::Array, points: ramie_core::Array| {
        *x = &*x + points.mean();
        x.clone()
    };
    let points = || DataLoader::new(ndarray::Array1::<f32>::zeros(8)).batch_size(8);
    let _ = Trainer::from_step(step).validate(points());
}
