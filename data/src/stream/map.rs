//! Functions applied to the elements of a stream.

use super::{Position, Stream};
use crate::{Error, Result};

/// A stream with a function applied to every element.
#[derive(Clone, Debug)]
pub struct MapStream<S, F> {
    stream: S,
    f: F,
}

impl<S, F> MapStream<S, F> {
    pub(crate) fn new(stream: S, f: F) -> Self {
        MapStream { stream, f }
    }
}

impl<S: Stream, U: Send, F: FnMut(S::Item) -> Result<U> + Send> Stream for MapStream<S, F> {
    type Item = U;
    fn next(&mut self) -> Option<Result<U>> {
        Some(self.stream.next()?.and_then(&mut self.f))
    }
    of_input!(stream);
}

/// A stream with a function applied to every element and its number.
#[derive(Clone, Debug)]
pub struct MapNumbered<S, F> {
    stream: S,
    f: F,
    /// The number of elements read, including those that failed.
    behind: u64,
}

impl<S, F> MapNumbered<S, F> {
    pub(crate) fn new(stream: S, f: F) -> Self {
        MapNumbered {
            stream,
            f,
            behind: 0,
        }
    }
}

impl<S: Stream, U: Send, F: FnMut(u64, S::Item) -> U + Send> Stream for MapNumbered<S, F> {
    type Item = U;
    fn next(&mut self) -> Option<Result<U>> {
        let item = self.stream.next()?;
        self.behind += 1;
        Some(item.map(|item| (self.f)(self.behind - 1, item)))
    }
    fn position(&self) -> Position {
        Position::new("map_numbered", [self.behind], [self.stream.position()])
    }
    fn restore(&mut self, position: &Position) -> Result<()> {
        let ([behind], [from]) = position.of("map_numbered")?;
        self.stream.restore(from)?;
        self.behind = behind;
        Ok(())
    }
    seed_of_input!(stream);
}

/// The elements of the iterators that a function returns for each element; see
/// [`StreamExt::flat_map`](crate::StreamExt::flat_map).
pub struct FlatMap<S, I: IntoIterator, F> {
    stream: S,
    f: F,
    /// The rest of the current iterator, the position before its element, and the number of items
    /// taken.
    rest: Option<(Position, I::IntoIter, u64)>,
}

impl<S, I: IntoIterator, F> FlatMap<S, I, F> {
    pub(crate) fn new(stream: S, f: F) -> Self {
        FlatMap {
            stream,
            f,
            rest: None,
        }
    }
}

impl<S, I, F> Stream for FlatMap<S, I, F>
where
    S: Stream,
    I: IntoIterator<IntoIter: Send, Item: Send>,
    F: FnMut(S::Item) -> I + Send,
{
    type Item = I::Item;
    fn next(&mut self) -> Option<Result<I::Item>> {
        loop {
            if let Some((_, rest, taken)) = &mut self.rest {
                if let Some(item) = rest.next() {
                    *taken += 1;
                    return Some(Ok(item));
                }
                self.rest = None;
            }
            let before = self.stream.position();
            match self.stream.next()? {
                Ok(item) => self.rest = Some((before, (self.f)(item).into_iter(), 0)),
                Err(e) => return Some(Err(e)),
            }
        }
    }
    fn position(&self) -> Position {
        match &self.rest {
            Some((before, _, taken)) => Position::new("flat_map", [1, *taken], [before.clone()]),
            None => Position::new("flat_map", [0, 0], [self.stream.position()]),
        }
    }
    fn restore(&mut self, position: &Position) -> Result<()> {
        let ([inside, taken], [from]) = position.of("flat_map")?;
        self.stream.restore(from)?;
        self.rest = None;
        if inside == 0 {
            return Ok(());
        }
        let Some(item) = self.stream.next().transpose()? else {
            return Err(Error::position(
                "it is inside an element beyond the end of the stream",
            ));
        };
        let mut rest = (self.f)(item).into_iter();
        for before in 0..taken {
            if rest.next().is_none() {
                return Err(Error::position(format!(
                    "it is after {taken} parts of an element that has only {before}"
                )));
            }
        }
        self.rest = Some((from.clone(), rest, taken));
        Ok(())
    }
    seed_of_input!(stream);
}
