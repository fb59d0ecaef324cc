//! The axes of a weight that form a matrix.

use ramie_core::Array;
use std::fmt;
use std::sync::Arc;

/// The axes of a weight that form the rows and columns of a matrix: those that a layer sums over,
/// and those of its output. Axes in neither list form a stack of matrices. Negative axes count
/// from the last.
///
/// This is `MuonDimensionNumbers` and `GaLoreDimensionNumbers` in Optax.
///
/// ```
/// use ramie_optim::contrib::{WeightDimensionNumbers, muon};
/// // Attention kernels are `[features, heads, width]`.
/// let of_attention = WeightDimensionNumbers::new([0], [1, 2]);
/// let tx = muon(0.02).weight_dimension_numbers(move |path, kernel| match kernel.ndim() {
///     3 if path.ends_with("query.kernel") => Some(of_attention.clone()),
///     2 => Some(WeightDimensionNumbers::default()),
///     _ => None,
/// });
/// ```
#[doc(alias("MuonDimensionNumbers", "GaLoreDimensionNumbers"))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightDimensionNumbers {
    /// Axes that the layer sums over.
    pub reduction_axis: Vec<isize>,
    /// Axes of the output.
    pub output_axis: Vec<isize>,
}

impl Default for WeightDimensionNumbers {
    /// Describes a matrix whose rows are summed over and whose columns are outputs.
    fn default() -> WeightDimensionNumbers {
        WeightDimensionNumbers::new([0], [1])
    }
}

impl WeightDimensionNumbers {
    /// Creates dimension numbers from the axes that the layer sums over and those of its output.
    pub fn new(
        reduction_axis: impl Into<Vec<isize>>,
        output_axis: impl Into<Vec<isize>>,
    ) -> WeightDimensionNumbers {
        WeightDimensionNumbers {
            reduction_axis: reduction_axis.into(),
            output_axis: output_axis.into(),
        }
    }

    /// Returns how to reshape `x` to a stack of matrices.
    #[track_caller]
    pub(crate) fn place(&self, operation: &str, x: &Array) -> Matrices {
        let rank = x.ndim() as isize;
        let axes = |list: &[isize]| -> Vec<usize> {
            let at = |axis: &isize| {
                assert!(
                    (-rank..rank).contains(axis),
                    "{operation}: axis {axis} is out of range for {}\n  help: pass dimension \
                     numbers that match this weight",
                    x.aval()
                );
                axis.rem_euclid(rank) as usize
            };
            list.iter().map(at).collect()
        };
        let (rows, columns) = (axes(&self.reduction_axis), axes(&self.output_axis));
        let mut all = [rows.as_slice(), &columns].concat();
        all.sort_unstable();
        let different = all.windows(2).all(|pair| pair[0] != pair[1]);
        assert!(
            different,
            "{operation}: an axis of {} is listed twice: reduction_axis is {:?}, output_axis is \
             {:?}\n  help: list each axis at most once",
            x.aval(),
            self.reduction_axis,
            self.output_axis
        );
        let batch: Vec<usize> = (0..x.ndim()).filter(|d| !all.contains(d)).collect();
        Matrices::new(x, batch, rows, columns)
    }
}

/// The conversion between an array and a stack of matrices.
pub(crate) struct Matrices {
    order: Vec<isize>,
    back: Vec<isize>,
    /// Shape of the array in that order of axes.
    moved: Vec<usize>,
    /// Number of matrices.
    pub count: usize,
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
}

impl Matrices {
    fn new(x: &Array, batch: Vec<usize>, rows: Vec<usize>, columns: Vec<usize>) -> Matrices {
        let product = |axes: &[usize]| axes.iter().map(|&d| x.shape()[d]).product();
        let order = [batch.as_slice(), &rows, &columns].concat();
        let mut back = vec![0; order.len()];
        for (place, &axis) in order.iter().enumerate() {
            back[axis] = place as isize;
        }
        Matrices {
            moved: order.iter().map(|&d| x.shape()[d]).collect(),
            order: order.iter().map(|&d| d as isize).collect(),
            back,
            count: product(&batch),
            rows: product(&rows),
            columns: product(&columns),
        }
    }

    /// Returns the matrices of an array, `[count, rows, columns]`.
    pub fn of(&self, x: &Array) -> Array {
        let sizes = [self.count, self.rows, self.columns];
        x.transpose(&self.order).reshape(&sizes)
    }

    /// Returns the array that consists of these matrices.
    pub fn restore(&self, matrices: &Array) -> Array {
        matrices.reshape(&self.moved).transpose(&self.back)
    }
}

type Rule = dyn Fn(&str, &Array) -> Option<WeightDimensionNumbers> + Send + Sync;

/// A function from the path and array of a weight to its dimension numbers, or `None` if the
/// weight is not a matrix.
#[derive(Clone)]
pub(crate) struct DimensionNumbers(pub Arc<Rule>);

impl DimensionNumbers {
    /// Accepts arrays with two axes as matrices.
    pub(crate) fn of_matrices() -> DimensionNumbers {
        DimensionNumbers(Arc::new(|_, array| {
            (array.ndim() == 2).then(WeightDimensionNumbers::default)
        }))
    }
}

impl fmt::Debug for DimensionNumbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("dimension_numbers(..)")
    }
}
