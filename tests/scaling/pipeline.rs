//! A pipeline: each device has one stage, and microbatches pass from one to the
//! next.

use crate::{STEPS, assert_close, mesh};
use ramie::lax::{axis_index, axis_size, ppermute, psum, pvary, scan};
use ramie::optim::{GradientTransformation, OptState, adam, apply_updates};
use ramie::*;

const STAGES: usize = 8;
const WIDTH: usize = 16;

/// The stages of a network, one along the first axis of each array.
#[derive(Tree)]
struct Stages {
    kernel: Array,
    bias: Array,
}

fn stage(kernel: &Array, bias: &Array, x: &Array) -> Array {
    x + (x.matmul(kernel) + bias).tanh()
}

/// All stages one after the other.
fn in_order(stages: Stages, x: Array) -> Array {
    let one = |x: Array, (kernel, bias): (Array, Array)| (stage(&kernel, &bias, &x), ());
    scan(one, x, (stages.kernel, stages.bias)).0
}

/// The same for a device that has one of the stages: in every tick it works on
/// one of the microbatches `x: [count, rows, WIDTH]` and hands the result on.
/// After `count + stages - 1` ticks the last has seen all.
fn pipelined(mine: Stages, x: Array) -> Array {
    let (n, here) = (axis_size("stage"), axis_index("stage"));
    let (kernel, bias) = (mine.kernel.squeeze(&[0]), mine.bias.squeeze(&[0]));
    let (count, last) = (x.shape()[0], n as i32 - 1);
    let next: Vec<(usize, usize)> = (0..n - 1).map(|i| (i, i + 1)).collect();
    let tick = |(came, outs): (Array, Array), t: Array| {
        let fresh = x
            .dynamic_index_in_dim(t.minimum(count as i32 - 1), 0)
            .squeeze(&[0]);
        let input = where_(here.eq(0), fresh, came);
        let out = stage(&kernel, &bias, &input);
        // Before the first is through, what is written here is overwritten.
        let done = (&t - last).maximum(0);
        let outs = outs.dynamic_update_slice_in_dim(&out.expand_dims(&[0]), done, 0);
        ((ppermute(&out, "stage", &next), outs), ())
    };
    let empty = pvary(&Array::zeros(x.shape(), x.dtype()), "stage");
    let came = empty.index(0);
    let ticks = Array::arange(count + n - 1);
    let ((_, outs), ()) = scan(tick, (came, empty), ticks);
    psum(&where_(here.eq(last), outs, 0.0), "stage")
}

#[derive(Tree)]
struct Trainer {
    stages: Stages,
    moments: OptState,
}

/// Trains with this way through the stages.
fn losses(
    trainer: &mut Trainer,
    optimizer: &GradientTransformation,
    forward: impl Fn(Stages, Array) -> Array + Send + Sync,
) -> Vec<f32> {
    let step = jit(|t: &mut Trainer, x: Array, y: Array| {
        let loss = |s: Stages| (forward(s, x.clone()) - &y).square().mean();
        let (loss, grads) = value_and_grad(loss)(tree::copy(&t.stages));
        let params = State::of(&t.stages);
        let moments = std::mem::replace(&mut t.moments, OptState::new(()));
        let (updates, moments) = optimizer.update(State::of(&grads), moments, Some(&params));
        t.moments = moments;
        let new = apply_updates(&params, &updates);
        t.stages = tree::with_leaves(&t.stages, new.arrays().iter().cloned());
        loss
    });
    let key = random::key(1);
    (0..STEPS)
        .map(|i| {
            let x = random::normal(&key.fold_in(i as u32), &[4, 8, WIDTH], DType::F32);
            let y = x.roll(1, -1);
            step(trainer, x, y).item()
        })
        .collect()
}

fn trainer(optimizer: &GradientTransformation) -> Trainer {
    let stages = Stages {
        kernel: random::normal(&random::key(0), &[STAGES, WIDTH, WIDTH], DType::F32) * 0.1,
        bias: Array::zeros(&[STAGES, WIDTH], DType::F32),
    };
    let moments = optimizer.init(&State::of(&stages));
    Trainer { stages, moments }
}

#[test]
fn a_pipeline_trains_as_one_device() {
    let mesh = mesh(&[STAGES], &["stage"]);
    let optimizer = adam(1e-2).into();
    let want = losses(&mut trainer(&optimizer), &optimizer, in_order);
    assert!(want[STEPS - 1] < want[0], "{want:?}");

    let forward = shard_map(pipelined, mesh, [P!["stage"], P![]], P![]);
    let mut sharded = trainer(&optimizer);
    sharded.stages = device_put(&sharded.stages, NamedSharding::new(mesh, P!["stage"]));
    // Moments are made from the parameters, and lie where these do.
    sharded.moments = optimizer.init(&State::of(&sharded.stages));
    let got = losses(&mut sharded, &optimizer, forward);
    assert_close("pipeline", &got, &want, 1e-4);
    tree::for_each_with_path(&sharded, |path, _, array| {
        let part = array.addressable_shards()[3].data().shape().to_vec();
        let sharded = part.first().is_some_and(|n| *n == 1);
        assert!(sharded || array.ndim() == 0, "{path}: {part:?}");
    });
}
