//! Sources of batches.

use crate::Result;
use ramie_core::{Tree, tree};
use ramie_data::{
    DataLoader, DevicePrefetch, LoaderIter, LoaderState, Placement, Resumable, Sample, Stacks,
    ToDevice,
};
use serde::{Serialize, de::DeserializeOwned};

/// Batches on the device in addition to the one in use.
const AHEAD: usize = 2;

/// A source of batches for [`Trainer::fit`](crate::Trainer::fit): a
/// [`DataLoader`](ramie_data::DataLoader), [`PerCall`] or [`Same`].
///
/// `P` is a batch on the device: an array, or a tuple or another tree of arrays.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not provide batches of `{P}`",
    note = "pass a `DataLoader`, `PerCall` or `Same`; the loss or the step takes the arrays of a batch in their order"
)]
pub trait Batches<P> {
    /// The position of an iteration, which is saved with each checkpoint.
    type Position: Clone + Serialize + DeserializeOwned;
    /// The iteration.
    type Iter: Iterator<Item = ramie_data::Result<P>>;

    /// Returns the number of steps of an epoch.
    fn steps_per_epoch(&self) -> usize;

    /// Returns the number of elements and the batch size of data that have no step because all their
    /// elements are in an incomplete batch, which is dropped. A message contains the numbers.
    fn dropped(&self) -> Option<(usize, usize)> {
        None
    }

    /// Returns the maximum number of steps for which an item contains batches, stacked along a new
    /// first axis; `None` for single batches.
    fn per_call(&self) -> Option<usize> {
        None
    }

    /// Starts an iteration over a number of epochs, endlessly for `None`, after a position.
    ///
    /// # Errors
    /// Returns an error if the position belongs to other data.
    fn start(
        self,
        epochs: Option<usize>,
        after: Option<&Self::Position>,
        place: &Placement,
    ) -> Result<Self::Iter>;

    /// Returns the position after the last item.
    fn position(iter: &Self::Iter) -> Self::Position;

    /// Returns the epoch of the last item before a position, from 0.
    fn epoch(position: &Self::Position) -> usize;
}

impl<P: Tree, B: ToDevice<Device = P>> Batches<P> for DataLoader<B> {
    type Position = LoaderState;
    type Iter = DevicePrefetch<P, LoaderState>;

    fn steps_per_epoch(&self) -> usize {
        self.len()
    }
    fn dropped(&self) -> Option<(usize, usize)> {
        DataLoader::dropped(self)
    }
    fn start(
        self,
        epochs: Option<usize>,
        after: Option<&LoaderState>,
        place: &Placement,
    ) -> Result<Self::Iter> {
        let loader = self.epochs(epochs);
        let iter = match after {
            Some(position) => loader.resume(position)?,
            None => loader.iter(),
        };
        Ok(iter.prefetch_to_device(AHEAD, place.clone()))
    }
    fn position(iter: &Self::Iter) -> LoaderState {
        iter.state()
    }
    fn epoch(position: &LoaderState) -> usize {
        position.epoch()
    }
}

/// The batches of a loader in stacks: each call of the compiled program runs several steps, which
/// reduces the overhead of calls for steps that take microseconds
/// ([`train_steps`](ramie_core::train_steps)). The last stack of an epoch is shorter, and so is one
/// before a smaller batch; each length compiles a program.
///
/// ```
/// use ramie_data::DataLoader;
/// use ramie_train::{Batches, PerCall};
/// let loader = DataLoader::new(vec![0.0f32; 1000]).batch_size(10);
/// assert_eq!(PerCall::new(20, loader).steps_per_epoch(), 100);
/// ```
pub struct PerCall<B> {
    count: usize,
    loader: DataLoader<B>,
}

impl<B: Send + 'static> PerCall<B> {
    /// Stacks at most `count` batches per call.
    ///
    /// # Panics
    /// Panics if `count` is 0.
    #[track_caller]
    pub fn new(count: usize, loader: DataLoader<B>) -> PerCall<B> {
        assert!(
            count > 0,
            "PerCall: the number of steps per call must be at least 1"
        );
        PerCall { count, loader }
    }
}

impl<P, B> Batches<P> for PerCall<B>
where
    P: Tree,
    B: Sample + Send + 'static,
    B::Batch: ToDevice<Device = P>,
{
    type Position = LoaderState;
    type Iter = DevicePrefetch<P, LoaderState>;

    fn steps_per_epoch(&self) -> usize {
        self.loader.len()
    }
    fn dropped(&self) -> Option<(usize, usize)> {
        self.loader.dropped()
    }
    fn per_call(&self) -> Option<usize> {
        Some(self.count)
    }
    fn start(
        self,
        epochs: Option<usize>,
        after: Option<&LoaderState>,
        place: &Placement,
    ) -> Result<Self::Iter> {
        // `resume` then returns the rest of one epoch.
        let loader = self.loader.epochs(1);
        let (epoch, batches) = match after {
            Some(position) => (position.epoch(), loader.resume(position)?),
            None => (0, loader.epoch(0)),
        };
        let stacks = EpochStacks {
            stacks: batches.stack(self.count),
            count: self.count,
            loader,
            epoch,
            end: epochs.unwrap_or(usize::MAX),
        };
        Ok(stacks.prefetch_to_device(AHEAD, place.clone()))
    }
    fn position(iter: &Self::Iter) -> LoaderState {
        iter.state()
    }
    fn epoch(position: &LoaderState) -> usize {
        position.epoch()
    }
}

/// Stacks of batches, none of which contains batches of two epochs.
struct EpochStacks<B: Sample + Send + 'static> {
    stacks: Stacks<LoaderIter<B>, B>,
    count: usize,
    loader: DataLoader<B>,
    epoch: usize,
    /// The number of epochs.
    end: usize,
}

impl<B: Sample + Send + 'static> Iterator for EpochStacks<B> {
    type Item = ramie_data::Result<B::Batch>;
    fn next(&mut self) -> Option<Self::Item> {
        if let Some(stack) = self.stacks.next() {
            return Some(stack);
        }
        if self.epoch + 1 >= self.end {
            return None;
        }
        self.epoch += 1;
        self.stacks = self.loader.epoch(self.epoch).stack(self.count);
        self.stacks.next()
    }
}

impl<B: Sample + Send + 'static> Resumable for EpochStacks<B> {
    type State = LoaderState;
    fn state(&self) -> LoaderState {
        self.stacks.state()
    }
}

/// The same batch in every step, for datasets that are trained as a whole. An epoch is one step,
/// and by default, validations and checkpoints happen ten times per run.
///
/// ```
/// use ramie_core::{Array, DType};
/// use ramie_train::{Batches, Same};
/// let everything = Same((Array::zeros(&[100, 8], DType::F32), Array::zeros(&[100], DType::I32)));
/// assert_eq!(everything.steps_per_epoch(), 1);
/// ```
#[derive(Clone, Debug)]
pub struct Same<P>(
    /// The batch.
    pub P,
);

/// The iteration over a [`Same`].
pub struct SameIter<P> {
    batch: P,
    /// Number of items so far.
    done: usize,
    end: usize,
}

impl<P: Tree> Iterator for SameIter<P> {
    type Item = ramie_data::Result<P>;
    fn next(&mut self) -> Option<Self::Item> {
        if self.done == self.end {
            return None;
        }
        self.done += 1;
        Some(Ok(tree::copy(&self.batch)))
    }
}

impl<P: Tree> Batches<P> for Same<P> {
    type Position = usize;
    type Iter = SameIter<P>;

    fn steps_per_epoch(&self) -> usize {
        1
    }
    fn start(
        self,
        epochs: Option<usize>,
        after: Option<&usize>,
        _: &Placement,
    ) -> Result<SameIter<P>> {
        Ok(SameIter {
            batch: self.0,
            done: after.copied().unwrap_or(0),
            end: epochs.unwrap_or(usize::MAX),
        })
    }
    fn position(iter: &SameIter<P>) -> usize {
        iter.done
    }
    fn epoch(position: &usize) -> usize {
        position.saturating_sub(1)
    }
}
