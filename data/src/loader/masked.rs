//! Batches of equal size with a mask.

use super::fetch::{BatchCallback, Fetch};
use super::tasks::Task;
use crate::pool::Pool;
use crate::{Placement, Result, Sample, ToDevice};
use ndarray::{Array1, Array2};
use ramie_core::Array;
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

/// Transfers the batch and the mask.
impl<B: ToDevice> ToDevice for Masked<B> {
    type Device = (B::Device, Array);
    fn to_device(self, place: &Placement) -> Result<Self::Device> {
        (self.batch, self.mask).to_device(place)
    }
    fn counted((_, mask): &Self::Device) -> Option<Array> {
        Some(mask.count_nonzero())
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
        done: BatchCallback<Masked<B>>,
    ) {
        let mask = task.counts.clone().into();
        let masked = move |batch: Result<B>| done(batch.map(|batch| Masked { batch, mask }));
        self.0.clone().read(task, pool, stopped, Box::new(masked));
    }
}
