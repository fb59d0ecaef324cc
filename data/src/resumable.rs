//! Iterators that can be checkpointed.

use crate::device::{DevicePrefetch, Placement, ToDevice};
use crate::{Result, Sample, Stacks};

/// An iterator over batches whose position is a small value that can be saved.
pub trait Resumable: Iterator {
    /// The type of a position.
    type State: Clone + Send + 'static;

    /// Returns the position after the last batch that was returned.
    fn state(&self) -> Self::State;

    /// Stacks `count` batches along a new first axis, for functions that run several steps per
    /// call ([`train_steps`](ramie_core::train_steps)).
    ///
    /// A stack is shorter if the iteration ends, or if the next batch has a different shape (such
    /// as the last batch of an epoch) or is an error. [`drop_last`](Stacks::drop_last) discards
    /// incomplete stacks.
    ///
    /// ```
    /// use ramie_data::{DataLoader, Resumable};
    /// let loader = DataLoader::new(vec![0i32; 11]).batch_size(2); // five of 2 and one of 1
    /// let stacks: Vec<_> = loader.iter().stack(3).collect::<Result<_, _>>()?;
    /// let sizes: Vec<_> = stacks.iter().map(|stack| stack.dim()).collect();
    /// assert_eq!(sizes, [(3, 2), (2, 2), (1, 1)]);
    /// # Ok::<(), ramie_data::Error>(())
    /// ```
    ///
    /// # Panics
    /// Panics if `count` is 0.
    #[track_caller]
    fn stack<B>(self, count: usize) -> Stacks<Self, B>
    where
        Self: Iterator<Item = Result<B>> + Sized,
        B: Sample,
    {
        Stacks::new(self, count)
    }

    /// Copies batches to devices ahead of their use, in a background thread, so that the copy
    /// overlaps with the current step. At most `count` batches are on the devices in addition to
    /// the one in use; 2 means double buffering.
    ///
    /// `place` is a device or a sharding over a mesh. With a sharding, the rows of all processes
    /// form one global array for each array of the batch.
    ///
    /// ```no_run
    /// use ndarray::Array;
    /// use ramie_data::{DataLoader, Placement, Resumable};
    /// let loader = DataLoader::new(Array::<f32, _>::zeros((1000, 8))).batch_size(50).workers(2);
    /// let mut batches = loader.iter().prefetch_to_device(2, Placement::default());
    /// while let Some(batch) = batches.next() {
    ///     assert_eq!(batch?.shape(), [50, 8]); // an array on the device
    ///     let state = batches.state(); // state of the loader after this batch
    /// }
    /// # Ok::<(), ramie_data::Error>(())
    /// ```
    ///
    /// # Panics
    /// Panics if `count` is 0.
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
