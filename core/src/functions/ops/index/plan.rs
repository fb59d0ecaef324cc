//! Lowering of an index to slices, if all indices are known, or to one gather or scatter.

use super::resolve::{Entry, Pick};
use crate::prim::index::positions::index_dtype;
use crate::prim::index::{GatherDimensionNumbers, signed_indices, wrap_negative};
use crate::typing::Dims;
use crate::{Array, DType};

/// Returns whether all indices are known elements and ranges.
pub(super) fn is_static(entries: &[Entry]) -> bool {
    entries
        .iter()
        .all(|e| !matches!(e, Entry::Flag(_) | Entry::Axis(_, Pick::Indices(_))))
}

/// Returns whether the selection is a box: elements and ranges of step 1.
pub(super) fn is_box(entries: &[Entry]) -> bool {
    entries.iter().all(|e| match e {
        Entry::NewAxis | Entry::Axis(_, Pick::Element(_)) => true,
        Entry::Axis(_, Pick::Range { step, .. }) => *step == 1,
        Entry::Flag(_) | Entry::Axis(_, Pick::Indices(_)) => false,
    })
}

/// Returns whether all computed indices are scalars, so that the selection is a box at a computed
/// position once the ranges are sliced.
pub(super) fn is_scalar(entries: &[Entry]) -> bool {
    entries.iter().all(|e| match e {
        Entry::Axis(_, Pick::Indices(a)) => a.ndim() == 0,
        Entry::Flag(_) => false,
        _ => true,
    })
}

/// Returns the start and the size of a box along each axis. Axes with computed indices are
/// selected completely.
pub(super) fn bounds(array: &Array, entries: &[Entry]) -> (Dims, Dims) {
    let mut starts = Dims::from_elem(0, array.ndim());
    let mut sizes: Dims = array.shape().into();
    for entry in entries {
        match entry {
            Entry::Axis(d, Pick::Element(at)) => (starts[*d], sizes[*d]) = (*at, 1),
            Entry::Axis(d, Pick::Range { start, len, .. }) => {
                (starts[*d], sizes[*d]) = (*start, *len);
            }
            _ => {}
        }
    }
    (starts, sizes)
}

/// Returns the shape selected by an index without arrays, including new axes.
pub(super) fn static_shape(entries: &[Entry]) -> Dims {
    entries
        .iter()
        .filter_map(|e| match e {
            Entry::NewAxis => Some(1),
            Entry::Axis(_, Pick::Range { len, .. }) => Some(*len),
            Entry::Flag(_) | Entry::Axis(..) => None,
        })
        .collect()
}

/// Slices the elements and ranges of an index. Axes with computed indices stay whole, and axes of
/// single elements stay with size 1.
#[track_caller]
pub(super) fn slice_static(array: &Array, entries: &[Entry]) -> Array {
    let (mut starts, sizes) = bounds(array, entries);
    let mut strides = Dims::from_elem(1, array.ndim());
    let mut limits: Dims = starts.iter().zip(&sizes).map(|(s, n)| s + n).collect();
    let mut backwards: Vec<isize> = Vec::new();
    for entry in entries {
        if let Entry::Axis(d, Pick::Range { start, len, step }) = entry
            && *step != 1
        {
            let stride = step.unsigned_abs();
            // `range` gives ranges of fewer than two elements the step 1, so `len - 1` is not
            // negative. `x[5:0:-2]` has 3 elements: it is `x[1:6:2]`, flipped.
            let reach = (len - 1) * stride;
            if *step < 0 {
                starts[*d] = start - reach;
                backwards.push(*d as isize);
            }
            limits[*d] = starts[*d] + reach + 1;
            strides[*d] = stride;
        }
    }
    let taken = array.slice_with(&starts, &limits, &strides);
    if backwards.is_empty() {
        taken
    } else {
        taken.flip(&backwards)
    }
}

/// Removes the axes of single elements and inserts the new axes.
#[track_caller]
pub(super) fn finish(taken: &Array, entries: &[Entry]) -> Array {
    let single: Vec<isize> = entries
        .iter()
        .filter_map(|e| match e {
            Entry::Axis(d, Pick::Element(_) | Pick::Indices(_)) => Some(*d as isize),
            _ => None,
        })
        .collect();
    let taken = if single.is_empty() {
        taken.clone()
    } else {
        taken.squeeze(&single)
    };
    // New axes are placed among the axes that remain, those of ranges.
    let kept = entries
        .iter()
        .filter(|e| matches!(e, Entry::NewAxis | Entry::Axis(_, Pick::Range { .. })));
    let new: Vec<isize> = (0isize..)
        .zip(kept)
        .filter_map(|(i, e)| matches!(e, Entry::NewAxis).then_some(i))
        .collect();
    if new.is_empty() {
        taken
    } else {
        taken.expand_dims(&new)
    }
}

/// Returns the start index for each axis after [`slice_static`]: the computed indices, and 0 for
/// other axes.
pub(super) fn dynamic_starts(array: &Array, entries: &[Entry]) -> Vec<Array> {
    let mut starts = vec![Array::scalar(0, DType::I32); array.ndim()];
    for entry in entries {
        if let Entry::Axis(d, Pick::Indices(at)) = entry {
            starts[*d] = at.clone();
        }
    }
    starts
}

/// An axis of the result of a gather.
#[derive(Clone, Copy, PartialEq)]
enum ResultAxis {
    /// One of the axes to which the arrays of integers broadcast.
    Shared(usize),
    /// The positions of a range with a step along an axis.
    Walked(usize, usize),
    /// A window along an axis.
    Window(usize),
    /// A new axis.
    New,
}

/// A single gather or scatter that reads or writes the selection of an index.
pub(super) struct Plan {
    /// Index vectors.
    pub indices: Array,
    /// Correspondence of the axes.
    pub numbers: GatherDimensionNumbers,
    /// Size of a window along each axis.
    pub slice_sizes: Dims,
    /// Shape of the selection.
    pub shape: Dims,
    /// Shape of the selection including new axes.
    pub full_shape: Dims,
    /// Whether the indices are known to be distinct.
    pub unique: bool,
}

/// Interpretation of negative integers in arrays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Negative {
    /// Count from the end of the axis.
    FromEnd,
    /// Out of bounds.
    OutOfBounds,
}

impl Plan {
    /// Plans the selection of an index.
    // A range of step 1 is a window, which starts at its position; all other axes are batch axes of
    // the result, or removed, and have windows of size 1. Each axis with a position has a column of
    // the index vectors, `[batch…, 1]`. A gather returns no new axes: a reshape to `full_shape`
    // inserts them. If no array has an axis, positions vary along ranges only, which repeat no
    // element: the indices are unique.
    #[track_caller]
    pub fn new(array: &Array, entries: &[Entry], negative: Negative) -> Plan {
        let shared = shared_shape(entries);
        let dtype = positions_dtype(array, entries);
        let axes = result_axes(entries, shared.len());
        let size = |axis: ResultAxis| match axis {
            ResultAxis::Shared(i) => shared[i],
            ResultAxis::Walked(_, len) => len,
            ResultAxis::Window(d) => bounds(array, entries).1[d],
            ResultAxis::New => 1,
        };
        let batch: Vec<ResultAxis> = axes
            .iter()
            .copied()
            .filter(|a| matches!(a, ResultAxis::Shared(_) | ResultAxis::Walked(..)))
            .collect();
        let batch_shape: Dims = batch.iter().map(|a| size(*a)).collect();
        let mut numbers = GatherDimensionNumbers::default();
        let real = axes.iter().filter(|a| **a != ResultAxis::New);
        let windows = real.clone().enumerate();
        let windows = windows.filter(|(_, axis)| matches!(axis, ResultAxis::Window(_)));
        numbers.offset_dims.extend(windows.map(|(i, _)| i));
        let mut slice_sizes = bounds(array, entries).1;
        let mut columns: Vec<Array> = Vec::new();
        let mut rows: Dims = batch_shape.clone();
        rows.push(1);
        let places = Positions {
            dtype,
            negative,
            shared: shared.len(),
            batch: &batch,
        };
        for entry in entries {
            let Entry::Axis(d, pick) = entry else {
                continue;
            };
            let Some((values, dims)) = places.of(*d, array.shape()[*d], pick) else {
                continue;
            };
            numbers.start_index_map.push(*d);
            columns.push(values.broadcast_in_dim(&rows, &dims));
            if !matches!(pick, Pick::Range { step: 1, .. }) {
                numbers.collapsed_slice_dims.push(*d);
                slice_sizes[*d] = 1;
            }
        }
        let indices = if columns.is_empty() {
            rows[batch_shape.len()] = 0;
            Array::zeros(&rows, dtype)
        } else {
            crate::concatenate(&columns, batch_shape.len() as isize)
        };
        Plan {
            indices,
            numbers,
            slice_sizes,
            shape: real.map(|a| size(*a)).collect(),
            full_shape: axes.iter().map(|a| size(*a)).collect(),
            unique: shared.is_empty(),
        }
    }
}

/// Returns the dtype in which the positions of an index are computed.
fn positions_dtype(array: &Array, entries: &[Entry]) -> DType {
    let wide = entries
        .iter()
        .any(|entry| matches!(entry, Entry::Axis(_, Pick::Indices(a)) if a.dtype().bits() == 64));
    let given = if wide { DType::I64 } else { DType::I32 };
    index_dtype(given, array.shape().iter().copied())
}

/// Returns the shape to which the arrays of an index are broadcast together.
#[track_caller]
fn shared_shape(entries: &[Entry]) -> Dims {
    let shapes = entries.iter().filter_map(|e| match e {
        Entry::Axis(_, Pick::Indices(a)) => Some(a.shape()),
        Entry::Flag(here) => Some(if *here { &[1][..] } else { &[0] }),
        _ => None,
    });
    let shapes: Vec<&[usize]> = shapes.collect();
    let Some(shared) = crate::numpy::broadcast_shapes(&shapes) else {
        panic!(
            "index: arrays of integers of shapes {shapes:?} do not broadcast together\n  \
             help: they are paired element by element; to select rows and columns \
             independently, add an axis of size 1 to one array, or index twice"
        );
    };
    shared
}

/// The positions that an index selects along the axes of an array.
struct Positions<'a> {
    dtype: DType,
    negative: Negative,
    /// Number of axes that the arrays share.
    shared: usize,
    /// The axes of the result along which positions vary.
    batch: &'a [ResultAxis],
}

impl Positions<'_> {
    /// Returns the positions along the axis `d` of `size` elements, and the batch axes along which
    /// they vary. A range of step 1 has one position, its start, and none if it is the whole axis.
    #[track_caller]
    fn of(&self, d: usize, size: usize, pick: &Pick) -> Option<(Array, Dims)> {
        let single = |at: usize| (Array::scalar(at, self.dtype), Dims::new());
        match pick {
            Pick::Element(at) => Some(single(*at)),
            Pick::Indices(values) => {
                let values = signed_indices(values, size, self.dtype);
                let values = match self.negative {
                    Negative::FromEnd => wrap_negative(&values, size),
                    Negative::OutOfBounds => values,
                };
                let mut batch = self.batch.iter();
                // Arrays broadcast from the last axis: with shared axes `[a, b]`, values `[b]` vary
                // along the second.
                let first = batch.position(|a| matches!(a, ResultAxis::Shared(_)));
                let lead = first.unwrap_or(0) + self.shared - values.ndim();
                let dims = (lead..lead + values.ndim()).collect();
                Some((values, dims))
            }
            Pick::Range { start, len, step } if *step != 1 => {
                let walk = &(&Array::iota(&[*len], 0, self.dtype) * (*step as i64)) + *start as i64;
                let walked = ResultAxis::Walked(d, *len);
                let position = self.batch.iter().position(|a| *a == walked);
                let position = position.expect("the axis is in the result");
                Some((walk, Dims::from_elem(position, 1)))
            }
            Pick::Range { len, .. } if *len == size => None,
            Pick::Range { start, .. } => Some(single(*start)),
        }
    }
}

/// Returns the axes of the result in order. The axes shared by the arrays are placed at the first
/// array or element, or first if other entries separate the arrays.
fn result_axes(entries: &[Entry], shared: usize) -> Vec<ResultAxis> {
    let advanced: Vec<usize> = (0..entries.len())
        .filter(|&i| {
            matches!(
                entries[i],
                Entry::Flag(_) | Entry::Axis(_, Pick::Element(_) | Pick::Indices(_))
            )
        })
        .collect();
    // NumPy's rule. Integers count like arrays: in `x[0, :, i]` the range separates two of them, so
    // the axes of `i` are first.
    let together = advanced.windows(2).all(|w| w[0] + 1 == w[1]);
    let position = match advanced.first() {
        Some(&first) if together => first,
        _ => 0,
    };
    let mut axes = Vec::new();
    for (i, entry) in entries.iter().enumerate() {
        if i == position {
            axes.extend((0..shared).map(ResultAxis::Shared));
        }
        match entry {
            Entry::NewAxis => axes.push(ResultAxis::New),
            Entry::Axis(d, Pick::Range { len, step, .. }) if *step != 1 => {
                axes.push(ResultAxis::Walked(*d, *len));
            }
            Entry::Axis(d, Pick::Range { .. }) => axes.push(ResultAxis::Window(*d)),
            Entry::Flag(_) | Entry::Axis(..) => {}
        }
    }
    axes
}
