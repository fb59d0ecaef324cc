//! Loaders of several processes: together they give the batches that one gives
//! alone, and go on in another number from where they stood.
//!
//! Each test starts this program several times, in one run after another. Every
//! process joins the others, has its rows of each batch, and writes where its
//! loader stands; the next run has another number of processes, each of which
//! begins with what one of those before has written.

use ndarray::{Array1, Array2};
use ramie_core::distributed;
use ramie_data::{
    BucketSampler, Buckets, DataLoader, IntoSource, LoaderState, Placement, Resumable, Shard,
    SourceExt, WeightedRandomSampler,
};
use ramie_testing::processes::{Program, joining, number, say, variable};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);
const ELEMENTS: usize = 30;

/// Each row: the element's number, and one that was drawn for it in its epoch.
type Rows = Vec<(i32, f32)>;

/// What a process has read, and where its loader stood then.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Read {
    batches: Vec<Rows>,
    state: LoaderState,
}

type Batch = (Array1<i32>, Array2<f32>);

/// Two epochs of elements that differ from epoch to epoch.
fn loader(case: &str) -> DataLoader<Batch> {
    let source = (0..ELEMENTS)
        .into_source()
        .map_random(3, |i, g| (i as i32, [g.uniform() as f32]));
    let loader = DataLoader::new(source).batch_size(8).epochs(2);
    match case {
        "kept" | "on devices" => loader.shuffle(1),
        "dropped" => loader.shuffle(2).drop_last(),
        "drawn" => {
            let weights = (1..=ELEMENTS).map(|i| i as f64);
            loader.sampler(WeightedRandomSampler::new(weights, 40, 5))
        }
        "buckets" => {
            let lengths: Vec<usize> = (0..ELEMENTS).map(|i| i * 7 % 16).collect();
            let buckets = Buckets::with_sizes([4, 16], [8, 4]);
            loader.batch_sampler(BucketSampler::new(&lengths, buckets, 0).expect("short enough"))
        }
        other => panic!("no case {other}"),
    }
}

fn rows(x: &[i32], y: &[f32]) -> Rows {
    x.iter().copied().zip(y.iter().copied()).collect()
}

fn file(run: usize, process: usize) -> PathBuf {
    Path::new(&variable("RAMIE_TEST_FOLDER")).join(format!("{run}_{process}.json"))
}

/// What the processes of these tests run; alone it does nothing.
#[test]
fn child() {
    let Ok(case) = std::env::var("RAMIE_TEST_PART") else {
        return;
    };
    let (count, process) = (number("RAMIE_TEST_COUNT"), number("RAMIE_TEST_PROCESS"));
    let (run, before) = (number("RAMIE_TEST_RUN"), number("RAMIE_TEST_BEFORE"));
    distributed::initialize_with(&joining(60 * SECOND)).expect("all join");
    assert_eq!(Shard::by_process(), Shard::new(process, count));

    let loader = loader(&case)
        .shard(Shard::by_process())
        .workers((run + process) % 3);
    let iterator = match before {
        0 => loader.iter(),
        _ => {
            let saved = std::fs::read(file(run - 1, process % before)).expect("the run before");
            let saved: Read = serde_json::from_slice(&saved).expect("what a process has read");
            loader.resume(&saved.state).expect("a state of this loader")
        }
    };
    let mut read = Read {
        batches: Vec::new(),
        state: iterator.state(),
    };
    let steps = number("RAMIE_TEST_STEPS");
    if case == "on devices" {
        let mut batches = iterator.prefetch_to_device(2, Placement::default());
        while read.batches.len() < steps
            && let Some(batch) = batches.next()
        {
            let (x, y) = batch.expect("a batch");
            read.batches.push(rows(&x.to_vec(), &y.to_vec()));
            read.state = batches.state();
            distributed::sync_global_devices("step").expect("all are there");
        }
    } else {
        let mut batches = iterator;
        while read.batches.len() < steps
            && let Some(batch) = batches.next()
        {
            let (x, y) = batch.expect("a batch");
            read.batches.push(rows(
                &x.to_vec(),
                y.as_slice().expect("one number for each row"),
            ));
            read.state = batches.state();
        }
    }
    let text = serde_json::to_vec(&read).expect("numbers");
    std::fs::write(file(run, process), text).expect("written");
    distributed::shutdown().expect("all leave");
    say("done");
}

/// Runs of these numbers of processes, each of so many steps but for the last,
/// which goes on to the end.
fn go_on(case: &str, runs: &[(usize, usize)]) {
    let mut expected = loader(case).iter().map(|batch| {
        let (x, y) = batch.expect("a batch");
        rows(&x.to_vec(), y.as_slice().expect("one number for each row"))
    });
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().to_str().expect("text");
    let mut before = 0;
    for (run, (count, steps)) in runs.iter().enumerate() {
        let words = format!("{case}: run {run} of {count} processes");
        let steps = if run + 1 == runs.len() { 1000 } else { *steps };
        let variables = [
            ("RAMIE_TEST_FOLDER", folder),
            ("RAMIE_TEST_RUN", &run.to_string()),
            ("RAMIE_TEST_BEFORE", &before.to_string()),
            ("RAMIE_TEST_STEPS", &steps.to_string()),
        ];
        let says = Program::of(case, *count, &variables).says();
        assert_eq!(says, vec!["done"; *count], "{words}");
        let read = |process: usize| -> Read {
            let path = Path::new(folder).join(format!("{run}_{process}.json"));
            let text = std::fs::read(path).expect("what it has read");
            serde_json::from_slice(&text).expect("what a process has read")
        };
        let read: Vec<Read> = (0..*count).map(read).collect();
        for other in &read {
            assert_eq!(other.state, read[0].state, "{words}");
            assert_eq!(other.batches.len(), read[0].batches.len(), "{words}");
        }
        for step in 0..read[0].batches.len() {
            let parts = read.iter().map(|r| r.batches[step].clone());
            let together = parts.collect::<Vec<Rows>>().concat();
            let alone = expected.next().expect("a batch more");
            // What does not come apart is filled up from its first rows on.
            let filled = alone.len().next_multiple_of(*count);
            let filled: Rows = alone.into_iter().cycle().take(filled).collect();
            assert_eq!(together, filled, "{words}, step {step}");
        }
        before = *count;
    }
    assert_eq!(expected.next(), None, "{case}: the last run reads the rest");
}

#[test]
fn two_processes_go_on_as_one_and_one_as_four() {
    for case in ["kept", "dropped"] {
        go_on(case, &[(2, 3), (1, 2), (4, 0)]);
    }
}

#[test]
fn one_process_goes_on_as_two_and_two_as_four() {
    for case in ["drawn", "buckets"] {
        go_on(case, &[(1, 2), (2, 4), (4, 0)]);
    }
}

#[test]
fn three_processes_go_on_as_two() {
    go_on("buckets", &[(3, 5), (2, 0)]);
}

#[test]
fn batches_on_devices_go_on_too() {
    go_on("on devices", &[(2, 5), (1, 1), (2, 0)]);
}
