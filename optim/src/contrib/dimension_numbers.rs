//! Which axes of a weight make a matrix.

use ramie_core::Array;
use std::fmt;
use std::sync::Arc;

/// Which axes of a weight are those that a layer sums over, and which are those
/// of its output: the rows and columns of a matrix. Axes that are in neither
/// list stack matrices. Negative axes count from the last.
///
/// `MuonDimensionNumbers` and `GaLoreDimensionNumbers` of Optax.
///
/// ```
/// use ramie_optim::contrib::{WeightDimensionNumbers, muon};
/// // Kernels of attention are `[features, heads, width]`.
/// let of_attention = WeightDimensionNumbers::new([0], [1, 2]);
/// let tx = muon(0.02).weight_dimension_numbers(move |path, kernel| match kernel.ndim() {
///     3 if path.ends_with("query.kernel") => Some(of_attention.clone()),
///     2 => Some(WeightDimensionNumbers::default()),
///     _ => None,
/// });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightDimensionNumbers {
    /// The axes that the layer sums over.
    pub reduction_axis: Vec<isize>,
    /// The axes of its output.
    pub output_axis: Vec<isize>,
}

impl Default for WeightDimensionNumbers {
    /// Those of a matrix: it is summed over rows, columns are outputs.
    fn default() -> WeightDimensionNumbers {
        WeightDimensionNumbers::new([0], [1])
    }
}

impl WeightDimensionNumbers {
    /// The axes that the layer sums over, and those of its output.
    pub fn new(
        reduction_axis: impl Into<Vec<isize>>,
        output_axis: impl Into<Vec<isize>>,
    ) -> WeightDimensionNumbers {
        WeightDimensionNumbers {
            reduction_axis: reduction_axis.into(),
            output_axis: output_axis.into(),
        }
    }

    /// Where the matrices of `x` are.
    #[track_caller]
    pub(super) fn place(&self, operation: &str, x: &Array) -> Matrices {
        let rank = x.ndim() as isize;
        let axes = |list: &[isize]| -> Vec<usize> {
            let at = |axis: &isize| {
                assert!(
                    (-rank..rank).contains(axis),
                    "{operation}: there is no axis {axis} in {}\n  help: the dimension numbers \
                     are those of another weight",
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
            "{operation}: an axis of {} is named twice, reduction {:?} and output {:?}\n  help: \
             each axis is one of the reduction, one of the output, or in neither list",
            x.aval(),
            self.reduction_axis,
            self.output_axis
        );
        let batch: Vec<usize> = (0..x.ndim()).filter(|d| !all.contains(d)).collect();
        Matrices::new(x, batch, rows, columns)
    }
}

/// How an array is a stack of matrices, and back.
pub(super) struct Matrices {
    order: Vec<isize>,
    back: Vec<isize>,
    /// The shape in that order.
    moved: Vec<usize>,
    /// The number of matrices.
    pub count: usize,
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
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

    /// The matrices, `[count, rows, columns]`.
    pub fn of(&self, x: &Array) -> Array {
        let sizes = [self.count, self.rows, self.columns];
        x.transpose(&self.order).reshape(&sizes)
    }

    /// The array that has these matrices.
    pub fn restore(&self, matrices: &Array) -> Array {
        matrices.reshape(&self.moved).transpose(&self.back)
    }
}

type Rule = dyn Fn(&str, &Array) -> Option<WeightDimensionNumbers> + Send + Sync;

/// The dimension numbers of weights by path and array; `None` for those that
/// are no matrices.
#[derive(Clone)]
pub(crate) struct DimensionNumbers(pub Arc<Rule>);

impl DimensionNumbers {
    /// Arrays with two axes are matrices.
    pub(super) fn of_matrices() -> DimensionNumbers {
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
