//! Default seeds set in a pipeline.

use crate::source::Source;
use crate::stream::{IntoIter, Position, Stream, iterable};
use crate::{DefaultSeed, Result};
use std::any::Any;

/// A source or stream with a default seed; see [`SourceExt::seed`](crate::SourceExt::seed) and
/// [`StreamExt::seed`](crate::StreamExt::seed).
#[derive(Clone, Debug)]
pub struct Seeded<P> {
    pipeline: P,
    seed: u64,
}

impl<P> Seeded<P> {
    pub(crate) fn new(pipeline: P, seed: u64) -> Self {
        Seeded { pipeline, seed }
    }

    fn default_seed(&self) -> DefaultSeed {
        DefaultSeed::new(self.seed)
    }
}

impl<S: Source> Source for Seeded<S> {
    type Item = S::Item;
    fn len(&self) -> usize {
        self.pipeline.len()
    }
    fn get(&self, index: usize) -> Result<S::Item> {
        self.pipeline.get(index)
    }
    fn get_in_epoch(&self, index: usize, epoch: usize) -> Result<S::Item> {
        self.pipeline.get_in_epoch(index, epoch)
    }
    fn gather(&self, indices: &[usize], epoch: usize) -> Option<Result<Box<dyn Any + Send>>> {
        self.pipeline.gather(indices, epoch)
    }
    fn default_seed(&self) -> DefaultSeed {
        self.default_seed()
    }
    fn order_changes(&self) -> bool {
        self.pipeline.order_changes()
    }
}

impl<S: Stream> Stream for Seeded<S> {
    type Item = S::Item;
    fn next(&mut self) -> Option<Result<S::Item>> {
        self.pipeline.next()
    }
    fn position(&self) -> Position {
        self.pipeline.position()
    }
    fn restore(&mut self, position: &Position) -> Result<()> {
        self.pipeline.restore(position)
    }
    fn default_seed(&self) -> DefaultSeed {
        self.default_seed()
    }
}

iterable!(Seeded<S>;);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::mix;
    use crate::{IntoSource, SourceExt, StreamExt};

    /// Recorded from Grain 0.2.18 (`tests/golden/grain_data.py`).
    #[test]
    fn derived_seeds_are_those_of_grain() {
        let source = || (0..5).into_source();
        let derived = |input: DefaultSeed| DefaultSeed::after([input]).derive();
        let shuffled = || source().seed(0).shuffle(None);
        assert_eq!(derived(source().seed(0).default_seed()), Some(3964924996));
        let mapped = shuffled().map(|x| x);
        assert_eq!(derived(mapped.default_seed()), Some(2613022947));
        let large = source().seed((1 << 40) + 7);
        assert_eq!(derived(large.default_seed()), Some(2803427941));
        let again = shuffled().seed(9);
        assert_eq!(derived(again.default_seed()), Some(3933992529));
        let (one, two) = (source().seed(1).shuffle(None), source().seed(2));
        let boxed = |s| -> Box<dyn Source<Item = usize>> { s };
        let mixed = mix([(boxed(Box::new(one)), 1.0), (boxed(Box::new(two)), 1.0)]);
        assert_eq!(derived(mixed.default_seed()), Some(397260373));
        let stream = source().seed(3).shuffle(None).stream().map(|x| x);
        assert_eq!(derived(stream.default_seed()), Some(2746448868));
        assert_eq!(derived(source().default_seed()), None);
    }
}
