//! A layer of experts, `out[i] = w[b[i]] @ a[i]`: each token is multiplied with
//! the matrix of the expert that it was sent to.
//!
//! `w` is `[experts, D, F]`, `a` is `[tokens, D]`, `b` is `[tokens]` of integers.
//! The last two functions are for `shard_map` over the axis `X`, which shards the
//! first dimension of all three: each device has its experts and its tokens.

use ramie::{
    Array, DType, all_gather_tiled, all_to_all, axis_index, axis_size, fori_loop, pmax,
    psum_scatter_tiled, pvary, scan, where_, while_loop,
};

const AXIS: &str = "X";

/// Expert by expert, each with all tokens, of which a mask keeps its own. No
/// array of `[tokens, D, F]` is made.
pub fn moe_masked(w: Array, a: Array, b: Array) -> Array {
    let experts = w.shape()[0];
    let step = |out: Array, (e, w): (Array, Array)| {
        let mine = b.eq(&e).expand_dims(&[1]);
        (out + where_(&mine, a.matmul(&w), 0.0), ())
    };
    let out = Array::zeros(&[a.shape()[0], w.shape()[2]], a.dtype());
    scan(step, out, (Array::arange(experts), w)).0
}

/// Tokens sorted by expert, and one product in groups of as many rows as each
/// expert has tokens. Tokens of an expert that is not there give zeros.
pub fn moe_grouped(w: Array, a: Array, b: Array) -> Array {
    let experts = w.shape()[0];
    let order = b.argsort(0);
    let sizes = counts(&b, experts);
    let out = a.take(&order, 0).ragged_dot(&w, &sizes);
    out.take(&order.argsort(0), 0)
}

/// How many of `b` are 0, 1 and so on, before `n`: `i32[n]`.
fn counts(b: &Array, n: usize) -> Array {
    let one_hot = b.one_hot(n, DType::I32);
    one_hot.sum_axes(&[0])
}

// ANCHOR: all_gather
/// Every device sees all tokens, multiplies those of its experts, and gets back
/// the sums for its own tokens.
pub fn moe_all_gather(w: Array, a: Array, b: Array) -> Array {
    let here = w.shape()[0];
    let first = axis_index(AXIS) * (here as i32);
    let a = all_gather_tiled(&a, AXIS, 0);
    let b = all_gather_tiled(&b, AXIS, 0) - first;
    // Tokens of other devices' experts come after those of the experts here.
    let foreign = b.lt(0).logical_or(b.ge(here as i32));
    let out = moe_grouped(w, a, where_(&foreign, here as i32, b));
    psum_scatter_tiled(&out, AXIS, 0)
}
// ANCHOR_END: all_gather

/// Tokens go to their experts and come back, `chunk` of them from each device to
/// each other in a round, for as many rounds as the fullest pair of devices
/// needs. No device ever has more than that of the tokens of others.
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

/// The same in as many rounds as could be needed, a number that is known before,
/// so that it has derivatives in both modes.
pub fn moe_exchange(w: Array, a: Array, b: Array, chunk: usize) -> Array {
    let rounds = a.shape()[0].div_ceil(chunk);
    let exchange = Exchange::new(w, a, b, chunk);
    let out = exchange.nothing();
    fori_loop(0, rounds as i32, |i, out| exchange.round(&i, out), out)
}

/// What a device knows of its tokens before the first round.
struct Exchange {
    experts: Array,
    /// The tokens, sorted by expert and so by device.
    tokens: Array,
    /// Their experts.
    expert: Array,
    /// Where each was before sorting.
    order: Array,
    /// How many go to each device, and where the first of them is.
    count: Array,
    start: Array,
    /// The greatest of `count`.
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

    /// One round: to each device `chunk` tokens, to be multiplied and sent back.
    fn round(&self, round: &Array, out: Array) -> Array {
        let (tokens, here) = (self.tokens.shape()[0], self.experts.shape()[0]);
        let (devices, chunk) = (axis_size(AXIS), self.chunk);
        // `[devices, chunk]`: which of the sorted tokens go where.
        let slot = Array::arange(chunk) + round * (chunk as i32);
        let there = slot.expand_dims(&[0]).lt(self.count.expand_dims(&[1]));
        let from = slot.expand_dims(&[0]) + self.start.expand_dims(&[1]);
        let from = where_(&there, from, 0);
        let sent = self.tokens.take(&from, 0);
        let first = axis_index(AXIS) * (here as i32);
        // A slot without a token has an expert that no device has.
        let none = (devices * here) as i32;
        let expert = where_(&there, self.expert.take(&from, 0), none);

        let got = all_to_all(&sent, AXIS, 0, 0);
        let expert = all_to_all(&expert, AXIS, 0, 0);
        let all = devices * chunk;
        let expert = (expert - first).reshape(&[all]).minimum(here as i32);
        let (depth, width) = (got.shape()[2], out.shape()[1]);
        let made = moe_grouped(self.experts.clone(), got.reshape(&[all, depth]), expert);
        let back = all_to_all(&made.reshape(&[devices, chunk, width]), AXIS, 0, 0);

        // What is written past the end is dropped.
        let place = where_(&there, self.order.take(&from, 0), tokens as i32);
        out.at(place).set(back)
    }
}

/// The mean over the `k` experts that each token is sent to, by any of the
/// functions above: `b` is `[tokens, k]`.
pub fn top_k(moe: impl Fn(Array, Array, Array) -> Array) -> impl Fn(Array, Array, Array) -> Array {
    move |w, a, b| {
        let (tokens, k) = (b.shape()[0], b.shape()[1]);
        let each = moe(w, a.repeat(k, 0), b.reshape(&[tokens * k]));
        let width = each.shape()[1];
        each.reshape(&[tokens, k, width]).mean_axes(&[1])
    }
}
