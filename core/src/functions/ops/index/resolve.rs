//! Resolves index entries against a shape: assigns an axis and a selection to each entry.

use super::IndexItem;
use super::plan::Negative;
use crate::{Array, DType};

/// Selection of an index along an axis.
#[derive(Clone, Debug)]
pub(super) enum Pick {
    /// One element; the axis is removed.
    Element(usize),
    /// `len` elements starting at `start`, `step` apart.
    Range {
        start: usize,
        len: usize,
        step: isize,
    },
    /// The elements at these integer indices, which may be traced.
    Indices(Array),
}

/// An axis of the array, or a new axis, in the order of the index.
#[derive(Clone, Debug)]
pub(super) enum Entry {
    NewAxis,
    /// A single boolean: an array of integers of size 1 or 0 that indexes no axis.
    Flag(bool),
    Axis(usize, Pick),
}

/// Returns the number of axes that an entry covers.
fn span(item: &IndexItem) -> usize {
    match item {
        IndexItem::NewAxis | IndexItem::Ellipsis => 0,
        IndexItem::Array(a) if a.dtype() == DType::Bool => a.ndim(),
        _ => 1,
    }
}

/// Treatment of known out-of-bounds integers.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Bounds {
    /// A known integer out of bounds panics.
    Checked,
    /// The caller set a mode, which also applies to known integers.
    ByMode,
}

/// Resolves the entries of an index against the axes of `array`.
#[track_caller]
pub(super) fn resolve(array: &Array, items: &[IndexItem], how: (Bounds, Negative)) -> Vec<Entry> {
    let named: usize = items.iter().map(span).sum();
    let ellipses = items
        .iter()
        .filter(|i| matches!(i, IndexItem::Ellipsis))
        .count();
    assert!(
        ellipses <= 1,
        "index: Ellipsis appears {ellipses} times\n  help: use it once, and `..` for a single \
         whole axis"
    );
    assert!(
        named <= array.ndim(),
        "index: {named} axes are indexed, but {} has {}\n  help: pass at most one entry per \
         axis; NewAxis inserts an axis",
        array.aval(),
        array.ndim()
    );
    // The axes that no entry names. They are at the Ellipsis, or at the end without one.
    let rest = array.ndim() - named;
    let mut entries = Vec::with_capacity(items.len() + rest);
    let mut axis = 0;
    let whole = |entries: &mut Vec<Entry>, axis: &mut usize| {
        for _ in 0..rest {
            entries.push(Entry::Axis(*axis, whole_axis(array.shape()[*axis])));
            *axis += 1;
        }
    };
    for item in items {
        match item {
            IndexItem::NewAxis => entries.push(Entry::NewAxis),
            IndexItem::Ellipsis => whole(&mut entries, &mut axis),
            IndexItem::Array(flag) if flag.dtype() == DType::Bool && flag.ndim() == 0 => {
                refuse_traced(flag);
                entries.push(Entry::Flag(flag.item()));
            }
            IndexItem::Array(mask) if mask.dtype() == DType::Bool => {
                for indices in mask_indices(array, axis, mask) {
                    entries.push(Entry::Axis(axis, Pick::Indices(indices)));
                    axis += 1;
                }
            }
            item => {
                entries.push(Entry::Axis(axis, pick(array, axis, item, how)));
                axis += 1;
            }
        }
    }
    if ellipses == 0 {
        whole(&mut entries, &mut axis);
    }
    entries
}

fn whole_axis(size: usize) -> Pick {
    Pick::Range {
        start: 0,
        len: size,
        step: 1,
    }
}

#[track_caller]
fn pick(array: &Array, axis: usize, item: &IndexItem, how: (Bounds, Negative)) -> Pick {
    let size = array.shape()[axis];
    match item {
        IndexItem::Integer(at) => element(array, axis, *at, how),
        &IndexItem::Slice { start, stop, step } => range(size as i64, start, stop, step),
        IndexItem::Array(indices) => {
            assert!(
                indices.dtype().is_integer(),
                "index: axis {axis} is indexed by {}, expected integers or a boolean mask\n  \
                 help: convert the indices: i.astype(DType::I32)",
                indices.aval()
            );
            match indices.as_literal() {
                Some(l) => match l.value().cast(DType::I64) {
                    crate::dtypes::Scalar::Int(at) => element(array, axis, at, how),
                    _ => unreachable!("a cast to i64 gives an integer"),
                },
                None => Pick::Indices(indices.clone()),
            }
        }
        IndexItem::NewAxis | IndexItem::Ellipsis => {
            unreachable!("`resolve` treats entries without an axis")
        }
    }
}

#[track_caller]
fn element(array: &Array, axis: usize, at: i64, how: (Bounds, Negative)) -> Pick {
    let size = array.shape()[axis] as i64;
    let (bounds, negative) = how;
    let wraps = at < 0 && negative == Negative::FromEnd;
    let index = if wraps { at + size } else { at };
    if bounds == Bounds::ByMode && !(0..size).contains(&index) {
        // A position that the mode handles must reach the gather or scatter, as if it had been
        // computed.
        let narrow = i32::try_from(at).is_ok();
        let dtype = if narrow { DType::I32 } else { DType::I64 };
        return Pick::Indices(Array::scalar(at, dtype));
    }
    assert!(
        (0..size).contains(&index),
        "index: {at} is out of bounds for axis {axis} of {}, which has {size} elements\n  help: \
         use an index from 0 to {}, or from -{size} to -1 to count from the end",
        array.aval(),
        size - 1
    );
    Pick::Element(index as usize)
}

/// Resolves a slice with Python's rules.
fn range(size: i64, start: Option<i64>, stop: Option<i64>, step: i64) -> Pick {
    // Backwards, bounds are between -1, before the first element, and the last element.
    let (lowest, highest) = if step < 0 { (-1, size - 1) } else { (0, size) };
    let bound = |b: i64| (if b < 0 { b + size } else { b }).clamp(lowest, highest);
    let (first, last) = if step < 0 {
        (highest, lowest)
    } else {
        (lowest, highest)
    };
    let start = start.map_or(first, bound);
    let stop = stop.map_or(last, bound);
    let distance = if step < 0 { start - stop } else { stop - start };
    let len = distance.max(0).unsigned_abs().div_ceil(step.unsigned_abs()) as usize;
    if len == 0 {
        return Pick::Range {
            start: 0,
            len: 0,
            step: 1,
        };
    }
    Pick::Range {
        start: start as usize,
        len,
        // With step 1 it is a plain slice, or part of a box.
        step: if len == 1 { 1 } else { step as isize },
    }
}

#[track_caller]
fn refuse_traced(mask: &Array) {
    assert!(
        !mask.is_tracer(),
        "index: the mask {} is traced, so the number of selected elements is unknown\n  help: \
         use `where_(mask, x, y)` to choose, or `x.at(mask).set(value)` with a single value",
        mask.aval()
    );
}

/// Returns the indices, for each axis, where a mask over several axes is true.
#[track_caller]
fn mask_indices(array: &Array, axis: usize, mask: &Array) -> Vec<Array> {
    let shape = mask.shape();
    let over = &array.shape()[axis..axis + shape.len()];
    assert!(
        shape == over,
        "index: a mask of shape {shape:?} does not fit axes of sizes {over:?} of {}\n  help: \
         pass a mask with the sizes of the axes that it selects from",
        array.aval()
    );
    refuse_traced(mask);
    let mut indices: Vec<Vec<i64>> = vec![Vec::new(); shape.len()];
    for (flat, here) in mask.to_vec::<bool>().into_iter().enumerate() {
        if !here {
            continue;
        }
        // The last axis varies fastest: in a mask `[2, 3]`, element 4 is at `(1, 1)`.
        let mut rest = flat;
        for d in (0..shape.len()).rev() {
            indices[d].push((rest % shape[d]) as i64);
            rest /= shape[d];
        }
    }
    let typed = |(indices, &size): (Vec<i64>, &usize)| match i32::try_from(size) {
        Ok(_) => Array::from(indices.iter().map(|&i| i as i32).collect::<Vec<i32>>()),
        Err(_) => Array::from(indices),
    };
    indices.into_iter().zip(shape).map(typed).collect()
}
