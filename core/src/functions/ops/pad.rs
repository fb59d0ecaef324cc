//! Padding with elements of the array, or with statistics of them.

use crate::options::Reduction;
use crate::prim::shape::MOST_PARTS;
use crate::program::array::IntoArray;
use crate::typing::Dims;
use crate::{Array, DType, concatenate};

/// The source of padding elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PadMode {
    /// The first and the last element, repeated: `a a|a b c|c c`.
    Edge,
    /// The elements mirrored without repeating the ends: `c b|a b c|b a`.
    Reflect,
    /// The elements mirrored at the ends, without repeating them: twice the end minus the mirrored
    /// elements, as in `2a-c 2a-b|a b c|2c-b 2c-a` (`mode="reflect"` with `reflect_type="odd"`).
    ReflectOdd,
    /// The elements mirrored, repeating the ends: `b a|a b c|c b`.
    Symmetric,
    /// The elements mirrored at the ends, repeating them: `2a-b a|a b c|c 2c-b`
    /// (`mode="symmetric"` with `reflect_type="odd"`).
    SymmetricOdd,
    /// The elements of the opposite end: `b c|a b c|a b`.
    Wrap,
    /// Zeros, which stand for elements that the caller will overwrite (`mode="empty"`).
    Empty,
    /// A statistic of the elements along the axis: of all elements, or of the `stat_length`
    /// elements next to the padding.
    Statistic {
        /// The statistic.
        of: PadStatistic,
        /// Numbers of elements that the statistics before and after each axis cover: a pair for
        /// all axes, or one for each. Empty for all elements.
        stat_length: Vec<(usize, usize)>,
    },
}

/// The statistics of [`PadMode::Statistic`]. Means and medians of integers are rounded, with
/// halves to even.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PadStatistic {
    /// The largest element.
    Maximum,
    /// The mean.
    Mean,
    /// The middle element, or the mean of the middle two.
    Median,
    /// The smallest element.
    Minimum,
}

impl PadStatistic {
    /// Computes the statistic along an axis, which is kept with size 1.
    fn of(self, x: &Array, axis: isize) -> Array {
        let number = match self {
            PadStatistic::Maximum => x.max_over(Reduction::over(axis).keepdims()),
            PadStatistic::Mean => x.mean_over(Reduction::over(axis).keepdims()),
            PadStatistic::Median => x.median_over(Reduction::over(axis).keepdims()),
            PadStatistic::Minimum => x.min_over(Reduction::over(axis).keepdims()),
        };
        let number = if x.dtype().is_integer() {
            number.round()
        } else {
            number
        };
        number.astype(x.dtype())
    }
}

impl PadMode {
    /// Returns the run of padding elements that starts at `position`, outside an array of
    /// `size` elements: the index of the first element, the step to the next (-1, 0 or 1), and
    /// the number of elements until the direction changes.
    fn run(&self, position: i128, size: i128) -> (i128, isize, i128) {
        let last = size - 1;
        match self {
            PadMode::Statistic { .. }
            | PadMode::ReflectOdd
            | PadMode::SymmetricOdd
            | PadMode::Empty => unreachable!("it is no element"),
            PadMode::Edge if position < 0 => (0, 0, -position),
            PadMode::Edge => (last, 0, i128::MAX),
            PadMode::Wrap => {
                let at = position.rem_euclid(size);
                (at, 1, size - at)
            }
            PadMode::Symmetric => match position.rem_euclid(2 * size) {
                at if at < size => (at, 1, size - at),
                at => (2 * size - 1 - at, -1, 2 * size - at),
            },
            PadMode::Reflect if size == 1 => (0, 0, i128::MAX),
            PadMode::Reflect => match position.rem_euclid(2 * last) {
                at if at < last => (at, 1, last - at),
                at => (2 * last - at, -1, 2 * last - at),
            },
        }
    }

    /// Returns the runs of elements for the positions `from..to`.
    #[track_caller]
    fn runs(&self, from: i128, to: i128, size: usize) -> Vec<(usize, isize, usize)> {
        let (mut runs, mut position) = (Vec::new(), from);
        while position < to {
            assert!(
                runs.len() < MOST_PARTS,
                "pad: {} elements repeat the {size} elements of the axis more than {MOST_PARTS} \
                 times\n  help: use `tile` to repeat an array",
                to - from
            );
            let (first, step, count) = self.run(position, size as i128);
            let count = count.min(to - position);
            runs.push((first as usize, step, count as usize));
            position += count;
        }
        runs
    }
}

impl Array {
    /// Pads each axis with elements of the array, `(before, after)` of them (`jnp.pad` with a
    /// mode).
    ///
    /// ```no_run
    /// use ramie_core::numpy::PadMode;
    /// use ramie_core::Array;
    /// let x = Array::arange(3).pad_with(&[(2, 1)], PadMode::Reflect);
    /// assert_eq!(x.to_vec::<i32>(), [2, 1, 0, 1, 2, 1]);
    /// ```
    ///
    /// # Panics
    /// Panics if the number of entries differs from the number of axes, or if an empty axis is
    /// padded.
    #[track_caller]
    pub fn pad_with(&self, widths: &[(usize, usize)], mode: PadMode) -> Array {
        if let PadMode::Statistic { stat_length, .. } = &mode {
            let entries = stat_length.len();
            assert!(
                entries <= 1 || entries == self.ndim(),
                "pad: stat_length has {entries} entries for {}\n  help: pass a pair for each axis, \
                 one for all axes, or none for all elements",
                self.aval()
            );
        }
        if mode == PadMode::Empty {
            return self.pad(widths, false);
        }
        self.padded(widths, |padded, axis, (before, after)| {
            let size = padded.shape()[axis];
            match &mode {
                PadMode::Statistic { of, stat_length } => {
                    let lengths = match &stat_length[..] {
                        [] => (size, size),
                        [all] => *all,
                        each => each[axis],
                    };
                    return padded.beside_statistics(axis, (before, after), *of, lengths);
                }
                PadMode::ReflectOdd => return vec![padded.mirrored(axis, (before, after), false)],
                PadMode::SymmetricOdd => return vec![padded.mirrored(axis, (before, after), true)],
                _ => {}
            }
            let end = size as i128;
            let mut parts = Vec::new();
            for run in mode.runs(-(before as i128), 0, size) {
                parts.push(padded.run(axis, run));
            }
            parts.push(padded.clone());
            for run in mode.runs(end, end + after as i128, size) {
                parts.push(padded.run(axis, run));
            }
            parts
        })
    }

    /// Pads each axis with constants, a pair of them for the elements before and after the axis
    /// (`jnp.pad` with `constant_values`). One pair applies to all axes. Later axes also pad the
    /// elements that earlier axes added.
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let x = Array::from([5, 6]).pad_constants(&[(1, 2)], &[(-1, 9)]);
    /// assert_eq!(x.to_vec::<i32>(), [-1, 5, 6, 9, 9]);
    /// ```
    ///
    /// # Panics
    /// Panics unless there is one entry of widths per axis and one pair of constants or one per
    /// axis, and the constants are 0-d and their dtype can be converted to the array's.
    #[doc(alias = "constant_values")]
    #[track_caller]
    pub fn pad_constants<V: IntoArray + Clone>(
        &self,
        widths: &[(usize, usize)],
        constants: &[(V, V)],
    ) -> Array {
        self.check_widths(widths);
        assert!(
            constants.len() == 1 || constants.len() == widths.len(),
            "pad_constants: got {} pairs of constants for {} axes\n  help: pass one pair for all \
             axes, or one per axis",
            constants.len(),
            widths.len()
        );
        let mut padded = self.clone();
        for (axis, &(before, after)) in widths.iter().enumerate() {
            let (first, last) = &constants[axis.min(constants.len() - 1)];
            for (width, value) in [((before, 0), first), ((0, after), last)] {
                if width != (0, 0) {
                    let mut only = vec![(0, 0); self.ndim()];
                    only[axis] = width;
                    padded = padded.pad(&only, value.clone());
                }
            }
        }
        padded
    }

    /// Pads each axis with numbers that change linearly from `end` at the new ends to the
    /// elements at the old ends (`jnp.pad` with `mode="linear_ramp"`). Integers are rounded down.
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let x = Array::from([4.0f32, 8.0]).pad_linear_ramp(&[(2, 4)], 0.0);
    /// assert_eq!(x.to_vec::<f32>(), [0.0, 2.0, 4.0, 8.0, 6.0, 4.0, 2.0, 0.0]);
    /// ```
    ///
    /// # Panics
    /// Panics in the same cases as [`pad_with`](Array::pad_with), or if `end` is not 0-d.
    #[track_caller]
    pub fn pad_linear_ramp(&self, widths: &[(usize, usize)], end: impl IntoArray) -> Array {
        let end = end.into_array();
        assert!(
            end.ndim() == 0,
            "pad_linear_ramp: the end is {}, expected a single number",
            end.aval()
        );
        self.padded(widths, |padded, axis, (before, after)| {
            let (size, at) = (padded.shape()[axis], axis as isize);
            let ramp = |edge: usize, steps: usize| {
                let edge = padded.slice_axis(axis, edge, edge + 1).to_inexact();
                let mut shape = vec![1; padded.ndim()];
                shape[axis] = steps;
                let step = Array::iota(&shape, axis, DType::F32).astype(edge.dtype());
                let step = step / steps as f64;
                let end = end.astype(edge.dtype());
                let ramp = end * (1.0 - &step) + edge * step;
                let ramp = if padded.dtype().is_integer() {
                    ramp.floor()
                } else {
                    ramp
                };
                ramp.astype(padded.dtype())
            };
            let after = ramp(size - 1, after).flip(&[at]);
            vec![ramp(0, before), padded.clone(), after]
        })
    }

    /// Panics unless there is one entry per axis.
    #[track_caller]
    fn check_widths(&self, widths: &[(usize, usize)]) {
        assert!(
            widths.len() == self.ndim(),
            "pad: {} has {} axes, got padding for {}\n  help: pass one entry per axis, (0, 0) \
             for axes without padding",
            self.aval(),
            self.ndim(),
            widths.len()
        );
    }

    /// Pads one axis after the other by concatenating the parts that `parts` returns. Axes
    /// without padding are skipped.
    #[track_caller]
    fn padded(
        &self,
        widths: &[(usize, usize)],
        parts: impl Fn(&Array, usize, (usize, usize)) -> Vec<Array>,
    ) -> Array {
        self.check_widths(widths);
        let mut padded = self.clone();
        for (axis, &width) in widths.iter().enumerate() {
            if width == (0, 0) {
                continue;
            }
            assert!(
                self.shape()[axis] > 0,
                "pad: axis {axis} of {} is empty, so it has no elements to pad with\n  help: pad \
                 with a value: x.pad(widths, 0)",
                self.aval()
            );
            let mut shape: Dims = padded.shape().into();
            shape[axis] = (shape[axis].saturating_add(width.0)).saturating_add(width.1);
            if let Err(e) = padded.aval().with_shape(&shape).check_size() {
                panic!("{}", e.render("pad", &[]));
            }
            padded = concatenate(&parts(&padded, axis, width), axis as isize);
        }
        padded
    }

    /// Returns the array between repetitions of statistics of its elements.
    #[track_caller]
    fn beside_statistics(
        &self,
        axis: usize,
        (before, after): (usize, usize),
        of: PadStatistic,
        (first, last): (usize, usize),
    ) -> Vec<Array> {
        let (size, at) = (self.shape()[axis], axis as isize);
        assert!(
            first > 0 && last > 0,
            "pad: stat_length must not be 0\n  help: pass the numbers of elements, or an empty list for all"
        );
        let (first, last) = (first.min(size), last.min(size));
        let first = of.of(&self.slice_axis(axis, 0, first), at);
        let last = of.of(&self.slice_axis(axis, size - last, size), at);
        vec![
            first.repeat(before, at),
            self.clone(),
            last.repeat(after, at),
        ]
    }

    /// Extends an axis by its elements mirrored at the end elements, again and again if the
    /// padding is longer than the axis.
    #[track_caller]
    fn mirrored(&self, axis: usize, (before, after): (usize, usize), repeats_ends: bool) -> Array {
        let (size, at) = (self.shape()[axis], axis as isize);
        let offset = usize::from(!repeats_ends && size > 1);
        let longest = before.max(after);
        assert!(
            longest / (size - offset) < MOST_PARTS,
            "pad: {longest} elements mirror the {size} elements of the axis more than {MOST_PARTS} \
             times\n  help: pad an array with more elements"
        );
        let mut array = self.clone();
        for (front, mut missing) in [(true, before), (false, after)] {
            let n = array.shape()[axis];
            let mut end = if front { 0 } else { n - 1 };
            let mut edge = array.slice_axis(axis, end, end + 1);
            while missing > 0 {
                let count = missing.min(size - offset);
                missing -= count;
                let n = array.shape()[axis];
                let start = if front { offset } else { n - offset - count };
                let inner = array.slice_axis(axis, start, start + count).flip(&[at]);
                let outer = &edge * 2 - inner;
                if size > 1 {
                    end = if front { 0 } else { count - 1 };
                    edge = outer.slice_axis(axis, end, end + 1);
                }
                let parts = if front {
                    [outer, array]
                } else {
                    [array, outer]
                };
                array = concatenate(&parts, at);
            }
        }
        array
    }

    /// Returns a run of elements along an axis.
    fn run(&self, axis: usize, (first, step, count): (usize, isize, usize)) -> Array {
        match step {
            0 => {
                let one = self.slice_axis(axis, first, first + 1);
                one.repeat(count, axis as isize)
            }
            1 => self.slice_axis(axis, first, first + count),
            _ => self
                .slice_axis(axis, first + 1 - count, first + 1)
                .flip(&[axis as isize]),
        }
    }
}
