//! Weighted means, covariances and correlations.

use super::Reduction;
use crate::prim::elementwise::parts::by_parts;
use crate::prim::operands::{common_type, promote_all};
use crate::typing::Dims;
use crate::{Array, concatenate};

/// Broadcasts weights to the shape of the array: one weight for each element, or for each index
/// along `axes`, which must be sorted.
#[track_caller]
pub(super) fn broadcast_weights(
    operation: &str,
    x: &Array,
    weights: &Array,
    axes: &[usize],
) -> Array {
    if weights.shape() == x.shape() {
        return weights.clone();
    }
    let own: Dims = axes.iter().map(|&d| x.shape()[d]).collect();
    assert!(
        weights.shape() == own.as_slice(),
        "{operation}: weights {} fit neither {} nor its axes {axes:?}\n  help: pass a weight for \
         each element, or for each index along the axes",
        weights.aval(),
        x.aval()
    );
    weights.broadcast_in_dim(x.shape(), axes)
}

impl Array {
    /// Computes the weighted mean over an axis, axes or a [`Reduction`], with a weight for each element, or for
    /// each index along these axes in increasing order (`jnp.average`).
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let x = Array::from([1.0f32, 4.0]);
    /// assert_eq!(x.average(&Array::from([2.0f32, 1.0]), 0).item::<f32>(), 2.0);
    /// ```
    ///
    /// # Panics
    /// Panics if an axis is out of range or given twice, if the weights do not fit, or if an
    /// initial value is set.
    #[track_caller]
    pub fn average(&self, weights: &Array, over: impl Into<Reduction>) -> Array {
        self.average_and_weight(weights, over).0
    }

    /// Computes [`average`](Array::average) and the sum of the weights (`returned=True` in NumPy).
    ///
    /// # Panics
    /// Panics in the same cases as `average`.
    #[track_caller]
    pub fn average_and_weight(
        &self,
        weights: &Array,
        over: impl Into<Reduction>,
    ) -> (Array, Array) {
        let over = over.into();
        over.refuse_initial("average");
        let types = promote_all("average", &[self, weights]);
        let (x, weights) = (types[0].to_inexact(), types[1].to_inexact());
        let weights = broadcast_weights("average", &x, &weights, &over.axes_of("average", &x));
        let total = over.total(&weights);
        (over.total(&(&x * &weights)) / &total, total)
    }

    /// Computes the covariance matrix of the rows, each of which contains the observations of one
    /// variable (`jnp.cov`). Each covariance is the mean of the products of one variable's
    /// deviations and the conjugates of the other's. Use [`Covariance`] for other options.
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let x = Array::from([[0.0f32, 2.0], [1.0, -1.0]]);
    /// assert_eq!(x.cov().to_vec::<f32>(), [2.0, -2.0, -2.0, 2.0]);
    /// ```
    ///
    /// # Panics
    /// Panics if the array has more than two axes.
    #[track_caller]
    pub fn cov(&self) -> Array {
        Covariance::new().of(self)
    }

    /// Computes the correlation coefficients of the rows (`jnp.corrcoef`).
    ///
    /// # Panics
    /// Panics if the array has more than two axes.
    #[track_caller]
    pub fn corrcoef(&self) -> Array {
        Covariance::new().correlation_of(self)
    }
}

/// Options of covariance estimates.
///
/// ```no_run
/// use ramie_core::options::Covariance;
/// use ramie_core::Array;
/// let x = Array::from([[0.0f32, 1.0], [2.0, -1.0]]);
/// let of_columns = Covariance::new().columns().ddof(0.0).of(&x);
/// assert_eq!(of_columns.to_vec::<f32>(), [1.0, -1.0, -1.0, 1.0]);
/// ```
#[derive(Clone, Debug)]
pub struct Covariance {
    columns: bool,
    ddof: f64,
    more: Option<Array>,
    frequencies: Option<Array>,
    weights: Option<Array>,
}

impl Default for Covariance {
    fn default() -> Covariance {
        Covariance::new()
    }
}

impl Covariance {
    /// Creates the default options: rows are variables, and sums are divided by the number of
    /// observations minus 1.
    pub fn new() -> Covariance {
        Covariance {
            columns: false,
            ddof: 1.0,
            more: None,
            frequencies: None,
            weights: None,
        }
    }

    /// Treats columns as variables and rows as observations (`rowvar=False`).
    #[must_use]
    pub fn columns(self) -> Covariance {
        Covariance {
            columns: true,
            ..self
        }
    }

    /// Sets the number that is subtracted from the number of observations. Defaults to 1; 0 gives
    /// the plain mean of products (`bias=True`).
    #[must_use]
    pub fn ddof(self, ddof: f64) -> Covariance {
        Covariance { ddof, ..self }
    }

    /// Adds variables, in the same layout as the array (`y=`).
    #[must_use]
    pub fn and(self, y: &Array) -> Covariance {
        Covariance {
            more: Some(y.clone()),
            ..self
        }
    }

    /// Sets the number of times that each observation counts, as integers (`fweights=`).
    #[must_use]
    pub fn frequencies(self, counts: &Array) -> Covariance {
        Covariance {
            frequencies: Some(counts.clone()),
            ..self
        }
    }

    /// Sets the weight of each observation (`aweights=`).
    #[must_use]
    pub fn weights(self, weights: &Array) -> Covariance {
        Covariance {
            weights: Some(weights.clone()),
            ..self
        }
    }

    /// Returns the variables as rows.
    #[track_caller]
    fn rows(&self, x: &Array) -> Array {
        assert!(
            x.ndim() <= 2,
            "cov: {} has more than two axes\n  help: pass a matrix of variables by observations",
            x.aval()
        );
        match x.ndim() {
            2 if self.columns => x.t(),
            2 => x.clone(),
            _ => x.reshape(&[1, x.size()]),
        }
    }

    /// Computes the covariance matrix, which is 0-d for a single variable, in the dtype that the
    /// arrays and the weights promote to.
    ///
    /// # Panics
    /// Panics if an array has more than two axes, or if the number of weights differs from the
    /// number of observations.
    #[track_caller]
    pub fn of(&self, x: &Array) -> Array {
        let x = match &self.more {
            None => self.rows(&x.to_inexact()),
            Some(y) => {
                let (x, y) = (self.rows(x), self.rows(y));
                let both = promote_all("cov", &[x.to_inexact(), y.to_inexact()]);
                concatenate(&both, 0)
            }
        };
        let (variables, n) = (x.shape()[0], x.shape()[1]);
        if variables == 0 {
            return Array::zeros(&[0, 0], x.dtype());
        }
        let ones: &[isize] = if variables == 1 { &[0, 1] } else { &[] };
        if n == 0 {
            return Array::full(&[variables, variables], f64::NAN, x.dtype()).squeeze(ones);
        }
        let (weights, importance) = self.observation_weights(&x, n);
        let Some(weights) = weights else {
            let centred = &x - x.mean_over(Reduction::over(1).keepdims());
            let products = centred.matmul(centred.t().conj());
            return (products / (n as f64 - self.ddof)).squeeze(ones);
        };
        let (mean, total) = x.average_and_weight(&weights, Reduction::over(1).keepdims());
        let total = total.index((0, 0));
        let divisor = match importance {
            _ if self.ddof == 0.0 => total,
            None => total - self.ddof,
            Some(a) => &total - (&weights * a).sum() * self.ddof / &total,
        };
        let centred = x - mean;
        let products = centred.matmul((&centred * weights).t().conj());
        (products / divisor).squeeze(ones)
    }

    /// Returns the combined weight of each observation, and the factor of it that is not a
    /// frequency, in the dtype that they and the variables promote to.
    #[track_caller]
    fn observation_weights(&self, x: &Array, n: usize) -> (Option<Array>, Option<Array>) {
        for w in self.frequencies.iter().chain(&self.weights) {
            assert!(
                w.shape() == [n],
                "cov: the weights {} must be one for each of {n} observations\n  help: pass a \
                 1-d array",
                w.aval()
            );
        }
        let [frequencies, importance] =
            [&self.frequencies, &self.weights].map(|w| w.as_ref().map(Array::abs));
        let arrays: Vec<&Array> = std::iter::once(x)
            .chain(&frequencies)
            .chain(&importance)
            .collect();
        let (dtype, _) = common_type("cov", &arrays);
        let own = |w: Option<Array>| w.map(|w| w.astype(dtype));
        let (frequencies, importance) = (own(frequencies), own(importance));
        let weights = match (frequencies, &importance) {
            (Some(f), Some(a)) => Some(f * a),
            (f, a) => f.or(a.clone()),
        };
        (weights, importance)
    }

    /// Computes the matrix of correlation coefficients, whose real and imaginary parts are
    /// clipped to the range from -1 to 1.
    ///
    /// # Panics
    /// Panics in the same cases as [`of`](Covariance::of).
    #[track_caller]
    pub fn correlation_of(&self, x: &Array) -> Array {
        let covariance = self.of(x);
        if covariance.ndim() == 0 {
            let variance = covariance.clone();
            return covariance / variance;
        }
        let deviation = covariance.diagonal(0).real().sqrt();
        let scaled = covariance / deviation.expand_dims(&[1]) / deviation.expand_dims(&[0]);
        by_parts(&scaled, |x| x.clip(-1.0, 1.0))
    }
}
