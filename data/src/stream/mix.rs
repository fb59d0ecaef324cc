//! Mixtures of streams in given proportions.

use super::{Position, Stream};
use crate::{DefaultSeed, Error, Generator, Result};

/// Streams of the same element type, mixed at random; see [`mix`].
pub struct MixStream<T> {
    streams: Vec<Box<dyn Stream<Item = T>>>,
    weights: Vec<f64>,
    generator: Generator,
    drawn: u64,
    ended: Vec<bool>,
}

/// Mixes the elements of several streams until all have ended. Each element is drawn from a
/// stream with a probability proportional to its weight; the draws depend only on the seed.
///
/// ```
/// use ramie_data::{Stream, stream};
/// let of = |n: i32| stream::from_fn(move || std::iter::repeat_n(Ok(n), 100));
/// let mut mixed = stream::mix([(of(1), 0.9), (of(2), 0.1)], 0);
/// let first: Vec<i32> = mixed.iter().take(50).collect::<Result<_, _>>()?;
/// assert!(first.iter().filter(|n| **n == 1).count() > 35);
/// # Ok::<(), ramie_data::Error>(())
/// ```
///
/// # Panics
/// Panics if there is no stream, or if a weight is not positive and finite.
#[track_caller]
pub fn mix<S: Stream + 'static>(
    streams: impl IntoIterator<Item = (S, f64)>,
    seed: u64,
) -> MixStream<S::Item> {
    let boxed = streams
        .into_iter()
        .map(|(s, w)| (Box::new(s) as Box<dyn Stream<Item = S::Item>>, w));
    MixStream::new(boxed.collect(), seed)
}

impl<T: Send> MixStream<T> {
    /// Creates a [`mix`] of streams of different types.
    ///
    /// # Panics
    /// Panics if there is no stream, or if a weight is not positive and finite.
    #[track_caller]
    pub fn new(streams: Vec<(Box<dyn Stream<Item = T>>, f64)>, seed: u64) -> MixStream<T> {
        let (streams, weights): (Vec<_>, Vec<f64>) = streams.into_iter().unzip();
        assert!(
            !weights.is_empty() && weights.iter().all(|w| *w > 0.0 && w.is_finite()),
            "mix: the weights are {weights:?}\n  help: pass at least one stream, with positive and \
             finite weights"
        );
        MixStream {
            ended: vec![false; weights.len()],
            streams,
            weights,
            generator: Generator::new(seed),
            drawn: 0,
        }
    }

    /// Draws the next stream among those that have not ended.
    fn draw(&self) -> Option<usize> {
        let open = || (0..self.streams.len()).filter(|i| !self.ended[*i]);
        let total: f64 = open().map(|i| self.weights[i]).sum();
        let mut at = self.generator.fold_in(self.drawn).uniform() * total;
        for i in open() {
            at -= self.weights[i];
            if at < 0.0 {
                return Some(i);
            }
        }
        open().next_back()
    }
}

impl<T: Send> Stream for MixStream<T> {
    type Item = T;
    fn next(&mut self) -> Option<Result<T>> {
        loop {
            let i = self.draw()?;
            self.drawn += 1;
            match self.streams[i].next() {
                Some(item) => return Some(item),
                None => self.ended[i] = true,
            }
        }
    }
    fn position(&self) -> Position {
        let ended = self.ended.iter().map(|e| u64::from(*e));
        let numbers: Vec<u64> = [self.drawn].into_iter().chain(ended).collect();
        let from: Vec<Position> = self.streams.iter().map(|s| s.position()).collect();
        Position::new("mix", numbers, from)
    }
    fn restore(&mut self, position: &Position) -> Result<()> {
        let (numbers, from) = position.parts("mix")?;
        let count = self.streams.len();
        if from.len() != count || numbers.len() != count + 1 {
            return Err(Error::position(format!(
                "it belongs to {} mixed streams, but this stream mixes {count}",
                from.len()
            )));
        }
        for (stream, position) in self.streams.iter_mut().zip(from) {
            stream.restore(position)?;
        }
        self.drawn = numbers[0];
        self.ended = numbers[1..].iter().map(|n| *n != 0).collect();
        Ok(())
    }
    fn default_seed(&self) -> DefaultSeed {
        DefaultSeed::after(self.streams.iter().map(|stream| stream.default_seed()))
    }
}
