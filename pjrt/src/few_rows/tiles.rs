//! Products of more rows than reading the matrix takes time for, in tiles of 6×16 sums that stay in
//! registers.
//!
//! A tile has twelve sums of eight numbers, as many as hide the latency of multiplications. Sixteen
//! registers then have room for 16 elements of the right operand and one of the left operand.

use std::array::from_fn;
use std::ops::Range;

/// Maximum number of rows of a tile.
const ROWS: usize = 6;
/// Number of columns of a tile.
const COLUMNS: usize = 16;
/// Maximum number of elements that are summed over at a time. Sixteen columns of the right operand
/// then stay in the first-level cache.
const DEPTH: usize = 256;
/// Number of columns that are copied at a time. Rows may be far from one another, so that less
/// than this evicts neighbors from the cache.
const WIDTH: usize = 64;
/// Number of rows and columns that are transposed at a time.
const LANES: usize = 4;

/// A row of a tile, and a line of the cache.
#[derive(Clone, Copy)]
#[repr(align(64))]
#[expect(dead_code, reason = "read through pointers")]
struct Line([f32; COLUMNS]);

/// A product of two matrices, or of parts of them. Columns of the left operand are adjacent.
#[derive(Clone, Copy)]
pub(super) struct Tiles {
    pub rows: usize,
    pub depth: usize,
    pub columns: usize,
    pub left: *const f32,
    /// Distance of two rows.
    pub left_stride: usize,
    pub right: *const f32,
    /// Distances of two rows and of two columns, of which one is 1; likewise for the result.
    pub right_strides: [usize; 2],
    pub out: *mut f32,
    pub out_strides: [usize; 2],
}

impl Tiles {
    /// Computes the product.
    ///
    /// # Safety
    /// The operands must be readable and the result writable. The processor must support AVX2 and
    /// FMA, if it is an x86 processor.
    #[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
    pub unsafe fn compute(&self) {
        let lines = WIDTH / COLUMNS * self.depth.min(DEPTH);
        let mut copy: Vec<Line> = Vec::with_capacity(lines);
        for start in (0..self.depth).step_by(DEPTH) {
            let depth = DEPTH.min(self.depth - start);
            for column in (0..self.columns).step_by(WIDTH) {
                // SAFETY: guaranteed by the caller. There is memory for the largest copy.
                unsafe {
                    let end = self.columns.min(column + WIDTH);
                    let block = Tiles {
                        depth,
                        left: self.left.add(start),
                        right: self.right.add(start * self.right_strides[0]),
                        ..*self
                    };
                    let block = block.part(0..self.rows, column..end);
                    block.add_block(copy.as_mut_ptr(), start > 0);
                }
            }
        }
    }

    /// Returns the part with these rows and columns.
    #[inline(always)]
    unsafe fn part(&self, rows: Range<usize>, columns: Range<usize>) -> Tiles {
        let [row, column] = self.out_strides;
        // SAFETY: guaranteed by the caller.
        unsafe {
            Tiles {
                rows: rows.len(),
                columns: columns.len(),
                left: self.left.add(rows.start * self.left_stride),
                right: self.right.add(columns.start * self.right_strides[1]),
                out: self.out.add(rows.start * row + columns.start * column),
                ..*self
            }
        }
    }

    /// Computes up to 64 columns, or adds them to the result. `copy` has room for the right operand.
    #[inline(always)]
    unsafe fn add_block(&self, copy: *mut Line, adds: bool) {
        // Tiles of about equal height take less time than whole ones and a rest.
        let tiles = self.rows.div_ceil(ROWS);
        let at = |i: usize| self.rows * i / tiles;
        // SAFETY: guaranteed by the caller.
        unsafe {
            self.copy_right(copy);
            for j in (0..self.columns).step_by(COLUMNS) {
                for i in 0..tiles {
                    let columns = j..self.columns.min(j + COLUMNS);
                    let tile = Tiles {
                        right: copy.add(j / COLUMNS * self.depth).cast(),
                        right_strides: [COLUMNS, 1],
                        ..self.part(at(i)..at(i + 1), columns)
                    };
                    tile.store(adds);
                }
            }
        }
    }

    /// Computes a tile, also one with fewer columns or one whose columns are not adjacent in the
    /// result. As a function of its own, it has enough registers.
    #[inline(never)]
    #[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
    unsafe fn store(&self, adds: bool) {
        let [row, column] = self.out_strides;
        // SAFETY: guaranteed by the caller.
        unsafe {
            if self.columns == COLUMNS && column == 1 {
                return self.tile(adds);
            }
            let mut sums = [[0.0f32; COLUMNS]; ROWS];
            let tile = Tiles {
                out: sums.as_mut_ptr().cast(),
                out_strides: [COLUMNS, 1],
                ..*self
            };
            tile.tile(false);
            for j in 0..self.columns {
                for (i, sums) in sums.iter().enumerate().take(self.rows) {
                    let out = self.out.add(i * row + j * column);
                    *out = match adds {
                        true => *out + sums[j],
                        false => sums[j],
                    };
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn tile(&self, adds: bool) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            match self.rows {
                1 => self.tile_of::<1>(adds),
                2 => self.tile_of::<2>(adds),
                3 => self.tile_of::<3>(adds),
                4 => self.tile_of::<4>(adds),
                5 => self.tile_of::<5>(adds),
                _ => self.tile_of::<6>(adds),
            }
        }
    }

    #[inline(always)]
    unsafe fn tile_of<const M: usize>(&self, adds: bool) {
        let mut sums = [[0.0f32; COLUMNS]; M];
        // SAFETY: guaranteed by the caller.
        unsafe {
            let place = |i: usize| self.out.add(i * self.out_strides[0]).cast();
            if adds {
                sums = from_fn(|i| *place(i));
            }
            for k in 0..self.depth {
                let y: [f32; COLUMNS] = *self.right.add(k * COLUMNS).cast();
                for (i, sums) in sums.iter_mut().enumerate() {
                    let x = *self.left.add(i * self.left_stride + k);
                    for (sum, y) in sums.iter_mut().zip(y) {
                        *sum = x.mul_add(y, *sum);
                    }
                }
            }
            for (i, sums) in sums.into_iter().enumerate() {
                *place(i) = sums;
            }
        }
    }

    /// Copies the right operand: 16 columns, then the next 16. Missing columns are zero.
    #[inline(always)]
    unsafe fn copy_right(&self, to: *mut Line) {
        let [row, column] = self.right_strides;
        let whole = match column {
            1 => self.columns / COLUMNS * COLUMNS,
            _ => 0,
        };
        // SAFETY: guaranteed by the caller.
        unsafe {
            for k in 0..self.depth {
                for j in (0..whole).step_by(COLUMNS) {
                    let from = self.right.add(k * row + j).cast();
                    *to.add(j / COLUMNS * self.depth + k) = Line(*from);
                }
            }
            for j in (whole..self.columns).step_by(COLUMNS) {
                let columns = j..self.columns.min(j + COLUMNS);
                let to = to.add(j / COLUMNS * self.depth);
                self.part(0..0, columns).transpose_right(to.cast());
            }
        }
    }

    /// Copies up to 16 columns of the right operand.
    #[inline(always)]
    unsafe fn transpose_right(&self, to: *mut [f32; COLUMNS]) {
        let [row, column] = self.right_strides;
        let whole = |size: usize| match row {
            1 => size / LANES * LANES,
            _ => 0,
        };
        let (depth, columns) = (whole(self.depth), whole(self.columns));
        // SAFETY: guaranteed by the caller.
        unsafe {
            let place = |k: usize, j: usize| to.add(k).cast::<f32>().add(j);
            for j in (0..columns).step_by(LANES) {
                for k in (0..depth).step_by(LANES) {
                    let from = self.right.add(k + j * column);
                    let from: [[f32; LANES]; LANES] = from_fn(|j| *from.add(j * column).cast());
                    let rows: [[f32; LANES]; LANES] = from_fn(|i| from_fn(|j| from[j][i]));
                    for (i, row) in rows.into_iter().enumerate() {
                        *place(k + i, j).cast() = row;
                    }
                }
            }
            for k in 0..self.depth {
                let first = if k < depth { columns } else { 0 };
                for j in first..self.columns {
                    *place(k, j) = *self.right.add(k * row + j * column);
                }
                for j in self.columns..COLUMNS {
                    *place(k, j) = 0.0;
                }
            }
        }
    }
}
