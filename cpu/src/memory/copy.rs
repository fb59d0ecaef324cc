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
        let Some((across, outer)) = outer.split_last() else {
            return copy_axis(source, from, target, to, *inner);
        };
        let lines = if transposes(across, inner) {
            copy_block
        } else {
            copy_lines
        };
        walk(outer, from, to, |s, t| {
            lines(source, s, target, t, *across, *inner)
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

/// Copies the lines of the inner axis one after another.
fn copy_lines<T: Copy>(
    source: &[T],
    s: usize,
    target: &mut [T],
    t: usize,
    across: Axis,
    inner: Axis,
) {
    let lines = match (inner.size, inner.from, inner.to) {
        (n, 1, 1) if across.from == 0 && across.to == n as isize => {
            target[t..t + n].copy_from_slice(&source[s..s + n]);
            return repeat(&mut target[t..t + n * across.size], n);
        }
        (2, 1, 1) => copy_short::<T, 2>,
        (3, 1, 1) => copy_short::<T, 3>,
        (4, 1, 1) => copy_short::<T, 4>,
        (8, 1, 1) => copy_short::<T, 8>,
        (16, 1, 1) => copy_short::<T, 16>,
        (2, 0, 1) => fill_short::<T, 2>,
        (4, 0, 1) => fill_short::<T, 4>,
        _ => {
            return along(across, s, t, |s, t| copy_axis(source, s, target, t, inner));
        }
    };
    lines(source, s, target, t, across);
}

/// Calls a function with the offsets of both sides for each position of an axis.
#[inline(always)]
fn along(axis: Axis, s: usize, t: usize, mut f: impl FnMut(usize, usize)) {
    let (mut s, mut t) = (s as isize, t as isize);
    for _ in 0..axis.size {
        f(s as usize, t as usize);
        s += axis.from;
        t += axis.to;
    }
}

/// Copies lines of `N` neighbors, which need no call of a function for each line.
fn copy_short<T: Copy, const N: usize>(
    source: &[T],
    s: usize,
    target: &mut [T],
    t: usize,
    across: Axis,
) {
    along(across, s, t, |s, t| {
        target[t..t + N].copy_from_slice(&source[s..s + N]);
    });
}

/// Fills lines of `N` neighbors with one element each.
fn fill_short<T: Copy, const N: usize>(
    source: &[T],
    s: usize,
    target: &mut [T],
    t: usize,
    across: Axis,
) {
    along(across, s, t, |s, t| target[t..t + N].fill(source[s]));
}

/// Repeats the first `n` elements in the rest, by copies of growing length.
fn repeat<T: Copy>(target: &mut [T], n: usize) {
    let mut done = n;
    while done < target.len() {
        let count = done.min(target.len() - done);
        target.copy_within(..count, done);
        done += count;
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
        along(axis, s, t, |s, t| target[t] = source[s]);
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
    let axes = in_order(shape, from.strides);
    let Some((&inner, outer)) = axes.split_last() else {
        return target.fill(source[from.offset]);
    };
    let size = inner.size;
    let mut index: SmallVec<[usize; 6]> = SmallVec::from_elem(0, outer.len());
    let (mut rest, mut s) = (start / size, from.offset as isize);
    for (axis, index) in outer.iter().zip(&mut index).rev() {
        *index = rest % axis.size;
        rest /= axis.size;
        s += *index as isize * axis.from;
    }
    let (mut first, mut done) = (start % size, 0);
    while done < target.len() {
        let left = target.len() - done;
        let across = outer.last().filter(|_| first == 0 && left >= size);
        let count = if let Some(across) = across {
            // Whole lines, up to the end of the next axis.
            let at = index[outer.len() - 1];
            let count = (across.size - at).min(left / size);
            let lines = Axis {
                size: count,
                from: across.from,
                to: size as isize,
            };
            copy_lines(source, s as usize, target, done, lines, inner);
            done += count * size;
            count
        } else {
            let n = (size - first).min(left);
            let line = Axis { size: n, ..inner };
            let s = s + first as isize * inner.from;
            copy_axis(source, s as usize, target, done, line);
            done += n;
            first = 0;
            1
        };
        advance(outer, &mut index, &mut s, count);
    }
}

/// Moves an index by `count` lines, which do not exceed the last axis.
#[inline]
fn advance(axes: &[Axis], index: &mut [usize], s: &mut isize, mut count: usize) {
    for (axis, index) in axes.iter().zip(index).rev() {
        *index += count;
        *s += axis.from * count as isize;
        if *index < axis.size {
            return;
        }
        *s -= axis.from * axis.size as isize;
        *index = 0;
        count = 1;
    }
}

/// Returns the axes in their order, without those of size 1 and with neighbors merged.
fn in_order(shape: &[usize], strides: &[isize]) -> Axes {
    let mut axes = Axes::new();
    for (&size, &from) in shape.iter().zip(strides).filter(|(n, _)| **n != 1) {
        match axes.last_mut() {
            Some(outer) if outer.from == from * size as isize => {
                outer.size *= size;
                outer.from = from;
            }
            _ => axes.push(Axis { size, from, to: 1 }),
        }
    }
    axes
}
