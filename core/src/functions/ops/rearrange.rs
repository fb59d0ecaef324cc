//! Functions that split, flip, rotate, roll and move axes.

use crate::Array;
use crate::typing::Dims;

impl Array {
    /// Splits the array into `sections` parts along an axis. If the size is not divisible, the
    /// first parts have one more element (`jnp.array_split`).
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let parts = Array::arange(5).array_split(2, 0);
    /// assert_eq!(parts[0].to_vec::<i32>(), [0, 1, 2]);
    /// ```
    ///
    /// # Panics
    /// Panics if the axis is out of range, or `sections` is 0.
    #[track_caller]
    pub fn array_split(&self, sections: usize, axis: isize) -> Vec<Array> {
        let n = self.shape()[self.axis("array_split", axis)];
        assert!(
            sections > 0,
            "array_split: {} cannot be split into 0 parts\n  help: pass 1 or more",
            self.aval()
        );
        let (size, longer) = (n / sections, n % sections);
        let sizes: Vec<usize> = (0..sections)
            .map(|i| size + usize::from(i < longer))
            .collect();
        self.split_sizes(&sizes, axis)
    }

    /// Splits the array into equal parts along the second axis, or along the only axis.
    ///
    /// # Panics
    /// Panics if the array is 0-d, or `sections` does not divide the size of the axis.
    #[track_caller]
    pub fn hsplit(&self, sections: usize) -> Vec<Array> {
        self.split(sections, isize::from(self.ndim() > 1))
    }

    /// Splits the array into equal parts along the first axis.
    ///
    /// # Panics
    /// Panics if the array is 0-d, or `sections` does not divide the size of the axis.
    #[track_caller]
    pub fn vsplit(&self, sections: usize) -> Vec<Array> {
        self.split(sections, 0)
    }

    /// Splits the array into equal parts along the third axis.
    ///
    /// # Panics
    /// Panics if the array has fewer than three axes, or `sections` does not divide the size of
    /// the axis.
    #[track_caller]
    pub fn dsplit(&self, sections: usize) -> Vec<Array> {
        self.split(sections, 2)
    }

    /// Reverses the elements along the first axis.
    ///
    /// # Panics
    /// Panics if the array is 0-d.
    #[track_caller]
    pub fn flipud(&self) -> Array {
        self.flip(&[0])
    }

    /// Reverses the elements along the second axis.
    ///
    /// # Panics
    /// Panics if the array has fewer than two axes.
    #[track_caller]
    pub fn fliplr(&self) -> Array {
        self.flip(&[1])
    }

    /// Rotates the array by `k` quarter turns, from the first of two axes towards the second
    /// (`jnp.rot90`).
    ///
    /// ```no_run
    /// use ramie_core::Array;
    /// let x = Array::from([[1, 2], [3, 4]]);
    /// assert_eq!(x.rot90(1, [0, 1]).to_vec::<i32>(), [2, 4, 1, 3]);
    /// ```
    ///
    /// # Panics
    /// Panics if an axis is out of range, or both are the same.
    #[track_caller]
    pub fn rot90(&self, k: isize, axes: [isize; 2]) -> Array {
        let axes = self.axes("rot90", &axes);
        let (first, second) = (axes[0] as isize, axes[1] as isize);
        match k.rem_euclid(4) {
            0 => self.clone(),
            1 => self.flip(&[second]).swap_axes(first, second),
            2 => self.flip(&[first, second]),
            _ => self.swap_axes(first, second).flip(&[second]),
        }
    }

    /// Rolls by a shift that is an array, a 0-d integer, and may be traced; see
    /// [`roll`](Array::roll).
    ///
    /// # Panics
    /// Panics if the axis is out of range, or if the shift is not a 0-d integer.
    #[track_caller]
    pub fn roll_dynamic(&self, shift: &Array, axis: isize) -> Array {
        assert!(
            shift.ndim() == 0 && shift.dtype().is_integer(),
            "roll: the shift is {}, expected a 0-d integer\n  help: roll along one axis at a \
             time",
            shift.aval()
        );
        let at = self.axis("roll", axis);
        let n = self.shape()[at];
        if n == 0 {
            return self.clone();
        }
        let shift = shift.counting_to(n);
        let start = (n as i64 - shift.remainder(n as i64)).remainder(n as i64);
        let twice = crate::concatenate(&[self, self], axis);
        twice.dynamic_slice_in_dim(&start, n, axis)
    }

    /// Moves the axes `from[i]` to the positions `to[i]`. The other axes keep their order
    /// (`jnp.moveaxis`).
    ///
    /// # Panics
    /// Panics if an axis is out of range or given twice, or if the lists differ in length.
    #[track_caller]
    pub fn move_axes(&self, from: &[isize], to: &[isize]) -> Array {
        let (from, to) = (self.axes("move_axes", from), self.axes("move_axes", to));
        assert!(
            from.len() == to.len(),
            "move_axes: got {} axes for {} positions\n  help: pass one position per axis",
            from.len(),
            to.len()
        );
        let mut order: Dims = (0..self.ndim()).filter(|d| !from.contains(d)).collect();
        let mut moves: Vec<(usize, usize)> = to.into_iter().zip(from).collect();
        moves.sort_unstable();
        for (destination, axis) in moves {
            order.insert(destination, axis);
        }
        let order: Vec<isize> = order.iter().map(|&d| d as isize).collect();
        self.transpose(&order)
    }

    /// Moves an axis before the axis `start`, which may be the number of axes (`jnp.rollaxis`).
    ///
    /// # Panics
    /// Panics if an axis is out of range.
    #[track_caller]
    pub fn roll_axis(&self, axis: isize, start: isize) -> Array {
        let n = self.ndim() as isize;
        let from = self.axis("roll_axis", axis) as isize;
        assert!(
            (-n..=n).contains(&start),
            "roll_axis: start {start} is out of range for {}\n  help: pass an axis from {} to \
             {n}",
            self.aval(),
            -n
        );
        let start = if start < 0 { start + n } else { start };
        self.move_axis(from, if start > from { start - 1 } else { start })
    }

    /// Transposes the matrices along the last two axes (`x.mT` in NumPy).
    ///
    /// # Panics
    /// Panics if the array has fewer than two axes.
    #[doc(alias = "mT")]
    #[track_caller]
    pub fn matrix_transpose(&self) -> Array {
        self.matrix("matrix_transpose");
        self.swap_axes(-2, -1)
    }

    /// Removes the zeros at both ends of a 1-d array.
    ///
    /// # Panics
    /// Panics if the array is not 1-d, or is traced.
    #[track_caller]
    pub fn trim_zeros(&self) -> Array {
        self.require_vector("trim_zeros");
        let indices = self.flatnonzero().to_vec::<i32>();
        match (indices.first(), indices.last()) {
            (Some(&first), Some(&last)) => self.slice_axis(0, first as usize, last as usize + 1),
            _ => self.slice_axis(0, 0, 0),
        }
    }

    /// Applies `f` to each 1-d slice along an axis. The axes of the results replace the axis
    /// (`jnp.apply_along_axis`).
    ///
    /// # Panics
    /// Panics if the axis is out of range.
    #[track_caller]
    pub fn apply_along_axis(&self, axis: isize, f: impl Fn(Array) -> Array + Send + Sync) -> Array {
        let at = self.axis("apply_along_axis", axis);
        let rows = self.move_axis(axis, -1);
        let lead: Dims = rows.shape()[..rows.ndim() - 1].into();
        let count = lead.iter().product();
        let flat = rows.reshape(&[count, self.shape()[at]]);
        let results = crate::vmap(|row: Array| f(row))(flat);
        let rank = results.ndim() - 1;
        let mut shape = lead.clone();
        shape.extend(results.shape()[1..].iter().copied());
        // The new axes are last; they are moved to the position of the old axis.
        let new: Vec<isize> = (lead.len()..lead.len() + rank)
            .map(|d| d as isize)
            .collect();
        let destination: Vec<isize> = (at..at + rank).map(|d| d as isize).collect();
        results.reshape(&shape).move_axes(&new, &destination)
    }
}
