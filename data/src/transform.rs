//! Transformations of elements as values.

use crate::{Generator, Result};

/// A transformation of elements, as a value that sources and streams
/// [apply](crate::SourceExt::apply) (Grain's `Map`, `MapWithIndex`, `RandomMap` and `Filter`).
///
/// A transformation that drops elements returns an `Option`;
/// [`StreamExt::flatten`](crate::StreamExt::flatten) drops the `None`s. Functions are
/// transformations, and tuples apply several in order, as a list of `operations` does in Grain.
///
/// ```
/// use ramie_data::{Context, IntoSource, Result, SourceExt, Stream, StreamExt, Transform};
///
/// /// Adds noise.
/// struct Noise(f64);
/// impl Transform<f64> for Noise {
///     type Output = f64;
///     fn apply(&self, x: f64, context: &mut Context) -> Result<f64> {
///         Ok(x + self.0 * context.generator().normal())
///     }
/// }
///
/// /// Drops negative numbers.
/// struct Positive;
/// impl Transform<f64> for Positive {
///     type Output = Option<f64>;
///     fn apply(&self, x: f64, _: &mut Context) -> Result<Option<f64>> {
///         Ok((x > 0.0).then_some(x))
///     }
/// }
///
/// let operations = (|x: usize| x as f64 - 1.0, Noise(0.1), Positive);
/// let source = (0..9).into_source().seed(0).shuffle(None).apply(operations);
/// let mut batches = source.stream().flatten().batch(4);
/// assert_eq!(batches.next().unwrap()?.len(), 4);
/// # Ok::<(), ramie_data::Error>(())
/// ```
#[doc(alias = "operations")]
#[doc(alias = "RandomMap")]
pub trait Transform<T>: Send + Sync {
    /// The type of a transformed element.
    type Output: Send;

    /// Returns the transformed element.
    ///
    /// # Errors
    /// Returns an error if the element cannot be transformed.
    fn apply(&self, item: T, context: &mut Context) -> Result<Self::Output>;
}

/// A function is a transformation.
impl<T, U: Send, F: Fn(T) -> U + Send + Sync> Transform<T> for F {
    type Output = U;
    fn apply(&self, item: T, _: &mut Context) -> Result<U> {
        Ok(self(item))
    }
}

macro_rules! tuple_transforms {
    ($($first:ident $(, $t:ident $of:ident $i:tt)* => $last:ident;)*) => { $(
        impl<T, $first: Transform<T>, $($t: Transform<$of::Output>),*> Transform<T> for ($first, $($t,)*) {
            type Output = $last::Output;
            fn apply(&self, item: T, context: &mut Context) -> Result<Self::Output> {
                let item = self.0.apply(item, context)?;
                $(
                    context.next();
                    let item = self.$i.apply(item, context)?;
                )*
                Ok(item)
            }
        }
    )* };
}
tuple_transforms! {
    A => A;
    A, B A 1 => B;
    A, B A 1, C B 2 => C;
    A, B A 1, C B 2, D C 3 => D;
    A, B A 1, C B 2, D C 3, E D 4 => E;
    A, B A 1, C B 2, D C 3, E D 4, F E 5 => F;
}

/// The index and the random numbers of an element, for a [`Transform`].
///
/// ```
/// use ramie_data::{Context, Generator};
/// let mut context = Context::new(3, Generator::new(0));
/// assert_eq!(context.index(), 3);
/// assert!(context.generator().uniform() < 1.0);
/// ```
#[derive(Clone, Debug)]
pub struct Context {
    index: usize,
    /// The generator of the element, from which each transformation of a tuple derives its own.
    element: Option<Generator>,
    /// The number of the transformation.
    number: u64,
    generator: Option<Generator>,
}

impl Context {
    /// Creates the context of an element with this index, such as in a test of a transformation.
    /// The generator is `None` if the transformation draws no random numbers.
    pub fn new(index: usize, generator: impl Into<Option<Generator>>) -> Context {
        let element = generator.into();
        Context {
            index,
            generator: element.clone(),
            element,
            number: 0,
        }
    }

    /// Goes on to the next transformation of a tuple.
    fn next(&mut self) {
        self.number += 1;
        let number = self.number;
        self.generator = self.element.as_ref().map(|g| g.fold_in(number));
    }

    /// Returns the index of the element in the source, or its number in the stream.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns the generator of random numbers for this element. It depends on the seed of the
    /// [pipeline](crate::SourceExt::seed), on the epoch and the index, and differs for each
    /// transformation.
    ///
    /// # Panics
    /// Panics if the pipeline has no seed.
    #[track_caller]
    pub fn generator(&mut self) -> &mut Generator {
        match &mut self.generator {
            Some(generator) => generator,
            None => panic!(
                "Context::generator: the transformation draws random numbers, but the pipeline has no \
                 seed\n  help: call `seed(0)` on the pipeline before `apply`"
            ),
        }
    }
}
