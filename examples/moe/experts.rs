//! A mixture-of-experts layer, `out[i] = w[b[i]] @ a[i]`: each token is multiplied by the matrix
//! of the expert that it was routed to.
//!
//! `w` is `[experts, D, F]`, `a` is `[tokens, D]`, and `b` contains the integer experts
//! `[tokens]`. The functions with collectives are for `shard_map` over the axis `X`, which shards
//! the first dimension of all three: each device has some of the experts and some of the tokens.

use ramie::lax::{
    Along, all_gather_with, all_to_all, axis_index, axis_size, fori_loop, pmax, psum_scatter,
    pvary, scan, while_loop,
};
use ramie::{Array, DType, where_};

const AXIS: &str = "X";

/// Multiplies all tokens with each expert in turn; a mask selects the expert's own tokens. Does
/// not allocate an array of `[tokens, D, F]`.
pub fn moe_masked(w: Array, a: Array, b: Array) -> Array {
    let experts = w.shape()[0];
    let step = |out: Array, (e, w): (Array, Array)| {
        let mine = b.eq(&e).expand_dims(&[1]);
        (out + where_(&mine, a.matmul(&w), 0.0), ())
    };
    let out = Array::zeros(&[a.shape()[0], w.shape()[2]], a.dtype());
    scan(step, out, (Array::arange(experts), w)).0
}

/// Sorts the tokens by expert and computes one grouped product with a group of rows per expert.
/// Tokens of experts that do not exist yield zeros.
pub fn moe_grouped(w: Array, a: Array, b: Array) -> Array {
    let experts = w.shape()[0];
    let order = b.argsort(0);
    let sizes = counts(&b, experts);
    let out = a.take(&order, 0).ragged_dot(&w, &sizes);
    out.take(&order.argsort(0), 0)
}

/// Sorts the tokens into a buffer `[experts, tokens, D]` for one product per expert. A row has
/// space for all tokens, since they may all have the same expert; the rest of it is zeros.
pub fn moe_buffer(w: Array, a: Array, b: Array) -> Array {
    let (experts, tokens, depth) = (w.shape()[0], a.shape()[0], a.shape()[1]);
    let one_hot = b.one_hot(experts, DType::I32);
    // The number of earlier tokens of the same expert.
    let slot = ((one_hot.cumsum(0) - 1) * one_hot).sum_over(1);
    let buffer = Array::zeros(&[experts, tokens, depth], a.dtype());
    let buffer = buffer.at((&b, &slot)).set(a);
    buffer.matmul(&w).index((b, slot))
}

/// Counts how many elements of `b` are 0, 1, …, `n - 1`: `i32[n]`.
fn counts(b: &Array, n: usize) -> Array {
    let one_hot = b.one_hot(n, DType::I32);
    one_hot.sum_over(0)
}

// ANCHOR: all_gather
/// Gathers all tokens on every device, multiplies those of its own experts, and scatters the sums
/// to the tokens' devices.
pub fn moe_all_gather(w: Array, a: Array, b: Array) -> Array {
    let here = w.shape()[0];
    let first = axis_index(AXIS) * (here as i32);
    let a = all_gather_with(&a, AXIS, Along::Tiled(0));
    let b = all_gather_with(&b, AXIS, Along::Tiled(0)) - first;
    // Tokens of other devices' experts are sorted after those of local experts.
    let foreign = b.lt(0).logical_or(b.ge(here as i32));
    let out = moe_grouped(w, a, where_(&foreign, here as i32, b));
    psum_scatter(&out, AXIS, Along::Tiled(0))
}
// ANCHOR_END: all_gather

/// Sends tokens to their experts and back, `chunk` of them between each pair of devices per round,
/// for as many rounds as the fullest pair needs. No device ever stores more than one round of
/// other devices' tokens.
pub fn moe_all_to_all(w: Array, a: Array, b: Array, chunk: usize) -> Array {
    let exchange = Exchange::new(w, a, b, chunk);
    let rounds = (pmax(&exchange.fullest, AXIS) + (chunk as i32 - 1)).floor_divide(chunk as i32);
    let out = exchange.nothing();
    let (_, out) = while_loop(
        |(round, _): (Array, Array)| round.lt(&rounds),
        |(round, out)| (&round + 1, exchange.round(&round, out)),
        (Array::from(0i32), out),
    );
    out
}

/// Does the same as [`moe_all_to_all`] in the maximum number of rounds. That number is known in
/// advance, so the function is differentiable in both modes.
pub fn moe_exchange(w: Array, a: Array, b: Array, chunk: usize) -> Array {
    let rounds = a.shape()[0].div_ceil(chunk);
    let exchange = Exchange::new(w, a, b, chunk);
    let out = exchange.nothing();
    fori_loop(0, rounds as i32, |i, out| exchange.round(&i, out), out)
}

/// A device's routing tables before the first round.
struct Exchange {
    experts: Array,
    /// Tokens sorted by expert, and therefore by device.
    tokens: Array,
    /// Experts of the sorted tokens.
    expert: Array,
    /// Original indices of the sorted tokens.
    order: Array,
    /// Number of tokens for each device, and the index of the first of them.
    count: Array,
    start: Array,
    /// Maximum of `count`.
    fullest: Array,
    chunk: usize,
}

impl Exchange {
    fn new(w: Array, a: Array, b: Array, chunk: usize) -> Exchange {
        let (devices, here) = (axis_size(AXIS), w.shape()[0]);
        let order = b.argsort(0);
        let expert = b.take(&order, 0);
        let count = counts(&expert.floor_divide(here as i32), devices);
        Exchange {
            tokens: a.take(&order, 0),
            start: count.cumsum(0) - &count,
            fullest: count.max(),
            experts: w,
            expert,
            order,
            count,
            chunk,
        }
    }

    fn nothing(&self) -> Array {
        let shape = [self.tokens.shape()[0], self.experts.shape()[2]];
        pvary(&Array::zeros(&shape, self.tokens.dtype()), AXIS)
    }

    /// Runs one round: sends `chunk` tokens to each device, which multiplies them and sends them
    /// back.
    fn round(&self, round: &Array, out: Array) -> Array {
        let (tokens, here) = (self.tokens.shape()[0], self.experts.shape()[0]);
        let (devices, chunk) = (axis_size(AXIS), self.chunk);
        // `[devices, chunk]`: indices of the sorted tokens to send.
        let slot = Array::arange(chunk) + round * (chunk as i32);
        let there = slot.expand_dims(&[0]).lt(self.count.expand_dims(&[1]));
        let from = slot.expand_dims(&[0]) + self.start.expand_dims(&[1]);
        let from = where_(&there, from, 0);
        let sent = self.tokens.take(&from, 0);
        let first = axis_index(AXIS) * (here as i32);
        // Empty slots get an expert that no device has.
        let none = (devices * here) as i32;
        let expert = where_(&there, self.expert.take(&from, 0), none);

        let got = all_to_all(&sent, AXIS, 0, 0);
        let expert = all_to_all(&expert, AXIS, 0, 0);
        let all = devices * chunk;
        let expert = (expert - first).reshape(&[all]).minimum(here as i32);
        let (depth, width) = (got.shape()[2], out.shape()[1]);
        let made = moe_grouped(self.experts.clone(), got.reshape(&[all, depth]), expert);
        let back = all_to_all(&made.reshape(&[devices, chunk, width]), AXIS, 0, 0);

        // Updates with an index past the end are dropped.
        let place = where_(&there, self.order.take(&from, 0), tokens as i32);
        out.at(place).set(back)
    }
}

/// Returns a function that averages over the `k` experts of each token, using any of the functions
/// above: `b` is `[tokens, k]`.
pub fn top_k(moe: impl Fn(Array, Array, Array) -> Array) -> impl Fn(Array, Array, Array) -> Array {
    move |w, a, b| {
        let [tokens, k] = b.dims();
        let each = moe(w, a.repeat(k, 0), b.reshape(&[tokens * k]));
        let width = each.shape()[1];
        each.reshape(&[tokens, k, width]).mean_over(1)
    }
}
