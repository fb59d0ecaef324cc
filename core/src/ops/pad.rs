//! Padding with an array's own elements.

use crate::{Array, concatenate};

/// Where padding takes its elements from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PadMode {
    /// The first and the last element, repeated: `a a|a b c|c c`.
    Edge,
    /// The elements mirrored at the first and the last: `c b|a b c|b a`.
    Reflect,
    /// The elements mirrored, with the first and the last: `b a|a b c|c b`.
    Symmetric,
    /// The elements from the other end: `b c|a b c|a b`.
    Wrap,
}

impl PadMode {
    /// Which of `size` elements stands at `place`, before or past the array.
    fn source(self, place: isize, size: usize) -> isize {
        let n = size as isize;
        match self {
            PadMode::Edge => place.clamp(0, n - 1),
            PadMode::Wrap => place.rem_euclid(n),
            PadMode::Symmetric => {
                let at = place.rem_euclid(2 * n);
                at.min(2 * n - 1 - at)
            }
            PadMode::Reflect if n == 1 => 0,
            PadMode::Reflect => {
                let at = place.rem_euclid(2 * n - 2);
                at.min(2 * n - 2 - at)
            }
        }
    }
}

/// Neighbouring places whose elements are consecutive: the first element, the
/// step from each to the next (-1, 0 or 1), and how many.
fn runs(sources: impl Iterator<Item = isize>) -> Vec<(isize, isize, usize)> {
    let mut runs: Vec<(isize, isize, usize)> = Vec::new();
    for source in sources {
        match runs.last_mut() {
            Some((first, step, count)) if *count == 1 && (source - *first).abs() <= 1 => {
                (*step, *count) = (source - *first, 2);
            }
            Some((first, step, count)) if source == *first + *step * *count as isize => {
                *count += 1;
            }
            _ => runs.push((source, 0, 1)),
        }
    }
    runs
}

impl Array {
    /// The array with elements of its own added along each axis, `(before,
    /// after)` of them (`jnp.pad` with a mode).
    ///
    /// ```no_run
    /// use ramie_core::{Array, PadMode};
    /// let x = Array::arange(3).pad_with(&[(2, 1)], PadMode::Reflect);
    /// assert_eq!(x.to_vec::<i32>(), [2, 1, 0, 1, 2, 1]);
    /// ```
    ///
    /// # Panics
    /// Unless there is one entry per axis, and no empty axis is padded.
    #[track_caller]
    pub fn pad_with(&self, widths: &[(usize, usize)], mode: PadMode) -> Array {
        assert!(
            widths.len() == self.ndim(),
            "pad: {} has {} axes, got padding for {}\n  help: give one entry for each axis, (0, 0) \
             where nothing is added",
            self.aval(),
            self.ndim(),
            widths.len()
        );
        let mut padded = self.clone();
        for (axis, &(before, after)) in widths.iter().enumerate() {
            if (before, after) == (0, 0) {
                continue;
            }
            let size = self.shape()[axis];
            assert!(
                size > 0,
                "pad: axis {axis} of {} is empty, there is nothing to pad it with\n  help: pad with \
                 a value: x.pad(widths, 0)",
                self.aval()
            );
            let places = -(before as isize)..(size + after) as isize;
            let parts: Vec<Array> = runs(places.map(|p| mode.source(p, size)))
                .into_iter()
                .map(|run| padded.run(axis, run))
                .collect();
            padded = concatenate(&parts, axis as isize);
        }
        padded
    }

    /// A run of elements along an axis.
    fn run(&self, axis: usize, (first, step, count): (isize, isize, usize)) -> Array {
        let first = first as usize;
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
