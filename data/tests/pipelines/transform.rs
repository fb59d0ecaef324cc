//! Transformations as values.

use ndarray::{Array, Array3};
use ramie_data::{
    Augment, Context, DataLoader, Error, Generator, IntoSource, Result, Source, SourceExt, Stream,
    StreamExt, Transform, testing,
};
use ramie_testing::panic_message;

struct Scale(usize);
impl Transform<usize> for Scale {
    type Output = usize;
    fn apply(&self, x: usize, _: &mut Context) -> Result<usize> {
        Ok(self.0 * x)
    }
}

struct AddIndex;
impl Transform<usize> for AddIndex {
    type Output = usize;
    fn apply(&self, x: usize, context: &mut Context) -> Result<usize> {
        match context.index() {
            5 => Err(Error::other("five")),
            index => Ok(x + index),
        }
    }
}

struct Draw;
impl<T: Send> Transform<T> for Draw {
    type Output = (T, u64);
    fn apply(&self, x: T, context: &mut Context) -> Result<(T, u64)> {
        Ok((x, context.generator().next_u64()))
    }
}

struct Even;
impl Transform<usize> for Even {
    type Output = Option<usize>;
    fn apply(&self, x: usize, _: &mut Context) -> Result<Option<usize>> {
        Ok(x.is_multiple_of(2).then_some(x))
    }
}

fn all<S: Source>(source: &S) -> Vec<S::Item> {
    source.iter().collect::<Result<_>>().unwrap()
}

#[test]
fn values_of_transformations_are_reused_in_order() {
    let operations = || (Scale(10), AddIndex, |x: usize| x + 1, Even);
    let source = || (1..5).into_source();
    let expected = [None, Some(22), None, Some(44)];
    assert_eq!(all(&source().apply(operations())), expected);
    let mut stream = source().stream().apply(operations());
    let streamed: Vec<_> = stream.iter().collect::<Result<_>>().unwrap();
    assert_eq!(streamed, expected);
    let loader = DataLoader::with_collate(source().apply(operations()), Ok).batch_size(4);
    assert_eq!(loader.iter().next(), Some(Ok(expected.to_vec())));
    assert_eq!(all(&source().apply(|x| 2 * x)), [2, 4, 6, 8]);
    assert_eq!(
        all(&source().apply((Scale(2),)).apply(Scale(3))),
        [6, 12, 18, 24]
    );
    let six = (
        |x| x,
        |x: usize| x,
        |x: usize| x,
        |x: usize| x,
        |x: usize| x,
        Scale(2),
    );
    assert_eq!(all(&source().apply(six)), [2, 4, 6, 8]);
    assert_eq!(
        (0..9).into_source().apply(AddIndex).get(5),
        Err(Error::other("five"))
    );
}

#[test]
fn random_transformations_use_the_seed_of_the_pipeline() {
    let source = |seed| (0..50).into_source().seed(seed);
    // One transformation draws what `map_random` draws.
    let mapped = source(1).map_random(None, |x, g| (x, g.next_u64()));
    let applied = source(1).apply(Draw);
    for epoch in 0..2 {
        for index in 0..50 {
            assert_eq!(
                applied.get_in_epoch(index, epoch),
                mapped.get_in_epoch(index, epoch)
            );
        }
    }
    let mut streamed = source(1).stream().apply(Draw);
    let mut mapped = source(1)
        .stream()
        .map_random(None, |x, g| (x, g.next_u64()));
    assert_eq!(
        streamed.iter().collect::<Vec<_>>(),
        mapped.iter().collect::<Vec<_>>()
    );
    // Transformations of a tuple, and those that follow, draw other numbers.
    let thrice = source(1).apply((Draw, Draw)).apply(Draw);
    let numbers = all(&thrice).into_iter();
    let mut numbers: Vec<_> = numbers.flat_map(|(((_, x), y), z)| [x, y, z]).collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), 150);
    assert_ne!(all(&source(1).apply(Draw)), all(&source(2).apply(Draw)));
    // The seed goes on to later stages.
    assert_eq!(source(1).apply(Scale(2)).shuffle(None).len(), 50);
    assert!(
        source(1)
            .stream()
            .apply(Scale(2))
            .window_shuffle(4, None)
            .next()
            .is_some()
    );

    let unseeded = (0..3).into_source().apply(Draw);
    assert_eq!(
        panic_message(move || unseeded.get(0)),
        "Context::generator: the transformation draws random numbers, but the pipeline has no \
         seed\n  help: call `seed(0)` on the pipeline before `apply`"
    );
}

#[test]
fn transformed_streams_resume_at_every_element() {
    let build = || {
        let source = (0..9).into_source().seed(4).shuffle(None).repeat(2);
        source.stream().apply((Scale(3), Draw, AddNumber)).take(16)
    };
    assert_eq!(testing::assert_equal_stream_after_checkpoint(build), 16);
}

struct AddNumber;
impl Transform<(usize, u64)> for AddNumber {
    type Output = (usize, u64, usize);
    fn apply(&self, (x, y): (usize, u64), context: &mut Context) -> Result<Self::Output> {
        match context.index() {
            7 => Err(Error::other("seven")),
            index => Ok((x, y, index)),
        }
    }
}

#[test]
fn augmentations_are_transformations() {
    let images = Array::from_shape_fn((6, 4, 4, 1), |(i, j, k, _)| (10 * i + j + k) as u8);
    let labelled = || (images.clone(), 0..6).into_source();
    let random = Augment::new().random_crop(4, 4, 2).random_flip(0.5);
    let (first, label) = labelled().seed(3).apply(random.clone()).get(2).unwrap();
    assert_eq!(label, 2);
    let alone = images.clone().into_source().seed(3).apply(random.clone());
    assert_eq!(alone.get(2).unwrap(), first);
    assert_ne!(alone.get_in_epoch(2, 1).unwrap(), first);
    let image: Array3<u8> = images.index_axis(ndarray::Axis(0), 2).to_owned();
    let mut context = Context::new(2, Generator::new(1));
    let direct = random.apply(&image.view(), &mut Generator::new(1));
    assert_eq!(Transform::apply(&random, image, &mut context), Ok(direct));
    // Without random steps, no seed is needed.
    let fixed = labelled().apply(Augment::new().center_crop(2, 2));
    assert_eq!(fixed.get(0).unwrap().0.dim(), (2, 2, 1));
}
