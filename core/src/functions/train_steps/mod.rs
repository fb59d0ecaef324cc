//! `train_steps`: several train steps in one call.

mod step_function;

pub use step_function::StepFunction;

use crate::base::location::Caller;
use crate::prim::control::functions::scan::{ScanOptions, scan_as};
use crate::prim::control::functions::{carry, differences, varying_help};
use crate::program::tree;
use crate::typing::MapAxes;
use crate::{Array, Tree};
use std::fmt;
use std::ops::RangeToInclusive;

/// The number of steps per call of [`train_steps`]: exactly `10`, or `..=10` for the number of
/// batches up to that maximum.
///
/// ```
/// use ramie_core::typing::StepCount;
/// assert_eq!(StepCount::from(10).to_string(), "10");
/// assert_eq!(StepCount::from(..=10).to_string(), "at most 10");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepCount {
    most: usize,
    fewer: bool,
}

impl From<usize> for StepCount {
    fn from(most: usize) -> StepCount {
        StepCount { most, fewer: false }
    }
}

impl From<RangeToInclusive<usize>> for StepCount {
    fn from(to: RangeToInclusive<usize>) -> StepCount {
        StepCount {
            most: to.end,
            fewer: true,
        }
    }
}

impl fmt::Display for StepCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.fewer {
            f.write_str("at most ")?;
        }
        self.most.fmt(f)
    }
}

/// Options of [`train_steps_with`].
#[derive(Clone, Debug)]
pub struct TrainStepsOptions {
    /// The axis of the steps in each array of the arguments. Defaults to 0. `None` marks
    /// arguments that are the same in each step.
    pub in_axes: MapAxes,
    /// Number of steps per loop iteration in the compiled program, as in [`ScanOptions`]; 0
    /// unrolls all steps. Defaults to 1.
    pub unroll: usize,
}

impl Default for TrainStepsOptions {
    fn default() -> Self {
        TrainStepsOptions {
            in_axes: 0.into(),
            unroll: 1,
        }
    }
}

/// Converts a train step to a function that runs many steps in one program. The state is passed
/// from step to step without launching a program for each. Useful for steps that take less time
/// than the overhead of a call.
///
/// The step takes its state by `&mut`, as in [`jit`](crate::jit), and up to six arguments. The
/// returned function takes the same state, and each argument with the batches of all steps
/// stacked along a new first axis. Its results are stacked in the same way. It computes the same
/// as calling the step with one batch after the other, except that the compiler may round the
/// last bits differently in a loop. The size of the program does not depend on the number of
/// steps; it is a [`scan`](crate::lax::scan).
///
/// ```no_run
/// use ramie_core::{Array, jit, train_steps};
/// fn step(sum: &mut Array, x: Array) -> Array {
///     *sum = &*sum + x;
///     sum.clone()
/// }
/// let steps = jit(train_steps(3, step));
/// let mut sum = Array::from(1.0f32);
/// let sums = steps(&mut sum, Array::from([1.0f32, 2.0, 3.0]));
/// assert_eq!(sum.item::<f32>(), 7.0);
/// assert_eq!(sums.to_vec::<f32>(), [2.0, 4.0, 7.0]);
/// ```
///
/// `loader.iter().stack(3)` stacks the batches of a loader. Its last stack may have fewer
/// batches; `..=3` also accepts that stack, with a separate program for each number of batches.
///
/// Values that are the same in each step can be captured by the step, or passed with the axis
/// `None` in [`train_steps_with`]'s options.
///
/// # Panics
/// Panics if the number of steps is 0. The returned function panics if an array of the arguments
/// has no first axis, or if its size differs from the number of steps, or if a step changes the
/// structure or the types of its state.
#[track_caller]
pub fn train_steps<'f, F, M>(steps: impl Into<StepCount>, step: F) -> Box<F::Many<'f>>
where
    F: StepFunction<M> + 'f,
    M: 'f,
{
    train_steps_with(steps, step, TrainStepsOptions::default())
}

/// Converts a step like [`train_steps`], with options for the stacked axes and for unrolling.
///
/// ```no_run
/// use ramie_core::options::TrainStepsOptions;
/// use ramie_core::{jit, train_steps_with, Array};
/// let step = |w: &mut Array, x: Array, rate: Array| *w = &*w - x * rate;
/// let options = TrainStepsOptions {
///     in_axes: [Some(0), None].into(), // one rate for all steps
///     ..TrainStepsOptions::default()
/// };
/// let steps = jit(train_steps_with(2, step, options));
/// let mut w = Array::from(4.0f32);
/// steps(&mut w, Array::from([2.0f32, 3.0]), Array::from(0.5f32));
/// assert_eq!(w.item::<f32>(), 1.5);
/// ```
///
/// # Panics
/// Panics in the same cases as [`train_steps`], if `in_axes` is a list whose length differs from
/// the number of arguments, or if an array lacks its axis.
#[track_caller]
pub fn train_steps_with<'f, F, M>(
    steps: impl Into<StepCount>,
    step: F,
    options: TrainStepsOptions,
) -> Box<F::Many<'f>>
where
    F: StepFunction<M> + 'f,
    M: 'f,
{
    let (count, caller) = (steps.into(), Caller::of("train_steps"));
    assert!(
        count.most > 0,
        "train_steps: a call must run at least one step, got {count} steps\n  help: pass 1 or \
         more"
    );
    options.in_axes.check_arguments("train_steps", F::COUNT);
    F::many(move |state, args| apply(&step, state, args, count, &options, caller))
}

fn apply<F: StepFunction<M>, M>(
    step: &F,
    state: &mut F::State,
    args: F::Args,
    count: StepCount,
    options: &TrainStepsOptions,
    caller: Caller,
) -> F::Output {
    let axes = options.in_axes.of("in_axes", &args, caller);
    let (stacked, length) = stacked(&args, &axes, count, caller);
    let body = |mut state: F::State, batch: Vec<Array>| {
        let before = tree::copy(&state);
        let (mut batch, mut axes) = (batch.into_iter(), axes.iter());
        let args = tree::map(&args, |shared| match axes.next() {
            Some(Some(_)) => batch.next().expect("one for each array with an axis"),
            _ => shared.clone(),
        });
        let result = step.call(&mut state, args);
        check_state(&before, &state, caller);
        (state, result)
    };
    let options = ScanOptions {
        length: Some(length),
        reverse: false,
        unroll: options.unroll,
    };
    let (after, results) = scan_as("train_steps", "", body, tree::copy(state), stacked, options);
    *state = after;
    results
}

/// Returns the arrays that have one batch per step, with the axis of the steps first, and the
/// number of steps.
fn stacked<A: Tree>(
    args: &A,
    axes: &[Option<isize>],
    count: StepCount,
    caller: Caller,
) -> (Vec<Array>, usize) {
    let (paths, leaves) = (tree::paths(args), tree::leaves(args));
    let mut first: Option<(usize, &String)> = None;
    let mut stacked = Vec::new();
    for ((x, axis), path) in leaves.iter().zip(axes).zip(&paths) {
        let Some(axis) = *axis else { continue };
        let rank = x.ndim() as isize;
        let from = if axis < 0 { axis + rank } else { axis };
        assert!(
            (0..rank).contains(&from),
            "train_steps: argument `{path}` is {}, which has no axis {axis} with one batch per \
             step\n  {caller}\n  help: stack the batches of {count} steps, \
             or pass None in in_axes if the argument is the same in each step",
            x.aval()
        );
        let n = x.shape()[from as usize];
        let fits = if count.fewer {
            (1..=count.most).contains(&n)
        } else {
            n == count.most
        };
        assert!(
            fits,
            "train_steps: argument `{path}` is {}, with size {n} along axis {axis}, expected one \
             batch for each of {count} steps\n  {caller}\n  help: {}",
            x.aval(),
            if count.fewer || n == 0 || n > count.most {
                "stack the batches, for example with `loader.iter().stack(n)`; to run a \
            single batch, call the step itself"
            } else {
                "stack as many batches, for example with \
            `loader.iter().stack(n).drop_last()`, or allow fewer per call: \
            train_steps(..=n, step)"
            }
        );
        match first {
            Some((other, who)) => assert!(
                n == other,
                "train_steps: argument `{who}` has batches for {other} steps, but argument \
                 `{path}` for {n}\n  {caller}\n  help: stack the same \
                 number of batches, or pass None in in_axes for arguments that are the same in \
                 each step"
            ),
            None => first = Some((n, path)),
        }
        stacked.push(x.move_axis(from, 0));
    }
    (stacked, first.map_or(count.most, |(n, _)| n))
}

/// Checks that a step preserved the structure and types of its state, except for numbers, which
/// take the type of the next value.
fn check_state<S: Tree>(before: &S, after: &S, caller: Caller) {
    if carry::promoted(before, after).is_some() {
        return;
    }
    let names = ["the state before the step", "the state after it"];
    let Some(lines) = differences(names, "", (before, after)) else {
        return;
    };
    let help = varying_help(before, after, names).unwrap_or_else(|| {
        "convert with astype or reshape at the end of the step, or start with a state of the \
         types that the step returns; values that are not arrays cannot change between steps"
            .into()
    });
    panic!(
        "train_steps: a step must preserve the structure and types of its state\n  {}\n  {caller}\n  \
         help: {help}",
        lines.join("\n  ")
    );
}
