//! Small products, whose operands are read where they are: to rearrange them takes longer than to multiply.

use super::piece::{DEPTH, Piece, Store};
use super::vector::{Real, Vector};

/// Multiplications of a small product at most.
const SMALL: usize = 1 << 12;
/// Rows of a block.
const ROWS: usize = 4;

impl<T: Real> Piece<T> {
    /// Computes the product if it is small and has an axis of a vector or more in neighboring memory of an
    /// operand. Returns whether it did.
    ///
    /// # Safety
    /// The operands must be readable, the result writable, and the processor must have the vector.
    #[inline(always)]
    pub unsafe fn small<V: Vector<T>>(&self) -> bool {
        let work = self.rows * self.depth * self.columns;
        if work > SMALL || self.depth > DEPTH || self.store != Store::Set {
            return false;
        }
        let suits = |p: &Piece<T>| p.right.free == 1 && p.columns >= V::LANES;
        let both = [*self, self.transposed()];
        let Some(product) = both.iter().find(|p| suits(p)) else {
            return false;
        };
        // The last blocks of rows and columns may overlap earlier ones. They compute the same elements again.
        let mut column = 0;
        while column < product.columns {
            column = column.min(product.columns - V::LANES);
            // Loops, as closures are not compiled for the processor.
            let mut row = 0;
            while row < product.rows {
                // SAFETY: the caller promises it for all rows and columns.
                unsafe {
                    if product.rows < ROWS {
                        product.block::<V, 1>(row, column);
                        row += 1;
                    } else {
                        product.block::<V, ROWS>(row.min(product.rows - ROWS), column);
                        row += ROWS;
                    }
                }
            }
            column += V::LANES;
        }
        true
    }

    /// Computes `R` rows of a vector of columns.
    #[inline(always)]
    unsafe fn block<V: Vector<T>, const R: usize>(&self, row: usize, column: usize) {
        let (mut left, mut right) = (self.left.from(row, 0), self.right.from(column, 0));
        // SAFETY: the caller promises that the operands are readable and the result is writable.
        unsafe {
            let mut sums = [V::splat(T::zeroed()); R];
            for _ in 0..self.depth {
                let b = V::load(right.start);
                for (i, sum) in sums.iter_mut().enumerate() {
                    *sum = V::splat(*left.from(i, 0).start).times_plus(b, *sum);
                }
                (left, right) = (left.from(0, 1), right.from(0, 1));
            }
            for (i, sum) in sums.into_iter().enumerate() {
                let out = self.out.from(row + i, column);
                if out.column == 1 {
                    sum.store(out.start);
                    continue;
                }
                let mut elements = [T::zeroed(); 16];
                sum.store(elements.as_mut_ptr());
                for (j, x) in elements.iter().take(V::LANES).enumerate() {
                    *out.from(0, j).start = *x;
                }
            }
        }
    }
}
