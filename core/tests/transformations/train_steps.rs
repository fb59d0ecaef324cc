//! `train_steps`: many steps in one program are those of many calls.

use ramie_core::config::disable_jit;
use ramie_core::options::TrainStepsOptions;
use ramie_core::typing::{MapAxes, StepCount};
use ramie_core::*;
use ramie_testing::assert_panics;

fn numbers(values: &[f32]) -> Array {
    Array::from(values.to_vec())
}

fn f32s(x: &Array) -> Vec<f32> {
    x.to_vec::<f32>()
}

type Moving = (Array, Vec<Array>);

/// Momentum on a line: a state of several arrays, two arguments, several results.
fn step((velocity, params): &mut Moving, x: Array, y: Array) -> (Array, Vec<Array>) {
    let loss = |p: Vec<Array>| (&x * &p[0] + &p[1] - &y).square().mean();
    let here: Vec<Array> = params.clone();
    let (loss, grads) = value_and_grad(loss)(here);
    *velocity = &*velocity * 0.9 + stack(&[&grads[0], &grads[1]], 0);
    for (i, p) in params.iter_mut().enumerate() {
        *p = &*p - velocity.index(i) * 0.01;
    }
    (loss, grads)
}

fn start() -> Moving {
    let zero = || Array::scalar(0.0, DType::F32);
    (numbers(&[0.0, 0.0]), vec![zero(), zero()])
}

fn batches(n: usize) -> (Array, Array) {
    let x = random::normal(&random::key(7), &[n, 33], DType::F32);
    let y = &x * 2.0 - 1.0;
    (x, y)
}

fn bits(x: &Array) -> Vec<u32> {
    f32s(x).iter().map(|x| x.to_bits()).collect()
}

#[test]
fn many_steps_are_many_calls() {
    for n in [1, 2, 7] {
        let (x, y) = batches(n);
        let one = jit(step);
        let mut expected = start();
        let results: Vec<_> = (0..n)
            .map(|i| one(&mut expected, x.index(i), y.index(i)))
            .collect();

        for unroll in [1, 3, 0] {
            let options = TrainStepsOptions {
                unroll,
                ..Default::default()
            };
            let many = jit(train_steps_with(n, step, options));
            let mut state = start();
            let (losses, grads) = many(&mut state, x.clone(), y.clone());
            assert_eq!((losses.shape(), grads.len()), (&[n][..], 2));
            for (i, (loss, each)) in results.iter().enumerate() {
                assert_eq!(bits(&losses.index(i)), bits(loss), "{n} steps, {unroll}");
                for (grads, grad) in grads.iter().zip(each) {
                    assert_eq!(bits(&grads.index(i)), bits(grad));
                }
            }
            let (a, b) = (tree::leaves(&state), tree::leaves(&expected));
            for (a, b) in a.iter().zip(&b) {
                assert_eq!(bits(a), bits(b), "{n} steps, {unroll} written out");
            }
            many(&mut state, x.clone(), y.clone());
            assert_eq!(many.compilations(), 1);
        }
    }
}

/// Called without `jit`, of a step that is compiled, and inside of another
/// function: the same.
#[test]
fn it_is_a_function_like_others() {
    let (x, y) = batches(5);
    let many = train_steps(5, step);
    let mut expected = start();
    jit(&*many)(&mut expected, x.clone(), y.clone());
    let compiled = jit(step);
    let of_compiled = train_steps(5, &*compiled);
    let inside = jit(|x: Array, y: Array| {
        let mut state = start();
        many(&mut state, x, y);
        state
    });
    let mut states = vec![start(), start(), start()];
    many(&mut states[0], x.clone(), y.clone());
    of_compiled(&mut states[1], x.clone(), y.clone());
    disable_jit(|| many(&mut states[2], x.clone(), y.clone()));
    states.push(inside(x, y));
    for state in states {
        for (a, b) in tree::leaves(&state).iter().zip(tree::leaves(&expected)) {
            for (a, b) in f32s(a).iter().zip(f32s(&b)) {
                assert!((a - b).abs() < 1e-6, "{a} {b}");
            }
        }
    }
}

#[test]
fn what_is_the_same_in_each_step_has_no_axis() {
    type Batch = (Array, Array);
    let step = |sum: &mut Array, (x, scale): Batch, shift: Array| {
        *sum = &*sum + (x * scale).sum() + shift.sum();
    };
    let x = numbers(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).reshape(&[2, 3]);
    let at_last = TrainStepsOptions {
        in_axes: MapAxes::by_path(|path| (path == "0.0").then_some(-1)),
        ..Default::default()
    };
    let steps = jit(train_steps_with(3, step, at_last));
    let mut sum = Array::scalar(0.0, DType::F32);
    let scale = numbers(&[1.0, 10.0]);
    steps(&mut sum, (x, scale.clone()), numbers(&[0.5]));
    assert_eq!(sum.item::<f32>(), 6.0 + 150.0 + 1.5);
    // Nothing that is gone through, and no arguments.
    let steps = jit(train_steps(4, |x: &mut Array| *x = &*x * 2.0));
    let mut x = Array::scalar(3.0, DType::F32);
    steps(&mut x);
    assert_eq!(x.item::<f32>(), 48.0);
    // A captured array.
    let steps = jit(train_steps(2, |x: &mut Array| *x = &*x * &scale));
    let mut x = numbers(&[1.0, 1.0]);
    steps(&mut x);
    assert_eq!(f32s(&x), [1.0, 100.0]);
}

#[test]
fn a_last_stack_may_have_fewer() {
    let steps = jit(train_steps(..=3, |sum: &mut Array, x: Array| {
        *sum = &*sum + x;
        sum.clone()
    }));
    let mut sum = Array::scalar(0.0, DType::F32);
    assert_eq!(
        f32s(&steps(&mut sum, numbers(&[1.0, 2.0, 3.0]))),
        [1.0, 3.0, 6.0]
    );
    assert_eq!(f32s(&steps(&mut sum, numbers(&[4.0]))), [10.0]);
    assert_eq!(steps.compilations(), 2);
}

/// A state that begins as a number takes the type of what the step makes of it, as
/// in single calls.
#[test]
fn numbers_take_the_type_of_what_comes_next() {
    let half = Array::scalar(0.5, DType::F32);
    let steps = jit(train_steps(2, |x: &mut Array| *x = &*x * &half));
    let mut x = 8.into_array();
    assert_eq!(x.dtype(), DType::I32);
    steps(&mut x);
    assert_eq!((x.dtype(), x.item::<f32>()), (DType::F32, 2.0));
}

/// The new state is in the memory of the old one.
#[test]
fn the_state_is_given_away() {
    let step = |(sum, x): &mut (Array, Array), y: Array| {
        *x = &*x + &y;
        *sum = &*sum + x.sum();
    };
    let steps = jit(train_steps(2, step));
    let state = (
        Array::scalar(0.0, DType::F32),
        Array::zeros(&[7], DType::F32),
    );
    let lowered = steps.lower_with(&state, (Array::ones(&[2, 7], DType::F32),));
    let text = lowered.expect("a program").as_text();
    for part in [
        "tensor<f32> {tf.aliasing_output = 0",
        "tensor<7xf32> {tf.aliasing_output = 1",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn mistakes_are_explained() {
    let add = |sum: &mut Array, x: Array| *sum = &*sum + x.sum();
    let zero = || Array::scalar(0.0, DType::F32);
    assert_panics(|| drop(train_steps(0, add)), &["got 0 steps", "help:"]);
    assert_panics(|| drop(train_steps(..=0, add)), &["got at most 0 steps"]);
    let call = |count: StepCount, shape: &[usize]| {
        let steps = jit(train_steps(count, add));
        steps(&mut zero(), Array::zeros(shape, DType::F32));
    };
    let parts = [
        "train_steps: argument `0` is f32[128,2], with size 128 along axis 0, expected one batch for \
         each of 10 steps",
        "train_steps was called at",
        "to run a single batch, call the step itself",
    ];
    assert_panics(|| call(10.into(), &[128, 2]), &parts);
    assert_panics(
        || call((..=10).into(), &[128, 2]),
        &["each of at most 10 steps"],
    );
    assert_panics(
        || call((..=10).into(), &[0, 2]),
        &["with size 0 along axis 0"],
    );
    let parts = [
        "with size 7 along axis 0",
        "or allow fewer per call: train_steps(..=n, step)",
    ];
    assert_panics(|| call(10.into(), &[7, 2]), &parts);
    assert_panics(
        || call(10.into(), &[]),
        &["argument `0` is f32[], which has no axis 0"],
    );
    let parts = ["in_axes has 3 entries, but the function has 1"];
    let options = || TrainStepsOptions {
        in_axes: [Some(0), None, None].into(),
        ..Default::default()
    };
    assert_panics(|| drop(train_steps_with(2, add, options())), &parts);
    let both = |sum: &mut Array, x: Array, y: Array| *sum = &*sum + x * y;
    let parts = ["argument `0` has batches for 2 steps, but argument `1` for 3"];
    let uneven =
        || jit(train_steps(..=4, both))(&mut zero(), numbers(&[1.0; 2]), numbers(&[1.0; 3]));
    assert_panics(uneven, &parts);
}

#[test]
fn a_state_that_changes_is_explained() {
    let parts = [
        "train_steps: a step must preserve the structure and types of its state",
        "`1.0`: the state before the step has f32[2], the state after it has f32[4]",
        "help: convert with astype",
    ];
    let widen = |(_, v): &mut (Array, Vec<Array>)| v[0] = concatenate(&[&v[0], &v[0]], 0);
    let state = || (Array::from(1), vec![numbers(&[1.0, 2.0])]);
    assert_panics(|| jit(train_steps(2, widen))(&mut state()), &parts);
    assert_panics(|| train_steps(2, widen)(&mut state()), &parts);
    let grow = |(_, v): &mut (Array, Vec<Array>)| v.push(v[0].clone());
    let parts = ["`1.1`: the state after it has f32[2], the state before the step has none"];
    assert_panics(|| jit(train_steps(2, grow))(&mut state()), &parts);
    let count = |(_, n): &mut (Array, usize)| *n += 1;
    assert_panics(
        || jit(train_steps(2, count))(&mut (Array::from(1), 0)),
        &[
            "a value that is not an array",
            "between the state before the step and the state after it",
        ],
    );
}
