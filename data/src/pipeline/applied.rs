//! Transformations applied to the elements of a pipeline.

use crate::source::{Source, by_epoch};
use crate::stream::{IntoIter, Position, Stream, iterable};
use crate::{Context, DefaultSeed, Generator, Result, Transform};

/// A source or stream whose elements are transformed; see
/// [`SourceExt::apply`](crate::SourceExt::apply) and [`StreamExt::apply`](crate::StreamExt::apply).
#[derive(Clone, Debug)]
pub struct Applied<P, X> {
    pipeline: P,
    transform: X,
    generator: Option<Generator>,
    /// The number of elements of a stream read so far, including those that failed.
    behind: u64,
}

impl<P, X> Applied<P, X> {
    pub(crate) fn new(pipeline: P, transform: X, input: DefaultSeed) -> Self {
        Applied {
            pipeline,
            transform,
            generator: DefaultSeed::after([input]).derive().map(Generator::new),
            behind: 0,
        }
    }
}

impl<S: Source, X: Transform<S::Item>> Source for Applied<S, X> {
    type Item = X::Output;
    fn len(&self) -> usize {
        self.pipeline.len()
    }
    by_epoch!(pipeline);
    fn get_in_epoch(&self, index: usize, epoch: usize) -> Result<X::Output> {
        let item = self.pipeline.get_in_epoch(index, epoch)?;
        let generator = self.generator.as_ref();
        let generator = generator.map(|g| g.fold_in(epoch as u64).fold_in(index as u64));
        self.transform
            .apply(item, &mut Context::new(index, generator))
    }
}

impl<S: Stream, X: Transform<S::Item>> Stream for Applied<S, X> {
    type Item = X::Output;
    fn next(&mut self) -> Option<Result<X::Output>> {
        let item = self.pipeline.next()?;
        let number = self.behind;
        self.behind += 1;
        let generator = self.generator.as_ref().map(|g| g.fold_in(number));
        let mut context = Context::new(number as usize, generator);
        Some(item.and_then(|item| self.transform.apply(item, &mut context)))
    }
    fn position(&self) -> Position {
        Position::new("apply", [self.behind], [self.pipeline.position()])
    }
    fn restore(&mut self, position: &Position) -> Result<()> {
        let ([behind], [from]) = position.of("apply")?;
        self.pipeline.restore(from)?;
        self.behind = behind;
        Ok(())
    }
    fn default_seed(&self) -> DefaultSeed {
        DefaultSeed::after([self.pipeline.default_seed()])
    }
}

iterable!(Applied<S, X>;);
