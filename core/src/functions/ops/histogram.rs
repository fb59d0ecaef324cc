//! Histograms.

use super::{Side, Spacing};
use crate::dtypes::promote_types;
use crate::prim::operands::promote;
use crate::{Array, DType, IntoArray, where_};

/// Options of a histogram: bins, weights and density.
///
/// ```no_run
/// use ramie_core::options::Histogram;
/// use ramie_core::Array;
/// let x = Array::from([0.5f32, 1.5, 1.6]);
/// let (counts, edges) = Histogram::new(2).range(0.0, 2.0).of(&x);
/// assert_eq!(counts.to_vec::<f32>(), [1.0, 2.0]);
/// assert_eq!(edges.to_vec::<f32>(), [0.0, 1.0, 2.0]);
/// ```
#[derive(Clone, Debug)]
pub struct Histogram {
    bins: usize,
    edges: Option<Array>,
    range: Option<(Array, Array)>,
    weights: Option<Array>,
    density: bool,
}

impl Histogram {
    /// Creates `bins` bins of equal width from the smallest to the largest number.
    pub fn new(bins: usize) -> Histogram {
        Histogram {
            bins,
            edges: None,
            range: None,
            weights: None,
            density: false,
        }
    }

    /// Creates bins with the given edges, a sorted 1-d array. Each bin includes its left edge;
    /// the last bin includes both edges.
    pub fn with_edges(edges: &Array) -> Histogram {
        Histogram {
            edges: Some(edges.clone()),
            ..Histogram::new(0)
        }
    }

    /// Sets the range of the bins. Numbers outside are ignored.
    #[must_use]
    pub fn range(self, low: impl IntoArray, high: impl IntoArray) -> Histogram {
        Histogram {
            range: Some((low.into_array(), high.into_array())),
            ..self
        }
    }

    /// Sets the weight of each number, in the shape of the numbers. Defaults to 1.
    #[must_use]
    pub fn weights(self, weights: &Array) -> Histogram {
        Histogram {
            weights: Some(weights.clone()),
            ..self
        }
    }

    /// Normalizes the result to a density: counts are divided by their sum and by the bin width.
    #[must_use]
    pub fn density(self) -> Histogram {
        Histogram {
            density: true,
            ..self
        }
    }

    /// Computes the edges of the bins for an array (`jnp.histogram_bin_edges`). Without elements and
    /// without a range set, the bins range from 0 to 1.
    ///
    /// # Panics
    /// Panics if the edges that were set are not 1-d.
    #[track_caller]
    pub fn edges_of(&self, x: &Array) -> Array {
        let dtype = x.to_inexact().dtype();
        if let Some(edges) = &self.edges {
            edges.require_vector("histogram");
            return edges.astype(dtype);
        }
        let (low, high) = match &self.range {
            Some((low, high)) => (low.astype(dtype), high.astype(dtype)),
            None if x.size() == 0 => (Array::full(&[], 0, dtype), Array::full(&[], 1, dtype)),
            None => (x.min().astype(dtype), x.max().astype(dtype)),
        };
        // If both ends are equal, the bins are centered on them.
        let half = where_(low.eq(&high), 0.5, 0.0).astype(dtype);
        Spacing::new(self.bins.saturating_add(1)).linear(low - &half, high + &half)
    }

    /// Counts the elements in each bin (`jnp.histogram`). Returns the counts, as floats of
    /// at least 32 bits, and the edges of the bins.
    ///
    /// # Panics
    /// Panics in the same cases as [`edges_of`](Histogram::edges_of), or if the weights have a
    /// different shape.
    #[track_caller]
    pub fn of(&self, x: &Array) -> (Array, Array) {
        let (x, weights) = match &self.weights {
            // Narrow floats cannot count exactly, so counts are summed in `i32`.
            None => {
                x.expect_i32_count("histogram", x.size());
                (x.to_inexact(), Array::ones(x.shape(), DType::I32))
            }
            Some(w) => {
                assert!(
                    w.shape() == x.shape(),
                    "histogram: the weights {} must be one for each element of {}\n  help: pass \
                     weights of the same shape",
                    w.aval(),
                    x.aval()
                );
                let (x, w) = promote("histogram", x, w);
                let dtype = promote_types(w.dtype(), DType::F32);
                (x.to_inexact(), w.astype(dtype))
            }
        };
        let edges = self.edges_of(&x);
        let x = x.ravel();
        let n = edges.size();
        let bin = edges.searchsorted(&x, Side::Right);
        let last = x.eq(edges.index(-1));
        let bin = where_(&last, n as i64 - 1, bin);
        // Bin 0 counts numbers below the first edge, bin n those above the last edge.
        let counts = Array::zeros(&[n], weights.dtype())
            .at(bin)
            .add(weights.ravel())
            .index(1..);
        let counts = counts.astype(promote_types(x.dtype(), DType::F32));
        if !self.density {
            return (counts, edges);
        }
        let density = &counts / edges.diff(0) / counts.sum();
        (density, edges)
    }
}

impl Array {
    /// Counts the elements in each of `bins` equal bins from the smallest to the largest element.
    /// Returns the counts, as floats of at least 32 bits, and the edges of the bins.
    ///
    /// # Panics
    /// Panics if the array is empty.
    #[track_caller]
    pub fn histogram(&self, bins: usize) -> (Array, Array) {
        Histogram::new(bins).of(self)
    }
}
