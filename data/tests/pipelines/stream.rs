//! Streams, what combines them, and going on from a position.

use proptest::prelude::*;
use ramie_data::stream::{self, Fit, MixStream, Position, concat_split, from_fn};
use ramie_data::{
    Buckets, Error, IntoSource, LastBatch, Result, Resumable, Shard, SourceExt, Stream, StreamExt,
    testing,
};
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn numbers(n: usize) -> impl Stream<Item = usize> + 'static {
    (0..n).into_source().stream()
}

/// Numbers of which every seventh cannot be read.
fn faulty(n: usize) -> impl Stream<Item = usize> + 'static {
    from_fn(move || {
        (0..n).map(|i| match i % 7 {
            3 => Err(Error::other(format!("{i} is bad"))),
            _ => Ok(i),
        })
    })
}

fn rest<S: Stream + ?Sized>(stream: &mut S) -> Vec<Result<S::Item>> {
    std::iter::from_fn(|| stream.next()).collect()
}

/// Checks that a stream goes on from wherever it stands, and how many elements it has.
#[track_caller]
fn check<S: Stream<Item: Debug + PartialEq>>(build: impl Fn() -> S, count: usize) {
    assert_eq!(testing::assert_equal_stream_after_checkpoint(build), count);
}

#[test]
fn a_loop_takes_a_stream() -> Result<()> {
    let source = || (0..6).into_source().stream();
    let mut seen = Vec::new();
    for x in source() {
        seen.push(x?);
    }
    for x in source().map(|x| x + 1).filter(|x| x % 2 == 0).take(2) {
        seen.push(x?);
    }
    for batch in source().seed(1).window_shuffle(4, 0).batch(6).prefetch(1) {
        seen.push(batch?.len());
    }
    assert_eq!(seen, [0, 1, 2, 3, 4, 5, 2, 4, 6]);
    let mut items = source().skip(1).into_iter();
    items.next();
    let mut again = source().skip(1);
    again.restore(&items.state())?;
    assert_eq!(again.next(), items.next());
    Ok(())
}

#[test]
fn every_stage_goes_on_where_it_was() {
    check(|| numbers(5), 5);
    check(|| faulty(10), 10);
    check(|| numbers(6).map(|x| x + 1).filter(|x| x % 3 > 0), 4);
    let thirds = |x: usize| (!x.is_multiple_of(3)).then_some(x);
    check(|| faulty(10).map(thirds).flatten(), 7);
    check(
        || {
            (0..9)
                .into_source()
                .filter(|x| x % 3 > 0)
                .stream()
                .flatten()
                .batch(4)
        },
        2,
    );
    check(|| numbers(5).flat_map(|x| (0..x).map(move |y| (x, y))), 10);
    check(|| faulty(9).flat_map(|x| vec![x; x % 3]), 10);
    check(|| numbers(3).chain(numbers(4)), 7);
    check(|| numbers(3).zip(faulty(5)), 3);
    check(|| numbers(9).take(4).chain(numbers(9).skip(7)), 6);
    check(|| numbers(11).shard(Shard::new(1, 3)), 4);
    check(|| numbers(9).window(3, 2), 4);
    check(|| numbers(9).window(2, 4), 2);
    check(|| faulty(9).window(2, 1), 8);
    check(|| numbers(7).batch(3), 3);
    check(|| numbers(7).batch_drop_last(3), 2);
    check(|| faulty(7).batch_with(2, LastBatch::Keep, Ok), 4);
    check(|| numbers(10).window_shuffle(4, 7), 10);
    check(|| faulty(10).window_shuffle(4, 7), 10);
    check(|| numbers(4).repeat(3), 12);
    check(|| numbers(4).repeat(3).window_shuffle(5, 0).batch(2), 6);
    check(|| numbers(4).cache().repeat(2), 8);
    check(|| faulty(10).cache(), 10);
    check(|| faulty(10).cache().batch(2), 5);
    check(|| faulty(5).cache().repeat(2), 10);
    check(|| numbers(0).repeat(None), 0);
    check(|| numbers(20).prefetch(3), 20);
    check(|| faulty(20).window_shuffle(6, 1).prefetch(1).batch(3), 7);
    let buckets = || Buckets::with_sizes([2, 4, 8], [3, 2, 1]);
    check(|| numbers(20).bucket(buckets(), |x| x * 5 % 8), 13);
    check(
        || stream::mix([(numbers(5), 1.0), (numbers(9), 2.0)], 3),
        14,
    );
    check(|| numbers(9).map_parallel(3, |x| Ok(x * x)), 9);
    check(
        || faulty(20).window_shuffle(6, 1).map_parallel(2, Ok).batch(3),
        7,
    );
    check(|| concat_split(numbers(9).map(|x| vec![x; x % 4]), 3), 4);
    check(|| numbers(9).batch(2).rebatch(4, LastBatch::Keep), 3);
    check(|| faulty(9).batch(4).rebatch(3, LastBatch::Drop), 2);
    check(|| faulty(9).map_with_index(|i, x| (i, x)), 9);
    check(
        || numbers(3).repeat(2).map_random(1, |x, g| (x, g.below(9))),
        6,
    );
    let part = |n: usize| numbers(n).map(move |x| 10 * n + x);
    check(|| stream::interleave([3, 0, 1, 4, 2].map(part), 2), 10);
    check(|| stream::interleave([2, 3].map(part), 5), 5);
    check(
        || stream::interleave([2, 3].map(|n| part(n).prefetch(2)), 2),
        5,
    );
    for fit in [Fit::First, Fit::Best] {
        let sequences = || faulty(12).map(|x| vec![x as i32; 5 * x % 8]);
        check(|| stream::pack(sequences(), 7, 2, fit), 8);
    }
    check(|| concat_split(faulty(9).map(|x| vec![x; 2 * x]), 5), 14);
    let boxed = |n| Box::new(numbers(n)) as Box<dyn Stream<Item = usize>>;
    check(
        || MixStream::new(vec![(boxed(2), 1.0), (boxed(3), 1.0)], 0),
        5,
    );
}

fn values<S: Stream>(mut stream: S) -> Vec<S::Item> {
    rest(&mut stream)
        .into_iter()
        .collect::<Result<_>>()
        .unwrap()
}

#[test]
fn windows_are_shuffled_and_keep_their_elements() {
    let shuffled = values(numbers(1000).window_shuffle(100, 5));
    assert_ne!(shuffled[..100], values(numbers(100)));
    for (w, window) in shuffled.chunks(100).enumerate() {
        let mut window = window.to_vec();
        window.sort_unstable();
        assert_eq!(window, (100 * w..100 * w + 100).collect::<Vec<_>>());
    }
    let order = |w: usize| {
        shuffled[100 * w..][..100]
            .iter()
            .map(|x| x % 100)
            .collect::<Vec<_>>()
    };
    assert_ne!(order(0), order(1));
}

#[test]
fn buckets_give_batches_of_similar_lengths() {
    let buckets = Buckets::with_sizes([4, 16], [3, 2]);
    let batches = values(numbers(17).bucket(buckets, |x| *x));
    assert_eq!(
        batches,
        [
            vec![0, 1, 2],
            vec![5, 6],
            vec![7, 8],
            vec![9, 10],
            vec![11, 12],
            vec![13, 14],
            vec![15, 16],
            vec![3, 4],
        ]
    );
    let mut long = numbers(4).bucket(Buckets::new([2], 2), |x| *x);
    assert_eq!(long.next(), Some(Ok(vec![0, 1])));
    let e = long.next().unwrap().unwrap_err().to_string();
    assert!(
        e.starts_with("an element of length 3 is longer than the longest bucket, 2"),
        "{e}"
    );
    assert_eq!(long.next(), Some(Ok(vec![2])));
}

#[test]
fn mixes_draw_by_weight() {
    let tagged = |tag| from_fn(move || std::iter::repeat_n(Ok(tag), 5000));
    let mut mixed = stream::mix([(tagged(0usize), 3.0), (tagged(1), 1.0)], 9);
    let ones: usize = mixed.iter().take(4000).map(|x| x.unwrap()).sum();
    assert!((900..1100).contains(&ones), "{ones}");
}

#[test]
fn cached_elements_are_read_once() {
    let reads = Arc::new(AtomicUsize::new(0));
    let counter = reads.clone();
    let read = numbers(3).map(move |x| {
        counter.fetch_add(1, Ordering::Relaxed);
        x
    });
    assert_eq!(values(read.cache().repeat(3)), [0, 1, 2, 0, 1, 2, 0, 1, 2]);
    assert_eq!(reads.load(Ordering::Relaxed), 3);
}

#[test]
fn reading_ahead_is_bounded_and_stops() {
    let reads = Arc::new(AtomicUsize::new(0));
    let counter = reads.clone();
    let mut ahead = numbers(1000)
        .map(move |x| {
            counter.fetch_add(1, Ordering::SeqCst);
            x
        })
        .prefetch(3);
    assert_eq!(ahead.next(), Some(Ok(0)));
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert!(reads.load(Ordering::SeqCst) <= 4);
    drop(ahead);
    // Nobody else holds the counter: the thread has ended.
    assert_eq!(Arc::strong_count(&reads), 1);
}

#[test]
fn a_panic_while_reading_ahead_is_an_error() {
    let mut stream = numbers(5).map(|x| assert!(x < 2, "two")).prefetch(2);
    assert_eq!(stream.next(), Some(Ok(())));
    assert_eq!(stream.next(), Some(Ok(())));
    assert_eq!(stream.next(), Some(Err(Error::Panic("two".into()))));
    assert_eq!(stream.next(), None);
    let e = stream
        .restore(&numbers(5).position())
        .unwrap_err()
        .to_string();
    assert!(e.contains("panicked"), "{e}");
}

#[test]
fn parallel_functions_keep_the_order_and_tell_what_fails() {
    let mut stream = numbers(40).map_parallel(4, |x| {
        std::thread::sleep(std::time::Duration::from_micros((x * 7 % 5 * 200) as u64));
        match x {
            3 => Err(Error::other("three")),
            5 => panic!("five"),
            x => Ok(x),
        }
    });
    let all = rest(&mut stream);
    assert_eq!(all[3], Err(Error::other("three")));
    assert_eq!(all[5], Err(Error::Panic("five".into())));
    let rest: Vec<usize> = all.into_iter().flatten().collect();
    assert_eq!(
        rest,
        (0..40).filter(|x| ![3, 5].contains(x)).collect::<Vec<_>>()
    );
}

#[test]
fn positions_of_other_streams_are_refused() {
    let refused = |stream: &mut dyn Stream<Item = usize>, position: Position, expected: &str| {
        let e = stream.restore(&position).unwrap_err().to_string();
        assert!(
            e.starts_with("cannot restore the saved position: ") && e.contains(expected),
            "{e}"
        );
    };
    let shuffled = numbers(5).window_shuffle(2, 0).position();
    refused(
        &mut numbers(5),
        shuffled,
        "it belongs to a stage `window_shuffle`",
    );
    let mut behind = numbers(9);
    rest(&mut behind);
    refused(
        &mut numbers(5),
        behind.position(),
        "after 9 elements, but the source has 5",
    );
    let mut behind = faulty(9);
    rest(&mut behind);
    refused(
        &mut faulty(5),
        behind.position(),
        "after 9 elements, but the iterator has only 5",
    );
    let mixed = stream::mix([(numbers(5), 1.0)], 0).position();
    refused(
        &mut stream::mix([(numbers(5), 1.0), (numbers(5), 1.0)], 0),
        mixed,
        "it belongs to 1 mixed streams, but this stream mixes 2",
    );
}

#[test]
fn sequences_are_packed_where_they_fit() {
    let lengths = [2, 4, 1, 5, 6, 5];
    let rows = |fit| {
        let sequences = from_fn(move || lengths.map(|n| Ok(vec![n; n as usize])));
        let mut rows = stream::pack(sequences, 5, 2, fit);
        let tokens = |row: Result<ramie_data::readers::tokens::Packed>| row.map(|row| row.tokens);
        rows.iter().map(tokens).collect::<Vec<_>>()
    };
    let first = rows(Fit::First);
    assert_eq!(first[0], Ok(vec![2, 2, 1, 0, 0]));
    assert_eq!(first[1], Ok(vec![4, 4, 4, 4, 0]));
    let best = rows(Fit::Best);
    assert_eq!(best[0], Ok(vec![2, 2, 0, 0, 0]));
    assert_eq!(best[1], Ok(vec![4, 4, 4, 4, 1]));
    for rows in [first, best] {
        let e = rows[2].clone().unwrap_err().to_string();
        assert!(e.starts_with("a sequence of 6 tokens is longer"), "{e}");
        assert_eq!(rows[3..], [Ok(vec![5; 5]), Ok(vec![5; 5])]);
    }
}

#[test]
fn batches_of_other_sizes_keep_their_rows() {
    let mut batches = from_fn(|| {
        let of = |n: usize| (ndarray::Array2::from_elem((n, 2), n), vec![n; n]);
        [3, 0, 1, 4].map(|n| Ok(of(n)))
    })
    .rebatch(3, LastBatch::Keep);
    let sizes: Vec<Vec<usize>> = batches.iter().map(|b| b.unwrap().1).collect();
    assert_eq!(sizes, [vec![3, 3, 3], vec![1, 4, 4], vec![4, 4]]);
    let mut odd = from_fn(|| [1, 2].map(|n| Ok(ndarray::Array2::from_elem((1, n), n))))
        .rebatch(2, LastBatch::Keep);
    let e = odd.next().unwrap().unwrap_err().to_string();
    assert!(
        e.contains("have the shapes [[1], [2]]; pad the rows"),
        "{e}"
    );
}

#[test]
fn streams_come_by_turns() {
    let part = |n: usize| numbers(n).map(move |x| 10 * n + x);
    let mut turns = stream::interleave([2, 0, 3, 1].map(part), 2);
    let got: Vec<usize> = turns.iter().collect::<Result<_>>().unwrap();
    assert_eq!(got, [20, 30, 21, 31, 10, 32]);
    let none: Vec<ramie_data::source::RangeSource> = Vec::new();
    let mut none = stream::interleave(none.into_iter().map(|s| s.stream()), 3);
    assert!(none.next().is_none() && none.next().is_none());
    let other = turns.position();
    let e = stream::interleave([1, 1].map(part), 2).restore(&other);
    let e = e.unwrap_err().to_string();
    assert!(
        e.contains("does not belong to 2 interleaved streams"),
        "{e}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]
    /// Batches of a filtered source, which repeats, resume after each of them.
    #[test]
    fn filtered_sources_resume_at_every_batch(
        n in 1usize..20, size in 1usize..5, seed: u64, kept in 1usize..4, count in 0usize..12,
    ) {
        let build = || {
            let source = (0..n).into_source().seed(seed).filter(move |x| x.is_multiple_of(kept));
            let source = source.shuffle(None).repeat(None);
            source.stream().flatten().batch(size).take(count)
        };
        prop_assert_eq!(testing::assert_equal_stream_after_checkpoint(build), count);
    }
}
