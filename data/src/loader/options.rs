//! Options of loaders.

use super::batch_sampler::BatchSampler;
use super::masked::{Masked, WithMask};
use super::sampler::Sampler;
use super::tasks::ENDLESS;
use super::{DataLoader, OrderBy};
use crate::rows::Rows;
use crate::{LastBatch, ReadOptions, Shard};
use ramie_core::NamedSharding;
use std::sync::{Arc, Mutex};
use std::time::Duration;

impl<B: Send + 'static> DataLoader<B> {
    /// Sets the number of elements in a batch. Defaults to 1. With [`shard`](DataLoader::shard)
    /// this is the size of the global batch, which is divided among the processes.
    ///
    /// # Panics
    /// Panics if `size` is 0.
    #[must_use]
    #[track_caller]
    pub fn batch_size(mut self, size: usize) -> Self {
        assert!(
            size > 0,
            "DataLoader::batch_size: the size is 0\n  help: pass at least 1"
        );
        self.batch_size = size;
        self
    }

    /// Shuffles every epoch in its own random order, derived from this seed: that of Grain's
    /// `IndexSampler` (see [`Permutation`](crate::Permutation)). This takes almost no memory, whatever
    /// the number of elements.
    ///
    /// # Panics
    /// Panics if the source is endless.
    #[must_use]
    #[track_caller]
    pub fn shuffle(mut self, seed: u64) -> Self {
        assert!(
            self.len < usize::MAX,
            "DataLoader::shuffle: the source is endless\n  help: call `shuffle` of the source, before \
             `repeat(None)`"
        );
        self.order = OrderBy::Shuffled(seed);
        self
    }

    /// Sets the sampler, which determines the order of the elements.
    ///
    /// # Panics
    /// Panics if the source is shuffled and the sampler
    /// [selects elements](Sampler::selects_elements).
    #[must_use]
    #[track_caller]
    pub fn sampler(mut self, sampler: impl Sampler + 'static) -> Self {
        if sampler.selects_elements() {
            self.check_order("sampler");
        }
        self.order = OrderBy::Sampler(Arc::new(sampler));
        self
    }

    /// Sets the batch sampler, which lists the batches of an epoch and their sizes.
    ///
    /// # Panics
    /// Panics if the source is shuffled.
    #[must_use]
    #[track_caller]
    pub fn batch_sampler(mut self, sampler: impl BatchSampler + 'static) -> Self {
        self.check_order("batch_sampler");
        self.order = OrderBy::Batches(Arc::new(sampler));
        self
    }

    #[track_caller]
    fn check_order(&self, operation: &str) {
        assert!(
            !self.order_changes,
            "DataLoader::{operation}: the source is shuffled, so an index refers to another element in \
             each epoch\n  help: pass the source without `shuffle`; the sampler determines the order"
        );
    }

    /// Drops the elements at the end of an epoch that do not fill a batch. Iterating panics if these
    /// are all elements.
    #[must_use]
    pub fn drop_last(mut self) -> Self {
        self.last = LastBatch::Drop;
        self
    }

    /// Fills the last batch up with its own elements and adds a mask of the rows that count. All
    /// batches then have the same shape, and a compiled step compiles once.
    ///
    /// Batches of a [`batch_sampler`](DataLoader::batch_sampler) keep their sizes, and an empty batch
    /// has an empty mask. Sharding may add rows to a batch; the mask excludes them.
    ///
    /// ```
    /// use ramie_data::DataLoader;
    /// let loader = DataLoader::new(vec![1.0f32, 2.0, 3.0]).batch_size(2).masked();
    /// let last = loader.iter().last().unwrap()?;
    /// assert_eq!((last.batch.len(), last.mask.to_vec()), (2, vec![true, false]));
    /// # Ok::<(), ramie_data::Error>(())
    /// ```
    #[must_use]
    pub fn masked(self) -> DataLoader<Masked<B>> {
        DataLoader {
            fetch: Arc::new(WithMask(self.fetch)),
            len: self.len,
            order_changes: self.order_changes,
            order: self.order,
            batch_size: self.batch_size,
            last: self.last,
            fill: true,
            rows: self.rows,
            workers: self.workers,
            prefetch_factor: self.prefetch_factor,
            read: self.read,
            timeout: self.timeout,
            epochs: self.epochs,
            persistent: self.persistent,
            init: self.init,
            pool: Mutex::new(None),
        }
    }

    /// Sets the number of worker threads, each of which makes whole batches. Defaults to 0: the
    /// calling thread makes the batches. This replaces earlier
    /// [`read_options`](DataLoader::read_options).
    #[doc(alias = "num_workers")]
    #[doc(alias = "worker_count")]
    #[must_use]
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers;
        self.read = None;
        self.pool = Mutex::new(None);
        self
    }

    /// Reads the elements of a batch at the same time, in worker threads, instead of whole batches
    /// one after the other (Grain's `read_options`): elements that take long to read, as from a
    /// network, then delay a batch once. The buffer is filled with whole batches and contains one
    /// at least. This replaces an earlier number of [`workers`](DataLoader::workers) and their
    /// [`prefetch_factor`](DataLoader::prefetch_factor).
    ///
    /// ```
    /// use ramie_data::{DataLoader, ReadOptions};
    /// let loader = DataLoader::new(0..1000).batch_size(100).shuffle(0);
    /// let batches: Vec<_> = loader.iter().collect();
    /// let options = ReadOptions { num_threads: 4, prefetch_buffer_size: 200 };
    /// assert_eq!(loader.read_options(options).iter().collect::<Vec<_>>(), batches);
    /// ```
    #[must_use]
    pub fn read_options(mut self, options: ReadOptions) -> Self {
        self = self.workers(options.threads());
        self.read = Some(options.prefetch_buffer_size);
        self
    }

    /// Sets the number of batches that each worker prepares ahead, at most. Defaults to 2.
    ///
    /// # Panics
    /// Panics if `batches` is 0.
    #[must_use]
    #[track_caller]
    pub fn prefetch_factor(mut self, batches: usize) -> Self {
        assert!(
            batches > 0,
            "DataLoader::prefetch_factor: the number of batches is 0\n  help: pass at least 1, or use \
             `workers(0)` for no prefetching"
        );
        self.prefetch_factor = batches;
        self
    }

    /// Sets the timeout of a batch. After it, the iterator returns
    /// [`Error::Timeout`](crate::Error), and the next call continues to wait. The timeout has no
    /// effect without workers.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets the number of epochs of [`iter`](DataLoader::iter), or `None` to iterate endlessly.
    /// Defaults to 1. Workers continue from one epoch to the next without a pause. An endless
    /// iteration ends at an epoch without batches.
    ///
    /// ```
    /// use ramie_data::DataLoader;
    /// let loader = DataLoader::new(0..6).batch_size(2).shuffle(0).epochs(None);
    /// assert_eq!(loader.iter().take(1000).count(), 1000);
    /// ```
    #[doc(alias = "num_epochs")]
    #[must_use]
    pub fn epochs(mut self, epochs: impl Into<Option<usize>>) -> Self {
        self.epochs = epochs.into().unwrap_or(ENDLESS);
        self
    }

    /// Keeps the worker threads for the next iteration instead of starting new ones.
    #[must_use]
    pub fn persistent_workers(mut self) -> Self {
        self.persistent = true;
        self
    }

    /// Sets a function that each worker thread calls with its number before its first batch
    /// (`worker_init_fn`). If it panics, every batch of that worker is an error with the panic
    /// message.
    #[must_use]
    pub fn worker_init(mut self, init: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.init = Some(Arc::new(init));
        self.pool = Mutex::new(None);
        self
    }

    /// Selects a shard of each batch: the rows from `index / count` to `(index + 1) / count` of
    /// it. Together the shards are the batches of a single process, row by row. A last batch that
    /// does not divide evenly is filled up with its first elements, so that all processes have
    /// the same number of rows.
    ///
    /// ```
    /// use ramie_data::{DataLoader, Shard};
    /// let loader = DataLoader::new(0..8).batch_size(4).shard(Shard::new(1, 2));
    /// let batches: Vec<_> = loader.iter().map(|b| b.map(|b| b.to_vec())).collect::<Result<_, _>>()?;
    /// assert_eq!(batches, [[2, 3], [6, 7]]);
    /// # Ok::<(), ramie_data::Error>(())
    /// ```
    #[must_use]
    pub fn shard(mut self, shard: Shard) -> Self {
        self.rows = Rows::of(shard);
        self
    }

    /// Selects the rows of each batch that this process's devices need for arrays with this
    /// sharding, from which [`prefetch_to_device`](crate::Resumable::prefetch_to_device)
    /// assembles global arrays.
    #[must_use]
    pub fn shard_for(mut self, sharding: NamedSharding) -> Self {
        self.rows = Rows::on_mesh(sharding);
        self
    }
}
