//! Access to the elements of a source by the stages that wrap it.

use super::Source;
use crate::progress::Progress;
use crate::{Error, Result};

/// Defines `get` of a source whose elements depend on the epoch. With a field, which contains the
/// wrapped source, it also defines `default_seed` and `order_changes`.
macro_rules! by_epoch {
    ($($source:ident)?) => {
        fn get(&self, index: usize) -> $crate::Result<Self::Item> {
            self.get_in_epoch(index, 0)
        }
        $(
            fn default_seed(&self) -> $crate::DefaultSeed {
                $crate::DefaultSeed::after([self.$source.default_seed()])
            }
            fn order_changes(&self) -> bool {
                self.$source.order_changes()
            }
        )?
    };
}
pub(crate) use by_epoch;

/// Returns the elements at some indices.
pub(crate) fn get_all<S: Source>(
    source: &S,
    indices: &[usize],
    epoch: usize,
) -> Result<Vec<S::Item>> {
    let progress = Progress::new();
    let mut items = Vec::with_capacity(indices.len());
    for (place, &index) in indices.iter().enumerate() {
        progress.at(place);
        items.push(source.get_in_epoch(index, epoch)?);
    }
    progress.done();
    Ok(items)
}

/// Returns an error unless the index is below the length.
pub(crate) fn check(index: usize, len: usize) -> Result<()> {
    if index < len {
        Ok(())
    } else {
        Err(Error::OutOfRange { index, len })
    }
}

/// Returns the length of a stage from that of its source. An endless source stays endless.
pub(crate) fn derived(len: usize, of: impl FnOnce(usize) -> usize) -> usize {
    match len {
        usize::MAX => usize::MAX,
        len => of(len),
    }
}

/// Checks that an index refers to the same element in every epoch, for an operation that selects
/// elements.
#[track_caller]
pub(crate) fn fixed_order(operation: &str, source: &impl Source) {
    assert!(
        !source.order_changes(),
        "{operation}: the source is shuffled, so an index refers to another element in each epoch\n  \
         help: call `{operation}` before `shuffle`, and shuffle the result"
    );
}

/// Returns the length of the source of a stage that needs one.
#[track_caller]
pub(crate) fn finite(operation: &str, source: &impl Source) -> usize {
    assert!(
        !source.is_endless(),
        "{operation}: the source is endless\n  help: call `{operation}` before `repeat(None)`"
    );
    source.len()
}
