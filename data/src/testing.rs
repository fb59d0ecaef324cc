//! Checks for custom sources, samplers and stages.

use crate::stream::{Position, Stream};
use crate::{DataLoader, LoaderState, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// Returns a state after saving it to a string and reading it back.
fn saved<T: Serialize + DeserializeOwned>(state: &T) -> T {
    let text = serde_json::to_string(state).expect("numbers and names");
    serde_json::from_str(&text).expect("what was written")
}

/// Checks that a loader resumes exactly from every position. Before the first batch and after
/// each of the first `steps` batches, it saves the state to a string, reads it back, and compares
/// the output of [`resume`](DataLoader::resume) with the remaining batches (Grain's
/// `assert_equal_output_after_checkpoint`). Returns the number of batches.
///
/// ```
/// use ramie_data::{DataLoader, testing};
/// let loader = DataLoader::new(0..20).batch_size(3).shuffle(0).epochs(2).workers(2);
/// assert_eq!(testing::assert_equal_output_after_checkpoint(&loader, 5), 14);
/// ```
///
/// # Panics
/// Panics if the output differs or a state cannot be restored.
#[track_caller]
pub fn assert_equal_output_after_checkpoint<B>(loader: &DataLoader<B>, steps: usize) -> usize
where
    B: Debug + PartialEq + Send + 'static,
{
    let whole: Vec<Result<B>> = loader.iter().collect();
    let mut batches = loader.iter();
    for given in 0..=steps.min(whole.len()) {
        let state: LoaderState = saved(&batches.state());
        let resumed = match loader.resume(&state) {
            Ok(resumed) => resumed,
            Err(e) => panic!("the state after {given} batches cannot be restored: {e}"),
        };
        let left: Vec<Result<B>> = resumed.collect();
        assert_eq!(
            left,
            whole[given..],
            "the output after {given} batches differs after restoring"
        );
        batches.next();
    }
    whole.len()
}

/// Checks that a stream resumes exactly from every position. Before each element and at the end,
/// it saves the position to a string, reads it back, and restores it into an identically built
/// stream, both a fresh one and one that has ended. Returns the number of elements.
///
/// ```
/// use ramie_data::{IntoSource, SourceExt, StreamExt, testing};
/// let build = || (0..9).into_source().stream().window(3, 2).window_shuffle(2, 0);
/// assert_eq!(testing::assert_equal_stream_after_checkpoint(build), 4);
/// ```
///
/// # Panics
/// Panics if the output differs or a position cannot be restored.
#[track_caller]
pub fn assert_equal_stream_after_checkpoint<S>(build: impl Fn() -> S) -> usize
where
    S: Stream<Item: Debug + PartialEq>,
{
    let rest =
        |stream: &mut S| -> Vec<Result<S::Item>> { std::iter::from_fn(|| stream.next()).collect() };
    let whole = rest(&mut build());
    let mut stream = build();
    for given in 0..=whole.len() {
        let position: Position = saved(&stream.position());
        let mut again = build();
        for how in ["", ", into a stream that has ended"] {
            if let Err(e) = again.restore(&position) {
                panic!("the position after {given} elements cannot be restored{how}: {e}");
            }
            assert_eq!(
                again.position(),
                position,
                "the position after {given} elements differs after restoring{how}"
            );
            assert_eq!(
                rest(&mut again),
                whole[given..],
                "the output after {given} elements differs after restoring{how}"
            );
            assert!(
                again.next().is_none(),
                "a stream that has ended returned another element"
            );
        }
        assert_eq!(
            stream.next().as_ref(),
            whole.get(given),
            "element {given} differs between two reads"
        );
    }
    whole.len()
}
