//! Default seeds of pipelines.

use ramie_data::{IntoSource, Result, Sample, Source, SourceExt, Stream, StreamExt, stream};
use ramie_testing::panic_message;

fn all<S: Source>(source: &S) -> Vec<S::Item> {
    source.iter().collect::<Result<_>>().unwrap()
}

/// Draws a number for every element, with the seed of the pipeline.
fn draws<S: Source<Item = usize>>(source: S) -> Vec<u64> {
    all(&source.map(|_| ()).map_random(None, |(), g| g.next_u64()))
}

#[test]
fn every_stage_has_a_seed_of_its_own() {
    let source = |seed| (0..50).into_source().seed(seed);
    assert_eq!(draws(source(1)), draws(source(1)));
    assert_ne!(draws(source(1)), draws(source(2)));
    assert_ne!(draws(source(1)), draws(source(1).slice(..)));
    assert_eq!(draws(source(1)), draws(source(2).seed(1)));
    assert_ne!(all(&source(1).shuffle(None)), all(&source(2).shuffle(None)));
    // An explicit seed is independent of the pipeline's.
    assert_eq!(all(&source(1).shuffle(7)), all(&source(2).shuffle(7)));
    let twice = source(1).map_random(None, |_, g| g.next_u64());
    let twice = twice.map_random(None, |x, g| (x, g.next_u64()));
    assert!(all(&twice).iter().all(|(x, y)| x != y));
}

#[test]
fn all_stages_pass_seeds_on() {
    let source = || (0..12).into_source().seed(3);
    let arrays = || ndarray::Array2::<f32>::zeros((12, 2)).into_source();
    fn seeded<S: Source>(source: S) -> usize {
        source.map_random(None, |_, _| ()).len()
    }
    let lengths = [
        seeded(source().map(|x| x)),
        seeded(source().try_map(Ok)),
        seeded(source().map_with_index(|i, _| i)),
        seeded(source().shuffle(None)),
        seeded(source().subset([3])),
        seeded(source().window(2, 1)),
        seeded(source().batch(5)),
        seeded(source().cache()),
        seeded(source().repeat(2)),
        seeded(source().concat((0..3).into_source().seed(4))),
        seeded(arrays().zip(source())),
        seeded((arrays(), source()).into_source()),
        seeded(std::collections::BTreeMap::from([("x".to_string(), source())]).into_source()),
        seeded(ramie_data::source::select_from([source()], 2, |i| (0, i))),
        seeded(std::sync::Arc::new(source())),
    ];
    assert_eq!(
        lengths,
        [12, 12, 12, 12, 1, 11, 3, 12, 24, 15, 12, 12, 12, 2, 12]
    );
    // The seed does not change how batches are made.
    let batch = arrays().seed(1).get_batch(&[0, 5], 0).unwrap();
    assert_eq!(
        batch,
        Sample::collate(vec![arrays().get(0).unwrap(); 2]).unwrap()
    );
}

#[test]
fn stages_of_streams_pass_seeds_on() {
    let numbers = || (0..12).into_source().stream().seed(5);
    fn seeded<S: Stream>(stream: S) -> usize {
        stream.map_random(None, |_, _| ()).iter().count()
    }
    let sequences = || numbers().map(|x| vec![x as i32; x % 3]);
    let counts = [
        seeded((0..12).into_source().seed(1).stream()),
        seeded(numbers().map(|x| x)),
        seeded(numbers().map_with_index(|i, _| i)),
        seeded(numbers().map_parallel(2, Ok)),
        seeded(numbers().filter(|x| x % 2 == 0)),
        seeded(numbers().flat_map(|x| [x, x])),
        seeded(numbers().chain(numbers())),
        seeded(numbers().zip(numbers())),
        seeded(numbers().skip(1).take(3)),
        seeded(numbers().window(2, 2)),
        seeded(numbers().batch(5).rebatch(2, ramie_data::LastBatch::Keep)),
        seeded(numbers().bucket(ramie_data::Buckets::new([20], 4), |x| *x)),
        seeded(numbers().window_shuffle(4, None).repeat(2)),
        seeded(numbers().cache()),
        seeded(numbers().prefetch(2)),
        seeded(stream::interleave([numbers()], 1)),
        seeded(stream::mix([(numbers(), 1.0)], 0)),
        seeded(stream::pack(sequences(), 4, 2, stream::Fit::First)),
        seeded(stream::concat_split(sequences(), 4)),
        seeded(numbers().shard(ramie_data::Shard::whole())),
        seeded(Box::new(numbers())),
    ];
    assert_eq!(
        counts,
        [
            12, 12, 12, 12, 6, 24, 24, 12, 3, 6, 6, 3, 24, 12, 12, 12, 12, 4, 3, 12, 12
        ]
    );
    let values = |seed| {
        let mut stream = (0..20)
            .into_source()
            .stream()
            .seed(seed)
            .window_shuffle(10, None);
        stream.iter().collect::<Result<Vec<usize>>>().unwrap()
    };
    assert_eq!(values(1), values(1));
    assert_ne!(values(1), values(2));
}

#[test]
fn a_missing_seed_is_explained() {
    let numbers = || (0..3).into_source();
    for (what, operation) in [
        (panic_message(move || numbers().shuffle(None)), "shuffle"),
        (
            panic_message(move || numbers().map_random(None, |x, _| x)),
            "map_random",
        ),
        (
            panic_message(move || numbers().stream().map_random(None, |x, _| x)),
            "map_random",
        ),
        (
            panic_message(move || numbers().stream().window_shuffle(2, None)),
            "window_shuffle",
        ),
    ] {
        assert_eq!(
            what,
            format!(
                "{operation}: the seed is `None`, and the pipeline has no seed\n  help: pass a seed, or \
                 call `seed(0)` on the pipeline before `{operation}`"
            )
        );
    }
}
