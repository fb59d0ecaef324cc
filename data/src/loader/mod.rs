//! Data loaders, which make batches in worker threads.

mod batch_sampler;
mod distributed;
mod fetch;
mod iter;
mod masked;
mod options;
mod performance;
mod sampler;
mod state;
mod tasks;

pub use batch_sampler::{BatchSampler, BucketSampler, ConsecutiveBatches};
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
use crate::{Error, LastBatch, Placement, Result, Sample, ToDevice};
use batch_sampler::Plan;
use fetch::{Fetch, FromSource};
use iter::PrefetchLimit;
use ramie_core::lock::lock;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tasks::Tasks;

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

    /// Returns the number of batches in an epoch; with a sampler, in epoch 0. It is `usize::MAX`
    /// if the source is endless.
    pub fn len(&self) -> usize {
        self.plan().epoch(0).count()
    }

    /// Returns `true` if there are no batches.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of elements of epoch 0 and the batch size, if [`drop_last`] drops all elements.
    ///
    /// ```
    /// use ramie_data::DataLoader;
    /// assert_eq!(DataLoader::new(0..5).batch_size(8).drop_last().dropped(), Some((5, 8)));
    /// assert_eq!(DataLoader::new(0..5).batch_size(4).drop_last().dropped(), None);
    /// ```
    ///
    /// # Panics
    /// Panics if the batch size is not divisible by the number of shards.
    ///
    /// [`drop_last`]: DataLoader::drop_last
    #[track_caller]
    pub fn dropped(&self) -> Option<(usize, usize)> {
        let elements = self.tasks(0, 1).all_dropped();
        elements.map(|elements| (elements, self.batch_size))
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
            Some(elements) => PrefetchLimit::Elements(elements),
            None => PrefetchLimit::Batches(self.workers * self.prefetch_factor),
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
