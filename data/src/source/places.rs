//! Selection of elements of several sources by a function.

use super::{Source, by_epoch, check};
use crate::{DefaultSeed, Error, Result};

/// Elements of several sources, selected by a function; see [`select_from`].
#[derive(Clone, Debug)]
pub struct Places<S, F> {
    sources: Vec<S>,
    len: usize,
    place: F,
}

/// Selects `len` elements of several sources. The function maps an index to the number of a
/// source and an index there (`grain.MapDataset.select_from_datasets`).
///
/// ```
/// use ramie_data::{IntoSource, Source, source::select_from};
/// let letters = ["abc", "xyz"].map(|s| s.chars().collect::<Vec<_>>().into_source());
/// let turns = select_from(letters, 6, |i| (i % 2, i / 2));
/// assert_eq!(turns.iter().collect::<Result<String, _>>()?, "axbycz");
/// # Ok::<(), ramie_data::Error>(())
/// ```
///
/// After a shuffle, the index refers to another element in each epoch: select first, then shuffle.
/// If the function returns an index out of range, accessing the element returns an error.
#[doc(alias = "select_from_datasets")]
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

/// Concatenates any number of sources of one type (`torch.utils.data.ConcatDataset`).
/// [`concat`](crate::SourceExt::concat) joins two sources of different types.
///
/// ```
/// use ramie_data::{IntoSource, Source, source::concat_all};
/// let words = ["ab", "", "cde"].map(|s| s.chars().collect::<Vec<_>>().into_source());
/// assert_eq!(concat_all(words).iter().collect::<Result<String, _>>()?, "abcde");
/// # Ok::<(), ramie_data::Error>(())
/// ```
#[doc(alias = "ConcatDataset")]
pub fn concat_all<S: Source>(
    sources: impl Into<Vec<S>>,
) -> Places<S, impl Fn(usize) -> (usize, usize) + Send + Sync + Clone> {
    let sources = sources.into();
    let mut len = 0usize;
    let ends: Vec<usize> = sources
        .iter()
        .map(|source| {
            len = len.saturating_add(source.len());
            len
        })
        .collect();
    select_from(sources, len, move |index| {
        let source = ends.partition_point(|end| *end <= index);
        let start = source.checked_sub(1).map_or(0, |before| ends[before]);
        (source, index - start)
    })
}

impl<S: Source, F: Fn(usize) -> (usize, usize) + Send + Sync> Source for Places<S, F> {
    type Item = S::Item;
    fn len(&self) -> usize {
        self.len
    }
    by_epoch!();
    fn get_in_epoch(&self, index: usize, epoch: usize) -> Result<S::Item> {
        check(index, self.len)?;
        at_place("selection", &self.sources, (self.place)(index), epoch)
    }
    fn default_seed(&self) -> DefaultSeed {
        DefaultSeed::after(self.sources.iter().map(S::default_seed))
    }
    fn order_changes(&self) -> bool {
        self.sources.iter().any(S::order_changes)
    }
}

/// Returns the element at an index of one of several sources.
pub(super) fn at_place<S: Source>(
    what: &str,
    sources: &[S],
    (source, index): (usize, usize),
    epoch: usize,
) -> Result<S::Item> {
    check(source, sources.len())
        .and_then(|()| sources[source].get_in_epoch(index, epoch))
        .map_err(|e| {
            let e = Error::element(index, e);
            Error::Other(format!("source {source} of the {what}, {e}"))
        })
}
