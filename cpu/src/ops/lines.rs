//! Windows of an array as lines of neighbors.

use super::window::Windows;
use smallvec::SmallVec;
use std::ops::Range;

/// Bytes of a part that a thread takes at a time.
pub const PIECE: usize = 1 << 15;
/// Visits of elements from which threads share the work.
pub const PARALLEL: usize = 1 << 16;
/// Elements of windows that are visited with the same kernels, at most.
const OFFSETS: usize = 256;

/// Windows along one axis of an array.
#[derive(Clone, Copy)]
pub struct Axis {
    size: usize,
    /// Distance in memory, in elements.
    stride: usize,
    /// Distance between windows.
    step: usize,
    /// Number of windows.
    pub positions: usize,
}

impl Axis {
    /// Returns the distance in memory between the same elements of neighboring windows.
    pub fn jump(&self) -> usize {
        self.stride * self.step
    }

    /// Returns the range of windows whose elements at an offset are inside the array, and the place of the first
    /// one in memory.
    fn inside(&self, offset: isize) -> (Range<usize>, usize) {
        let step = self.step as isize;
        let until = |end: isize| ((end - offset).max(0) + step - 1) / step;
        let end = until(self.size as isize).min(self.positions as isize);
        let first = until(0).min(end);
        let place = (offset + first * step).max(0) as usize * self.stride;
        (first as usize..end as usize, place)
    }
}

/// Elements of windows with the same offsets along the outer axes.
struct Elements {
    /// The offsets from the first window, which are negative in the padding.
    outer: Vec<isize>,
    /// For each offset along the line: the range of windows whose elements are inside the array, and the place
    /// of the first one in memory.
    line: Vec<(Range<usize>, usize)>,
}

/// Windows in lines along one axis, for all positions along the preceding axes. Each has a run of neighbors.
pub struct Lines {
    /// The axes before that of lines.
    outer: Vec<Axis>,
    /// The axis of lines.
    pub line: Axis,
    /// Neighbors in memory that belong to different windows.
    pub run: usize,
    /// Leading parts of the array that share no window.
    pub planes: usize,
    /// The elements of windows, in order.
    elements: Vec<Elements>,
}

impl Lines {
    /// Returns the windows of an array of a shape, whose axes in the order of memory are those in `order`.
    pub fn new(shape: &[usize], windows: &Windows, order: &[usize]) -> Lines {
        let same = |i: usize| {
            let axis = order[i];
            let size = shape[i];
            windows.sizes[axis] == 1
                && windows.low[axis] == 0
                && windows.positions[axis] == size
                && (windows.strides[axis] == 1 || size <= 1)
        };
        let kept = (0..order.len()).rev().take_while(|i| same(*i)).count();
        let pooled = &order[..order.len() - kept];
        let apart = (0..pooled.len()).take_while(|i| same(*i)).count();
        let run: usize = shape[pooled.len()..].iter().product();
        let mut outer: Vec<Axis> = Vec::new();
        let mut stride = run;
        for (i, axis) in pooled.iter().enumerate().rev() {
            let size = shape[i];
            outer.insert(
                0,
                Axis {
                    size,
                    stride,
                    step: windows.strides[*axis],
                    positions: windows.positions[*axis],
                },
            );
            stride *= size;
        }
        if outer.is_empty() {
            outer.push(Axis {
                size: 1,
                stride: run,
                step: 1,
                positions: 1,
            });
        }
        let line = outer.remove(outer.len() - 1);
        Lines {
            outer,
            line,
            run,
            planes: shape[..apart].iter().product(),
            elements: elements(windows, pooled, line),
        }
    }

    /// Returns whether the windows have few enough elements, next to each other in the array.
    pub fn fit(windows: &Windows) -> bool {
        let mut sizes = windows.sizes.iter();
        let count = sizes.try_fold(1usize, |n, size| n.checked_mul(*size));
        count.is_some_and(|n| n <= OFFSETS) && windows.base_dilation.iter().all(|d| *d == 1)
    }

    /// Returns the number of elements of a window.
    pub fn count(&self) -> usize {
        self.elements.iter().map(|e| e.line.len()).sum()
    }

    /// Returns the number of elements in a line of windows.
    pub fn length(&self) -> usize {
        self.line.positions * self.run
    }

    /// Calls a function for each element of the windows of a line, in order, with its number in a window, the windows
    /// that contain it, and the index of the first window's element in memory.
    pub fn visit(&self, mut line: usize, mut f: impl FnMut(usize, &Range<usize>, usize)) {
        let mut position: SmallVec<[isize; 6]> = self.outer.iter().map(|_| 0).collect();
        for (axis, position) in self.outer.iter().zip(&mut position).rev() {
            *position = (line % axis.positions * axis.step) as isize;
            line /= axis.positions;
        }
        let mut before = 0;
        'elements: for elements in &self.elements {
            let numbers = before..;
            before += elements.line.len();
            let mut first = 0;
            for ((axis, position), offset) in self.outer.iter().zip(&position).zip(&elements.outer)
            {
                let at = position + offset;
                if at < 0 || at >= axis.size as isize {
                    continue 'elements;
                }
                first += at as usize * axis.stride;
            }
            for (number, (range, place)) in numbers.zip(&elements.line) {
                if !range.is_empty() {
                    f(number, range, first + place);
                }
            }
        }
    }
}

/// Returns the elements of windows along some axes, the last of which is that of lines.
fn elements(windows: &Windows, axes: &[usize], line: Axis) -> Vec<Elements> {
    let mut elements: Vec<Elements> = Vec::new();
    for offset in windows.offsets() {
        let at = |a: &usize| offset[*a] as isize - windows.low[*a] as isize;
        let mut outer: Vec<isize> = axes.iter().map(at).collect();
        let range = line.inside(outer.pop().unwrap_or(0));
        match elements.last_mut() {
            Some(same) if same.outer == outer => same.line.push(range),
            _ => elements.push(Elements {
                outer,
                line: vec![range],
            }),
        }
    }
    elements
}
