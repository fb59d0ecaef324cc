//! Masks and biases of attention for all keys or for one block of keys.

use super::Attention;
use crate::{Array, DType, where_};

/// The keys of a product: all of them, or one block.
pub(super) struct Columns<'a> {
    /// First key index of the block, a 0-d `i32`; `None` for all keys.
    pub(super) start: Option<&'a Array>,
    /// Number of keys in the block.
    pub(super) width: usize,
    /// Total number of keys.
    pub(super) all: usize,
}

impl Columns<'_> {
    /// Returns the indices of the keys, `[1, 1, 1, t, width]`.
    fn indices(&self, t: usize) -> Array {
        let index = Array::iota(&[1, 1, 1, t, self.width], 4, DType::I32);
        match self.start {
            None => index,
            Some(start) => index + start,
        }
    }

    /// Returns the block's part of an array along its last axis. The axis has size 1, or the
    /// number of all keys padded to whole blocks.
    fn part(&self, x: &Array) -> Array {
        match self.start {
            Some(start) if x.shape().last() != Some(&1) => {
                x.dynamic_slice_in_dim(start, self.width, -1)
            }
            _ => x.clone(),
        }
    }
}

impl Attention {
    /// Adds the bias to the products, in the dtype of the products.
    #[track_caller]
    pub(super) fn biased(
        &self,
        logits: Array,
        heads: usize,
        group: usize,
        c: &Columns<'_>,
    ) -> Array {
        let wide = logits.dtype();
        match &self.bias {
            None => logits,
            Some(bias) => (logits + c.part(&per_group(bias, heads, group))).astype(wide),
        }
    }

    /// Returns which queries see a key, `[b, t, n, 1]`, or `None` if all do: those behind a causal
    /// mask or a window see one at least.
    #[track_caller]
    pub(super) fn sees_any(&self, q: &Array, k: &Array) -> Option<Array> {
        let (&[b, t, n, _], &[_, s, heads, _]) = (q.shape(), k.shape()) else {
            unreachable!("checked to have four axes")
        };
        let lengths = self.query_lengths.is_some() || self.key_value_lengths.is_some();
        if self.mask.is_none() && self.segments.is_none() && !lengths {
            return None;
        }
        let all = Columns {
            start: None,
            width: s,
            all: s,
        };
        let shape = [b, heads, n / heads, t, s];
        let sees = self.visible(&shape, &all)?.any_over(-1);
        let sees = sees.broadcast_to(&shape[..4]).transpose(&[0, 3, 1, 2]);
        Some(sees.reshape(&[b, t, n, 1]))
    }

    /// Replaces products by the lowest number where the query does not see the key. Minus
    /// infinity is not used: the weights of a query that sees no key would be NaN.
    pub(super) fn hidden(&self, logits: Array, seen: Option<&Array>) -> Array {
        match seen {
            None => logits,
            Some(seen) => {
                let largest = crate::dtypes::finfo(logits.dtype())
                    .max
                    .min(f64::from(f32::MAX));
                where_(seen, &logits, -0.7 * largest)
            }
        }
    }

    /// Returns which keys each query sees, in a shape that broadcasts to that of the products,
    /// `[b, heads, group, t, width]`; `None` if every query sees every key.
    #[track_caller]
    pub(super) fn visible(&self, shape: &[usize], c: &Columns<'_>) -> Option<Array> {
        let &[b, heads, group, t, _] = shape else {
            unreachable!("products have five axes")
        };
        let row = || Array::iota(&[1, 1, 1, t, c.width], 3, DType::I32);
        let mut seen: Vec<Array> = Vec::new();
        if let Some(mask) = &self.mask {
            seen.push(c.part(&per_group(mask, heads, group)));
        }
        if self.causal {
            seen.push(row().ge(c.indices(t)));
        }
        if let Some((before, after)) = self.window {
            // A window beyond all positions is equivalent to one over all positions.
            let [before, after] = [before, after].map(|n| n.min(t.max(c.all)) as i64);
            let near = row().le(c.indices(t) + before);
            seen.push(near.bitwise_and(row().ge(c.indices(t) - after)));
        }
        if let Some(lengths) = &self.query_lengths {
            seen.push(within(lengths, t).reshape(&[b, 1, 1, t, 1]));
        }
        if let Some(lengths) = &self.key_value_lengths {
            let lengths = lengths.counting_to(c.all.saturating_add(c.width));
            let indices = c.indices(1).astype(lengths.dtype());
            seen.push(indices.lt(lengths.reshape(&[b, 1, 1, 1, 1])));
        }
        if let Some([queries, keys]) = &self.segments {
            let keys = c.part(&keys.expand_dims(&[1, 2, 3]));
            seen.push(queries.reshape(&[b, 1, 1, t, 1]).eq(keys));
        }
        seen.into_iter().reduce(|a, b| a.bitwise_and(b))
    }

    /// Pads the arrays given per key to `to` keys. No query sees the additional keys.
    pub(super) fn padded(&self, from: usize, to: usize) -> Attention {
        let fill = |x: &Array| {
            if x.shape().last() != Some(&from) || from == 1 && to > 1 {
                return x.clone();
            }
            let mut widths = vec![(0, 0); x.ndim()];
            widths[x.ndim() - 1].1 = to - from;
            match x.dtype() {
                DType::Bool => x.pad(&widths, false),
                _ => x.pad(&widths, 0),
            }
        };
        Attention {
            bias: self.bias.as_ref().map(fill),
            mask: self.mask.as_ref().map(fill),
            segments: self
                .segments
                .as_ref()
                .map(|[queries, keys]| [queries.clone(), fill(keys)]),
            ..self.clone()
        }
    }
}

/// Checks that an array given per head broadcasts to `[B, N, T, S]`, and reshapes it to groups of
/// heads.
#[track_caller]
pub(super) fn per_group(x: &Array, heads: usize, group: usize) -> Array {
    let x = crate::functions::ops::at_least(x, 4);
    let &[b, n, t, s] = x.shape() else {
        unreachable!("checked to have four axes")
    };
    match n {
        1 => x.reshape(&[b, 1, 1, t, s]),
        _ => x.reshape(&[b, heads, group, t, s]),
    }
}

/// Returns which of `size` positions of each sequence are before its length: `[B, size]`.
#[track_caller]
pub(super) fn within(lengths: &Array, size: usize) -> Array {
    let lengths = lengths.counting_to(size);
    let index = Array::iota(&[1, size], 1, lengths.dtype());
    index.lt(lengths.expand_dims(&[1]))
}
