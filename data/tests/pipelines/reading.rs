//! Elements that threads read ahead, of streams and loaders.

use ndarray::{Array1, array};
use proptest::prelude::*;
use ramie_data::{
    DataLoader, Error, IntoSource, LoaderState, ReadOptions, Result, Shard, Source, SourceExt,
    Stream, StreamExt, testing,
};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread::{self, sleep};
use std::time::Duration;

fn options(num_threads: usize, prefetch_buffer_size: usize) -> ReadOptions {
    ReadOptions {
        num_threads,
        prefetch_buffer_size,
    }
}

/// Elements of which some cannot be read and one panics, and which take different times.
fn faulty(n: usize) -> impl Source<Item = usize> + 'static {
    (0..n).into_source().try_map(|i| {
        sleep(Duration::from_micros((i * 7 % 5 * 100) as u64));
        match i {
            3 | 4 => Err(Error::other(format!("{i} is unreadable"))),
            6 => panic!("six"),
            i => Ok(i),
        }
    })
}

#[test]
fn streams_are_the_same_whatever_reads() {
    let sound = || (0..9).into_source().seed(1).shuffle(None).repeat(None);
    for options in [
        options(0, 5),
        options(3, 0),
        options(1, 1),
        options(3, 2),
        options(4, 20),
    ] {
        let build = || sound().stream().read_options(options).batch(2).take(12);
        assert_eq!(testing::assert_equal_stream_after_checkpoint(build), 12);
        let mut here = sound().stream().take(30);
        let mut ahead = sound().stream().read_options(options).take(30);
        while let Some(element) = here.next() {
            assert_eq!(ahead.next(), Some(element));
            assert_eq!(ahead.position(), here.position());
        }
        assert_eq!(ahead.next(), None);
    }
    // A position does not depend on what reads.
    let mut here = sound().stream();
    let mut ahead = sound().stream().read_options(options(2, 8));
    (0..5).for_each(|_| drop(ahead.next()));
    here.restore(&ahead.position()).unwrap();
    assert_eq!(here.next(), ahead.next());
    let mut again = here.read_options(ReadOptions::default());
    assert_eq!(again.next(), ahead.next());
}

#[test]
fn errors_and_panics_belong_to_their_elements() {
    let mut stream = faulty(9).stream().read_options(options(3, 6));
    let all: Vec<_> = stream
        .iter()
        .map(|x| x.map_err(|e| e.to_string()))
        .collect();
    assert_eq!(all[3], Err("element 3: 3 is unreadable".into()));
    assert_eq!(all[6], Err("element 6: panicked: six".into()));
    assert_eq!(
        all.iter().flatten().collect::<Vec<_>>(),
        [&0, &1, &2, &5, &7, &8]
    );
    let loader = DataLoader::new(faulty(9)).batch_size(2);
    let here: Vec<_> = loader.iter().collect();
    let messages: Vec<_> = here
        .iter()
        .map(|b| b.clone().err().map(|e| e.to_string()))
        .collect();
    assert_eq!(messages[1].as_deref(), Some("element 3: 3 is unreadable"));
    for options in [options(1, 1), options(3, 4), options(4, 100)] {
        let loader = DataLoader::new(faulty(9))
            .batch_size(2)
            .read_options(options);
        assert_eq!(loader.iter().collect::<Vec<_>>(), here);
    }
    let ragged = vec![vec![1], vec![2, 3]];
    let loader = DataLoader::new(ragged)
        .batch_size(2)
        .read_options(options(2, 2));
    let e = loader.iter().next().unwrap().unwrap_err().to_string();
    assert!(
        e.starts_with("batch of elements 0, 1: item 1 of the batch has"),
        "{e}"
    );
    let loader = DataLoader::with_collate(vec![1, 2], |_| -> Result<()> { panic!("no") });
    let e = loader
        .read_options(options(2, 2))
        .iter()
        .next()
        .unwrap()
        .unwrap_err();
    assert_eq!(e.to_string(), "batch of elements 0: panicked: no");
    let loader = DataLoader::new(0..2)
        .read_options(options(1, 1))
        .worker_init(|_| panic!("off"));
    let e = loader.iter().next().unwrap().unwrap_err().to_string();
    assert_eq!(e, "panicked: in `worker_init`: off");
}

/// Waits for a count, which then stays as it is.
#[track_caller]
fn settles(reads: &AtomicUsize, count: usize) {
    while reads.load(Ordering::SeqCst) < count {
        sleep(Duration::from_millis(1));
    }
    sleep(Duration::from_millis(20));
    assert_eq!(reads.load(Ordering::SeqCst), count);
}

#[test]
fn reading_is_bounded_and_stops() {
    let reads = Arc::new(AtomicUsize::new(0));
    let counted = |reads: &Arc<AtomicUsize>| {
        let counter = reads.clone();
        (0..1000).into_source().map(move |x| {
            counter.fetch_add(1, Ordering::SeqCst);
            x
        })
    };
    let mut stream = counted(&reads).stream().read_options(options(2, 5));
    assert_eq!(stream.next(), Some(Ok(0)));
    settles(&reads, 6);
    drop(stream);
    assert_eq!(Arc::strong_count(&reads), 1);
    reads.store(0, Ordering::SeqCst);
    // Whole batches: two of 4 are the first that fill a buffer of 5.
    let loader = DataLoader::new(counted(&reads))
        .batch_size(4)
        .read_options(options(2, 5));
    let mut batches = loader.iter();
    assert!(batches.next().is_some());
    settles(&reads, 12);
    drop((batches, loader));
    assert_eq!(Arc::strong_count(&reads), 1);
    // Without threads or a buffer, the calling thread reads.
    let here = thread::current().id();
    let by = move |_| thread::current().id() == here;
    for options in [options(0, 5), options(5, 0)] {
        let mut stream = (0..3).into_source().map(by).stream().read_options(options);
        assert_eq!(
            stream.iter().collect::<Vec<_>>(),
            [Ok(true), Ok(true), Ok(true)]
        );
        let loader = DataLoader::new((0..3).into_source().map(by)).read_options(options);
        assert!(loader.iter().all(|batch| batch.unwrap()[0]));
    }
}

#[test]
fn elements_of_a_batch_are_read_at_the_same_time() {
    let together = Arc::new(Barrier::new(4));
    let source = (0..8).into_source().map(move |x| {
        together.wait();
        x
    });
    let loader = DataLoader::new(source)
        .batch_size(4)
        .read_options(options(4, 4));
    let batches: Vec<Array1<usize>> = loader.iter().collect::<Result<_>>().unwrap();
    assert_eq!(batches, [array![0, 1, 2, 3], array![4, 5, 6, 7]]);
}

#[test]
fn masks_and_kept_workers_read_too() {
    let loader = || {
        DataLoader::new(0..10)
            .batch_size(4)
            .shuffle(3)
            .masked()
            .epochs(2)
    };
    let here: Vec<_> = loader().iter().collect();
    let reading = loader().persistent_workers().read_options(options(3, 6));
    assert_eq!(reading.iter().collect::<Vec<_>>(), here);
    assert_eq!(reading.iter().collect::<Vec<_>>(), here);
    // The last of `workers` and `read_options` counts.
    assert_eq!(reading.workers(0).iter().collect::<Vec<_>>(), here);
    let empty = DataLoader::new(0..3).batch_sampler(|_| vec![vec![], vec![1, 2], vec![]]);
    let sizes = empty
        .read_options(options(2, 3))
        .iter()
        .map(|b| b.unwrap().len());
    assert_eq!(sizes.collect::<Vec<_>>(), [0, 2, 0]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    /// A state taken anywhere gives the rest to a loader that reads in other ways.
    #[test]
    fn loaders_resume_whatever_reads(
        n in 1usize..40, size in 1usize..7, seed: u64, taken in 0usize..20,
        before in (0usize..4, 0usize..9), after in (0usize..4, 0usize..9), shard in 0usize..2,
    ) {
        let loader = |(threads, buffer)| {
            let loader = DataLoader::new(0..n).batch_size(2 * size).shuffle(seed).epochs(2);
            loader.shard(Shard::new(shard, 2)).read_options(options(threads, buffer))
        };
        let mut batches = loader(before).iter();
        batches.by_ref().take(taken).for_each(drop);
        let saved = serde_json::to_string(&batches.state()).unwrap();
        let state: LoaderState = serde_json::from_str(&saved).unwrap();
        let rest: Vec<_> = loader(after).resume(&state).unwrap().collect();
        prop_assert_eq!(batches.collect::<Vec<_>>(), rest);
    }
}
