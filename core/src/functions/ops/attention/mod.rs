//! Scaled dot-product attention.

mod blockwise;
mod tree;
mod visible;

use crate::dtypes::promote_types;
use crate::options::Reduction;
use crate::prim::dot::DotDimensionNumbers;
use crate::{Array, DType, where_};
use visible::Columns;

/// Options of attention: bias, masks, scale and blocks; see [`dot_product_attention`].
///
/// ```no_run
/// use ramie_core::options::Attention;
/// use ramie_core::{Array, DType};
/// let x = Array::ones(&[1, 4, 2, 8], DType::F32);
/// let y = Attention::new().causal().of(&x, &x, &x);
/// assert_eq!(y.shape(), [1, 4, 2, 8]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Attention {
    bias: Option<Array>,
    mask: Option<Array>,
    scale: Option<f64>,
    causal: bool,
    query_lengths: Option<Array>,
    key_value_lengths: Option<Array>,
    window: Option<(usize, usize)>,
    segments: Option<[Array; 2]>,
    block: Option<usize>,
}

/// Computes scaled dot-product attention (`jax.nn.dot_product_attention`).
///
/// The weights are the softmax of the products of queries and keys divided by `√H`, where `H` is
/// the head size. The result is the weighted mean of the values.
///
/// Queries have the shape `[B, T, N, H]` (batch, length, heads, head size), keys and values
/// `[B, S, K, H]`. `N` must be a multiple of `K`; if it is larger, groups of adjacent query heads
/// share a key head. The batch axis `B` may be omitted from all arrays. The result has the shape
/// of the queries. Use [`Attention`] for masks and other options.
///
/// Products and softmax are accumulated in `f32`.
///
/// Vaswani et al., *Attention Is All You Need*, 2017.
///
/// # Panics
/// Panics if the shapes do not fit together, or if the dtypes differ.
#[track_caller]
pub fn dot_product_attention(query: &Array, key: &Array, value: &Array) -> Array {
    Attention::new().of(query, key, value)
}

impl Attention {
    /// Creates options in which every query attends to every key.
    pub fn new() -> Attention {
        Attention::default()
    }

    /// Sets a bias that is added to the scaled products. Its shape must broadcast to
    /// `[B, N, T, S]`.
    #[must_use]
    pub fn bias(self, bias: &Array) -> Attention {
        Attention {
            bias: Some(bias.clone()),
            ..self
        }
    }

    /// Sets a boolean mask that broadcasts to `[B, N, T, S]`. Where it is false, the query does
    /// not attend to the key.
    #[must_use]
    pub fn mask(self, mask: &Array) -> Attention {
        Attention {
            mask: Some(mask.clone()),
            ..self
        }
    }

    /// Sets the factor of the products. Defaults to `1 / √H`.
    #[must_use]
    pub fn scale(self, scale: f64) -> Attention {
        Attention {
            scale: Some(scale),
            ..self
        }
    }

    /// Restricts each query to the keys at its own position and before.
    #[must_use]
    pub fn causal(self) -> Attention {
        Attention {
            causal: true,
            ..self
        }
    }

    /// Sets the number of valid queries of each sequence, integers of shape `[B]`. The results of
    /// the other queries are 0.
    #[must_use]
    pub fn query_lengths(self, lengths: &Array) -> Attention {
        Attention {
            query_lengths: Some(lengths.clone()),
            ..self
        }
    }

    /// Sets the number of valid keys and values of each sequence, integers of shape `[B]`.
    #[must_use]
    pub fn key_value_lengths(self, lengths: &Array) -> Attention {
        Attention {
            key_value_lengths: Some(lengths.clone()),
            ..self
        }
    }

    /// Restricts each query to `before` keys before its position and `after` keys after it.
    #[must_use]
    pub fn window(self, before: usize, after: usize) -> Attention {
        Attention {
            window: Some((before, after)),
            ..self
        }
    }

    /// Sets the segment of each query and each key, as integers of shapes `[B, T]` and `[B, S]`.
    /// Queries attend only to keys of the same segment, so several sequences can share a row of a
    /// batch.
    #[must_use]
    pub fn segments(self, queries: &Array, keys: &Array) -> Attention {
        Attention {
            segments: Some([queries.clone(), keys.clone()]),
            ..self
        }
    }

    /// Processes `keys` keys at a time, so that memory grows linearly with the sequence length
    /// instead of quadratically. The gradient recomputes the weights of each block.
    ///
    /// The result is the same up to rounding. Forward-mode differentiation is not supported.
    ///
    /// Rabe and Staats, *Self-attention Does Not Need O(n²) Memory*, 2021; Dao,
    /// *FlashAttention-2*, 2023.
    ///
    /// ```no_run
    /// use ramie_core::options::Attention;
    /// use ramie_core::{Array, DType};
    /// let x = Array::ones(&[1, 4096, 8, 64], DType::F32);
    /// let y = Attention::new().causal().blockwise(256).of(&x, &x, &x);
    /// assert_eq!(y.shape(), x.shape());
    /// ```
    ///
    /// # Panics
    /// Panics if `keys` is 0.
    #[must_use]
    #[track_caller]
    pub fn blockwise(self, keys: usize) -> Attention {
        assert!(
            keys > 0,
            "Attention::blockwise: the block size must not be 0\n  help: pass at least 1; 128 to \
             1024 are common"
        );
        Attention {
            block: Some(keys),
            ..self
        }
    }

    /// Computes the weighted mean of the values for each query, in the shape of the queries.
    ///
    /// # Panics
    /// Panics if the shapes do not fit together, or if the dtypes differ.
    #[track_caller]
    pub fn of(&self, query: &Array, key: &Array, value: &Array) -> Array {
        self.with_residual(query, key, value).0
    }

    /// Same as [`of`](Attention::of), but also returns the logarithm of each query's sum of
    /// exponentials, `[B, T, N]`, which is not differentiated.
    ///
    /// # Panics
    /// Panics in the same cases as `of`.
    #[track_caller]
    pub fn with_residual(&self, query: &Array, key: &Array, value: &Array) -> (Array, Array) {
        assert!(
            [query, key, value]
                .iter()
                .all(|x| matches!(x.ndim(), 3 | 4)),
            "dot_product_attention: queries {}, keys {} and values {} must have three or four \
             axes each\n  help: queries are [B, T, N, H], keys and values [B, S, K, H]; the batch \
             axis B may be omitted",
            query.aval(),
            key.aval(),
            value.aval()
        );
        let (q, k, v) = (batched(query), batched(key), batched(value));
        self.check(&q, &k, &v);
        let (mean, residual) = match self.block {
            Some(block) if k.shape()[1] > 0 => self.in_blocks(&q, &k, &v, block),
            _ => self.at_once(&q, &k, &v),
        };
        let mean = match self.sees_any(&q, &k) {
            None => mean,
            Some(sees) => where_(sees, mean, 0),
        };
        let shape = query.shape();
        (
            mean.reshape(shape),
            residual
                .astype(k.dtype())
                .reshape(&shape[..shape.len() - 1])
                .stop_gradient(),
        )
    }

    /// Returns the factor of the products for heads of size `h`.
    fn factor(&self, h: usize) -> f64 {
        self.scale.unwrap_or(1.0 / (h as f64).sqrt())
    }

    /// Computes attention with all products in memory. The residual is `[B, T, N]` in `f32`.
    #[track_caller]
    fn at_once(&self, q: &Array, k: &Array, v: &Array) -> (Array, Array) {
        let (&[b, t, n, h], &[_, s, heads, _]) = (q.shape(), k.shape()) else {
            unreachable!("checked to have four axes")
        };
        let group = n / heads;
        // Products: [B, K, T, G, S], then [B, K, G, T, S].
        let grouped = q.reshape(&[b, t, heads, group, h]);
        let numbers = DotDimensionNumbers::new([&[4], &[3]], [&[0, 2], &[0, 2]]);
        let wide = promote_types(q.dtype(), DType::F32);
        let logits = grouped.dot_general_with(k, numbers, wide).swap_axes(2, 3);
        let columns = Columns {
            start: None,
            width: s,
            all: s,
        };
        let logits = self.biased(logits * self.factor(h), heads, group, &columns);
        let seen = self.visible(logits.shape(), &columns);
        let logits = self.hidden(logits, seen.as_ref()).astype(DType::F32);
        let weights = logits.softmax(-1).astype(k.dtype());
        let numbers = DotDimensionNumbers::new([&[4], &[1]], [&[0, 1], &[0, 2]]);
        let mean = weights.dot_general_with(v, numbers, k.dtype());
        let mean = mean.transpose(&[0, 3, 1, 2, 4]).reshape(&[b, t, n, h]);
        let residual = logits.logsumexp(Reduction::over(-1));
        let residual = residual.transpose(&[0, 3, 1, 2]).reshape(&[b, t, n]);
        (mean, residual)
    }

    #[track_caller]
    fn check(&self, q: &Array, k: &Array, v: &Array) {
        let fits = match (q.shape(), k.shape()) {
            (&[qb, _, n, qh], &[kb, _, heads, kh]) => {
                qb == kb && qh == kh && heads > 0 && n.is_multiple_of(heads)
            }
            _ => false,
        };
        let types = q.dtype() == k.dtype() && k.dtype() == v.dtype() && k.dtype().is_float();
        assert!(
            fits && types && k.shape() == v.shape(),
            "dot_product_attention: queries {}, keys {} and values {} do not fit together\n  \
             help: queries are [B, T, N, H], keys and values [B, S, K, H], floats of the same \
             dtype, and K divides N",
            q.aval(),
            k.aval(),
            v.aval()
        );
        if let Some(mask) = &self.mask {
            assert!(
                mask.dtype() == DType::Bool,
                "dot_product_attention: the mask is {}, expected booleans\n  help: compare: \
                 m.ne(0); pass numbers that should be added as the bias",
                mask.aval()
            );
        }
        let (&[b, t, n, _], &[_, s, ..]) = (q.shape(), k.shape()) else {
            unreachable!("checked to have four axes")
        };
        for (what, x) in [("mask", &self.mask), ("bias", &self.bias)] {
            if let Some(x) = x {
                check_broadcast(what, x, [b, n, t, s]);
            }
        }
        if let Some([queries, keys]) = &self.segments {
            assert!(
                queries.shape() == [b, t]
                    && keys.shape() == [b, s]
                    && queries.dtype() == keys.dtype()
                    && queries.dtype().is_integer(),
                "dot_product_attention: segments of queries {} and of keys {} must be integers \
                 of the shapes [{b}, {t}] and [{b}, {s}]\n  help: pass one number for each \
                 position of each sequence",
                queries.aval(),
                keys.aval()
            );
        }
        for lengths in self.query_lengths.iter().chain(&self.key_value_lengths) {
            assert!(
                lengths.shape() == [q.shape()[0]] && lengths.dtype().is_integer(),
                "dot_product_attention: lengths {} must be one integer for each of {} \
                 sequences\n  help: pass an array of shape [B]",
                lengths.aval(),
                q.shape()[0]
            );
        }
    }
}

/// Checks that a mask or bias broadcasts to the shape of the logits.
#[track_caller]
fn check_broadcast(what: &str, x: &Array, full: [usize; 4]) {
    let mut pairs = x.shape().iter().rev().zip(full.iter().rev());
    assert!(
        x.ndim() <= 4 && pairs.all(|(x, n)| x == n || *x == 1),
        "dot_product_attention: the {what} is {}, which does not broadcast to [B, N, T, S] = \
         {full:?}\n  help: use size 1 for axes that it does not depend on; add an axis for the heads \
         to [B, T, S] with expand_dims(&[1])",
        x.aval()
    );
}

/// Prepends axes of size 1 up to a rank of four.
#[track_caller]
fn batched(x: &Array) -> Array {
    super::at_least(x, 4)
}
