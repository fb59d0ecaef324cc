//! Expert parallel: tokens go to the devices that have their experts, and back.

#[path = "../../examples/moe/experts.rs"]
mod experts;

use crate::{STEPS, assert_close, mesh};
use experts::{moe_all_gather, moe_all_to_all, moe_buffer, moe_exchange, moe_masked, top_k};
use ramie::nn::{Module, Optimizer, Param, Tree, value_and_grad};
use ramie::optim::adam;
use ramie::*;

const EXPERTS: usize = 16;
const TOKENS: usize = 64;
const WIDTH: usize = 8;

#[derive(Module)]
struct Moe {
    router: Param,
    experts: Param,
}

#[derive(Tree)]
struct Trainer {
    model: Moe,
    optimizer: Optimizer,
}

fn trainer() -> Trainer {
    let key = random::key(0);
    let model = Moe {
        router: Param::new(random::normal(&key, &[WIDTH, EXPERTS], DType::F32)),
        experts: Param::new(
            random::normal(&key.fold_in(1), &[EXPERTS, WIDTH, WIDTH], DType::F32) * 0.1,
        ),
    };
    let optimizer = Optimizer::new(&model, adam(1e-2));
    Trainer { model, optimizer }
}

/// Trains with this way to the experts. Each token's result is that of the expert
/// with the best score, times its probability, so that the router learns, too.
fn losses(
    trainer: &mut Trainer,
    moe: impl Fn(Array, Array, Array) -> Array + Send + Sync,
) -> Vec<f32> {
    let step = jit(|t: &mut Trainer, x: Array, y: Array| {
        let (loss, grads) = value_and_grad(&mut t.model, |m| {
            let probability = x.matmul(&*m.router).softmax(-1);
            let (gate, chosen) = probability.top_k(1);
            let out = moe(m.experts.value().clone(), x.clone(), chosen.squeeze(&[1]));
            (&x + out * gate - &y).square().mean()
        });
        t.optimizer.update(&mut t.model, grads);
        loss
    });
    let key = random::key(2);
    (0..STEPS)
        .map(|i| {
            let x = random::normal(&key.fold_in(i as u32), &[TOKENS, WIDTH], DType::F32);
            let y = &x * 2.0;
            step(trainer, x, y).item()
        })
        .collect()
}

#[test]
fn experts_on_their_devices_train_as_on_one() {
    let mesh = mesh(&[8], &["X"]);
    let want = losses(&mut trainer(), moe_masked);
    assert!(want[STEPS - 1] < 0.9 * want[0], "{want:?}");
    let buffered = losses(&mut trainer(), moe_buffer);
    assert_close("buffer", &buffered, &want, 1e-4);
    let mut sharded = trainer();
    sharded.model.experts = device_put(&sharded.model.experts, NamedSharding::new(mesh, P!["X"]));
    sharded.optimizer = Optimizer::new(&sharded.model, adam(1e-2));
    let bytes = sharded.model.experts.addressable_bytes();
    assert!(bytes.iter().all(|b| b.1 == EXPERTS / 8 * WIDTH * WIDTH * 4));
    let exchange = |w: Array, a: Array, b: Array| moe_exchange(w, a, b, 4);
    let got = losses(&mut sharded, shard_map(exchange, mesh, P!["X"], P!["X"]));
    assert_close("experts", &got, &want, 1e-4);

    // What was trained answers in other ways, too, here by two experts each.
    let x = random::normal(&random::key(3), &[TOKENS, WIDTH], DType::F32);
    let (_, chosen) = x.matmul(&*sharded.model.router).top_k(2);
    let experts = sharded.model.experts.value().clone();
    let exchange = top_k(|w, a, b| moe_all_to_all(w, a, b, 4));
    let exchange = jit(shard_map(exchange, mesh, P!["X"], P!["X"]));
    let gather = jit(shard_map(top_k(moe_all_gather), mesh, P!["X"], P!["X"]));
    let a = exchange(experts.clone(), x.clone(), chosen.clone());
    let b = gather(experts, x, chosen);
    assert_close("two experts", &a.to_vec::<f32>(), &b.to_vec::<f32>(), 1e-5);
}
