//! Sources and loaders that never end.

use ndarray::array;
use proptest::prelude::*;
use ramie_data::source::mix;
use ramie_data::{
    DataLoader, IntoSource, LoaderState, Result, Shard, Source, SourceExt, StreamExt, testing,
};
use ramie_testing::panic_message;

fn first<S: Source>(source: &S, count: usize) -> Vec<S::Item> {
    source.iter().take(count).collect::<Result<_>>().unwrap()
}

#[test]
fn every_repetition_is_a_later_epoch() {
    let shuffled = || {
        (0..7)
            .into_source()
            .shuffle(3)
            .map_random(1, |x, g| (x, g.below(100)))
    };
    let endless = shuffled().repeat(None);
    assert!(endless.is_endless() && endless.len() == usize::MAX && !endless.is_empty());
    let thrice: Vec<_> = shuffled().repeat(3).iter().collect::<Result<_>>().unwrap();
    assert_eq!(first(&endless, 21), thrice);
    assert_ne!(thrice[..7], thrice[7..14]);
    assert_eq!(
        endless.get(7_000_000_003),
        shuffled().get_in_epoch(3, 1_000_000_000)
    );
    let same = shuffled().repeat(None).same_each_time();
    assert_eq!(first(&same, 14), [&thrice[..7], &thrice[..7]].concat());
    // A later epoch of an endless source begins at that repetition.
    assert_eq!(endless.get_in_epoch(0, 2).unwrap(), thrice[14]);
    assert_eq!((0..0).into_source().repeat(None).len(), 0);
}

#[test]
fn stages_of_endless_sources_are_endless() {
    let endless = || (0..5).into_source().repeat(None);
    assert_eq!(
        first(&endless().batch(4), 3),
        [array![0, 1, 2, 3], array![4, 0, 1, 2], array![3, 4, 0, 1]]
    );
    assert_eq!(first(&endless().window(2, 3), 2), [[0, 1], [3, 4]]);
    assert_eq!(first(&endless().slice(3..), 3), [3, 4, 0]);
    assert_eq!(first(&endless().shard(Shard::new(1, 3)), 4), [1, 4, 2, 0]);
    assert_eq!(first(&endless().zip(endless()), 1), [(0, 0)]);
    let lengths = [
        endless().batch(4).len(),
        endless().batch_drop_last(4).len(),
        endless().window(2, 3).len(),
        endless().slice(3..).len(),
        endless().shard(Shard::new(1, 3)).len(),
        endless().zip(endless()).len(),
        endless().map(|x| x).len(),
        (0..2).into_source().concat(endless()).len(),
        mix([(endless(), 1.0), (endless(), 3.0)]).len(),
    ];
    assert_eq!(lengths, [usize::MAX; 9]);
    assert_eq!(endless().slice(2..9).len(), 7);
    // A mixture ends with the first of its sources.
    let three: Box<dyn Source<Item = usize>> = Box::new((0..3).into_source());
    assert_eq!(mix([(three, 1.0), (Box::new(endless()), 1.0)]).len(), 7);
}

#[test]
fn stages_that_need_a_length_refuse_endless_sources() {
    let endless = || (0..5).into_source().repeat(None);
    for (what, operation) in [
        (panic_message(move || endless().shuffle(0)), "shuffle"),
        (panic_message(move || endless().cache()), "cache"),
        (
            panic_message(move || endless().subset_where(|_| true)),
            "subset_where",
        ),
        (
            panic_message(move || endless().random_split([3, 2], 0)),
            "random_split",
        ),
        (
            panic_message(move || endless().random_split_fractions([0.5, 0.5], 0)),
            "random_split_fractions",
        ),
    ] {
        let expected = format!(
            "{operation}: the source is endless\n  help: call `{operation}` before `repeat(None)`"
        );
        assert_eq!(what, expected);
    }
    for (what, expected) in [
        (
            panic_message(move || endless().repeat(2)),
            "repeat: the source is already endless\n  help: remove this `repeat`",
        ),
        (
            panic_message(move || endless().zip((0..2).into_source())),
            "zip: the sources have [endlessly many, 2] elements\n  help: ",
        ),
        (
            panic_message(move || DataLoader::new(endless()).shuffle(0)),
            "DataLoader::shuffle: the source is endless\n  help: ",
        ),
    ] {
        assert!(what.starts_with(expected), "{what}");
    }
}

#[test]
fn endless_loaders_end_only_without_batches() {
    let loader = DataLoader::new(0..5).batch_size(3).shuffle(2);
    let twice: Vec<_> = (0..2).flat_map(|epoch| loader.epoch(epoch)).collect();
    let loader = loader.epochs(None).workers(2);
    assert_eq!(loader.iter().take(4).collect::<Vec<_>>(), twice);
    let none = DataLoader::new(0..5).sampler(|_| Vec::new()).epochs(None);
    assert_eq!(none.iter().next(), None);
    assert_eq!(DataLoader::new(0..0).epochs(None).iter().next(), None);
    let source = (0..5).into_source().shuffle(2).repeat(None);
    let loader = DataLoader::new(source).batch_size(3);
    assert_eq!((loader.len(), loader.is_empty()), (usize::MAX, false));
    let thirty: Vec<_> = loader.iter().take(30).collect::<Result<_>>().unwrap();
    assert!(thirty.iter().all(|batch| batch.len() == 3));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(25))]
    /// Endless iterations resume at every position, whichever part repeats.
    #[test]
    fn endless_iterations_resume(
        n in 1usize..30, size in 1usize..9, seed: u64, taken in 0usize..40, by_source: bool,
        workers in (0usize..3, 0usize..3),
    ) {
        let loader = |workers: usize| {
            let loader = if by_source { DataLoader::new((0..n).into_source().shuffle(seed).repeat(None)) } else { DataLoader::new(0..n).shuffle(seed).epochs(None) };
            loader.batch_size(size).workers(workers)
        };
        let mut batches = loader(workers.0).iter();
        batches.by_ref().take(taken).for_each(drop);
        let saved = serde_json::to_string(&batches.state()).unwrap();
        let state: LoaderState = serde_json::from_str(&saved).unwrap();
        let rest: Vec<_> = loader(workers.1).resume(&state).unwrap().take(20).collect();
        prop_assert_eq!(batches.take(20).collect::<Vec<_>>(), rest);
    }
}

#[test]
fn streams_of_endless_sources_resume_at_every_element() {
    let build = || {
        let source = (0..5).into_source().shuffle(4).repeat(None);
        source
            .map_random(2, |x, g| (x, g.below(9)))
            .batch(3)
            .stream()
            .take(20)
    };
    assert_eq!(testing::assert_equal_stream_after_checkpoint(build), 20);
}
