//! Losses of embeddings.

use super::{check_floats, cosine_similarity};
use ramie_core::dtypes::finfo;
use ramie_core::options::Reduction;
use ramie_core::{Array, where_};

/// Computes the normalized temperature-scaled cross entropy of embeddings `[n, features]`, `[]`
/// (`optax.losses.ntxent`; Chen et al., 2020, SimCLR). It attracts embeddings with equal labels
/// `[n]` and repels the others. The default temperature in Optax is 0.07.
///
/// # Panics
/// Panics if the embeddings are not floats `[n, features]`, or the labels are not `[n]`.
#[track_caller]
pub fn ntxent(embeddings: &Array, labels: &Array, temperature: f64) -> Array {
    check_floats("ntxent", "embeddings", embeddings);
    assert!(
        embeddings.ndim() == 2 && labels.shape() == &embeddings.shape()[..1],
        "ntxent: shapes do not match\n  embeddings {}\n  labels {}\n  help: pass embeddings [n, \
         features] and labels [n]",
        embeddings.aval(),
        labels.aval()
    );
    let n = labels.shape()[0];
    let epsilon = finfo(embeddings.dtype()).eps;
    let pairs = cosine_similarity(
        &embeddings.expand_dims(&[0]),
        &embeddings.expand_dims(&[1]),
        epsilon,
    ) / temperature;
    let same = labels.expand_dims(&[1]).eq(labels.expand_dims(&[0]));
    let itself = Array::eye(n, ramie_core::DType::Bool);
    let matches = &same & !itself;
    let away = where_(&same, f64::NEG_INFINITY, &pairs);
    let together = where_(&matches, &pairs, f64::NEG_INFINITY);
    let others = away.logsumexp(Reduction::over(1).keepdims());
    let logs = where_(&matches, &together, 0) - others.logaddexp(&together);
    // Without pairs there is nothing to attract.
    let count = matches.count_nonzero().maximum(1);
    -where_(&matches, logs, 0).sum() / count.astype(embeddings.dtype())
}

/// Options of [`triplet_margin_loss`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TripletOptions {
    /// Axis of the features.
    pub axis: isize,
    /// Order of the norm that measures distances.
    pub norm_degree: i32,
    /// Required difference between the distances to the negative and to the positive.
    pub margin: f64,
    /// Constant added to the sum of powers, which makes distances differentiable at 0.
    pub eps: f64,
}

impl Default for TripletOptions {
    fn default() -> Self {
        TripletOptions {
            axis: -1,
            norm_degree: 2,
            margin: 1.0,
            eps: 1e-6,
        }
    }
}

/// Computes the triplet loss: the distance of anchors from positives minus that from negatives
/// plus the margin, or 0 if this is negative (`optax.losses.triplet_margin_loss`; Schroff et al.,
/// 2015).
///
/// # Panics
/// Panics if an array does not contain floats, if the shapes do not broadcast, or if the degree of
/// the norm is not positive.
#[track_caller]
pub fn triplet_margin_loss(
    anchors: &Array,
    positives: &Array,
    negatives: &Array,
    options: &TripletOptions,
) -> Array {
    for (what, x) in [
        ("anchors", anchors),
        ("positives", positives),
        ("negatives", negatives),
    ] {
        check_floats("triplet_margin_loss", what, x);
    }
    let degree = options.norm_degree;
    assert!(
        degree > 0,
        "triplet_margin_loss: norm_degree is {degree}, expected at least 1\n  help: use 2 for the \
         Euclidean norm"
    );
    let distance = |other: &Array| {
        let mut difference = anchors - other;
        if degree % 2 == 1 {
            difference = difference.abs();
        }
        let powers = difference.integer_pow(degree).sum_over(options.axis);
        (powers + options.eps).power(1.0 / f64::from(degree))
    };
    (distance(positives) - distance(negatives) + options.margin).maximum(0)
}
