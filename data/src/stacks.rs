//! Batches for several steps, stacked into one array.

use crate::{LastBatch, Result, Resumable, Sample};

/// An iterator over stacked batches; see [`Resumable::stack`].
pub struct Stacks<I: Resumable, B> {
    batches: I,
    count: usize,
    last: LastBatch,
    /// The position after the last stack that was returned.
    state: I::State,
    /// The first batch of the next stack, and the position after it.
    held: Option<(Result<B>, I::State)>,
}

impl<I: Resumable, B> Stacks<I, B> {
    #[track_caller]
    pub(crate) fn new(batches: I, count: usize) -> Self {
        assert!(count > 0, "stack: the count is 0\n  help: pass at least 1");
        Stacks {
            state: batches.state(),
            batches,
            count,
            last: LastBatch::Keep,
            held: None,
        }
    }

    /// Discards stacks with fewer than `count` batches.
    #[must_use]
    pub fn drop_last(mut self) -> Self {
        self.last = LastBatch::Drop;
        self
    }
}

impl<I, B> Stacks<I, B>
where
    I: Resumable + Iterator<Item = Result<B>>,
    B: Sample,
{
    /// Returns the next batches of equal shape, up to a stack, and the position after them.
    /// Returns an error if the next item is one.
    fn gather(&mut self) -> Result<Option<(Vec<B>, I::State)>> {
        let mut stack: Vec<B> = Vec::with_capacity(self.count);
        let mut behind = None;
        while stack.len() < self.count {
            let next = self.held.take().or_else(|| {
                let batch = self.batches.next()?;
                Some((batch, self.batches.state()))
            });
            match next {
                None => break,
                Some((Ok(batch), state)) if stack.first().is_none_or(|b| batch.is_like(b)) => {
                    stack.push(batch);
                    behind = Some(state);
                }
                Some((Err(e), state)) if stack.is_empty() => {
                    self.state = state;
                    return Err(e);
                }
                other => {
                    self.held = other;
                    break;
                }
            }
        }
        Ok(behind.map(|state| (stack, state)))
    }
}

impl<I, B> Iterator for Stacks<I, B>
where
    I: Resumable + Iterator<Item = Result<B>>,
    B: Sample,
{
    type Item = Result<B::Batch>;
    fn next(&mut self) -> Option<Result<B::Batch>> {
        loop {
            let (stack, state) = match self.gather().transpose()? {
                Ok(gathered) => gathered,
                Err(e) => return Some(Err(e)),
            };
            if stack.len() == self.count || self.last == LastBatch::Keep {
                self.state = state;
                return Some(B::collate(stack));
            }
        }
    }
}

impl<I, B> Resumable for Stacks<I, B>
where
    I: Resumable + Iterator<Item = Result<B>>,
    B: Sample,
{
    type State = I::State;
    fn state(&self) -> I::State {
        self.state.clone()
    }
}
