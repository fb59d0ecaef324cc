//! How the axes of gathers and scatters correspond.

use crate::{Dims, ShapeError};
use std::fmt;

/// How the axes of a gather correspond. The last axis of the indices holds
/// index vectors; its other axes are batch axes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct GatherDimensionNumbers {
    /// Axes of the result that run over the gathered slices, increasing.
    pub offset_dims: Dims,
    /// Axes of the operand, of slice size 1, that the result lacks, increasing.
    pub collapsed_slice_dims: Dims,
    /// For each component of an index vector, the operand's axis.
    pub start_index_map: Dims,
    /// Axes of the operand that are batched together with the indices,
    /// increasing.
    pub operand_batching_dims: Dims,
    /// For each of `operand_batching_dims`, the axis of the indices.
    pub start_indices_batching_dims: Dims,
}

/// How the axes of a scatter correspond. The last axis of the indices holds
/// index vectors; its other axes are batch axes.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct ScatterDimensionNumbers {
    /// Axes of the updates that run over the written windows, increasing.
    pub update_window_dims: Dims,
    /// Axes of the operand along which a window has size 1 and that the
    /// updates lack, increasing.
    pub inserted_window_dims: Dims,
    /// For each component of an index vector, the operand's axis.
    pub scatter_dims_to_operand_dims: Dims,
    /// Axes of the operand that are batched together with the indices,
    /// increasing.
    pub operand_batching_dims: Dims,
    /// For each of `operand_batching_dims`, the axis of the indices.
    pub scatter_indices_batching_dims: Dims,
}

impl ScatterDimensionNumbers {
    /// The gather that reads what the scatter writes.
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
    /// The scatter that writes what the gather reads.
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

/// What becomes of indices that are out of bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GatherScatterMode {
    /// The caller promises that there are none; what happens otherwise is the
    /// compiler's choice.
    PromiseInBounds,
    /// They are moved to the nearest index in bounds.
    Clip,
    /// Reads give the fill value, writes are dropped.
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
    /// As JAX prints it.
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
    /// As JAX prints it.
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

/// Checks that no axis is in both lists.
pub(super) fn check_disjoint(names: [&str; 2], dims: [&Dims; 2]) -> Result<(), ShapeError> {
    match dims[0].iter().find(|d| dims[1].contains(d)) {
        None => Ok(()),
        Some(d) => Err(ShapeError::new(format!(
            "axis {d} is in both {} and {}",
            names[0], names[1]
        ))),
    }
}

/// Checks the axes that the operand and the indices share as batch axes.
pub(super) fn check_batching(
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
