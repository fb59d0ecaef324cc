//! Products of two matrices, and pieces of them.

use super::vector::Real;
use std::array::from_fn;

/// Largest part of the axis that is summed over that is read at a time: `N` columns of the right operand and
/// the rows of a tile then stay in the first-level cache. Sums of the parts are added in their order.
pub const DEPTH: usize = 256;

/// What becomes of a product's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// They replace the elements of the result.
    Set,
    /// They are added to the elements of the result.
    Add,
    /// They are subtracted from the elements of the result.
    Subtract,
}

/// An operand: its first element, and the distances of neighbors along its own axis of the result and along
/// the axis that is summed over.
#[derive(Clone, Copy)]
pub struct Operand<T> {
    pub start: *const T,
    pub free: isize,
    pub inner: isize,
}

impl<T> Operand<T> {
    /// Returns the operand from other indices on.
    pub fn from(&self, free: usize, inner: usize) -> Operand<T> {
        let distance = free as isize * self.free + inner as isize * self.inner;
        let start = self.start.wrapping_offset(distance);
        Operand { start, ..*self }
    }
}

/// The result: its first element and the distances of rows and columns.
#[derive(Clone, Copy)]
pub struct Out<T> {
    pub start: *mut T,
    pub row: isize,
    pub column: isize,
}

impl<T> Out<T> {
    /// Returns the result from another element on.
    pub fn from(&self, row: usize, column: usize) -> Out<T> {
        let distance = row as isize * self.row + column as isize * self.column;
        let start = self.start.wrapping_offset(distance);
        Out { start, ..*self }
    }
}

/// A product of two matrices, or of rows and columns of them.
#[derive(Clone, Copy)]
pub struct Piece<T> {
    pub rows: usize,
    pub depth: usize,
    pub columns: usize,
    pub left: Operand<T>,
    pub right: Operand<T>,
    pub out: Out<T>,
    pub store: Store,
}

// SAFETY: the operands are only read, and threads that share a product write different pieces of the result.
unsafe impl<T: Send + Sync> Sync for Piece<T> {}

/// Computes a tile.
pub type Compute<T> = unsafe fn(&Piece<T>);

/// Parts of the operands in the order in which a tile reads them.
struct Packed<T> {
    left: Vec<T>,
    right: Vec<T>,
}

impl<T: Real> Piece<T> {
    /// Returns the rows and columns from some on.
    pub fn part(&self, row: usize, rows: usize, column: usize, columns: usize) -> Piece<T> {
        Piece {
            rows,
            columns,
            left: self.left.from(row, 0),
            right: self.right.from(column, 0),
            out: self.out.from(row, column),
            ..*self
        }
    }

    /// Returns the transposed product.
    pub fn transposed(&self) -> Piece<T> {
        Piece {
            rows: self.columns,
            columns: self.rows,
            left: self.right,
            right: self.left,
            out: Out {
                row: self.out.column,
                column: self.out.row,
                ..self.out
            },
            ..*self
        }
    }

    /// Computes the product in tiles of up to `M` rows and `N` columns.
    ///
    /// # Safety
    /// The operands must be readable, the result writable, and the processor must have the instructions of
    /// `compute`.
    #[inline(always)]
    pub unsafe fn compute<const M: usize, const N: usize>(&self, compute: Compute<T>) {
        let tiles = self.rows.div_ceil(M);
        let packs_left = self.left.inner != 1 && self.columns > N && self.rows > 1;
        let packs_right = tiles > 1 || self.right.free != 1 || !self.columns.is_multiple_of(N);
        let depth = DEPTH.min(self.depth);
        let mut packed = Packed {
            left: Vec::with_capacity(if packs_left { self.rows * depth } else { 0 }),
            right: Vec::with_capacity(if packs_right { N * depth } else { 0 }),
        };
        for start in (0..self.depth).step_by(DEPTH) {
            let mut part = Piece {
                depth: DEPTH.min(self.depth - start),
                left: self.left.from(0, start),
                right: self.right.from(0, start),
                ..*self
            };
            if start > 0 && self.store == Store::Set {
                part.store = Store::Add;
            }
            // SAFETY: the caller promises it for the whole product; there is room for the packed parts.
            unsafe { part.columns_of::<M, N>(compute, &mut packed, packs_left) };
        }
    }

    /// Computes a part whose depth the caches have room for.
    #[inline(always)]
    unsafe fn columns_of<const M: usize, const N: usize>(
        &self,
        compute: Compute<T>,
        packed: &mut Packed<T>,
        packs_left: bool,
    ) {
        let tiles = self.rows.div_ceil(M);
        // Tiles of about equal height take less time than whole ones and a rest.
        let first = |tile: usize| self.rows * tile / tiles;
        let height = |tile: usize| first(tile + 1) - first(tile);
        if packs_left {
            for tile in 0..tiles {
                let from = self.left.from(first(tile), 0);
                let to = packed
                    .left
                    .as_mut_ptr()
                    .wrapping_add(first(tile) * self.depth);
                // SAFETY: the caller promises that there is room for all rows.
                unsafe { pack_rows::<T, M>(from, height(tile), self.depth, to) };
            }
        }
        let mut column = 0;
        while column < self.columns {
            let left = self.columns - column;
            // Few rows have enough sums only with more columns.
            let columns = match self.rows {
                1 if self.right.free == 1 && left >= 4 * N => 4 * N,
                2 | 3 if self.right.free == 1 && left >= 2 * N => 2 * N,
                _ => N.min(left),
            };
            let mut right = self.right.from(column, 0);
            if tiles > 1 || right.free != 1 || columns < N {
                let to = packed.right.as_mut_ptr();
                // SAFETY: the caller promises that there is room for `N` columns.
                unsafe { pack_columns::<T, N>(right, columns, self.depth, to) };
                right = Operand {
                    start: to,
                    free: 1,
                    inner: N as isize,
                };
            }
            for tile in 0..tiles {
                let mut left = self.left.from(first(tile), 0);
                if packs_left {
                    let start = packed.left.as_ptr().wrapping_add(first(tile) * self.depth);
                    left = Operand {
                        start,
                        free: 1,
                        inner: height(tile) as isize,
                    };
                }
                let tile = Piece {
                    rows: height(tile),
                    depth: self.depth,
                    columns,
                    left,
                    right,
                    out: self.out.from(first(tile), column),
                    store: self.store,
                };
                // SAFETY: the caller promises it for all rows and columns.
                unsafe { compute(&tile) };
            }
            column += columns;
        }
    }
}

/// Copies rows of the left operand so that their elements with one index of the other axis are neighbors.
#[inline(always)]
unsafe fn pack_rows<T: Real, const M: usize>(
    from: Operand<T>,
    rows: usize,
    depth: usize,
    to: *mut T,
) {
    // SAFETY: the caller promises that the rows are readable and that there is room for them.
    unsafe {
        if rows == M && from.free == 1 {
            for k in 0..depth {
                let row: [T; M] = *from.from(0, k).start.cast();
                *to.add(k * M).cast() = row;
            }
            return;
        }
        for k in 0..depth {
            for i in 0..rows {
                *to.add(k * rows + i) = *from.from(i, k).start;
            }
        }
    }
}

/// Copies columns of the right operand, next to each other. Missing ones become zero.
#[inline(always)]
unsafe fn pack_columns<T: Real, const N: usize>(
    from: Operand<T>,
    columns: usize,
    depth: usize,
    to: *mut T,
) {
    const SIDE: usize = 4;
    // SAFETY: the caller promises that the columns are readable and that there is room for `N`.
    unsafe {
        if from.free == 1 && columns == N {
            for k in 0..depth {
                let row: [T; N] = *from.from(0, k).start.cast();
                *to.add(k * N).cast() = row;
            }
            return;
        }
        let (mut whole, mut deep) = (0, 0);
        if from.inner == 1 {
            (whole, deep) = (columns / SIDE * SIDE, depth / SIDE * SIDE);
        }
        for j in (0..whole).step_by(SIDE) {
            for k in (0..deep).step_by(SIDE) {
                transpose::<T, SIDE>(from.from(j, k), to.add(k * N + j), N);
            }
        }
        for k in 0..depth {
            let done = if k < deep { whole } else { 0 };
            for j in done..columns {
                *to.add(k * N + j) = *from.from(j, k).start;
            }
            for j in columns..N {
                *to.add(k * N + j) = T::zeroed();
            }
        }
    }
}

/// Transposes a block whose axis that is summed over is the one of neighbors.
#[inline(always)]
unsafe fn transpose<T: Real, const SIDE: usize>(from: Operand<T>, to: *mut T, row: usize) {
    // SAFETY: the caller promises that the block is readable and its place writable.
    unsafe {
        let block: [[T; SIDE]; SIDE] = from_fn(|j| *from.from(j, 0).start.cast());
        let lines: [[T; SIDE]; SIDE] = from_fn(|k| from_fn(|j| block[j][k]));
        for (k, line) in lines.into_iter().enumerate() {
            *to.add(k * row).cast() = line;
        }
    }
}
