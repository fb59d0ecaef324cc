//! The matrix of the windows of an array, of which convolutions copy small pieces into a buffer.
//!
//! Each row is a window, with an example and a position in space. Each column is an element of windows, with a
//! feature and an offset in space. Elements of the padding are zero.

use super::window::Windows;
use crate::Dims;
use crate::kernels::product::Matrix;
use crate::memory::{Strides, Tensor, with_width};
use smallvec::SmallVec;
use std::ops::Range;

/// An axis of space of the array.
#[derive(Clone, Copy)]
struct Space {
    size: usize,
    stride: isize,
    /// Distance between elements, with zeros between them.
    base: isize,
    /// Padding before the first element.
    low: isize,
}

/// The rows or the columns of the matrix.
struct Side {
    /// Number of examples or features.
    plain: usize,
    /// Their distance in memory.
    stride: isize,
    /// Whether they vary fastest, because they are neighbors in memory.
    plain_last: bool,
    /// Number of positions or offsets along each axis of space, and their distances.
    counts: Dims,
    steps: SmallVec<[isize; 3]>,
}

/// The position of a row or column: the distance in memory that its example or feature gives, and the
/// coordinates in space.
struct Place {
    at: isize,
    space: SmallVec<[isize; 3]>,
}

/// Elements of a row of a buffer that differ along the last axis of space, and in their example or feature if
/// this varies fastest.
struct Line {
    place: Place,
    count: usize,
}

impl Space {
    /// Returns the distance in memory of an element of the padded axis, `None` for padding.
    #[inline]
    fn element(&self, at: isize) -> Option<isize> {
        let last = (self.size as isize - 1) * self.base;
        let inside = at >= 0 && at <= last && (self.base == 1 || at % self.base == 0);
        inside.then(|| at / self.base * self.stride)
    }
}

impl Side {
    fn len(&self) -> usize {
        self.plain * self.counts.iter().product::<usize>()
    }

    /// Returns the number of neighbors in memory that are neighbors in the matrix.
    fn run(&self, space: Space) -> usize {
        let (unit, last) = (self.unit(), self.counts.len() - 1);
        if self.steps[last] * space.stride == unit as isize {
            unit * self.counts[last]
        } else {
            unit
        }
    }

    /// Returns the number of elements that a piece does not divide.
    fn unit(&self) -> usize {
        if self.plain_last { self.plain } else { 1 }
    }

    /// Returns the place of a row or column.
    fn place(&self, mut index: usize) -> Place {
        let mut at = 0;
        if self.plain_last {
            at = (index % self.plain) as isize * self.stride;
            index /= self.plain;
        }
        let mut space: SmallVec<[isize; 3]> = SmallVec::from_elem(0, self.counts.len());
        for axis in (0..space.len()).rev() {
            space[axis] = (index % self.counts[axis]) as isize * self.steps[axis];
            index /= self.counts[axis];
        }
        if !self.plain_last {
            at = index as isize * self.stride;
        }
        Place { at, space }
    }

    /// Returns the lines of a range, whose ends are multiples of a unit.
    fn lines(&self, range: Range<usize>) -> Vec<Line> {
        let (unit, last) = (self.unit(), self.counts.len() - 1);
        let (mut start, end) = (range.start / unit, range.end / unit);
        let mut lines = Vec::new();
        while start < end {
            let count = (self.counts[last] - start % self.counts[last]).min(end - start);
            let place = self.place(start * unit);
            lines.push(Line { place, count });
            start += count;
        }
        lines
    }

    /// Returns the sizes and strides of a view with the axes of this side.
    fn axes(&self, space: &[Space]) -> impl Iterator<Item = (usize, isize)> {
        let plain = (self.plain, self.stride);
        let steps = self.steps.iter().zip(space).map(|(s, x)| s * x.stride);
        let space: Vec<(usize, isize)> = self.counts.iter().copied().zip(steps).collect();
        let (first, last) = if self.plain_last {
            (None, Some(plain))
        } else {
            (Some(plain), None)
        };
        first.into_iter().chain(space).chain(last)
    }
}

/// The windows of an array as a matrix.
pub struct Patches<'a> {
    x: &'a Tensor,
    space: SmallVec<[Space; 3]>,
    rows: Side,
    columns: Side,
    /// Whether a buffer has a matrix row after another. Otherwise it has column after column.
    row_major: bool,
    /// The matrix as it is in memory, with strides of rows and columns, if windows do not overlap.
    direct: Option<[isize; 2]>,
}

impl<'a> Patches<'a> {
    /// Returns the matrix of the windows of `batch` examples with `features` features of an array, which has
    /// the axes batch, features, then space.
    pub fn new(x: &'a Tensor, windows: &Windows, batch: usize, features: usize) -> Patches<'a> {
        let rank = windows.sizes.len();
        let mut space: SmallVec<[Space; 3]> = (0..rank)
            .map(|axis| Space {
                size: x.shape()[2 + axis],
                stride: x.strides[2 + axis],
                base: windows.base_dilation[axis] as isize,
                low: windows.low[axis] as isize,
            })
            .collect();
        let side = |plain: usize, stride: isize, counts: &[usize], steps: &[usize]| Side {
            plain,
            stride,
            plain_last: stride == 1 && plain > 1,
            counts: counts.into(),
            steps: steps.iter().map(|s| *s as isize).collect(),
        };
        let mut rows = side(batch, x.strides[0], &windows.positions, &windows.strides);
        let mut columns = side(features, x.strides[1], &windows.sizes, &windows.dilation);
        if rank == 0 {
            space.push(Space {
                size: 1,
                stride: 0,
                base: 1,
                low: 0,
            });
            for side in [&mut rows, &mut columns] {
                side.counts.push(1);
                side.steps.push(0);
            }
        }
        let last = space[space.len() - 1];
        let row_major = columns.run(last) >= rows.run(last);
        let mut patches = Patches {
            x,
            space,
            rows,
            columns,
            row_major,
            direct: None,
        };
        if *windows.padded == x.shape()[2..] && windows.low.iter().all(|low| *low == 0) {
            patches.direct = patches.direct();
        }
        patches
    }

    /// Returns the strides of rows and columns, if the array has them in its memory.
    fn direct(&self) -> Option<[isize; 2]> {
        let axes = self.rows.axes(&self.space);
        let (shape, strides): (Dims, Strides) = axes.chain(self.columns.axes(&self.space)).unzip();
        let view = self.x.view(shape, strides, self.x.offset);
        let matrix = view.reshape_view(&[self.rows.len(), self.columns.len()])?;
        Some([matrix.strides[0], matrix.strides[1]])
    }

    /// Returns whether examples vary fastest in the order of rows, after positions in space.
    pub fn batch_last(&self) -> bool {
        self.rows.plain_last
    }

    /// Returns whether features vary fastest in the order of columns, after offsets in space.
    pub fn features_last(&self) -> bool {
        self.columns.plain_last
    }

    /// Returns the numbers of rows and columns that pieces do not divide.
    pub fn units(&self) -> [usize; 2] {
        match (self.direct.is_some(), self.row_major) {
            (true, _) => [1, 1],
            (_, true) => [1, self.columns.unit()],
            _ => [self.rows.unit(), 1],
        }
    }

    /// Returns the numbers of rows and columns.
    pub fn sizes(&self) -> [usize; 2] {
        [self.rows.len(), self.columns.len()]
    }

    /// Returns the number of bytes of the buffer for a piece.
    pub fn buffer(&self, rows: usize, columns: usize) -> usize {
        match self.direct {
            Some(_) => 0,
            None => rows * columns * self.x.element().bytes(),
        }
    }

    /// Returns the bytes of all elements of the array's memory.
    pub fn data(&self) -> &[u8] {
        self.x.data()
    }

    /// Returns the places in memory of a row's elements with their columns, without those of the padding.
    pub fn elements(
        &self,
        row: usize,
        columns: Range<usize>,
    ) -> impl Iterator<Item = (usize, usize)> {
        let row = self.rows.place(row);
        columns.filter_map(move |index| {
            let column = self.columns.place(index);
            let mut at = self.x.offset as isize + row.at + column.at;
            for (i, space) in self.space.iter().enumerate() {
                at += space.element(row.space[i] + column.space[i] - space.low)?;
            }
            Some((index, at as usize))
        })
    }

    /// Returns a piece of the matrix of the array that is `shift` elements after this one's in memory.
    pub fn piece<'b>(
        &'b self,
        shift: isize,
        rows: Range<usize>,
        columns: Range<usize>,
        buffer: &'b mut [u8],
    ) -> Matrix<'b> {
        let first = self.x.offset as isize + shift;
        if let Some([row, column]) = self.direct {
            let start = first + rows.start as isize * row + columns.start as isize * column;
            return Matrix {
                data: self.x.data(),
                offset: start as usize,
                strides: [row, column],
            };
        }
        let (height, width) = (rows.len() as isize, columns.len() as isize);
        let strides = if self.row_major {
            [width, 1]
        } else {
            [1, height]
        };
        let buffer = &mut buffer[..self.buffer(rows.len(), columns.len())];
        with_width!(self.x.element().bytes(), T => {
            self.pack::<T>(first, rows, columns, bytemuck::cast_slice_mut(buffer))
        });
        Matrix {
            data: buffer,
            offset: 0,
            strides,
        }
    }

    /// Writes a piece into a buffer, line by line.
    fn pack<T: bytemuck::Pod>(
        &self,
        first: isize,
        rows: Range<usize>,
        columns: Range<usize>,
        mut buffer: &mut [T],
    ) {
        let (outer, range, inner, lines) = if self.row_major {
            (&self.rows, rows, &self.columns, columns)
        } else {
            (&self.columns, columns, &self.rows, rows)
        };
        let lines = inner.lines(lines);
        let unit = inner.unit();
        for index in range {
            let place = outer.place(index);
            for line in &lines {
                let (target, rest) = buffer.split_at_mut(line.count * unit);
                self.line(first, inner, &place, line, target);
                buffer = rest;
            }
        }
    }

    /// Writes a line.
    fn line<T: bytemuck::Pod>(
        &self,
        mut first: isize,
        side: &Side,
        place: &Place,
        line: &Line,
        target: &mut [T],
    ) {
        first += place.at + line.place.at;
        let last = self.space.len() - 1;
        let at = |axis: usize| place.space[axis] + line.place.space[axis] - self.space[axis].low;
        for (axis, space) in self.space[..last].iter().enumerate() {
            match space.element(at(axis)) {
                Some(distance) => first += distance,
                None => return target.fill(T::zeroed()),
            }
        }
        let (space, at) = (self.space[last], at(last));
        let (step, unit) = (side.steps[last], side.unit());
        let stride = if side.plain_last { side.stride } else { 1 };
        let source: &[T] = self.x.data();
        if space.base != 1 {
            for (j, target) in target.chunks_exact_mut(unit).enumerate() {
                match space.element(at + j as isize * step) {
                    Some(distance) => strided(source, first + distance, stride, target),
                    None => target.fill(T::zeroed()),
                }
            }
            return;
        }
        // Elements of the line before `low` and from `high` on are in the padding.
        let until = |end: isize| match step {
            1 => end - at,
            _ => (end - at + step - 1).div_euclid(step.max(1)),
        };
        let count = line.count as isize;
        let low = if at < 0 { until(0).min(count) } else { 0 };
        let high = until(space.size as isize).clamp(low, count);
        let (inside, after) = target.split_at_mut(high as usize * unit);
        let (before, inside) = inside.split_at_mut(low as usize * unit);
        before.fill(T::zeroed());
        after.fill(T::zeroed());
        let start = first + (at + low * step) * space.stride;
        match step * space.stride {
            jump if stride == 1 && jump == unit as isize => strided(source, start, 1, inside),
            jump if unit == 1 => strided(source, start, jump, inside),
            jump => {
                for (j, target) in inside.chunks_exact_mut(unit).enumerate() {
                    strided(source, start + j as isize * jump, stride, target);
                }
            }
        }
    }
}

/// Copies elements of a distance.
#[inline]
fn strided<T: Copy>(source: &[T], start: isize, stride: isize, target: &mut [T]) {
    if target.is_empty() {
        return;
    }
    if stride == 1 {
        return target.copy_from_slice(&source[start as usize..][..target.len()]);
    }
    let mut at = start;
    for value in target {
        *value = source[at as usize];
        at += stride;
    }
}
