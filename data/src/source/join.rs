//! Concatenation and zipping of sources.

use super::{IntoSource, Source, by_epoch, check};
use crate::{DefaultSeed, Result, Sample};
use std::any::Any;

/// The elements of one source followed by those of another.
#[derive(Clone, Debug)]
pub struct Concat<A, B> {
    first: A,
    second: B,
}

impl<A: Source, B: Source<Item = A::Item>> Concat<A, B> {
    pub(crate) fn new(first: A, second: B) -> Self {
        Concat { first, second }
    }
}

impl<A: Source, B: Source<Item = A::Item>> Source for Concat<A, B> {
    type Item = A::Item;
    fn len(&self) -> usize {
        self.first.len().saturating_add(self.second.len())
    }
    by_epoch!();
    fn get_in_epoch(&self, index: usize, epoch: usize) -> Result<A::Item> {
        check(index, self.len())?;
        match index.checked_sub(self.first.len()) {
            None => self.first.get_in_epoch(index, epoch),
            Some(index) => self.second.get_in_epoch(index, epoch),
        }
    }
    fn default_seed(&self) -> DefaultSeed {
        DefaultSeed::after([self.first.default_seed(), self.second.default_seed()])
    }
    fn order_changes(&self) -> bool {
        self.first.order_changes() || self.second.order_changes()
    }
}

/// Pairs of elements of two sources.
#[derive(Clone, Debug)]
pub struct Zip<A, B>(A, B);

impl<A: Source, B: Source> Zip<A, B> {
    #[track_caller]
    pub(crate) fn new(a: A, b: B) -> Self {
        check_lengths("zip", &[a.len(), b.len()]);
        Zip(a, b)
    }
}

/// Returns a length as text.
pub(super) fn count(len: usize) -> String {
    match len {
        usize::MAX => "endlessly many".into(),
        len => len.to_string(),
    }
}

#[track_caller]
fn check_lengths(operation: &str, lengths: &[usize]) {
    assert!(
        lengths.iter().all(|n| *n == lengths[0]),
        "{operation}: the sources have [{}] elements\n  help: pass sources of equal length; `slice` \
         shortens the longer ones",
        lengths
            .iter()
            .map(|n| count(*n))
            .collect::<Vec<_>>()
            .join(", ")
    );
}

impl<A: Source, B: Source> Source for Zip<A, B> {
    type Item = (A::Item, B::Item);
    fn len(&self) -> usize {
        self.0.len()
    }
    by_epoch!();
    fn get_in_epoch(&self, index: usize, epoch: usize) -> Result<Self::Item> {
        let item = self.0.get_in_epoch(index, epoch)?;
        Ok((item, self.1.get_in_epoch(index, epoch)?))
    }
    fn default_seed(&self) -> DefaultSeed {
        DefaultSeed::after([self.0.default_seed(), self.1.default_seed()])
    }
    fn order_changes(&self) -> bool {
        self.0.order_changes() || self.1.order_changes()
    }
}

/// Several sources combined into one, whose elements are tuples.
#[derive(Clone, Debug)]
pub struct Together<T>(T);

macro_rules! tuple_sources {
    ($($($t:ident $s:tt),+;)*) => { $(
        impl<$($t: IntoSource),+> IntoSource for ($($t,)+)
        where
            $(<$t::Source as Source>::Item: Sample,)+
        {
            type Source = Together<($($t::Source,)+)>;
            #[track_caller]
            fn into_source(self) -> Self::Source {
                let sources = ($(self.$s.into_source(),)+);
                check_lengths("into_source", &[$(sources.$s.len()),+]);
                Together(sources)
            }
        }

        impl<$($t: Source),+> Source for Together<($($t,)+)>
        where
            $($t::Item: Sample,)+
        {
            type Item = ($($t::Item,)+);
            fn len(&self) -> usize {
                self.0.0.len()
            }
            by_epoch!();
            fn get_in_epoch(&self, index: usize, epoch: usize) -> Result<Self::Item> {
                Ok(($(self.0.$s.get_in_epoch(index, epoch)?,)+))
            }
            fn gather(
                &self,
                indices: &[usize],
                epoch: usize,
            ) -> Option<Result<Box<dyn Any + Send>>> {
                let batches = || Ok(($(self.0.$s.get_batch(indices, epoch)?,)+));
                let batches: Result<($(<$t::Item as Sample>::Batch,)+)> = batches();
                Some(batches.map(|batches| Box::new(batches) as Box<dyn Any + Send>))
            }
            fn default_seed(&self) -> DefaultSeed {
                DefaultSeed::after([$(self.0.$s.default_seed()),+])
            }
            fn order_changes(&self) -> bool {
                [$(self.0.$s.order_changes()),+].contains(&true)
            }
        }
    )* };
}
tuple_sources! {
    A 0, B 1;
    A 0, B 1, C 2;
    A 0, B 1, C 2, D 3;
    A 0, B 1, C 2, D 3, E 4;
    A 0, B 1, C 2, D 3, E 4, F 5;
}
