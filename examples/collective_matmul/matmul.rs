//! Products of matrices that are sharded along the mesh axis `Y`, for use in `shard_map`.
//! Communication around a ring of devices overlaps with computation.
//!
//! Wang et al., *Overlap Communication with Dependent Computation via Decomposition in Large Deep
//! Learning Models*, 2023.

use ramie::lax::{axis_index, axis_size, fori_loop_with, ppermute, psum, pvary};
use ramie::options::ForiLoopOptions;
use ramie::{Array, Tree, concatenate};

/// Mesh axis of the ring.
const AXIS: &str = "Y";

/// Direction in the ring: each device sends to the previous one, or to the next one.
#[derive(Clone, Copy, PartialEq)]
pub enum Way {
    Back,
    Forth,
}

/// All parts travel in the same direction.
pub const ONE_WAY: &[Way] = &[Way::Back];
/// One half travels in one direction, the other half in the other, at the same time.
pub const BOTH_WAYS: &[Way] = &[Way::Back, Way::Forth];

impl Way {
    fn send(self, x: &Array) -> Array {
        let n = axis_size(AXIS);
        let to = |i: usize| match self {
            Way::Back => (i + n - 1) % n,
            Way::Forth => (i + 1) % n,
        };
        let pairs: Vec<(usize, usize)> = (0..n).map(|i| (i, to(i))).collect();
        ppermute(x, AXIS, &pairs)
    }

    /// Returns the device whose current part arrives here after `steps` steps.
    fn source(self, steps: &Array) -> Array {
        let n = axis_size(AXIS) as i32;
        let here = axis_index(AXIS);
        match self {
            Way::Back => (here + steps) % n,
            Way::Forth => (here - steps + n) % n,
        }
    }
}

/// Runs the steps of a ring unrolled, so that the compiler can start the communication of a step
/// before the computation of the previous one has ended.
fn around<C: Tree>(steps: usize, body: impl Fn(Array, C) -> C, init: C) -> C {
    let unrolled = ForiLoopOptions { unroll: 0 };
    fori_loop_with(0, steps as i32, body, init, unrolled)
}

fn zeros(rows: usize, columns: usize, like: &Array) -> Array {
    pvary(&Array::zeros(&[rows, columns], like.dtype()), ["X", AXIS])
}

/// Computes `A[X, D/Y] · W[D, F/Y] → [X, F/Y]`. Row blocks of `A` travel, and each device
/// multiplies the blocks that arrive with the matching rows of `W`.
pub fn all_gather_matmul(lhs: &Array, rhs: &Array, ways: &[Way]) -> Array {
    let n = axis_size(AXIS);
    let chunk = lhs.shape()[1];
    let rows = lhs.shape()[0] / ways.len();
    // ANCHOR: ring
    let product = |way: Way, step: &Array, lhs: &Array| {
        let start = way.source(step) * (chunk as i32);
        lhs.matmul(rhs.dynamic_slice_in_dim(start, chunk, 0))
    };
    // For each direction, the sum so far and the traveling part.
    let step = |i: Array, parts: Vec<(Array, Array)>| {
        let each = ways.iter().zip(parts);
        each.map(|(way, (sum, lhs))| (sum + product(*way, &i, &lhs), way.send(&lhs)))
            .collect()
    };
    let part = |w: usize| lhs.slice_in_dim(w * rows, (w + 1) * rows, 1, 0);
    let init: Vec<(Array, Array)> = (0..ways.len())
        .map(|w| (zeros(rows, rhs.shape()[1], lhs), part(w)))
        .collect();
    // The last step does not need to send anything.
    // ANCHOR_END: ring
    let last = Array::from(n as i32 - 1);
    let parts = around(n - 1, step, init);
    let each = ways.iter().zip(&parts);
    let sums: Vec<Array> = each
        .map(|(way, (sum, lhs))| sum + product(*way, &last, lhs))
        .collect();
    concatenate(&sums.iter().collect::<Vec<_>>(), 0)
}

/// Returns this device's columns of `A · W`, summed over all devices of the ring, with one part
/// per direction.
fn scattered(lhs: &Array, rhs: &Array, ways: &[Way]) -> Vec<Array> {
    let n = axis_size(AXIS);
    let chunk = rhs.shape()[1] / n;
    let columns = chunk / ways.len();
    let product = |w: usize, left: &Array| {
        // The current sum belongs to the device that it reaches in `left` steps.
        let to = match ways[w] {
            Way::Back => Way::Forth.source(left),
            Way::Forth => Way::Back.source(left),
        };
        let start = to * (chunk as i32) + (w * columns) as i32;
        lhs.matmul(rhs.dynamic_slice_in_dim(start, columns, 1))
    };
    let step = |i: Array, sums: Vec<Array>| {
        let left = Array::from(n as i32 - 1) - i;
        let each = sums.into_iter().enumerate();
        each.map(|(w, sum)| ways[w].send(&(sum + product(w, &left))))
            .collect()
    };
    let none = zeros(lhs.shape()[0], columns, lhs);
    let sums = around(n - 1, step, vec![none; ways.len()]);
    let each = sums.iter().enumerate();
    each.map(|(w, sum)| sum + product(w, &Array::from(0)))
        .collect()
}

/// Computes `A[X, F/Y] · W[F/Y, D] → [X, D/Y]`. Sums travel, and each device adds its products to
/// the sums that arrive.
pub fn reduce_scatter_matmul(lhs: &Array, rhs: &Array, ways: &[Way]) -> Array {
    let sums = scattered(lhs, rhs, ways);
    concatenate(&sums.iter().collect::<Vec<_>>(), 1)
}

/// Computes `A[X, D/Y] · W[D/Y, F] → [X, F]` in `tiles` column blocks, one after the other: while
/// one is summed over the devices, the next is multiplied.
pub fn all_reduce_matmul(lhs: &Array, rhs: &Array, tiles: usize) -> Array {
    let columns = rhs.shape()[1] / tiles;
    let tile = |t| lhs.matmul(rhs.slice_in_dim(t * columns, (t + 1) * columns, 1, 1));
    let sums: Vec<Array> = (0..tiles).map(|t| psum(&tile(t), AXIS)).collect();
    concatenate(&sums.iter().collect::<Vec<_>>(), 1)
}

/// Computes the same as [`all_reduce_matmul`] around the ring, in both directions: sums travel
/// until each device has those of its columns, which then travel on until all devices have all of
/// them.
///
/// The result is replicated over the ring, which types cannot express.
pub fn all_reduce_matmul_ring(lhs: &Array, rhs: &Array, ways: &[Way]) -> Array {
    let n = axis_size(AXIS);
    let (rows, chunk) = (lhs.shape()[0], rhs.shape()[1] / n);
    let columns = chunk / ways.len();
    let put = |out: Array, parts: &[Array], step: &Array| {
        parts.iter().enumerate().fold(out, |out, (w, part)| {
            let start = ways[w].source(step) * (chunk as i32) + (w * columns) as i32;
            out.dynamic_update_slice_in_dim(part, start, 1)
        })
    };
    let step = |i: Array, (out, parts): (Array, Vec<Array>)| {
        let sent = ways.iter().zip(&parts).map(|(way, part)| way.send(part));
        (put(out, &parts, &i), sent.collect())
    };
    let init = (zeros(rows, n * chunk, lhs), scattered(lhs, rhs, ways));
    let (out, parts) = around(n - 1, step, init);
    put(out, &parts, &Array::from(n as i32 - 1))
}

/// Computes `In[X, D/Y] · W_in[D, F/Y] → relu → · W_out[F/Y, D] → [X, D/Y]`: the two products of a
/// transformer block.
pub fn block(x: &Array, w_in: &Array, w_out: &Array, ways: &[Way]) -> Array {
    let hidden = all_gather_matmul(x, w_in, ways).relu();
    reduce_scatter_matmul(&hidden, w_out, ways)
}
