//! Elements of several sources, as a function says.

use super::{Source, check};
use crate::{Error, Result};

/// Elements of several sources, as a function says; see [`select_from`].
#[derive(Clone, Debug)]
pub struct Places<S, F> {
    sources: Vec<S>,
    len: usize,
    place: F,
}

/// `len` elements of several sources: a function says of which source each is, and
/// its index there (`grain.MapDataset.select_from_datasets`).
///
/// ```
/// use ramie_data::{IntoSource, Source, source::select_from};
/// let letters = ["abc", "xyz"].map(|s| s.chars().collect::<Vec<_>>().into_source());
/// let turns = select_from(letters, 6, |i| (i % 2, i / 2));
/// assert_eq!(turns.iter().collect::<Result<String, _>>()?, "axbycz");
/// # Ok::<(), ramie_data::Error>(())
/// ```
///
/// An element that a source does not have is an error when it is asked for.
pub fn select_from<S, F>(sources: impl Into<Vec<S>>, len: usize, place: F) -> Places<S, F>
where
    S: Source,
    F: Fn(usize) -> (usize, usize) + Send + Sync,
{
    Places {
        sources: sources.into(),
        len,
        place,
    }
}

impl<S: Source, F: Fn(usize) -> (usize, usize) + Send + Sync> Source for Places<S, F> {
    type Item = S::Item;
    fn len(&self) -> usize {
        self.len
    }
    fn get(&self, index: usize) -> Result<S::Item> {
        self.get_in_epoch(index, 0)
    }
    fn get_in_epoch(&self, index: usize, epoch: u64) -> Result<S::Item> {
        check(index, self.len)?;
        at_place("selection", &self.sources, (self.place)(index), epoch)
    }
}

/// The element at an index of a source among several.
pub(super) fn at_place<S: Source>(
    what: &str,
    sources: &[S],
    (source, index): (usize, usize),
    epoch: u64,
) -> Result<S::Item> {
    check(source, sources.len())
        .and_then(|()| sources[source].get_in_epoch(index, epoch))
        .map_err(|e| {
            let e = Error::element(index, e);
            Error::Other(format!("source {source} of the {what}, {e}"))
        })
}
