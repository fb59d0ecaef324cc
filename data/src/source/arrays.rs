//! Sources of arrays, vectors and ranges in memory.

use super::join::count;
use super::{IntoSource, Source, by_epoch, check};
use crate::progress::Progress;
use crate::sample::row;
use crate::{DefaultSeed, Result, Sample};
use ndarray::{Array, Axis, Dimension, RemoveAxis};
use ramie_core::Element;
use std::any::Any;
use std::collections::BTreeMap;
use std::ops::Range;

/// The rows of an array, along the first axis.
#[derive(Clone, Debug)]
pub struct ArraySource<T, D: Dimension> {
    array: Array<T, D>,
    /// Number of elements in a row. The array is row-major.
    row_length: usize,
}

impl<T: Element, D: RemoveAxis> ArraySource<T, D> {
    /// Creates a source of the rows of an array.
    ///
    /// # Panics
    /// Panics if the array has no dimensions.
    #[track_caller]
    pub fn new(array: Array<T, D>) -> Self {
        assert!(
            array.ndim() > 0,
            "ArraySource::new: a 0-d array has no rows\n  help: add an axis with `insert_axis(Axis(0))`"
        );
        let array = if array.is_standard_layout() {
            array
        } else {
            array.as_standard_layout().into_owned()
        };
        let row_length = array.shape()[1..].iter().product();
        ArraySource { array, row_length }
    }

    /// Returns the array.
    pub fn array(&self) -> &Array<T, D> {
        &self.array
    }
}

impl<T: Element, D: RemoveAxis + 'static> Source for ArraySource<T, D>
where
    Array<T, D::Smaller>: Sample<Batch = Array<T, D>>,
{
    type Item = Array<T, D::Smaller>;
    fn len(&self) -> usize {
        self.array.len_of(Axis(0))
    }
    fn get(&self, index: usize) -> Result<Self::Item> {
        check(index, self.len())?;
        Ok(row(&self.array, index))
    }
    /// Copies the rows directly into the batch, without an array for each.
    fn gather(&self, indices: &[usize], _: usize) -> Option<Result<Box<dyn Any + Send>>> {
        let batch = self.rows(indices);
        Some(batch.map(|batch| Box::new(batch) as Box<dyn Any + Send>))
    }
}

impl<T: Element, D: RemoveAxis> ArraySource<T, D> {
    fn rows(&self, indices: &[usize]) -> Result<Array<T, D>> {
        let len = self.array.len_of(Axis(0));
        let progress = Progress::new();
        let all = self.array.as_slice().expect("row-major, as made by `new`");
        let mut elements = Vec::with_capacity(indices.len() * self.row_length);
        for (place, &index) in indices.iter().enumerate() {
            progress.at(place);
            check(index, len)?;
            let start = index * self.row_length;
            elements.extend_from_slice(&all[start..start + self.row_length]);
        }
        progress.done();
        let mut shape = self.array.raw_dim();
        shape[0] = indices.len();
        Ok(Array::from_shape_vec(shape, elements).expect("a row for each index"))
    }
}

/// The elements of a vector.
#[derive(Clone, Debug)]
pub struct Items<T>(Vec<T>);

impl<T> Items<T> {
    /// Creates a source of the elements of a vector.
    pub fn new(items: Vec<T>) -> Items<T> {
        Items(items)
    }
}

impl<T: Clone + Send + Sync> Source for Items<T> {
    type Item = T;
    fn len(&self) -> usize {
        self.0.len()
    }
    fn get(&self, index: usize) -> Result<T> {
        check(index, self.0.len())?;
        Ok(self.0[index].clone())
    }
}

/// The integers of a range.
#[doc(alias = "RangeDataSource")]
#[derive(Clone, Debug)]
pub struct RangeSource(Range<usize>);

impl Source for RangeSource {
    type Item = usize;
    fn len(&self) -> usize {
        self.0.len()
    }
    fn get(&self, index: usize) -> Result<usize> {
        check(index, self.0.len())?;
        Ok(self.0.start + index)
    }
}

/// Several sources combined into one, whose elements are maps by name.
#[derive(Clone, Debug)]
pub struct MapSource<S>(BTreeMap<String, S>);

impl<S: Source> MapSource<S> {
    /// Combines several sources by name.
    ///
    /// # Panics
    /// Panics if the lengths differ.
    #[track_caller]
    pub fn new(sources: BTreeMap<String, S>) -> MapSource<S> {
        if let Some((first, source)) = sources.iter().next() {
            for (name, other) in &sources {
                assert!(
                    other.len() == source.len(),
                    "MapSource::new: `{name}` has {} elements, but `{first}` has {}\n  help: pass \
                     sources of equal length; `slice` shortens the longer one",
                    count(other.len()),
                    count(source.len())
                );
            }
        }
        MapSource(sources)
    }
}

impl<S: Source> Source for MapSource<S> {
    type Item = BTreeMap<String, S::Item>;
    fn len(&self) -> usize {
        self.0.values().next().map_or(0, Source::len)
    }
    by_epoch!();
    fn get_in_epoch(&self, index: usize, epoch: usize) -> Result<Self::Item> {
        check(index, self.len())?;
        let item =
            |(name, source): (&String, &S)| Ok((name.clone(), source.get_in_epoch(index, epoch)?));
        self.0.iter().map(item).collect()
    }
    fn default_seed(&self) -> DefaultSeed {
        DefaultSeed::after(self.0.values().map(S::default_seed))
    }
    fn order_changes(&self) -> bool {
        self.0.values().any(S::order_changes)
    }
}

impl<T: Element, D: RemoveAxis + 'static> IntoSource for Array<T, D>
where
    Array<T, D::Smaller>: Sample<Batch = Array<T, D>>,
{
    type Source = ArraySource<T, D>;
    #[track_caller]
    fn into_source(self) -> Self::Source {
        ArraySource::new(self)
    }
}

impl<T: Clone + Send + Sync> IntoSource for Vec<T> {
    type Source = Items<T>;
    fn into_source(self) -> Items<T> {
        Items(self)
    }
}

impl IntoSource for Range<usize> {
    type Source = RangeSource;
    fn into_source(self) -> RangeSource {
        RangeSource(self)
    }
}

impl<S: IntoSource> IntoSource for BTreeMap<String, S> {
    type Source = MapSource<S::Source>;
    #[track_caller]
    fn into_source(self) -> Self::Source {
        MapSource::new(
            self.into_iter()
                .map(|(n, s)| (n, s.into_source()))
                .collect(),
        )
    }
}
