//! Dimension numbers of gathers and scatters.

use crate::typing::Dims;
use crate::{Aval, ShapeError};
use std::fmt;

/// The correspondence of the axes of a gather. The last axis of the indices contains index
/// vectors; its other axes are batch axes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct GatherDimensionNumbers {
    /// Axes of the result that correspond to the axes of gathered slices, in increasing order.
    pub offset_dims: Dims,
    /// Axes of the operand with slice size 1 that the result omits, in increasing order.
    pub collapsed_slice_dims: Dims,
    /// Axis of the operand for each component of an index vector.
    pub start_index_map: Dims,
    /// Axes of the operand that are batched together with the indices, in increasing order.
    pub operand_batching_dims: Dims,
    /// Axis of the indices for each of `operand_batching_dims`.
    pub start_indices_batching_dims: Dims,
}

/// The correspondence of the axes of a scatter. The last axis of the indices contains index
/// vectors; its other axes are batch axes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct ScatterDimensionNumbers {
    /// Axes of the updates that correspond to the axes of written windows, in increasing order.
    pub update_window_dims: Dims,
    /// Axes of the operand along which a window has size 1 and that the updates omit, in
    /// increasing order.
    pub inserted_window_dims: Dims,
    /// Axis of the operand for each component of an index vector.
    pub scatter_dims_to_operand_dims: Dims,
    /// Axes of the operand that are batched together with the indices, in increasing order.
    pub operand_batching_dims: Dims,
    /// Axis of the indices for each of `operand_batching_dims`.
    pub scatter_indices_batching_dims: Dims,
}

impl ScatterDimensionNumbers {
    /// Creates dimension numbers without batching axes.
    pub fn new(
        update_window_dims: &[usize],
        inserted_window_dims: &[usize],
        scatter_dims_to_operand_dims: &[usize],
    ) -> ScatterDimensionNumbers {
        GatherDimensionNumbers::new(
            update_window_dims,
            inserted_window_dims,
            scatter_dims_to_operand_dims,
        )
        .inverse()
    }

    /// Sets the batching axes of the operand and the corresponding axes of the indices. Defaults
    /// to none.
    #[must_use]
    pub fn batching_dims(self, operand: &[usize], indices: &[usize]) -> ScatterDimensionNumbers {
        self.inverse().batching_dims(operand, indices).inverse()
    }

    /// Returns the gather that reads the elements that the scatter writes.
    pub fn inverse(&self) -> GatherDimensionNumbers {
        GatherDimensionNumbers {
            offset_dims: self.update_window_dims.clone(),
            collapsed_slice_dims: self.inserted_window_dims.clone(),
            start_index_map: self.scatter_dims_to_operand_dims.clone(),
            operand_batching_dims: self.operand_batching_dims.clone(),
            start_indices_batching_dims: self.scatter_indices_batching_dims.clone(),
        }
    }
}

impl GatherDimensionNumbers {
    /// Creates dimension numbers without batching axes.
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// use ramie_core::prim::index::{Gather, GatherDimensionNumbers};
    /// let x = Array::from([[1, 2], [3, 4], [5, 6]]);
    /// let rows = Gather::new(GatherDimensionNumbers::new(&[1], &[0], &[0]), &[1, 2]);
    /// let out = x.gather(&Array::from([[2], [0]]), rows);
    /// assert_eq!(out.to_vec::<i32>(), [5, 6, 1, 2]);
    /// ```
    pub fn new(
        offset_dims: &[usize],
        collapsed_slice_dims: &[usize],
        start_index_map: &[usize],
    ) -> GatherDimensionNumbers {
        GatherDimensionNumbers {
            offset_dims: offset_dims.into(),
            collapsed_slice_dims: collapsed_slice_dims.into(),
            start_index_map: start_index_map.into(),
            ..Default::default()
        }
    }

    /// Sets the batching axes of the operand and the corresponding axes of the indices. Defaults
    /// to none.
    #[must_use]
    pub fn batching_dims(self, operand: &[usize], indices: &[usize]) -> GatherDimensionNumbers {
        GatherDimensionNumbers {
            operand_batching_dims: operand.into(),
            start_indices_batching_dims: indices.into(),
            ..self
        }
    }

    /// Returns the scatter that writes the elements that the gather reads.
    pub fn inverse(&self) -> ScatterDimensionNumbers {
        ScatterDimensionNumbers {
            update_window_dims: self.offset_dims.clone(),
            inserted_window_dims: self.collapsed_slice_dims.clone(),
            scatter_dims_to_operand_dims: self.start_index_map.clone(),
            operand_batching_dims: self.operand_batching_dims.clone(),
            scatter_indices_batching_dims: self.start_indices_batching_dims.clone(),
        }
    }
}

/// The handling of out-of-bounds indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GatherScatterMode {
    /// The caller asserts that there are none; otherwise the result is unspecified.
    PromiseInBounds,
    /// They are clamped to the nearest index in bounds.
    Clip,
    /// Reads return the fill value, writes are dropped.
    FillOrDrop,
}

impl fmt::Display for GatherScatterMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            GatherScatterMode::PromiseInBounds => "GatherScatterMode.PROMISE_IN_BOUNDS",
            GatherScatterMode::Clip => "GatherScatterMode.CLIP",
            GatherScatterMode::FillOrDrop => "GatherScatterMode.FILL_OR_DROP",
        })
    }
}

fn tuple(dims: &Dims) -> String {
    match dims.as_slice() {
        [one] => format!("({one},)"),
        many => {
            let items: Vec<String> = many.iter().map(usize::to_string).collect();
            format!("({})", items.join(", "))
        }
    }
}

impl fmt::Display for GatherDimensionNumbers {
    /// Formats the numbers like JAX.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "GatherDimensionNumbers(offset_dims={}, collapsed_slice_dims={}, start_index_map={}, \
             operand_batching_dims={}, start_indices_batching_dims={})",
            tuple(&self.offset_dims),
            tuple(&self.collapsed_slice_dims),
            tuple(&self.start_index_map),
            tuple(&self.operand_batching_dims),
            tuple(&self.start_indices_batching_dims)
        )
    }
}

impl fmt::Display for ScatterDimensionNumbers {
    /// Formats the numbers like JAX.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "ScatterDimensionNumbers(update_window_dims={}, inserted_window_dims={}, \
             scatter_dims_to_operand_dims={}, operand_batching_dims={}, \
             scatter_indices_batching_dims={})",
            tuple(&self.update_window_dims),
            tuple(&self.inserted_window_dims),
            tuple(&self.scatter_dims_to_operand_dims),
            tuple(&self.operand_batching_dims),
            tuple(&self.scatter_indices_batching_dims)
        )
    }
}

/// Checks that `dims` are distinct and below `rank`, and increasing if
/// `sorted`.
pub(super) fn check_dims(
    name: &str,
    dims: &Dims,
    rank: usize,
    sorted: bool,
) -> Result<(), ShapeError> {
    let distinct = (0..dims.len()).all(|i| !dims[..i].contains(&dims[i]));
    let ordered = !sorted || dims.is_sorted();
    if distinct && ordered && dims.iter().all(|&d| d < rank) {
        return Ok(());
    }
    let kind = if sorted { "increasing" } else { "distinct" };
    Err(ShapeError::new(format!(
        "{name} {:?} are not {kind} axes below {rank}",
        dims.as_slice()
    )))
}

/// Checks the indices and the axes of the operand, which gathers and scatters share: the axes that
/// slices lack, the axes of the index vectors, and the batch axes of the operand and the indices.
pub(super) fn check_numbers(
    [operand, indices]: [Aval; 2],
    lacking: (&str, &Dims),
    mapped: (&str, &Dims),
    batching: [&Dims; 2],
) -> Result<(), ShapeError> {
    check_indices(indices, mapped.1.len())?;
    check_dims(mapped.0, mapped.1, operand.ndim(), false)?;
    check_dims(lacking.0, lacking.1, operand.ndim(), true)?;
    check_batching(operand.shape(), indices.shape(), batching[0], batching[1])?;
    check_disjoint(lacking, batching[0])?;
    check_disjoint(mapped, batching[0])
}

/// Checks that the indices are integers, with index vectors of this length.
fn check_indices(indices: Aval, length: usize) -> Result<(), ShapeError> {
    if !indices.dtype().is_integer() {
        return Err(ShapeError::new(format!(
            "indices are {}, expected integers",
            indices.dtype()
        ))
        .help("convert them with astype(DType::I32)"));
    }
    if indices.shape().last() != Some(&length) {
        return Err(ShapeError::new(format!(
            "indices {indices} do not contain index vectors of {length} components"
        ))
        .help("the last axis of the indices must have one entry for each indexed axis"));
    }
    Ok(())
}

/// Checks that no axis is a batch axis.
fn check_disjoint((name, dims): (&str, &Dims), batching: &Dims) -> Result<(), ShapeError> {
    match dims.iter().find(|d| batching.contains(d)) {
        None => Ok(()),
        Some(d) => Err(ShapeError::new(format!(
            "axis {d} is in both {name} and operand_batching_dims"
        ))),
    }
}

/// Checks the axes that the operand and the indices share as batch axes.
fn check_batching(
    operand: &[usize],
    indices: &[usize],
    operand_dims: &Dims,
    indices_dims: &Dims,
) -> Result<(), ShapeError> {
    check_dims("operand_batching_dims", operand_dims, operand.len(), true)?;
    check_dims(
        "the indices' batching dims",
        indices_dims,
        indices.len() - 1,
        false,
    )?;
    let sizes = |shape: &[usize], dims: &Dims| -> Dims { dims.iter().map(|&d| shape[d]).collect() };
    let (a, b) = (sizes(operand, operand_dims), sizes(indices, indices_dims));
    crate::ensure_shape!(
        a == b,
        "batching dims have sizes {:?} in the operand and {:?} in the indices",
        a.as_slice(),
        b.as_slice()
    );
    Ok(())
}
