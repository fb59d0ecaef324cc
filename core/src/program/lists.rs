//! Lists with flags, and the types of lists of arrays.

use crate::{Array, Aval};

/// Returns an option for each mark: the next value where it is set, `None` elsewhere.
pub(crate) fn some_where<T>(
    marked: &[bool],
    values: impl IntoIterator<Item = T>,
) -> Vec<Option<T>> {
    let mut values = values.into_iter();
    marked
        .iter()
        .map(|&on| if on { values.next() } else { None })
        .collect()
}

/// Returns which items are `Some`.
pub(crate) fn given<T>(items: &[Option<T>]) -> Vec<bool> {
    items.iter().map(Option::is_some).collect()
}

/// Returns the items whose mark is `on`.
pub(crate) fn picked<T: Clone>(items: &[T], marks: &[bool], on: bool) -> Vec<T> {
    let marked = items.iter().zip(marks).filter(|(_, mark)| **mark == on);
    marked.map(|(item, _)| item.clone()).collect()
}

/// Returns the types of arrays.
pub(crate) fn avals(arrays: &[Array]) -> Vec<Aval> {
    arrays.iter().map(Array::aval).collect()
}
