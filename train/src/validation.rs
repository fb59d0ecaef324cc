//! Metrics of a state on other data than that of the training.

use crate::names::metric_names;
use crate::recorder::{check_scalars, numbers};
use crate::{Error, Result};
use ramie_core::{Array, Tree, jit, tree};
use ramie_data::{DataLoader, Placement, Resumable, ToDevice};

/// Prefix of the names of these metrics.
const PREFIX: &str = "val_";

/// Returns the metrics of a state by name.
pub(crate) type Validate<S> =
    Box<dyn Fn(&S, &[String], &Placement) -> Result<Vec<(String, f64)>> + Send>;

/// Compiles a function of a state and a batch, and returns a function that averages its metrics over the batches of a
/// loader, weighted by the number of rows. Rows that a mask excludes do not count.
pub(crate) fn validation<S, P, V, B>(
    metrics: impl Fn(&S, P) -> V + Send + Sync + 'static,
    loader: DataLoader<B>,
) -> Validate<S>
where
    S: Tree + 'static,
    P: Tree + 'static,
    V: Tree + 'static,
    B: ToDevice<Device = P>,
{
    let metrics = jit(move |state: &S, batch: P| metrics(state, batch));
    let loader = loader.epochs(1);
    Box::new(move |state, names, place| {
        let none = || Error::NoValidationBatches {
            dropped: loader.dropped(),
        };
        if loader.is_empty() {
            return Err(none());
        }
        let mut results = Vec::new();
        for batch in loader.iter().prefetch_to_device(2, place.clone()) {
            let batch = batch?;
            // The count of a mask is read only after all batches are launched.
            let (rows, counted) = (rows(&batch), B::counted(&batch));
            results.push((rows, counted, metrics(state, batch)));
        }
        let (.., first) = results.first().ok_or_else(none)?;
        // The function may return other metrics than the step.
        let is_named = names.len() == tree::leaves(first).len();
        let names = metric_names(first, if is_named { names } else { &[] });
        check_scalars(&names, &tree::leaves(first), 0);
        Ok(names
            .iter()
            .map(|name| format!("{PREFIX}{name}"))
            .zip(means(&results))
            .collect())
    })
}

/// Returns the number of rows of a batch: the size of its first axis.
pub(crate) fn rows<P: Tree>(batch: &P) -> usize {
    size(batch, 0).unwrap_or(1)
}

/// Returns the size of an axis of the first array of a batch, if it has this axis.
pub(crate) fn size<P: Tree>(batch: &P, axis: usize) -> Option<usize> {
    let leaves: Vec<Array> = tree::leaves(batch);
    leaves.first()?.shape().get(axis).copied()
}

/// Returns the mean of each metric, weighted by rows.
fn means<V: Tree>(results: &[(usize, Option<Array>, V)]) -> Vec<f64> {
    let mut total = 0.0;
    let mut sums: Vec<f64> = Vec::new();
    for (rows, counted, metrics) in results {
        let rows = counted.as_ref().map_or(*rows as f64, |n| numbers(n)[0]);
        // The metrics of no rows are NaN.
        if rows == 0.0 {
            continue;
        }
        total += rows;
        let values = tree::leaves(metrics);
        sums.resize(values.len(), 0.0);
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum += rows * numbers(&value)[0];
        }
    }
    sums.iter().map(|sum| sum / total).collect()
}
