//! Small products, whose operands are read where they are: to rearrange them takes longer than to multiply.

use super::piece::{DEPTH, Piece, Store};
use super::vector::{Real, Vector};

/// Multiplications of a small product at most.
const SMALL: usize = 1 << 12;
/// Rows of a block.
const ROWS: usize = 4;

impl<T: Real> Piece<T> {
    /// Computes the product if it is small and has an axis of a vector or more, in neighboring memory of an
    /// operand or beside a few rows. Returns whether it did.
    ///
    /// # Safety
    /// The operands must be readable, the result writable, and the processor must have the vector.
    #[inline(always)]
    pub unsafe fn small<V: Vector<T>>(&self) -> bool {
        let work = self.rows * self.depth * self.columns;
        if work > SMALL || self.depth > DEPTH || self.store != Store::Set {
            return false;
        }
        let both = [*self, self.transposed()];
        let wide = || both.iter().filter(|p| p.columns >= V::LANES);
        // SAFETY: guaranteed by the caller.
        unsafe {
            if let Some(product) = wide().find(|p| p.right.free == 1) {
                product.vectors::<V, true>();
                return true;
            }
            // Columns that are not neighbors are collected once for each block of rows. Deep ones are neighbors
            // along the axis that is summed over, or take a while.
            let collects = |p: &&Piece<T>| p.rows <= ROWS && p.depth < 2 * V::LANES;
            if let Some(product) = wide().find(collects) {
                product.vectors::<V, false>();
                return true;
            }
        }
        false
    }

    /// Computes all vectors of columns, which are neighbors in memory if `NEAR`.
    #[inline(always)]
    unsafe fn vectors<V: Vector<T>, const NEAR: bool>(&self) {
        // The last blocks of rows and columns may overlap earlier ones. They compute the same elements again.
        let mut column = 0;
        while column < self.columns {
            column = column.min(self.columns - V::LANES);
            // SAFETY: the caller promises it for all rows and columns.
            unsafe {
                match self.rows {
                    1 => self.block::<V, 1, 4, NEAR>(0, column),
                    2 => self.block::<V, 2, 2, NEAR>(0, column),
                    3 => self.block::<V, 3, 1, NEAR>(0, column),
                    4..8 => self.blocks::<V, ROWS, NEAR>(column),
                    _ => self.blocks::<V, { 2 * ROWS }, NEAR>(column),
                }
            }
            column += V::LANES;
        }
    }

    /// Computes all rows of a vector of columns, `R` at a time.
    #[inline(always)]
    unsafe fn blocks<V: Vector<T>, const R: usize, const NEAR: bool>(&self, column: usize) {
        let mut row = 0;
        // A loop, as closures are not compiled for the processor.
        while row < self.rows {
            // SAFETY: the caller promises it for all rows and columns.
            unsafe { self.block::<V, R, 1, NEAR>(row.min(self.rows - R), column) };
            row += R;
        }
    }

    /// Computes `R` rows of a vector of columns, each from `S` vectors of sums, so that few rows do not wait for each
    /// addition.
    #[inline(always)]
    unsafe fn block<V: Vector<T>, const R: usize, const S: usize, const NEAR: bool>(
        &self,
        row: usize,
        column: usize,
    ) {
        let (left, right) = (self.left, self.right);
        let mut x = left.from(row, 0).start;
        let mut y = right.from(column, 0).start;
        // SAFETY: the caller promises that the operands are readable and the result is writable.
        unsafe {
            let mut sums = [[V::splat(T::zeroed()); R]; S];
            for _ in 0..self.depth / S {
                for sums in &mut sums {
                    add::<T, V, R, NEAR>(sums, x, left.free, y, right.free);
                    x = x.wrapping_offset(left.inner);
                    y = y.wrapping_offset(right.inner);
                }
            }
            for _ in 0..self.depth % S {
                add::<T, V, R, NEAR>(&mut sums[0], x, left.free, y, right.free);
                x = x.wrapping_offset(left.inner);
                y = y.wrapping_offset(right.inner);
            }
            for i in 0..R {
                let mut sum = sums[0][i];
                for other in &sums[1..] {
                    sum = sum.plus(other[i]);
                }
                self.put_vector(sum, row + i, column);
            }
        }
    }

    /// Stores a vector of columns.
    #[inline(always)]
    unsafe fn put_vector<V: Vector<T>>(&self, sum: V, row: usize, column: usize) {
        let out = self.out.from(row, column);
        // SAFETY: the caller promises that the result is writable.
        unsafe {
            if out.column == 1 {
                return sum.store(out.start);
            }
            let mut elements = [T::zeroed(); 16];
            sum.store(elements.as_mut_ptr());
            for (j, x) in elements.iter().take(V::LANES).enumerate() {
                *out.from(0, j).start = *x;
            }
        }
    }
}

/// Adds the products of a vector and the elements of `R` rows to the sums of each row.
///
/// # Safety
/// As for [`small`](Piece::small), for these elements.
#[inline(always)]
unsafe fn add<T: Real, V: Vector<T>, const R: usize, const NEAR: bool>(
    sums: &mut [V; R],
    x: *const T,
    rows: isize,
    y: *const T,
    columns: isize,
) {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let b = if NEAR {
            V::load(y)
        } else {
            let mut elements = [T::zeroed(); 16];
            let mut from = y;
            for element in &mut elements[..V::LANES] {
                *element = *from;
                from = from.wrapping_offset(columns);
            }
            V::load(elements.as_ptr())
        };
        let mut from = x;
        for sum in sums {
            *sum = V::splat(*from).times_plus(b, *sum);
            from = from.wrapping_offset(rows);
        }
    }
}
