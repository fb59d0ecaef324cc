//! Attention that computes one block of keys at a time, and its gradient.
//!
//! Softmax is computed incrementally: each query carries the maximum product so far, the sum of
//! exponentials relative to it, and the weighted sum of values. The sums are rescaled whenever
//! the maximum grows. The gradient stores the maximum and the sum of exponentials, from which the
//! weights of any block can be recomputed.

use super::Attention;
use super::visible::{Columns, per_group};
use crate::dtypes::promote_types;
use crate::lax::scan;
use crate::options::Reduction;
use crate::prim::dot::DotDimensionNumbers;
use crate::{Array, DType, custom_vjp, where_};

/// Residuals of the backward rule: the arguments, the result, and for each query the maximum
/// product and the sum of exponentials.
type Residuals = ((Array, Array, Array, Attention), [Array; 3]);

/// Sizes: batch, key heads, query heads per key head, queries, keys, head size.
#[derive(Clone, Copy)]
struct Sizes {
    b: usize,
    heads: usize,
    group: usize,
    t: usize,
    s: usize,
    h: usize,
    block: usize,
}

impl Sizes {
    fn of(q: &Array, k: &Array, block: usize) -> Sizes {
        let (&[b, t, n, h], &[_, s, heads, _]) = (q.shape(), k.shape()) else {
            unreachable!("checked to have four axes")
        };
        Sizes {
            b,
            heads,
            group: n / heads,
            t,
            s,
            h,
            block: block.min(s),
        }
    }

    /// Returns the number of keys, padded to whole blocks.
    fn padded(&self) -> usize {
        self.s.next_multiple_of(self.block)
    }

    /// Returns the first key index of each block.
    fn starts(&self) -> Array {
        Array::arange(self.padded() / self.block).astype(DType::I32) * self.block as i64
    }

    /// Reshapes `[B, T, N, H]` to `[B, K, G, T, H]`.
    fn grouped(&self, x: &Array) -> Array {
        x.reshape(&[self.b, self.t, self.heads, self.group, x.shape()[3]])
            .transpose(&[0, 2, 3, 1, 4])
    }

    /// Reshapes `[B, K, G, T, H]` to `[B, T, N, H]`.
    fn ungrouped(&self, x: &Array) -> Array {
        let h = x.shape()[4];
        x.transpose(&[0, 3, 1, 2, 4])
            .reshape(&[self.b, self.t, self.heads * self.group, h])
    }

    /// Pads keys or values with zeros to whole blocks.
    fn filled(&self, x: &Array) -> Array {
        match self.padded() - self.s {
            0 => x.clone(),
            more => x.pad(&[(0, 0), (0, more), (0, 0), (0, 0)], 0.0),
        }
    }

    /// Reshapes stacked blocks `[blocks, B, width, K, H]` to `[B, S, K, H]`.
    fn joined(&self, blocks: &Array) -> Array {
        let h = blocks.shape()[4];
        blocks
            .move_axis(0, 1)
            .reshape(&[self.b, self.padded(), self.heads, h])
            .slice_in_dim(0, self.s, 1, 1)
    }

    /// Reshapes stacked blocks `[blocks, B, K, G, T, width]` of a bias to `[B, K, G, T, S]`.
    fn joined_bias(&self, blocks: &Array) -> Array {
        let blocks = blocks.move_axis(0, -2);
        let shape = [&blocks.shape()[..4], &[self.padded()]].concat();
        blocks.reshape(&shape).slice_in_dim(0, self.s, 1, -1)
    }
}

/// Inputs of a pass over the keys: queries `[B, K, G, T, H]`, and keys and values padded to whole
/// blocks.
struct Blocks {
    sizes: Sizes,
    /// The options, with arrays per key padded like the keys.
    how: Attention,
    /// The dtype of the sums.
    wide: DType,
    query: Array,
    keys: Array,
    values: Array,
}

impl Blocks {
    fn of(how: &Attention, q: &Array, k: &Array, v: &Array) -> Blocks {
        let sizes = Sizes::of(q, k, how.block.unwrap_or(usize::MAX));
        Blocks {
            how: how.padded(sizes.s, sizes.padded()),
            wide: promote_types(q.dtype(), DType::F32),
            query: sizes.grouped(q),
            keys: sizes.filled(k),
            values: sizes.filled(v),
            sizes,
        }
    }

    /// Returns the products of all queries with the keys of the block that starts at `start`
    /// (minus infinity for padding), the mask of visible keys, and the block's keys and values.
    fn at(&self, start: &Array) -> (Array, Option<Array>, [Array; 2]) {
        let columns = Columns {
            start: Some(start),
            width: self.sizes.block,
            all: self.sizes.s,
        };
        let block = |x: &Array| x.dynamic_slice_in_dim(start, self.sizes.block, 1);
        let (keys, values) = (block(&self.keys), block(&self.values));
        let logits = with_keys(&self.query, &keys, self.wide) * self.how.factor(self.sizes.h);
        let (heads, group) = (self.sizes.heads, self.sizes.group);
        let logits = self.how.biased(logits, heads, group, &columns);
        let seen = self.how.visible(logits.shape(), &columns);
        let logits = self.how.hidden(logits, seen.as_ref()).astype(DType::F32);
        let logits = match columns.filling() {
            None => logits,
            Some(real) => where_(&real, logits, f64::NEG_INFINITY),
        };
        (logits, seen, [keys, values])
    }
}

/// Multiplies `[B, K, G, T, x]` by `[B, c, K, x]`; the result is `[B, K, G, T, c]`.
fn with_keys(x: &Array, keys: &Array, wide: DType) -> Array {
    let numbers = DotDimensionNumbers::new([&[4], &[3]], [&[0, 1], &[0, 2]]);
    x.dot_general_with(keys, numbers, wide)
}

/// Multiplies `[B, K, G, T, c]` by `[B, c, K, x]`; the result is `[B, K, G, T, x]`.
fn of_values(weights: &Array, values: &Array, wide: DType) -> Array {
    let numbers = DotDimensionNumbers::new([&[4], &[1]], [&[0, 1], &[0, 2]]);
    weights.dot_general_with(values, numbers, wide)
}

/// Multiplies `[B, K, G, T, c]` by `[B, K, G, T, x]`; the result is `[B, c, K, x]`.
fn over_queries(x: &Array, y: &Array, wide: DType) -> Array {
    let numbers = DotDimensionNumbers::new([&[2, 3], &[2, 3]], [&[0, 1], &[0, 1]]);
    x.dot_general_with(y, numbers, wide)
        .transpose(&[0, 2, 1, 3])
}

impl Attention {
    /// Computes the weighted mean of the values, `[B, T, N, H]`, and the residual `[B, T, N]`.
    #[track_caller]
    pub(super) fn in_blocks(
        &self,
        q: &Array,
        k: &Array,
        v: &Array,
        block: usize,
    ) -> (Array, Array) {
        let how = Attention {
            block: Some(block),
            ..self.clone()
        };
        let forward = |(q, k, v, how): (Array, Array, Array, Attention)| {
            let (out, m, l) = how.forward(&q, &k, &v);
            let residual = residual(&m, &l, &q);
            ((out.clone(), residual), ((q, k, v, how), [out, m, l]))
        };
        let attend = custom_vjp(
            move |q: Array, k: Array, v: Array, how: Attention| forward((q, k, v, how)).0,
            forward,
            |residuals: Residuals, (ct, _): (Array, Array)| backward(residuals, &ct),
        );
        attend(q.clone(), k.clone(), v.clone(), how)
    }

    /// Computes the weighted mean of the values and, for each query, the maximum product and the
    /// sum of exponentials, `[B, K, G, T]`.
    fn forward(&self, q: &Array, k: &Array, v: &Array) -> (Array, Array, Array) {
        let blocks = Blocks::of(self, q, k, v);
        let Blocks { sizes, wide, .. } = blocks;
        let rows = [sizes.b, sizes.heads, sizes.group, sizes.t];
        let start = (
            Array::full(&rows, f64::NEG_INFINITY, DType::F32),
            Array::zeros(&rows, DType::F32),
            Array::zeros(&[&rows[..], &[v.shape()[3]]].concat(), wide),
        );
        let step = |(m, l, sum): (Array, Array, Array), at: Array| {
            let (logits, _, [_, values]) = blocks.at(&at);
            let greatest = m.maximum(logits.max_over(-1));
            // While all products are -inf, differences from the maximum would be NaN.
            let origin = where_(greatest.eq(f64::NEG_INFINITY), 0.0, &greatest);
            let weights = (logits - origin.expand_dims(&[-1])).exp();
            let shrunk = (m - origin).exp();
            let l = l * &shrunk + weights.sum_over(-1);
            let sum = sum * shrunk.expand_dims(&[-1]).astype(wide)
                + of_values(&weights.astype(values.dtype()), &values, wide);
            ((greatest, l, sum), ())
        };
        let ((m, l, sum), ()) = scan(step, start, sizes.starts());
        let mean = sum / l.expand_dims(&[-1]).astype(wide);
        (sizes.ungrouped(&mean.astype(k.dtype())), m, l)
    }
}

impl Columns<'_> {
    /// Returns which positions of a block are keys rather than padding, or `None` if all are.
    fn filling(&self) -> Option<Array> {
        let start = self
            .start
            .filter(|_| !self.all.is_multiple_of(self.width))?;
        let index = Array::iota(&[1, 1, 1, 1, self.width], 4, DType::I32);
        Some((index + start).lt(self.all as i64))
    }
}

/// Computes the logarithm of the sum of exponentials, `[B, T, N]`.
fn residual(m: &Array, l: &Array, q: &Array) -> Array {
    let residual = (m + l.log()).transpose(&[0, 3, 1, 2]);
    residual.reshape(&q.shape()[..3])
}

/// Sums the cotangent of products over the axes along which `bias` is repeated.
fn summed_for(bias: &Array, dlogits: &Array) -> Array {
    let sizes = dlogits.shape().iter().zip(bias.shape());
    let repeated = (0isize..)
        .zip(sizes)
        .filter(|(_, (x, y))| x != y && **y == 1);
    let axes: Vec<isize> = repeated.map(|(axis, _)| axis).collect();
    dlogits.sum_over(Reduction::over(&axes).keepdims())
}

fn backward(residuals: Residuals, ct: &Array) -> (Array, Array, Array, Attention) {
    let ((q, k, v, how), [out, m, l]) = residuals;
    let blocks = Blocks::of(&how, &q, &k, &v);
    let Blocks { sizes, wide, .. } = blocks;
    let ct = sizes.grouped(ct);
    // The term common to the cotangents of all weights of a query.
    let common = (ct.astype(wide) * sizes.grouped(&out).astype(wide))
        .sum_over(Reduction::over(-1).keepdims());
    let (m, l) = (m.expand_dims(&[-1]), l.expand_dims(&[-1]));
    // The cotangent of a bias shared by all keys is summed over all blocks.
    let bias = how
        .bias
        .as_ref()
        .map(|b| per_group(b, sizes.heads, sizes.group));
    let shared = bias.as_ref().filter(|b| b.shape()[4] == 1);
    let start = (
        blocks.query.astype(wide).zeros_like(),
        shared.map(|b| Array::zeros(b.shape(), wide)),
    );
    let step = |(dq, shared): (Array, Option<Array>), at: Array| {
        let (logits, seen, [keys, values]) = blocks.at(&at);
        let weights = (logits - &m).exp() / &l;
        let dv = over_queries(&weights.astype(ct.dtype()), &ct, wide);
        let weights = weights.astype(wide);
        let dlogits = &weights * (with_keys(&ct, &values, wide) - &common);
        let dlogits = match &seen {
            None => dlogits,
            Some(seen) => where_(seen, dlogits, 0.0),
        };
        let dbias = bias.as_ref().map(|b| summed_for(b, &dlogits));
        let dlogits = (dlogits * how.factor(sizes.h)).astype(q.dtype());
        let dq = dq + of_values(&dlogits, &keys, wide);
        let dk = over_queries(&dlogits, &blocks.query, wide);
        let grads = (dk.astype(k.dtype()), dv.astype(v.dtype()));
        match shared {
            Some(sum) => {
                let more = dbias.expect("there is a bias");
                ((dq, Some(sum + more)), (grads, None))
            }
            None => ((dq, None), (grads, dbias)),
        }
    };
    let ((dq, shared), ((dk, dv), dbias)) = scan(step, start, sizes.starts());
    let dbias = shared.or_else(|| Some(sizes.joined_bias(&dbias?)));
    let mut zeros = crate::program::tree::map(&how, Array::zeros_like);
    let dbias = how.bias.as_ref().zip(dbias);
    zeros.bias = dbias.map(|(b, d)| d.reshape(b.shape()).astype(b.dtype()));
    let dq = sizes.ungrouped(&dq.astype(q.dtype()));
    (dq, sizes.joined(&dk), sizes.joined(&dv), zeros)
}
