//! Copies between strided layouts.

use smallvec::SmallVec;

/// One side of a copy: the index of the first element and the distance between neighbors of each axis.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    /// Index of the first element.
    pub offset: usize,
    /// Strides in elements, which may be negative or zero.
    pub strides: &'a [isize],
}

/// An axis of a copy: its size and its stride on both sides.
#[derive(Clone, Copy)]
struct Axis {
    size: usize,
    from: isize,
    to: isize,
}

type Axes = SmallVec<[Axis; 6]>;

/// A copy between two layouts, which may be repeated at other offsets.
pub struct CopyPlan {
    axes: Axes,
    empty: bool,
}

impl CopyPlan {
    /// Prepares copies of arrays of a shape.
    pub fn new(shape: &[usize], from: &[isize], to: &[isize]) -> CopyPlan {
        CopyPlan {
            axes: merged(shape, from, to),
            empty: shape.contains(&0),
        }
    }

    /// Copies the elements from an offset of the source to an offset of the target.
    pub fn run<T: Copy>(&self, source: &[T], from: usize, target: &mut [T], to: usize) {
        if self.empty {
            return;
        }
        let Some((inner, outer)) = self.axes.split_last() else {
            target[to] = source[from];
            return;
        };
        if let Some((across, outer)) = outer.split_last().filter(|(a, _)| transposes(a, inner)) {
            return walk(outer, from, to, |s, t| {
                copy_block(source, s, target, t, *across, *inner)
            });
        }
        walk(outer, from, to, |s, t| {
            copy_axis(source, s, target, t, *inner)
        });
    }

    /// Returns the number of elements that are neighbors on both sides, if these are all elements.
    pub fn run_length(&self) -> Option<usize> {
        match self.axes[..] {
            [] => Some(1),
            [
                Axis {
                    size,
                    from: 1,
                    to: 1,
                },
            ] => Some(size),
            _ => None,
        }
    }
}

/// Calls a function with the offsets of both sides for each position of some axes.
#[inline]
fn walk(axes: &[Axis], from: usize, to: usize, mut f: impl FnMut(usize, usize)) {
    let (mut s, mut t) = (from as isize, to as isize);
    let mut index: SmallVec<[usize; 6]> = SmallVec::from_elem(0, axes.len());
    let index = &mut index[..];
    loop {
        f(s as usize, t as usize);
        let mut axis = axes.len();
        loop {
            if axis == 0 {
                return;
            }
            axis -= 1;
            index[axis] += 1;
            s += axes[axis].from;
            t += axes[axis].to;
            if index[axis] < axes[axis].size {
                break;
            }
            s -= axes[axis].from * axes[axis].size as isize;
            t -= axes[axis].to * axes[axis].size as isize;
            index[axis] = 0;
        }
    }
}

/// Returns whether the source has the outer of two axes in neighboring memory, as a transpose has.
fn transposes(outer: &Axis, inner: &Axis) -> bool {
    outer.from == 1
        && inner.to == 1
        && inner.from.unsigned_abs() > 8
        && outer.size > 4
        && inner.size > 4
}

/// Copies two axes in blocks whose lines stay in the first-level cache.
fn copy_block<T: Copy>(
    source: &[T],
    s: usize,
    target: &mut [T],
    t: usize,
    across: Axis,
    inner: Axis,
) {
    const SIDE: usize = 16;
    for first in (0..across.size).step_by(SIDE) {
        let rows = SIDE.min(across.size - first);
        for start in (0..inner.size).step_by(SIDE) {
            let columns = SIDE.min(inner.size - start);
            for row in first..first + rows {
                let from = s as isize + row as isize + start as isize * inner.from;
                let to = (t as isize + row as isize * across.to) as usize + start;
                let mut at = from;
                for value in &mut target[to..to + columns] {
                    *value = source[at as usize];
                    at += inner.from;
                }
            }
        }
    }
}

/// Copies an array of a shape between two layouts. The elements of the target must be distinct.
pub fn copy<T: Copy>(
    shape: &[usize],
    source: &[T],
    from: Side<'_>,
    target: &mut [T],
    to: Side<'_>,
) {
    let plan = CopyPlan::new(shape, from.strides, to.strides);
    plan.run(source, from.offset, target, to.offset);
}

/// Returns the axes, outermost first, without those of size 1 and with neighbors merged. The innermost is
/// the one with the smallest stride in the target.
fn merged(shape: &[usize], from: &[isize], to: &[isize]) -> Axes {
    let mut axes: Axes = (0..shape.len())
        .filter(|&i| shape[i] != 1)
        .map(|i| Axis {
            size: shape[i],
            from: from[i],
            to: to[i],
        })
        .collect();
    axes.sort_by_key(|a| std::cmp::Reverse((a.to.unsigned_abs(), a.from.unsigned_abs())));
    let mut merged = Axes::new();
    for axis in axes {
        if let Some(outer) = merged.last_mut() {
            let n = axis.size as isize;
            if outer.from == axis.from * n && outer.to == axis.to * n {
                *outer = Axis {
                    size: outer.size * axis.size,
                    ..axis
                };
                continue;
            }
        }
        merged.push(axis);
    }
    merged
}

#[inline]
fn copy_axis<T: Copy>(source: &[T], s: usize, target: &mut [T], t: usize, axis: Axis) {
    let n = axis.size;
    if axis.to == 1 && axis.from == 1 {
        target[t..t + n].copy_from_slice(&source[s..s + n]);
    } else if axis.to == 1 && axis.from == 0 {
        target[t..t + n].fill(source[s]);
    } else if axis.to == 1 && axis.from > 0 {
        let strided = source[s..].iter().step_by(axis.from as usize);
        for (target, &value) in target[t..t + n].iter_mut().zip(strided) {
            *target = value;
        }
    } else {
        let (mut s, mut t) = (s as isize, t as isize);
        for _ in 0..n {
            target[t as usize] = source[s as usize];
            s += axis.from;
            t += axis.to;
        }
    }
}

/// Loads elements of a view, in row-major order, from the element with number `start` on.
pub fn load<T: Copy>(
    shape: &[usize],
    source: &[T],
    from: Side<'_>,
    start: usize,
    target: &mut [T],
) {
    if target.is_empty() {
        return;
    }
    let rank = shape.len();
    let mut index: SmallVec<[usize; 6]> = SmallVec::from_elem(0, rank);
    let (mut rest, mut s) = (start, from.offset as isize);
    for axis in (0..rank).rev() {
        index[axis] = rest % shape[axis];
        rest /= shape[axis];
        s += index[axis] as isize * from.strides[axis];
    }
    let Some(inner) = rank.checked_sub(1) else {
        target.fill(source[from.offset]);
        return;
    };
    let stride = from.strides[inner];
    let mut done = 0;
    while done < target.len() {
        let n = (shape[inner] - index[inner]).min(target.len() - done);
        copy_axis(
            source,
            s as usize,
            target,
            done,
            Axis {
                size: n,
                from: stride,
                to: 1,
            },
        );
        done += n;
        s -= index[inner] as isize * stride;
        index[inner] = 0;
        for axis in (0..inner).rev() {
            index[axis] += 1;
            s += from.strides[axis];
            if index[axis] < shape[axis] {
                break;
            }
            s -= from.strides[axis] * shape[axis] as isize;
            index[axis] = 0;
        }
    }
}
