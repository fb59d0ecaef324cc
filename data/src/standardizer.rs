//! Standardization of columns.

use crate::{Error, Result};
use ndarray::{Array, ArrayRef, Axis, Dimension, RemoveAxis};
use serde::{Deserialize, Serialize};

/// The mean and the standard deviation of each column of a table, to standardize its values: each
/// column gets the mean 0 and the standard deviation 1 (scikit-learn's `StandardScaler`).
///
/// The first axis of an array counts rows, and each index of the other axes is a column: an array
/// `[rows]` is one column. Fit on the training data only, and save the standardizer with the model,
/// because other data must be standardized by the same numbers. It implements serde's traits:
///
/// ```
/// use ndarray::array;
/// use ramie_data::Standardizer;
/// let x = array![[1.0f32, 10.0], [3.0, 30.0]];
/// let standardizer = Standardizer::fit(&x)?;
/// assert_eq!(standardizer.apply(&x), array![[-1.0, -1.0], [1.0, 1.0]]);
/// let saved = serde_json::to_string(&standardizer).unwrap();
/// assert_eq!(saved, r#"{"mean":[2.0,20.0],"scale":[1.0,10.0]}"#);
///
/// let standardizer: Standardizer = serde_json::from_str(&saved).unwrap();
/// assert_eq!(standardizer.apply(&array![[2.0, 40.0]]), array![[0.0, 2.0]]);
/// # Ok::<(), ramie_data::Error>(())
/// ```
#[doc(alias = "StandardScaler")]
#[doc(alias = "Normalization")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Saved")]
pub struct Standardizer {
    mean: Vec<f64>,
    scale: Vec<f64>,
}

/// A standardizer as it is read, before its numbers are checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    mean: Vec<f64>,
    scale: Vec<f64>,
}

impl TryFrom<Saved> for Standardizer {
    type Error = Error;
    fn try_from(Saved { mean, scale }: Saved) -> Result<Standardizer> {
        if mean.len() != scale.len() {
            return Err(Error::Other(format!(
                "a standardizer has {} means and {} scales, expected one of each per column",
                mean.len(),
                scale.len()
            )));
        }
        if let Some(column) = scale.iter().position(|s| !(s.is_finite() && *s > 0.0)) {
            return Err(Error::Other(format!(
                "the scale of column {column} of a standardizer is {}, expected a positive number",
                scale[column]
            )));
        }
        Ok(Standardizer { mean, scale })
    }
}

impl Standardizer {
    /// Computes the mean and the standard deviation of each column, in `f64`. The deviation divides
    /// by the number of rows. The scale of a column whose values are all equal is 1, as in
    /// scikit-learn.
    ///
    /// # Errors
    /// Returns an error if there are no rows, or if a value is NaN or infinite.
    pub fn fit<D: RemoveAxis>(x: &ArrayRef<f32, D>) -> Result<Standardizer> {
        let rows = x.len_of(Axis(0));
        if rows == 0 {
            return Err(Error::Other(
                "a standardizer cannot be fitted to zero rows; pass the training data".into(),
            ));
        }
        let columns = x.len() / rows;
        if let Some((i, value)) = x.iter().enumerate().find(|(_, value)| !value.is_finite()) {
            return Err(Error::Other(format!(
                "a standardizer cannot be fitted: the value in row {}, column {} is {value}; remove \
                 the row, or replace the value",
                i / columns,
                i % columns
            )));
        }
        let total = |of: &dyn Fn(usize, f64) -> f64| {
            let mut sums = vec![0.0; columns];
            for (i, value) in x.iter().enumerate() {
                sums[i % columns] += of(i % columns, f64::from(*value));
            }
            sums.into_iter().map(move |sum| sum / rows as f64)
        };
        let mean: Vec<f64> = total(&|_, value| value).collect();
        let variances = total(&|column, value| (value - mean[column]).powi(2));
        let scale = variances.zip(&mean).map(|(variance, mean)| {
            // Equal values may differ from their rounded mean. The bound is scikit-learn's.
            let n = rows as f64;
            let bound = n * f64::EPSILON * variance + (n * mean * f64::EPSILON).powi(2);
            if variance <= bound {
                1.0
            } else {
                variance.sqrt()
            }
        });
        let scale = scale.collect();
        Ok(Standardizer { mean, scale })
    }

    /// Returns the mean of each column.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Returns the number by which each column is divided: its standard deviation, or 1 for equal values.
    pub fn scale(&self) -> &[f64] {
        &self.scale
    }

    /// Subtracts the means and divides by the scales.
    ///
    /// # Panics
    /// Panics if the number of columns is not that of the fitted array.
    #[doc(alias = "transform")]
    #[track_caller]
    pub fn apply<D: Dimension>(&self, x: &ArrayRef<f32, D>) -> Array<f32, D> {
        self.check("apply", x);
        self.map(x, |value, mean, scale| (value - mean) / scale)
    }

    /// Computes the values of which [`apply`](Standardizer::apply) returns the argument, such as
    /// predictions in the unit of the training data.
    ///
    /// # Panics
    /// Panics if the number of columns is not that of the fitted array.
    #[doc(alias = "inverse_transform")]
    #[track_caller]
    pub fn invert<D: Dimension>(&self, x: &ArrayRef<f32, D>) -> Array<f32, D> {
        self.check("invert", x);
        self.map(x, |value, mean, scale| value * scale + mean)
    }

    #[track_caller]
    fn check<D: Dimension>(&self, operation: &str, x: &ArrayRef<f32, D>) {
        let columns: Option<usize> = x.shape().get(1..).map(|axes| axes.iter().product());
        assert!(
            columns == Some(self.mean.len()),
            "Standardizer::{operation}: the argument has the shape {:?}, expected rows of {} columns\n  \
             help: pass the columns of `fit`, in the same order",
            x.shape(),
            self.mean.len()
        );
    }

    fn map<D: Dimension>(
        &self,
        x: &ArrayRef<f32, D>,
        to: impl Fn(f64, f64, f64) -> f64,
    ) -> Array<f32, D> {
        let mut column = (0..self.mean.len()).cycle();
        // `iter` has the logical order of any memory layout.
        let values = x.iter().map(|value| {
            let column = column.next().expect("a column for each value");
            to(f64::from(*value), self.mean[column], self.scale[column]) as f32
        });
        let values: Vec<f32> = values.collect();
        Array::from_shape_vec(x.raw_dim(), values).expect("a value for each element")
    }
}
