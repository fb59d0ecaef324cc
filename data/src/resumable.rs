//! Iterations that know where they stand.

use crate::device::{DevicePrefetch, Placement, ToDevice};
use crate::{Result, Sample, Stacks};

/// An iteration over batches that knows where it stands, by a small value.
pub trait Resumable: Iterator {
    /// Where it stands.
    type State: Clone + Send + 'static;

    /// Where it stands: behind the last batch that it gave.
    fn state(&self) -> Self::State;

    /// Batches stacked along a new first axis, so many at once: what a function of
    /// several steps takes ([`train_steps`](ramie_core::train_steps)).
    ///
    /// A stack ends early, with fewer batches, where they end, and before one of
    /// another shape, such as the last of an epoch, or one that cannot be read;
    /// [`drop_last`](Stacks::drop_last) leaves out such stacks.
    ///
    /// ```
    /// use ramie_data::{DataLoader, Resumable};
    /// let loader = DataLoader::new(vec![0i32; 11]).batch_size(2); // five batches of two, and one of one
    /// let stacks: Vec<_> = loader.iter().stack(3).collect::<Result<_, _>>()?;
    /// let sizes: Vec<_> = stacks.iter().map(|stack| stack.dim()).collect();
    /// assert_eq!(sizes, [(3, 2), (2, 2), (1, 1)]);
    /// # Ok::<(), ramie_data::Error>(())
    /// ```
    ///
    /// # Panics
    /// If `count` is 0.
    #[track_caller]
    fn stack<B>(self, count: usize) -> Stacks<Self, B>
    where
        Self: Iterator<Item = Result<B>> + Sized,
        B: Sample,
    {
        Stacks::new(self, count)
    }

    /// Brings batches to devices ahead of their use, from a thread of its own:
    /// while a step runs on one batch, the next is on its way. There are `count`
    /// batches on the devices at most, beside the one in use; two are double
    /// buffering.
    ///
    /// A place is a device, or a sharding over a mesh: then the rows that each
    /// process has together are one global array for each array of the batch.
    ///
    /// ```no_run
    /// use ndarray::Array;
    /// use ramie_data::{DataLoader, Placement, Resumable};
    /// let loader = DataLoader::new(Array::<f32, _>::zeros((1000, 8))).batch_size(50).workers(2);
    /// let mut batches = loader.iter().prefetch_to_device(2, Placement::default());
    /// while let Some(batch) = batches.next() {
    ///     assert_eq!(batch?.shape(), [50, 8]); // an array on the device
    ///     let state = batches.state(); // of the loader, behind this batch
    /// }
    /// # Ok::<(), ramie_data::Error>(())
    /// ```
    ///
    /// # Panics
    /// If `count` is 0.
    #[track_caller]
    fn prefetch_to_device<B>(
        self,
        count: usize,
        place: impl Into<Placement>,
    ) -> DevicePrefetch<B::Device, Self::State>
    where
        Self: Iterator<Item = Result<B>> + Sized + Send + 'static,
        B: ToDevice,
    {
        DevicePrefetch::new(self, count, place.into())
    }
}
