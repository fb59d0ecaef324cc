//! Datasets with sequential access.

/// Defines `default_seed` of a stage with one input, which is the field `$input`.
macro_rules! seed_of_input {
    ($input:ident) => {
        fn default_seed(&self) -> $crate::DefaultSeed {
            $crate::DefaultSeed::after([self.$input.default_seed()])
        }
    };
}

/// Defines `position`, `restore` and `default_seed` of a stage with one input, whose position is
/// that of the input.
macro_rules! of_input {
    ($input:ident) => {
        fn position(&self) -> $crate::stream::Position {
            self.$input.position()
        }
        fn restore(&mut self, position: &$crate::stream::Position) -> $crate::Result<()> {
            self.$input.restore(position)
        }
        seed_of_input!($input);
    };
}

mod batch;
mod bucket;
mod cache;
mod interleave;
mod iter;
mod join;
mod map;
mod mix;
mod of;
mod order;
mod pack;
mod parallel;
mod position;
mod prefetch;
mod read;
mod rebatch;
mod select;
mod window;

pub use batch::Batches;
pub use bucket::Bucketed;
pub use cache::CachedStream;
pub use interleave::{Interleave, interleave};
pub use iter::IntoIter;
pub(crate) use iter::iterable;
pub use join::{Chain, ZipStream};
pub use map::{FlatMap, MapNumbered, MapStream};
pub use mix::{MixStream, mix};
pub use of::{IterStream, SourceStream, from_fn};
pub use order::{RepeatStream, WindowShuffle};
pub use pack::{Fit, PackStream, pack};
pub use parallel::ParallelMap;
pub use position::Position;
pub use prefetch::Prefetch;
pub use read::ReadStream;
pub use rebatch::{Rebatch, concat_split};
pub use select::{Filter, Flatten, ShardStream, Skip, Take};
pub use window::WindowStream;

use crate::{DefaultSeed, Result};

/// A dataset with sequential access, such as files of lines, sockets and infinite generators.
///
/// A stream reports its [`position`](Stream::position) and can be restored to a saved one, so
/// that an interrupted run sees exactly the remaining elements. All stages preserve this
/// property: elements that they have buffered are read again.
///
/// All streams of this crate are `IntoIterator`, so a `for` loop takes them. [`iter`](Stream::iter)
/// borrows a stream instead. A stream of your own implements `IntoIterator` with
/// [`stream::IntoIter::new`](IntoIter::new), which also serves in functions of any stream.
///
/// ```
/// use ramie_data::{Stream, StreamExt, stream};
/// let lines = || "to be or not to be".split(' ').map(|w| Ok(w.to_string()));
/// let mut words = stream::from_fn(lines)
///     .filter(|w| w.len() == 2)
///     .window_shuffle(4, 7)
///     .repeat(2);
/// let first = words.next().unwrap()?;
/// let position = words.position();
/// let rest: Vec<String> = words.iter().collect::<Result<_, _>>()?;
/// assert_eq!(rest.len(), 9);
///
/// words.restore(&position)?;
/// assert_eq!(words.iter().collect::<Result<Vec<_>, _>>()?, rest);
///
/// for word in stream::from_fn(lines).take(2) {
///     println!("{}", word?);
/// }
/// # Ok::<(), ramie_data::Error>(())
/// ```
#[doc(alias = "IterDataset")]
pub trait Stream: Send {
    /// The type of an element.
    type Item: Send;

    /// Returns the next element, or `None` at the end and from then on. After an error, the
    /// stream continues with the element after the one that failed.
    fn next(&mut self) -> Option<Result<Self::Item>>;

    /// Returns the position after the last element that was returned.
    fn position(&self) -> Position;

    /// Restores a position of this stream, or of an identically built one.
    ///
    /// # Errors
    /// Returns an error if the position belongs to a different stream, or if reading up to it
    /// fails.
    fn restore(&mut self, position: &Position) -> Result<()>;

    /// Returns the default seed of the stages that follow. Stages pass on those of their inputs
    /// with [`DefaultSeed::after`].
    fn default_seed(&self) -> DefaultSeed {
        DefaultSeed::default()
    }

    /// Returns an iterator over the remaining elements that borrows the stream.
    fn iter(&mut self) -> impl Iterator<Item = Result<Self::Item>> + '_
    where
        Self: Sized,
    {
        std::iter::from_fn(|| self.next())
    }
}

impl<S: Stream + ?Sized> Stream for Box<S> {
    type Item = S::Item;
    fn next(&mut self) -> Option<Result<S::Item>> {
        (**self).next()
    }
    fn position(&self) -> Position {
        (**self).position()
    }
    fn restore(&mut self, position: &Position) -> Result<()> {
        (**self).restore(position)
    }
    fn default_seed(&self) -> DefaultSeed {
        (**self).default_seed()
    }
}
