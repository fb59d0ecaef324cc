//! Batches of equal size with a mask.

use super::fetch::{Done, Fetch};
use super::iter::Task;
use crate::pool::Pool;
use crate::{Result, Sample};
use ndarray::{Array1, Array2};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A batch that is filled up with elements to be ignored.
#[derive(Clone, Debug, PartialEq)]
pub struct Masked<B> {
    /// The batch, always of the same size.
    pub batch: B,
    /// Mask of the rows that count: `[n]`.
    pub mask: Array1<bool>,
}

/// Collates to the batches and the masks.
impl<B: Sample> Sample for Masked<B> {
    type Batch = (B::Batch, Array2<bool>);
    fn is_like(&self, other: &Self) -> bool {
        self.batch.is_like(&other.batch) && self.mask.is_like(&other.mask)
    }
    fn collate(items: Vec<Self>) -> Result<Self::Batch> {
        Sample::collate(items.into_iter().map(|m| (m.batch, m.mask)).collect())
    }
}

/// Adds masks to batches.
pub(super) struct WithMask<B>(pub Arc<dyn Fetch<B>>);

impl<B: Send + 'static> Fetch<Masked<B>> for WithMask<B> {
    fn fetch(&self, task: &Task) -> Result<Masked<B>> {
        let batch = self.0.fetch(task)?;
        let mask = task.counts.clone().into();
        Ok(Masked { batch, mask })
    }

    fn read(
        self: Arc<Self>,
        task: Task,
        pool: &Pool,
        stopped: &Arc<AtomicBool>,
        done: Done<Masked<B>>,
    ) {
        let mask = task.counts.clone().into();
        let masked = move |batch: Result<B>| done(batch.map(|batch| Masked { batch, mask }));
        self.0.clone().read(task, pool, stopped, Box::new(masked));
    }
}
