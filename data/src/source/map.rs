//! Functions applied to the elements of a source.

use super::{Source, by_epoch};
use crate::{Generator, Result};

/// A source with a function applied to every element.
#[derive(Clone, Debug)]
pub struct Map<S, F> {
    source: S,
    f: F,
}

impl<S, F> Map<S, F> {
    pub(crate) fn new(source: S, f: F) -> Self {
        Map { source, f }
    }
}

impl<S: Source, U: Send, F: Fn(S::Item) -> Result<U> + Send + Sync> Source for Map<S, F> {
    type Item = U;
    fn len(&self) -> usize {
        self.source.len()
    }
    by_epoch!(source);
    fn get_in_epoch(&self, index: usize, epoch: usize) -> Result<U> {
        (self.f)(self.source.get_in_epoch(index, epoch)?)
    }
}

/// A source with a function applied to every element and its index.
#[derive(Clone, Debug)]
pub struct MapWithIndex<S, F> {
    source: S,
    f: F,
}

impl<S, F> MapWithIndex<S, F> {
    pub(crate) fn new(source: S, f: F) -> Self {
        MapWithIndex { source, f }
    }
}

impl<S: Source, U: Send, F: Fn(usize, S::Item) -> U + Send + Sync> Source for MapWithIndex<S, F> {
    type Item = U;
    fn len(&self) -> usize {
        self.source.len()
    }
    by_epoch!(source);
    fn get_in_epoch(&self, index: usize, epoch: usize) -> Result<U> {
        Ok((self.f)(index, self.source.get_in_epoch(index, epoch)?))
    }
}

/// A source with a function that draws random numbers applied to every element.
#[derive(Clone, Debug)]
pub struct MapRandom<S, F> {
    source: S,
    generator: Generator,
    f: F,
}

impl<S, F> MapRandom<S, F> {
    pub(crate) fn new(source: S, seed: u64, f: F) -> Self {
        MapRandom {
            source,
            generator: Generator::new(seed),
            f,
        }
    }
}

impl<S, U, F> Source for MapRandom<S, F>
where
    S: Source,
    U: Send,
    F: Fn(S::Item, &mut Generator) -> U + Send + Sync,
{
    type Item = U;
    fn len(&self) -> usize {
        self.source.len()
    }
    by_epoch!(source);
    fn get_in_epoch(&self, index: usize, epoch: usize) -> Result<U> {
        let item = self.source.get_in_epoch(index, epoch)?;
        let mut generator = self.generator.fold_in(epoch as u64).fold_in(index as u64);
        Ok((self.f)(item, &mut generator))
    }
}
