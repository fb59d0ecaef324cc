//! Sequences of different lengths in one array.

use crate::known_range;
use ramie_core::{Array, DType, Tree, tree, where_};

/// Reverses sequences along the time axis (`flip_sequences`). That is the first axis if
/// `time_major` is true, and the axis after `num_batch_dims` axes otherwise. With lengths, of
/// the shape of the batch axes, each sequence is reversed separately and its padding stays at
/// the end.
///
/// ```no_run
/// use ramie_core::Array;
/// use ramie_nn::flip_sequences;
/// let x = Array::from([[1.0f32, 2.0, 3.0], [4.0, 5.0, 0.0]]).reshape(&[2, 3, 1]);
/// let lengths = Array::from([3, 2]);
/// let y = flip_sequences(&x, Some(&lengths), 1, false);
/// assert_eq!(y.to_vec::<f32>(), [3.0, 2.0, 1.0, 5.0, 4.0, 0.0]);
/// ```
///
/// # Panics
/// Panics if the array has too few axes, if the lengths do not have the shape of the batch, or if a
/// known length is negative or above the number of steps.
#[track_caller]
pub fn flip_sequences(
    inputs: &Array,
    seq_lengths: Option<&Array>,
    num_batch_dims: usize,
    time_major: bool,
) -> Array {
    let time = if time_major { 0 } else { num_batch_dims };
    assert!(
        inputs.ndim() > num_batch_dims,
        "flip_sequences: the input is {}, expected {num_batch_dims} batch axes and a time axis",
        inputs.aval()
    );
    let Some(lengths) = seq_lengths else {
        return inputs.flip(&[time as isize]);
    };
    let steps = inputs.shape()[time];
    let mut batch = inputs.shape()[..=num_batch_dims].to_vec();
    batch.remove(time);
    expect_lengths(lengths, &batch, steps, inputs);
    let mut shape = vec![1; num_batch_dims + 1];
    shape[time] = steps;
    let backwards = steps as i64 - 1 - Array::arange(steps);
    let lengths = lengths.astype(DType::I32).expand_dims(&[time as isize]);
    let places = (backwards.reshape(&shape) + lengths) % (steps as i32);
    let mut shape = places.shape().to_vec();
    shape.resize(inputs.ndim(), 1);
    inputs.take_along_axis(&places.reshape(&shape), time as isize)
}

#[track_caller]
pub(super) fn expect_lengths(lengths: &Array, batch: &[usize], steps: usize, inputs: &Array) {
    assert!(
        lengths.dtype().is_integer() && lengths.shape() == batch,
        "RNN: the sequence lengths are {}, expected integers of shape {batch:?}\n  input {}\n  \
         help: pass a length for each sequence of the batch",
        lengths.aval(),
        inputs.aval()
    );
    let mut ends = known_range(lengths).into_iter().flatten();
    if let Some(length) = ends.find(|length| !(0..=steps as i128).contains(length)) {
        panic!(
            "RNN: a sequence has the length {length}, but the input has {steps} steps\n  input {}\n  \
             help: pass lengths from 0 to {steps}",
            inputs.aval()
        );
    }
}

/// Returns the last carry of each sequence, from the initial carries and from the carries after
/// each step, stacked along a leading time axis. A length out of range gives NaN.
#[track_caller]
pub(super) fn last_carry<C: Tree>(initial: &C, carries: &C, lengths: &Array) -> C {
    let lengths = lengths.astype(DType::I32);
    // An index past the end instead of one that counts from the end.
    let last = where_(lengths.lt(0), i32::MAX, &lengths - 1);
    tree::map2(initial, carries, |first, x| {
        let mut shape = lengths.shape().to_vec();
        shape.resize(first.ndim(), 1);
        let last = last.reshape(&shape).expand_dims(&[0]);
        let picked = x.take_along_axis(&last, 0).squeeze(&[0]);
        where_(lengths.reshape(&shape).eq(0), first, picked)
    })
}
