//! Attention by scaled products.

use crate::prim::dot::DotDimensionNumbers;
use crate::{Array, DType, Reduction, finfo, promote_types, where_};

/// What attention sees, and how it weighs it; see [`dot_product_attention`].
///
/// ```no_run
/// use ramie_core::{Array, Attention, DType};
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
}

/// Attention of queries to keys, by the softmax of their products, divided by
/// the root of the size `H` of a head, and with these weights the mean of the
/// values (`jax.nn.dot_product_attention`).
///
/// Queries have the shape `[B, T, N, H]` (batch, length, heads, size), keys and
/// values `[B, S, K, H]`; `N` is `K`, or a multiple of it: then neighbouring
/// query heads share a key head. `B` may be missing everywhere. The result has
/// the shape of the queries. [`Attention`] has masks and more choices.
///
/// Products are accumulated in `f32`, and so is the softmax.
///
/// Vaswani et al., *Attention Is All You Need*, 2017.
///
/// # Panics
/// If shapes do not fit together, or element types differ.
#[track_caller]
pub fn dot_product_attention(query: &Array, key: &Array, value: &Array) -> Array {
    Attention::new().of(query, key, value)
}

impl Attention {
    /// All queries see all keys.
    pub fn new() -> Attention {
        Attention::default()
    }

    /// A number that is added to each scaled product, in a shape that broadcasts
    /// to `[B, N, T, S]`.
    #[must_use]
    pub fn bias(self, bias: &Array) -> Attention {
        Attention {
            bias: Some(bias.clone()),
            ..self
        }
    }

    /// Truth values that broadcast to `[B, N, T, S]`; where one is false, the
    /// query does not see the key.
    #[must_use]
    pub fn mask(self, mask: &Array) -> Attention {
        Attention {
            mask: Some(mask.clone()),
            ..self
        }
    }

    /// What products are multiplied by, instead of `1 / √H`.
    #[must_use]
    pub fn scale(self, scale: f64) -> Attention {
        Attention {
            scale: Some(scale),
            ..self
        }
    }

    /// Queries see keys at their own place and before.
    #[must_use]
    pub fn causal(self) -> Attention {
        Attention {
            causal: true,
            ..self
        }
    }

    /// How many queries of each sequence count, integers of shape `[B]`; results
    /// of the others are 0.
    #[must_use]
    pub fn query_lengths(self, lengths: &Array) -> Attention {
        Attention {
            query_lengths: Some(lengths.clone()),
            ..self
        }
    }

    /// How many keys and values of each sequence count, integers of shape `[B]`.
    #[must_use]
    pub fn key_value_lengths(self, lengths: &Array) -> Attention {
        Attention {
            key_value_lengths: Some(lengths.clone()),
            ..self
        }
    }

    /// Queries see this many keys before their own place and after it.
    #[must_use]
    pub fn window(self, before: usize, after: usize) -> Attention {
        Attention {
            window: Some((before, after)),
            ..self
        }
    }

    /// The mean of the values for each query, in the shape of the queries.
    ///
    /// # Panics
    /// If shapes do not fit together, or element types differ.
    #[track_caller]
    pub fn of(&self, query: &Array, key: &Array, value: &Array) -> Array {
        self.with_residual(query, key, value).0
    }

    /// [`of`](Attention::of), and the logarithm of the sum of the exponentials
    /// of each query, `[B, T, N]`, through which nothing is differentiated.
    ///
    /// # Panics
    /// As `of`.
    #[track_caller]
    pub fn with_residual(&self, query: &Array, key: &Array, value: &Array) -> (Array, Array) {
        let (q, k, v) = (batched(query), batched(key), batched(value));
        self.check(&q, &k, &v);
        let &[b, t, n, h] = q.shape() else {
            unreachable!("checked to have four axes")
        };
        let &[_, _, heads, _] = k.shape() else {
            unreachable!("checked to have four axes")
        };
        let group = n / heads;
        // Products, [B, K, T, G, S] and then [B, K, G, T, S].
        let grouped = q.reshape(&[b, t, heads, group, h]);
        let numbers = DotDimensionNumbers::new([&[4], &[3]], [&[0, 2], &[0, 2]]);
        let wide = promote_types(q.dtype(), DType::F32);
        let logits = grouped
            .dot_general_with(&k, numbers, None, Some(wide))
            .swap_axes(2, 3);
        let logits = logits * self.scale.unwrap_or(1.0 / (h as f64).sqrt());
        let logits = match &self.bias {
            None => logits,
            Some(bias) => (&logits + per_group(&batched(bias), heads, group)).astype(wide),
        };
        let logits = match self.visible(&logits, heads, group) {
            None => logits,
            // Not infinite: a query that sees nothing has equal weights.
            Some(seen) => {
                let least = -0.7 * finfo(wide).max.min(f64::from(f32::MAX));
                where_(&seen, &logits, least)
            }
        };
        let logits = logits.astype(DType::F32);
        let weights = logits.softmax(-1).astype(k.dtype());
        let numbers = DotDimensionNumbers::new([&[4], &[1]], [&[0, 1], &[0, 2]]);
        let mean = weights.dot_general_with(&v, numbers, None, Some(k.dtype()));
        let mean = mean.transpose(&[0, 3, 1, 2, 4]).reshape(&[b, t, n, h]);
        let mean = match &self.query_lengths {
            None => mean,
            Some(lengths) => {
                let counts = within(lengths, t).reshape(&[b, t, 1, 1]);
                mean * counts.astype(k.dtype())
            }
        };
        let residual = logits
            .logsumexp_with(&Reduction::over(&[-1]))
            .astype(k.dtype())
            .transpose(&[0, 3, 1, 2])
            .stop_gradient();
        let shape = query.shape();
        (
            mean.reshape(shape),
            residual.reshape(&shape[..shape.len() - 1]),
        )
    }

    /// Which keys each query sees, in a shape that broadcasts to that of the
    /// products; `None` for all.
    #[track_caller]
    fn visible(&self, logits: &Array, heads: usize, group: usize) -> Option<Array> {
        let &[b, .., t, s] = logits.shape() else {
            unreachable!("products have five axes")
        };
        let (row, column) = (
            || Array::iota(&[1, 1, 1, t, s], 3, DType::I32),
            || Array::iota(&[1, 1, 1, t, s], 4, DType::I32),
        );
        let mut seen: Vec<Array> = Vec::new();
        if let Some(mask) = &self.mask {
            seen.push(per_group(&batched(mask), heads, group));
        }
        if self.causal {
            seen.push(row().ge(column()));
        }
        if let Some((before, after)) = self.window {
            let near = row().le(column() + before as i64);
            seen.push(near.bitwise_and(row().ge(column() - after as i64)));
        }
        if let Some(lengths) = &self.query_lengths {
            seen.push(within(lengths, t).reshape(&[b, 1, 1, t, 1]));
        }
        if let Some(lengths) = &self.key_value_lengths {
            seen.push(within(lengths, s).reshape(&[b, 1, 1, 1, s]));
        }
        seen.into_iter().reduce(|a, b| a.bitwise_and(b))
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
            "dot_product_attention: queries {}, keys {} and values {} do not fit together\n  help: \
             queries are [B, T, N, H], keys and values [B, S, K, H], floats of one type, and K divides \
             N",
            q.aval(),
            k.aval(),
            v.aval()
        );
        if let Some(mask) = &self.mask {
            assert!(
                mask.dtype() == DType::Bool,
                "dot_product_attention: the mask is {}, expected truth values\n  help: compare: \
                 m.ne(0); numbers to be added are a bias",
                mask.aval()
            );
        }
        for lengths in self.query_lengths.iter().chain(&self.key_value_lengths) {
            assert!(
                lengths.shape() == [q.shape()[0]] && lengths.dtype().is_integer(),
                "dot_product_attention: lengths {} are not an integer for each of {} sequences\n  \
                 help: give them in the shape [B]",
                lengths.aval(),
                q.shape()[0]
            );
        }
    }
}

/// The array with axes of size 1 in front, up to four.
#[track_caller]
fn batched(x: &Array) -> Array {
    super::at_least(x, 4)
}

/// What is given per head, `[B, N or 1, T, S]`, per group of heads.
#[track_caller]
fn per_group(x: &Array, heads: usize, group: usize) -> Array {
    let fits = x.ndim() == 4 && (x.shape()[1] == 1 || x.shape()[1] == heads * group);
    assert!(
        fits,
        "dot_product_attention: a mask or bias {} does not broadcast to [B, N, T, S] for {} heads\n  \
         help: give size 1 for axes that it does not depend on",
        x.aval(),
        heads * group
    );
    let &[b, n, t, s] = x.shape() else {
        unreachable!("checked to have four axes")
    };
    match n {
        1 => x.reshape(&[b, 1, 1, t, s]),
        _ => x.reshape(&[b, heads, group, t, s]),
    }
}

/// For each sequence, which of `size` places are before its length: `[B, size]`.
#[track_caller]
fn within(lengths: &Array, size: usize) -> Array {
    let place = Array::iota(&[1, size], 1, lengths.dtype());
    place.lt(lengths.expand_dims(&[1]))
}
