//! `DataLoader`: the same batches whatever the workers, errors with the element,
//! a clean stop, and going on from a state.

use ndarray::{Array, Array1, Array2};
use proptest::prelude::*;
use ramie_data::{
    BatchSampler, BucketSampler, Buckets, ConsecutiveBatches, DataLoader, DistributedSampler,
    Error, IntoSource, LastBatch, LoaderState, Masked, RandomSampler, Result, Resumable, Sampler,
    SequentialSampler, Shard, Source, SourceExt, SubsetRandomSampler, WeightedRandomSampler,
    collate, testing,
};
use ramie_testing::panic_message;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

fn all<B>(batches: impl Iterator<Item = Result<B>>) -> Vec<B> {
    batches.collect::<Result<_>>().unwrap()
}

fn lists(batches: impl Iterator<Item = Result<Array1<usize>>>) -> Vec<Vec<usize>> {
    all(batches).into_iter().map(|b| b.to_vec()).collect()
}

/// Elements that take their time, early ones longer.
fn slow(n: usize) -> impl Source<Item = usize> + 'static {
    (0..n).into_source().map(move |i| {
        sleep(Duration::from_micros(((n - i) % 7 * 150) as u64));
        i
    })
}

#[test]
fn batches_are_the_same_whatever_the_workers() {
    let batches = |workers| {
        let loader = DataLoader::new(slow(60)).batch_size(7).shuffle(3).epochs(2);
        lists(loader.workers(workers).iter())
    };
    let expected = batches(0);
    assert_eq!(expected.len(), 18);
    assert_ne!(expected[..9], expected[9..]);
    for workers in [1, 2, 5] {
        assert_eq!(batches(workers), expected, "{workers} workers");
    }
}

#[test]
fn the_last_batch_is_kept_dropped_or_masked() {
    let loader = || DataLoader::new(0..5).batch_size(2);
    assert_eq!(loader().len(), 3);
    assert_eq!(lists(loader().iter()), [vec![0, 1], vec![2, 3], vec![4]]);
    assert_eq!(loader().drop_last().len(), 2);
    assert_eq!(lists(loader().drop_last().iter()), [[0, 1], [2, 3]]);
    let masked = all(loader().masked().workers(1).iter());
    let sizes: Vec<usize> = masked.iter().map(|b| b.batch.len()).collect();
    assert_eq!(sizes, [2, 2, 2]);
    let counted = masked
        .iter()
        .flat_map(|b| b.batch.iter().zip(&b.mask))
        .filter(|(_, m)| **m);
    assert_eq!(
        counted.map(|(i, _)| *i).collect::<Vec<_>>(),
        [0, 1, 2, 3, 4]
    );
    // Fewer elements than a batch has.
    let small = all(DataLoader::new(0..1).batch_size(3).masked().iter());
    assert_eq!(small[0].batch.to_vec(), [0, 0, 0]);
    assert_eq!(small[0].mask.to_vec(), [true, false, false]);
    assert!(DataLoader::new(0..0).iter().next().is_none());
    assert_eq!(all(DataLoader::unbatched(0..3).iter()), [0, 1, 2]);
}

#[test]
fn samplers_decide_what_comes() {
    let loader = || DataLoader::new(0..10).batch_size(3);
    let subset = lists(
        loader()
            .sampler(SubsetRandomSampler::new([1, 5, 7], 0))
            .iter(),
    );
    let mut subset = subset.concat();
    subset.sort_unstable();
    assert_eq!(subset, [1, 5, 7]);
    let weights = (0..10).map(|i| f64::from(i == 4));
    let four = lists(
        loader()
            .sampler(WeightedRandomSampler::new(weights, 5, 0))
            .iter(),
    );
    assert_eq!(four, [vec![4; 3], vec![4; 2]]);
    let listed = loader().batch_sampler(|epoch: usize| vec![vec![epoch; 2], vec![3]]);
    assert_eq!(lists(listed.epoch(2)), [vec![2, 2], vec![3]]);
}

#[test]
fn buckets_bound_the_shapes() {
    let texts: Vec<Vec<u8>> = (0..50).map(|i| vec![b'x'; i * 7 % 30]).collect();
    let lengths: Vec<usize> = texts.iter().map(Vec::len).collect();
    let buckets = Buckets::new([8, 16, 32], 4);
    let sampler = BucketSampler::new(&lengths, buckets.clone(), 1)
        .unwrap()
        .drop_last();
    let loader = DataLoader::with_collate(texts, collate::padded(buckets.lengths(), 0))
        .batch_sampler(sampler)
        .workers(2);
    let (first, second) = (all(loader.epoch(0)), all(loader.epoch(1)));
    assert_ne!(first, second);
    for batch in first.iter().chain(&second) {
        let (rows, length) = batch.values.dim();
        assert!(rows == 4 && [8, 16, 32].contains(&length));
        // The shortest length that suffices: nothing is padded more than needed.
        let longest = batch.lengths.iter().max().copied().unwrap() as usize;
        assert!(longest > length / 2 || length == 8);
    }
}

#[test]
fn an_empty_batch_of_a_sampler_has_an_empty_mask() {
    let loader = || {
        DataLoader::new(0..9)
            .batch_sampler(|_| vec![vec![1], vec![], vec![4, 5]])
            .masked()
    };
    let sizes = |loader: DataLoader<Masked<Array1<usize>>>| {
        let batches = all(loader.iter()).into_iter();
        batches
            .map(|masked| (masked.batch.len(), masked.mask.to_vec()))
            .collect::<Vec<_>>()
    };
    let expected = [(1, vec![true]), (0, vec![]), (2, vec![true, true])];
    assert_eq!(sizes(loader()), expected);
    assert_eq!(sizes(loader().workers(2)), expected);
    let shard = [(1, vec![false]), (0, vec![]), (1, vec![true])];
    assert_eq!(sizes(loader().shard(Shard::new(1, 2))), shard);
}

#[test]
fn what_is_random_in_elements_is_the_same_whatever_the_workers() {
    let noisy = || {
        vec![0.0f64; 30]
            .into_source()
            .map_random(5, |x, g| x + g.normal())
    };
    let batches = |workers, epoch| {
        all(DataLoader::new(noisy())
            .batch_size(4)
            .workers(workers)
            .epoch(epoch))
    };
    assert_eq!(batches(0, 1), batches(3, 1));
    assert_ne!(batches(0, 1), batches(0, 2));
}

#[test]
fn an_error_comes_with_its_element_and_the_rest_goes_on() {
    for workers in [0, 1, 3] {
        let faulty = (0..10).into_source().try_map(|i| match i {
            3 => Err(Error::other("unreadable")),
            7 => panic!("element {i} bites"),
            i => Ok(i),
        });
        let loader = DataLoader::new(faulty.slice(1..))
            .batch_size(3)
            .workers(workers);
        let got: Vec<_> = loader.iter().collect();
        let error = |index, e| {
            Err(Error::Element {
                index,
                source: Box::new(e),
            })
        };
        assert_eq!(
            got[0],
            error(2, Error::other("unreadable")),
            "{workers} workers"
        );
        assert_eq!(got[1], Ok(Array1::from_vec(vec![4, 5, 6])));
        assert_eq!(got[2], error(6, Error::Panic("element 7 bites".into())));
        assert_eq!(got.len(), 3);
    }
    let out =
        |n: usize| format!("element {n}: index {n} is out of range for a source with 4 elements");
    let rows = Array2::<f32>::zeros((4, 2));
    let loader = DataLoader::new((rows, 0..4))
        .batch_size(2)
        .sampler(|_| vec![0, 1, 2, 9]);
    assert_eq!(
        loader.iter().nth(1).unwrap().unwrap_err().to_string(),
        out(9)
    );
}

#[test]
fn a_batch_that_cannot_be_made_names_its_elements() {
    let ragged = vec![vec![1], vec![2], vec![3, 4]];
    let e = DataLoader::new(ragged)
        .batch_size(3)
        .workers(1)
        .iter()
        .next()
        .unwrap()
        .unwrap_err();
    let e = e.to_string();
    assert!(
        e.starts_with(
            "batch of elements 0, 1, 2: item 2 of the batch has 2 elements, but item 0 has 1"
        ),
        "{e}"
    );
    let bitten = DataLoader::with_collate(0..2, |_| -> Result<()> { panic!("collate bites") });
    let e = bitten
        .batch_size(2)
        .workers(1)
        .iter()
        .next()
        .unwrap()
        .unwrap_err();
    assert_eq!(
        e.to_string(),
        "batch of elements 0, 1: panicked: collate bites"
    );
}

#[test]
fn a_worker_that_cannot_start_says_so() {
    let loader = DataLoader::new(0..2)
        .workers(1)
        .worker_init(|w| panic!("worker {w} is ill"));
    let e = loader.iter().next().unwrap().unwrap_err();
    assert_eq!(e, Error::Panic("in `worker_init`: worker 0 is ill".into()));
    let started = Arc::new(AtomicUsize::new(0));
    let counter = started.clone();
    let loader = DataLoader::new(0..6)
        .workers(2)
        .persistent_workers()
        .worker_init(move |w| {
            counter.fetch_add(w + 1, Ordering::SeqCst);
        });
    all(loader.epoch(0));
    all(loader.epoch(1));
    drop(loader);
    assert_eq!(started.load(Ordering::SeqCst), 3);
}

#[test]
fn queues_are_bounded_and_dropping_stops_the_workers() {
    for persistent in [false, true] {
        let made = Arc::new(AtomicUsize::new(0));
        let counter = made.clone();
        let source = (0..1000).into_source().map(move |i| {
            counter.fetch_add(1, Ordering::SeqCst);
            i
        });
        let mut loader = DataLoader::new(source).workers(2).prefetch_factor(3);
        if persistent {
            loader = loader.persistent_workers();
        }
        let mut batches = loader.iter();
        assert_eq!(batches.next(), Some(Ok(Array1::from_vec(vec![0]))));
        // The one that was given, and two workers' three each.
        let start = Instant::now();
        while made.load(Ordering::SeqCst) < 7 && start.elapsed() < Duration::from_secs(20) {
            sleep(Duration::from_millis(1));
        }
        sleep(Duration::from_millis(20));
        assert_eq!(made.load(Ordering::SeqCst), 7);
        drop(batches);
        sleep(Duration::from_millis(20));
        assert_eq!(made.load(Ordering::SeqCst), 7);
        assert_eq!(lists(loader.iter()).len(), 1000);
        drop(loader);
        assert_eq!(Arc::strong_count(&made), 1, "no worker holds the source");
    }
}

#[test]
fn dropping_waits_for_the_batch_at_hand_only() {
    let source = (0..1000).into_source().map(|i| {
        sleep(Duration::from_millis(20));
        i
    });
    let mut batches = DataLoader::new(source)
        .workers(2)
        .prefetch_factor(50)
        .iter();
    batches.next();
    let start = Instant::now();
    drop(batches);
    // All of them would take ten seconds.
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_slow_batch_times_out_and_is_waited_for_again() {
    let released = Arc::new(AtomicBool::new(false));
    let gate = released.clone();
    let source = (0..2).into_source().map(move |i| {
        while !gate.load(Ordering::SeqCst) {
            sleep(Duration::from_millis(1));
        }
        i
    });
    let timeout = Duration::from_millis(30);
    let loader = DataLoader::new(source).workers(1).timeout(timeout);
    let mut batches = loader.iter();
    let start = batches.state();
    assert_eq!(batches.next(), Some(Err(Error::Timeout(timeout))));
    assert_eq!(batches.state(), start);
    released.store(true, Ordering::SeqCst);
    let rest: Vec<_> = batches
        .filter(|b| *b != Err(Error::Timeout(timeout)))
        .collect();
    assert_eq!(rest.len(), 2);
    assert_eq!(rest[0], Ok(Array1::from_vec(vec![0])));
}

#[test]
fn shards_are_the_parts_of_the_whole_batches() {
    let x = Array::from_shape_fn((23, 2), |(i, j)| (10 * i + j) as f32);
    let loader = || {
        DataLoader::new(x.clone())
            .batch_size(8)
            .shuffle(4)
            .epochs(2)
    };
    let whole = all(loader().iter());
    let parts: Vec<Vec<Array2<f32>>> = (0..4)
        .map(|i| all(loader().shard(Shard::new(i, 4)).workers(2).iter()))
        .collect();
    for (k, batch) in whole.iter().enumerate() {
        let rows: Vec<_> = parts.iter().map(|p| p[k].view()).collect();
        let together = ndarray::concatenate(ndarray::Axis(0), &rows).unwrap();
        assert_eq!(together.slice(ndarray::s![..batch.nrows(), ..]), batch);
        // The last is filled up with its first element.
        for filled in together.rows().into_iter().skip(batch.nrows()) {
            assert_eq!(filled, batch.row(0));
        }
        assert_eq!(together.nrows(), 8);
    }
}

#[test]
fn states_of_other_data_are_refused() {
    let state = |n: usize, seed| {
        DataLoader::new(0..n)
            .batch_size(2)
            .shuffle(seed)
            .iter()
            .state()
    };
    let loader = DataLoader::new(0..20).batch_size(2).shuffle(1);
    assert!(loader.resume(&state(20, 1)).is_ok());
    let refused = |state: &LoaderState| loader.resume(state).err().unwrap().to_string();
    assert!(refused(&state(21, 1)).contains("the epoch had 21 elements, but now has 20"));
    assert!(refused(&state(20, 2)).contains("epoch 0 has a different order"));
    let mut saved = serde_json::to_value(state(20, 1)).unwrap();
    saved["position"] = 21.into();
    let state: LoaderState = serde_json::from_value(saved.clone()).unwrap();
    assert!(refused(&state).contains("its index 21 exceeds the length 20"));
    saved["version"] = 9.into();
    let state: LoaderState = serde_json::from_value(saved).unwrap();
    assert!(refused(&state).contains("it has version 9"));
}

#[test]
fn batches_that_do_not_come_apart_are_a_mistake() {
    let message = panic_message(|| {
        DataLoader::new(0..9)
            .batch_size(4)
            .shard(Shard::new(0, 3))
            .iter()
            .next()
    });
    assert!(
        message.starts_with(
            "DataLoader: batches of 4 elements cannot be divided into 3 equal shards\n  help: "
        ),
        "{message}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    /// A state taken anywhere, by any number of workers and processes, gives what
    /// was left to any other number of both.
    #[test]
    fn what_was_left_is_left(
        n in 1usize..60, seed: u64, drop_last: bool, listed: bool, taken in 0usize..20,
        before in (0usize..4, 1usize..4), after in (0usize..4, 1usize..4),
    ) {
        let loader = |workers: usize, shard: Shard| {
            // A loader that drops all elements is refused.
            let drop_last = drop_last && (listed || n >= 6);
            // Six comes apart into 1, 2 and 3.
            let loader = DataLoader::new(0..n).batch_size(6).shuffle(seed).epochs(3);
            let loader = loader.workers(workers).shard(shard);
            let loader = if drop_last { loader.drop_last() } else { loader };
            if listed { loader.batch_sampler(move |e: usize| {
                (0..n).map(|i| vec![(i + e) % n; 1 + i % 4]).collect()
            }) } else { loader }
        };
        // Rows of all processes, batch by batch, without what fills them up.
        let sizes = lists(loader(0, Shard::whole()).iter()).iter().map(Vec::len).collect::<Vec<_>>();
        let together = |parts: Vec<Vec<Vec<usize>>>, from: usize| {
            let row = |k: usize| {
                let mut rows: Vec<usize> = parts.iter().flat_map(|p| p[k].clone()).collect();
                rows.truncate(sizes[from + k]);
                rows
            };
            (0..parts[0].len()).map(row).collect::<Vec<_>>()
        };
        let mut iter = loader(before.0, Shard::new(0, before.1)).iter();
        let taken = iter.by_ref().take(taken).count();
        let saved = serde_json::to_string(&Resumable::state(&iter)).unwrap();
        let state: LoaderState = serde_json::from_str(&saved).unwrap();
        let rest = (0..after.1).map(|i| {
            lists(loader(after.0, Shard::new(i, after.1)).resume(&state).unwrap())
        });
        let whole = lists(loader(0, Shard::whole()).iter());
        prop_assert_eq!(together(rest.collect(), taken), whole[taken..].to_vec());
    }
}

#[test]
fn loaders_go_on_exactly_from_any_batch() {
    let check = |loader: &DataLoader<Array1<usize>>, steps| {
        testing::assert_equal_output_after_checkpoint(loader, steps)
    };
    let loader = || DataLoader::new(0..10).batch_size(4).shuffle(1);
    assert_eq!(check(&loader().epochs(2).workers(2), 9), 6);
    let part = DistributedSampler::new(10, Shard::new(1, 2)).shuffle(3);
    assert_eq!(check(&loader().sampler(part), 3), 2);
    let faulty = (0..6).into_source().try_map(|i| match i {
        4 => Err(Error::other("unreadable")),
        i => Ok(i),
    });
    assert_eq!(check(&DataLoader::new(faulty).batch_size(2), 9), 3);
}

#[test]
fn a_loader_begins_at_any_batch() {
    let loader = DataLoader::new(0..10).batch_size(4).shuffle(1).epochs(2);
    let whole = lists(loader.iter());
    assert_eq!(lists(loader.from_batch(0, 2)), whole[2..]);
    assert_eq!(lists(loader.from_batch(0, 3)), whole[3..]);
    assert_eq!(lists(loader.from_batch(1, 1)), whole[4..]);
    assert!(lists(loader.from_batch(1, 100)).is_empty());
    let listed = DataLoader::new(0..9).batch_sampler(|_| vec![vec![1, 2], vec![3], vec![4, 5]]);
    assert_eq!(lists(listed.from_batch(0, 1)), [vec![3], vec![4, 5]]);
    let dropped = DataLoader::new(0..10).batch_size(4).drop_last();
    assert!(lists(dropped.from_batch(0, 2)).is_empty());
}

/// verl-project/verl#7401: a state at the end of an epoch skipped the next one. pytorch/pytorch#49172: more
/// processes than elements.
#[test]
fn a_state_at_the_end_of_an_epoch_resumes_with_the_next() {
    for drop_last in [false, true] {
        let loader = || {
            let loader = DataLoader::new(0..10).batch_size(4).shuffle(5).epochs(3);
            if drop_last {
                loader.drop_last()
            } else {
                loader
            }
        };
        let whole = lists(loader().iter());
        assert_eq!(whole.len(), if drop_last { 6 } else { 9 });
        for (workers, taken) in (0..3).flat_map(|w| (0..=whole.len()).map(move |n| (w, n))) {
            let before = loader().workers(workers);
            let mut batches = before.iter();
            batches.by_ref().take(taken).for_each(drop);
            let text = serde_json::to_string(&batches.state()).unwrap();
            let state: LoaderState = serde_json::from_str(&text).unwrap();
            let rest = loader().workers(2 - workers).resume(&state).unwrap();
            assert_eq!(
                lists(rest),
                whole[taken..],
                "{workers} workers, after {taken}"
            );
        }
    }
    for processes in [4, 6, 7, 100] {
        let mut every: Vec<usize> = Vec::new();
        for process in 0..processes {
            let sampler = DistributedSampler::new(3, Shard::new(process, processes)).shuffle(1);
            let own: Vec<usize> = sampler.order(0).iter().collect();
            assert_eq!(own.len(), 1, "process {process} of {processes}");
            every.extend(own);
        }
        every.sort_unstable();
        every.dedup();
        assert_eq!(every, [0, 1, 2], "{processes} processes");
    }
}

/// Without a batch, a loop over the loader trains nothing.
#[test]
fn a_loader_that_drops_all_elements_is_refused() {
    let loader = || DataLoader::new(0..5).batch_size(9).drop_last();
    let expected = "DataLoader: there is no batch: the epoch has 5 elements, less than the batch size 9, and \
                    `drop_last` drops incomplete batches\n  help: use a batch size of at most 5, or remove \
                    `drop_last`";
    assert_eq!((loader().len(), loader().is_empty()), (0, true));
    let all: [fn(DataLoader<_>) -> usize; 5] = [
        |loader| loader.iter().count(),
        |loader| loader.epoch(3).count(),
        |loader| (&loader).into_iter().count(),
        |loader| loader.from_batch(0, 0).count(),
        |loader| loader.shuffle(1).epochs(None).workers(2).iter().count(),
    ];
    for count in all {
        assert_eq!(panic_message(move || count(loader())), expected);
    }
    let whole = DataLoader::new(0..5).batch_size(5).drop_last();
    assert_eq!(whole.iter().count(), 1);
    assert_eq!(
        DataLoader::new(0..0)
            .batch_size(9)
            .drop_last()
            .iter()
            .count(),
        0
    );
}

#[test]
fn kept_workers_are_as_many_as_were_asked_for_last() {
    let started = Arc::new(AtomicUsize::new(0));
    let counter = started.clone();
    let loader = DataLoader::new(0..8)
        .persistent_workers()
        .worker_init(move |_| {
            counter.fetch_add(1, Ordering::SeqCst);
        });
    let loader = loader.workers(1);
    all(loader.iter());
    let loader = loader.workers(3);
    all(loader.iter());
    all(loader.iter());
    drop(loader);
    assert_eq!(started.load(Ordering::SeqCst), 4);
}

#[test]
fn a_step_that_is_slower_than_its_batches_never_waits() {
    let made = Arc::new(AtomicUsize::new(0));
    let counter = made.clone();
    let source = (0..40).into_source().map(move |i| {
        sleep(Duration::from_millis(2));
        counter.fetch_add(1, Ordering::SeqCst);
        i
    });
    let loader = DataLoader::new(source).batch_size(2).workers(1);
    let mut batches = loader.iter();
    let first = batches.next();
    assert!(first.is_some() && batches.waited() >= Duration::from_millis(4));
    let (start, before) = (Instant::now(), batches.waited());
    let mut given = 1;
    let steps = batches.by_ref().inspect(|_| {
        given += 1;
        // A step lasts until the next batch is complete, also on a busy machine.
        while made.load(Ordering::SeqCst) < (2 * given + 2).min(40) {
            sleep(Duration::from_millis(1));
        }
        sleep(Duration::from_millis(20));
    });
    assert_eq!(steps.count(), 19);
    // A batch takes 4 ms, a step 20: without workers steps would wait for a sixth of the time.
    let share = (batches.waited() - before).as_secs_f64() / start.elapsed().as_secs_f64();
    assert!(share < 0.1, "steps wait for {share} of the time");
    // Made here, each is waited for.
    let mut here = loader.workers(0).iter();
    here.by_ref().for_each(drop);
    assert!(here.waited() >= Duration::from_millis(80));
}

#[test]
fn random_samples_without_replacement() {
    let order = |n: usize, epoch: usize| -> Vec<usize> {
        let sampler = RandomSampler::new(10, 3).num_samples(n);
        sampler.order(epoch).iter().collect()
    };
    let all: Vec<usize> = RandomSampler::new(10, 3).order(1).iter().collect();
    assert_eq!(order(4, 1), all[..4]);
    assert_eq!(order(0, 0), [0; 0]);
    // Two passes and a half: each pass has every element, in another order.
    let long = order(25, 1);
    assert_eq!(long[..10], all);
    let (second, third) = (&long[10..20], &long[20..]);
    assert!((0..10).all(|i| second.contains(&i)), "{second:?}");
    assert_ne!(second, &all[..]);
    assert!(
        third
            .iter()
            .all(|i| third.iter().filter(|j| *j == i).count() == 1),
        "{third:?}"
    );
    let drawn = RandomSampler::with_replacement(10, 5, 3).num_samples(7);
    assert_eq!(drawn.order(0).len(), 7);
    let loader = DataLoader::new((0..10usize).into_source()).batch_size(2);
    let loader = loader.sampler(RandomSampler::new(10, 3).num_samples(4));
    assert_eq!(loader.iter().count(), 2);
}

#[test]
fn batches_of_a_sampler() {
    let of = |last| ConsecutiveBatches::new(SequentialSampler(5), 2, last).batches(0);
    assert_eq!(of(LastBatch::Keep), [vec![0, 1], vec![2, 3], vec![4]]);
    assert_eq!(of(LastBatch::Drop), [[0, 1], [2, 3]]);
}
