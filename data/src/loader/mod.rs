//! Data loaders, which make batches in worker threads.

mod batch_sampler;
mod distributed;
mod fetch;
mod iter;
mod masked;
mod performance;
mod sampler;
mod state;
mod tasks;

pub use batch_sampler::{BatchSampler, BucketSampler};
pub use distributed::DistributedSampler;
pub use iter::LoaderIter;
pub use masked::Masked;
pub use performance::{PerformanceBudget, PerformanceConfig};
pub use sampler::{
    Order, RandomSampler, Sampler, SequentialSampler, SubsetRandomSampler, WeightedRandomSampler,
};
pub use state::LoaderState;

use crate::pool::{Init, Pool};
use crate::rows::Rows;
use crate::source::{IntoSource, Source, get_all};
use crate::{Error, LastBatch, Placement, ReadOptions, Result, Sample, Shard, ToDevice};
use batch_sampler::Plan;
use fetch::{Fetch, FromSource};
use iter::Ahead;
use masked::WithMask;
use ramie_core::NamedSharding;
use ramie_core::lock::lock;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tasks::{ENDLESS, Tasks};

/// An iterable over batches of a [`Source`], which worker threads make in the background
/// (`torch.utils.data.DataLoader`).
///
/// The batches and their order depend only on the source, the sampler, the seed and the epoch,
/// not on the number or speed of the workers. The position of an iteration is a small value, from
/// which another iteration resumes exactly: [`LoaderIter::state`],
/// [`resume`](DataLoader::resume).
///
/// If an element cannot be read, or its function panics, its batch is returned as an error with
/// the element's index. The iteration continues with the next batch.
///
/// ```
/// use ndarray::Array;
/// use ramie_data::DataLoader;
///
/// let images = Array::<f32, _>::zeros((1000, 8, 8));
/// let labels = vec![0i32; 1000];
/// let loader = DataLoader::new((images, labels))
///     .batch_size(32)
///     .shuffle(42)
///     .drop_last()
///     .workers(2);
/// for epoch in 0..3 {
///     for batch in loader.epoch(epoch) {
///         let (images, labels) = batch?;
///         assert_eq!((images.dim(), labels.dim()), ((32, 8, 8), 32));
///     }
/// }
/// # Ok::<(), ramie_data::Error>(())
/// ```
pub struct DataLoader<B> {
    fetch: Arc<dyn Fetch<B>>,
    len: usize,
    /// Whether the source is shuffled, so that samplers cannot select elements.
    order_changes: bool,
    order: OrderBy,
    batch_size: usize,
    last: LastBatch,
    /// Whether the last batch is filled up.
    fill: bool,
    rows: Rows,
    workers: usize,
    prefetch_factor: usize,
    /// The number of elements that are read ahead, if each is read in a job of its own.
    read: Option<usize>,
    timeout: Option<Duration>,
    epochs: usize,
    persistent: bool,
    init: Option<Init>,
    /// The workers, if they are kept for the next iteration.
    pool: Mutex<Option<Arc<Pool>>>,
}

/// The source of the order. A sampler's length is only known per epoch.
#[derive(Clone)]
enum OrderBy {
    Sequential,
    Shuffled(u64),
    Sampler(Arc<dyn Sampler>),
    Batches(Arc<dyn BatchSampler>),
}

impl<B: Send + 'static> DataLoader<B> {
    /// Creates a loader of the elements of a source, in order and in batches of one.
    ///
    /// # Panics
    /// Panics if the parts of the source have different lengths.
    #[track_caller]
    pub fn new<S>(source: S) -> DataLoader<B>
    where
        S: IntoSource<Source: 'static>,
        <S::Source as Source>::Item: Sample<Batch = B>,
    {
        let source = source.into_source();
        DataLoader::made_by(
            (source.len(), source.order_changes()),
            FromSource {
                source,
                whole: <S::Source as Source>::get_batch,
                collate: Sample::collate,
            },
        )
    }

    /// Creates a loader with a custom collate function, such as
    /// [`collate::padded`](crate::collate::padded).
    ///
    /// ```
    /// use ramie_data::{DataLoader, collate};
    /// let texts = vec![vec![1, 2, 3], vec![4], vec![5, 6]];
    /// let loader = DataLoader::with_collate(texts, collate::padded(&[4, 16], 0)).batch_size(2);
    /// let batch = loader.iter().next().unwrap()?;
    /// assert_eq!(batch.values, ndarray::array![[1, 2, 3, 0], [4, 0, 0, 0]]);
    /// # Ok::<(), ramie_data::Error>(())
    /// ```
    ///
    /// # Panics
    /// Panics if the parts of the source have different lengths.
    #[track_caller]
    pub fn with_collate<S, C>(source: S, collate: C) -> DataLoader<B>
    where
        S: IntoSource<Source: 'static>,
        C: Fn(Vec<<S::Source as Source>::Item>) -> Result<B> + Send + Sync + 'static,
    {
        let source = source.into_source();
        let collate = Arc::new(collate);
        let again = collate.clone();
        DataLoader::made_by(
            (source.len(), source.order_changes()),
            FromSource {
                source,
                whole: move |source: &S::Source, indices: &[usize], epoch| {
                    again(get_all(source, indices, epoch)?)
                },
                collate: move |items| collate(items),
            },
        )
    }

    /// Creates a loader that returns single elements instead of batches (`batch_size=None`).
    ///
    /// # Panics
    /// Panics if the parts of the source have different lengths.
    #[track_caller]
    pub fn unbatched<S>(source: S) -> DataLoader<B>
    where
        S: IntoSource<Source: 'static + Source<Item = B>>,
    {
        DataLoader::with_collate(source, |mut items: Vec<B>| {
            Ok(items.pop().expect("batches of one element"))
        })
    }

    fn made_by(
        (len, order_changes): (usize, bool),
        fetch: impl Fetch<B> + 'static,
    ) -> DataLoader<B> {
        DataLoader {
            fetch: Arc::new(fetch),
            len,
            order_changes,
            order: OrderBy::Sequential,
            batch_size: 1,
            last: LastBatch::Keep,
            fill: false,
            rows: Rows::all(),
            workers: 0,
            prefetch_factor: 2,
            read: None,
            timeout: None,
            epochs: 1,
            persistent: false,
            init: None,
            pool: Mutex::new(None),
        }
    }

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

    /// Returns the number of batches in an epoch; with a sampler, in epoch 0. It is `usize::MAX`
    /// if the source is endless.
    pub fn len(&self) -> usize {
        self.plan().epoch(0).count()
    }

    /// Returns `true` if there are no batches.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns an iterator over the batches of [`epochs`] epochs, starting at epoch 0.
    ///
    /// # Panics
    /// Panics if the batch size is not divisible by the number of shards, or if
    /// [`drop_last`](DataLoader::drop_last) drops all elements.
    ///
    /// [`epochs`]: DataLoader::epochs
    #[track_caller]
    pub fn iter(&self) -> LoaderIter<B> {
        self.start(self.tasks(0, self.epochs))
    }

    /// Returns an iterator over the batches of one epoch.
    ///
    /// # Panics
    /// Panics if the batch size is not divisible by the number of shards, or if
    /// [`drop_last`](DataLoader::drop_last) drops all elements.
    #[track_caller]
    pub fn epoch(&self, epoch: usize) -> LoaderIter<B> {
        self.start(self.tasks(epoch, epoch + 1))
    }

    /// Returns an iterator that starts at a given batch of an epoch, as if the earlier batches
    /// had been consumed. It continues with the remaining epochs of [`iter`](DataLoader::iter)
    /// (Grain's `set_next_index`). With [`shard`](DataLoader::shard), `batch` counts global
    /// batches.
    ///
    /// ```
    /// use ramie_data::DataLoader;
    /// let loader = DataLoader::new(0..9).batch_size(2).shuffle(4);
    /// let third = loader.from_batch(1, 3).next();
    /// assert_eq!(third, loader.epoch(1).nth(3));
    /// ```
    ///
    /// # Panics
    /// Panics if the batch size is not divisible by the number of shards, or if
    /// [`drop_last`](DataLoader::drop_last) drops all elements.
    #[track_caller]
    pub fn from_batch(&self, epoch: usize, batch: usize) -> LoaderIter<B> {
        let mut tasks = self.tasks(epoch, self.epochs.max(epoch + 1));
        tasks.skip(batch);
        self.start(tasks)
    }

    /// Returns an iterator over the batches that remained when a state was saved: those of its
    /// epoch and of the remaining epochs of [`iter`](DataLoader::iter). The number of workers and
    /// the number of processes may differ from those of the saved run.
    ///
    /// ```
    /// use ramie_data::{DataLoader, LoaderState};
    /// let loader = DataLoader::new(0..100).batch_size(8).shuffle(1).epochs(2).workers(2);
    /// let mut batches = loader.iter();
    /// batches.by_ref().take(5).for_each(drop);
    /// let saved = serde_json::to_string(&batches.state())?;
    ///
    /// let state: LoaderState = serde_json::from_str(&saved)?;
    /// let rest: Vec<_> = loader.workers(0).resume(&state)?.collect::<Result<_, _>>()?;
    /// assert_eq!(rest, batches.collect::<Result<Vec<_>, _>>()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the state belongs to other data or another order.
    ///
    /// # Panics
    /// Panics if the batch size is not divisible by the number of shards, or if
    /// [`drop_last`](DataLoader::drop_last) drops all elements.
    #[track_caller]
    pub fn resume(&self, state: &LoaderState) -> Result<LoaderIter<B>> {
        let epoch = state.epoch();
        let mut tasks = self.tasks(epoch, self.epochs.max(epoch + 1));
        tasks.resume(state)?;
        Ok(self.start(tasks))
    }

    /// Returns the shapes, dtypes and placement of the first batch, as arrays without elements.
    /// With them, a step can be lowered and compiled before the first batch exists (Grain's
    /// `get_element_spec`). The first batch is made for this, on the calling thread.
    ///
    /// ```
    /// use ramie_core::DType;
    /// use ramie_data::{DataLoader, Placement};
    /// let rows = ndarray::Array2::<f32>::zeros((10, 3));
    /// let loader = DataLoader::new((rows, vec![0i32; 10])).batch_size(4);
    /// let (x, y) = loader.element_spec(Placement::default())?;
    /// assert_eq!((x.shape(), x.dtype()), (&[4, 3][..], DType::F32));
    /// assert_eq!((y.shape(), y.dtype()), (&[4][..], DType::I32));
    /// # Ok::<(), ramie_data::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if there is no batch, or if it cannot be made.
    pub fn element_spec(&self, place: impl Into<Placement>) -> Result<B::Device>
    where
        B: ToDevice,
    {
        self.first()?.to_device(&place.into().without_elements())
    }

    /// Returns the first batch, made on the calling thread.
    fn first(&self) -> Result<B> {
        let mut tasks = self.tasks(0, 1);
        match tasks.next() {
            Some(task) => iter::run(&*self.fetch, &task),
            None => Err(Error::other(
                "the loader has no batches; use a source with more elements, or a smaller batch size",
            )),
        }
    }

    fn plan(&self) -> Plan {
        let sampler: Arc<dyn Sampler> = match &self.order {
            OrderBy::Sequential => Arc::new(SequentialSampler(self.len)),
            OrderBy::Shuffled(seed) => Arc::new(RandomSampler::new(self.len, *seed)),
            OrderBy::Sampler(sampler) => sampler.clone(),
            OrderBy::Batches(sampler) => return Plan::Listed(sampler.clone()),
        };
        Plan::Neighbours {
            sampler,
            size: self.batch_size,
            last: self.last,
        }
    }

    #[track_caller]
    fn tasks(&self, epoch: usize, end: usize) -> Tasks {
        let listed = matches!(self.order, OrderBy::Batches(_));
        assert!(
            listed || self.batch_size.is_multiple_of(self.rows.tiles),
            "DataLoader: batches of {} elements cannot be divided into {} equal shards\n  help: \
             `batch_size` is the size of the global batch; pass a multiple of the number of shards",
            self.batch_size,
            self.rows.tiles
        );
        let fill = match (self.fill, listed) {
            (false, _) => None,
            (true, true) => Some(0),
            (true, false) => Some(self.batch_size),
        };
        Tasks::new(self.plan(), self.rows.clone(), fill, epoch, end)
    }

    #[track_caller]
    fn start(&self, tasks: Tasks) -> LoaderIter<B> {
        if let Some(len) = tasks.all_dropped() {
            panic!(
                "DataLoader: there is no batch: the epoch has {len} elements, less than the batch size \
                 {}, and `drop_last` drops incomplete batches\n  help: use a batch size of at most \
                 {len}, or remove `drop_last`",
                self.batch_size
            );
        }
        let pool = NonZeroUsize::new(self.workers).map(|n| self.workers_of(n.get()));
        let ahead = match self.read {
            Some(elements) => Ahead::Elements(elements),
            None => Ahead::Batches(self.workers * self.prefetch_factor),
        };
        LoaderIter::new(self.fetch.clone(), tasks, pool, ahead, self.timeout)
    }

    fn workers_of(&self, workers: usize) -> Arc<Pool> {
        let start = || Arc::new(Pool::new(workers, self.init.clone()));
        if !self.persistent {
            return start();
        }
        let mut pool = lock(&self.pool);
        pool.get_or_insert_with(start).clone()
    }
}

impl<B: Send + 'static> IntoIterator for &DataLoader<B> {
    type Item = Result<B>;
    type IntoIter = LoaderIter<B>;
    #[track_caller]
    fn into_iter(self) -> LoaderIter<B> {
        self.iter()
    }
}
