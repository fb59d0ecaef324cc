//! Products of two matrices, and pieces of them.

use super::vector::Real;
use std::array::from_fn;

/// Largest part of the axis that is summed over that is read at a time: `N` columns of the right operand and
/// the rows of a tile then stay in the first-level cache. Sums of the parts are added in their order.
pub const DEPTH: usize = 256;
/// Columns of tiles at most that are kept in the second-level cache, so that a tile's rows are read once.
const TOGETHER: usize = 4;
/// Elements between copied tiles, which would evict each other from the caches at distances of whole pages.
const PAD: usize = 4;
/// Tiles above each other up to which columns are read where they lie: to copy them takes longer.
const FEW_TILES: usize = 3;

/// The effect of a product on the elements of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// It replaces the elements of the result.
    Set,
    /// It is added to the elements of the result.
    Add,
    /// It is subtracted from the elements of the result.
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
        let together = TOGETHER.min(self.columns.div_ceil(N));
        let depth = DEPTH.min(self.depth);
        let is_direct = self.rows <= 3 && self.right.free == 1;
        let packs_left = !is_direct && self.packs_left(N);
        let room = |packs: bool, size: usize| if packs { size * (depth + PAD) } else { 0 };
        let mut packed = Packed {
            left: Vec::with_capacity(room(packs_left, self.rows.next_multiple_of(M) + M)),
            right: Vec::with_capacity(room(true, together * N)),
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
            unsafe {
                if is_direct {
                    part.few_rows::<N>(compute, &mut packed);
                } else {
                    part.all::<M, N>(compute, &mut packed, packs_left, together);
                }
            }
        }
    }

    /// Returns whether the left operand is copied: its rows are not lines of memory, or they are a multiple of a
    /// page apart and would evict each other from the caches.
    fn packs_left(&self, columns: usize) -> bool {
        const PAGE: usize = 4096;
        let apart = self.left.free.unsigned_abs() * size_of::<T>();
        match self.left.inner {
            1 => self.rows > 3 && apart.is_multiple_of(PAGE),
            _ => self.rows > 1 && self.columns > columns,
        }
    }

    /// Returns whether the columns of the right operand are read where they lie, in tiles of `rows` rows.
    pub fn reads_columns(&self, rows: usize) -> bool {
        self.right.free == 1 && self.rows <= FEW_TILES * rows
    }

    /// Computes few rows from the columns where they lie. Only wide tiles have enough sums then.
    #[inline(always)]
    unsafe fn few_rows<const N: usize>(&self, compute: Compute<T>, packed: &mut Packed<T>) {
        let mut column = 0;
        while column < self.columns {
            let left = self.columns - column;
            let wide = if self.rows == 1 { 4 * N } else { 2 * N };
            let columns = if left >= wide { wide } else { N.min(left) };
            let mut tile = self.part(0, self.rows, column, columns);
            // SAFETY: the caller promises that the operands are readable and the result writable.
            unsafe {
                if columns < N {
                    packed.columns::<N>(&tile.right, columns, self.depth);
                    tile.right = packed.place::<N>(0, self.depth);
                }
                compute(&tile);
            }
            column += columns;
        }
    }

    /// Computes all tiles of `together` times `N` columns, which the caches have room for, then the next.
    #[inline(always)]
    unsafe fn all<const M: usize, const N: usize>(
        &self,
        compute: Compute<T>,
        packed: &mut Packed<T>,
        packs_left: bool,
        together: usize,
    ) {
        let tiles = self.rows.div_ceil(M);
        let in_place = self.reads_columns(M);
        // Tiles of about equal height take less time than whole ones and a rest.
        let first = |tile: usize| self.rows * tile / tiles;
        for column in (0..self.columns).step_by(together * N) {
            let end = self.columns.min(column + together * N);
            let width = |at: usize| N.min(end - at);
            let copied = if in_place {
                end - (end - column) % N
            } else {
                column
            };
            let right = self.right.from(copied, 0);
            // SAFETY: the caller promises that the columns are readable and that there is room for them.
            unsafe {
                packed.columns::<N>(&right, end - copied, self.depth);
                if packs_left && column == 0 {
                    packed.rows::<M>(&self.left, first, tiles, self.depth);
                }
            }
            for tile in 0..tiles {
                let (row, height) = (first(tile), first(tile + 1) - first(tile));
                let left = if packs_left {
                    packed.row::<M>(&self.left, row, tile, self.depth)
                } else {
                    self.left.from(row, 0)
                };
                for at in (column..end).step_by(N) {
                    let mut tile = self.part(row, height, at, width(at));
                    tile.left = left;
                    if at >= copied {
                        tile.right = packed.place::<N>(at - copied, self.depth);
                    }
                    // SAFETY: the caller promises it for all rows and columns.
                    unsafe { compute(&tile) };
                }
            }
        }
    }
}

impl<T: Real> Packed<T> {
    /// Returns the columns from a number on, which is a multiple of `N`.
    fn place<const N: usize>(&self, number: usize, depth: usize) -> Operand<T> {
        Operand {
            start: self.right.as_ptr().wrapping_add(number * depth),
            free: 1,
            inner: N as isize,
        }
    }

    /// Copies columns. Whole lines of memory are read before the next row of the operand, which may be in another
    /// page.
    #[inline(always)]
    unsafe fn columns<const N: usize>(&mut self, from: &Operand<T>, columns: usize, depth: usize) {
        let to = self.right.as_mut_ptr();
        let whole = if from.free == 1 { columns / N * N } else { 0 };
        // SAFETY: the caller promises that the columns are readable and that there is room for them.
        unsafe {
            for k in 0..depth {
                for j in (0..whole).step_by(N) {
                    let row: [T; N] = *from.from(j, k).start.cast();
                    *to.add(j * depth + k * N).cast() = row;
                }
            }
            for j in (whole..columns).step_by(N) {
                let place = to.add(j * depth).cast();
                pack_columns::<T, N>(from.from(j, 0), N.min(columns - j), depth, place);
            }
        }
    }

    /// Returns the rows of a tile.
    fn row<const M: usize>(
        &self,
        from: &Operand<T>,
        row: usize,
        tile: usize,
        depth: usize,
    ) -> Operand<T> {
        let start = self.left.as_ptr();
        if from.inner == 1 {
            let start = start.wrapping_add(row * depth);
            let free = depth as isize;
            return Operand {
                start,
                free,
                inner: 1,
            };
        }
        Operand {
            start: start.wrapping_add(tile * M * (depth + PAD)),
            free: 1,
            inner: M as isize,
        }
    }

    /// Copies the rows of all tiles, of which `first` returns the first row. Those that are lines of memory remain
    /// so. Of others, the elements with one index of the other axis become neighbors.
    #[inline(always)]
    unsafe fn rows<const M: usize>(
        &mut self,
        from: &Operand<T>,
        first: impl Fn(usize) -> usize,
        tiles: usize,
        depth: usize,
    ) {
        let to = self.left.as_mut_ptr();
        let rows = first(tiles);
        if from.inner == 1 {
            for i in 0..rows {
                // SAFETY: the caller promises that the rows are readable and that there is room for them.
                unsafe { to.add(i * depth).copy_from(from.from(i, 0).start, depth) };
            }
            return;
        }
        // Whole tiles of neighbors, of which the last rows may belong to the next tile.
        let whole = match from.free {
            1 => (0..tiles).take_while(|t| first(*t) + M <= rows).count(),
            _ => 0,
        };
        for k in 0..depth {
            for tile in 0..whole {
                // SAFETY: as above.
                unsafe {
                    let row: [T; M] = *from.from(first(tile), k).start.cast();
                    *to.add((tile * (depth + PAD) + k) * M).cast() = row;
                }
            }
        }
        for tile in whole..tiles {
            let (row, height) = (first(tile), first(tile + 1) - first(tile));
            for k in 0..depth {
                let to = to.wrapping_add((tile * (depth + PAD) + k) * M);
                for i in 0..height {
                    // SAFETY: as above.
                    unsafe { *to.add(i) = *from.from(row + i, k).start };
                }
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
