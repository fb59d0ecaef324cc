//! The loops of a product, which read the matrix once, in the order of its memory.

use super::READING;
use super::tiles::Tiles;

/// Number of adjacent elements of a row that a tile multiplies.
const COLUMNS: usize = 16;
/// Number of rows of the matrix whose products are added before the sums are stored. Each row is a
/// stream that the processor prefetches.
const DEPTH: usize = 8;
/// Number of columns in a block, whose sums stay in the first-level cache.
const WIDTH: usize = 512;
/// Number of columns whose sums stay in the first-level cache while those of one row are computed.
const WIDE: usize = 4096;
/// Distance from an element of the only row's matrix to the one that is loaded into the second-level
/// cache meanwhile. A processor itself looks ahead no further than the end of a page.
const AHEAD: usize = 1024;
/// Number of partial sums of an element, for an axis of adjacent elements that is summed over.
const LANES: usize = 8;

/// The axis of the matrix with adjacent elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Adjacent {
    /// Elements of a row, which belong to different columns of the result.
    Columns,
    /// Elements of a column, which the product sums over.
    Depth,
}

/// A product of row-major `left` and a matrix. The matrix is a part of an array.
#[derive(Clone, Copy, Debug)]
pub(super) struct Product {
    pub rows: usize,
    pub depth: usize,
    pub columns: usize,
    pub left: *const f32,
    /// Distance of two rows of the left operand.
    pub left_stride: usize,
    pub matrix: *const f32,
    pub adjacent: Adjacent,
    /// Distance of elements of the matrix that are not adjacent.
    pub stride: usize,
    pub out: *mut f32,
    /// Distance of two rows of the result.
    pub out_stride: usize,
}

impl Product {
    /// Returns the part with `count` columns from `start`.
    ///
    /// # Safety
    /// The product must have these columns.
    pub unsafe fn part(self, start: usize, count: usize) -> Product {
        let distance = match self.adjacent {
            Adjacent::Columns => 1,
            Adjacent::Depth => self.stride,
        };
        // SAFETY: guaranteed by the caller.
        unsafe {
            Product {
                columns: count,
                matrix: self.matrix.add(start * distance),
                out: self.out.add(start),
                ..self
            }
        }
    }

    /// Returns the part of the sums over `count` elements from `start`.
    ///
    /// # Safety
    /// The product must sum over these elements.
    pub unsafe fn slice(self, start: usize, count: usize) -> Product {
        let distance = match self.adjacent {
            Adjacent::Columns => self.stride,
            Adjacent::Depth => 1,
        };
        // SAFETY: guaranteed by the caller.
        unsafe {
            Product {
                depth: count,
                left: self.left.add(start),
                matrix: self.matrix.add(start * distance),
                ..self
            }
        }
    }

    /// Computes the product.
    ///
    /// # Safety
    /// The operands must be readable and the result writable. The processor must support AVX2 and
    /// FMA, if it is an x86 processor.
    #[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
    pub unsafe fn compute(&self) {
        // SAFETY: guaranteed by the caller.
        unsafe {
            match self.adjacent {
                _ if self.rows > READING => self.tiles().compute(),
                Adjacent::Columns => self.add_rows(),
                Adjacent::Depth => self.sum_columns(),
            }
        }
    }

    /// Returns the product in tiles; with adjacent elements of columns, the transposed product, for
    /// which less is copied.
    fn tiles(&self) -> Tiles {
        let natural = Tiles {
            rows: self.rows,
            depth: self.depth,
            columns: self.columns,
            left: self.left,
            left_stride: self.left_stride,
            right: self.matrix,
            right_strides: [self.stride, 1],
            out: self.out,
            out_strides: [self.out_stride, 1],
        };
        match self.adjacent {
            Adjacent::Columns => natural,
            Adjacent::Depth => Tiles {
                rows: self.columns,
                columns: self.rows,
                left: self.matrix,
                left_stride: self.stride,
                right: self.left,
                right_strides: [1, self.left_stride],
                out_strides: [1, self.out_stride],
                ..natural
            },
        }
    }

    #[inline(always)]
    unsafe fn add_rows(&self) {
        // SAFETY: all elements are within the operands and the result.
        unsafe {
            for row in 0..self.rows {
                self.out
                    .add(row * self.out_stride)
                    .write_bytes(0, self.columns);
            }
            if self.rows == 1 {
                return self.add_row();
            }
            for start in (0..self.columns).step_by(WIDTH) {
                let block = self.part(start, WIDTH.min(self.columns - start));
                for at in (0..self.depth).step_by(DEPTH) {
                    block.slice(at, DEPTH.min(self.depth - at)).add_block();
                }
            }
        }
    }

    /// Adds the products of the only row. There is one stream of elements, because several are slower.
    #[inline(always)]
    unsafe fn add_row(&self) {
        // SAFETY: all elements are within the operands and the result.
        unsafe {
            for start in (0..self.columns).step_by(WIDE) {
                let count = WIDE.min(self.columns - start);
                let sums = std::slice::from_raw_parts_mut(self.out.add(start), count);
                for k in 0..self.depth {
                    let row = self.matrix.add(k * self.stride + start);
                    let row = std::slice::from_raw_parts(row, count);
                    let x = *self.left.add(k);
                    let (tiles, rest) = sums.as_chunks_mut::<COLUMNS>();
                    let (row, row_rest) = row.as_chunks::<COLUMNS>();
                    for (tile, row) in tiles.iter_mut().zip(row) {
                        prefetch::<2>(row.as_ptr().wrapping_add(AHEAD));
                        // Copies, because references may overlap and would not become vectors.
                        let mut sums = *tile;
                        for (sum, y) in sums.iter_mut().zip(*row) {
                            *sum = x.mul_add(y, *sum);
                        }
                        *tile = sums;
                    }
                    for (sum, y) in rest.iter_mut().zip(row_rest) {
                        *sum = x.mul_add(*y, *sum);
                    }
                }
            }
        }
    }

    /// Adds the products of some rows of the matrix.
    #[inline(always)]
    unsafe fn add_block(&self) {
        let whole = self.columns / COLUMNS * COLUMNS;
        // SAFETY: guaranteed by the caller.
        unsafe {
            for column in (0..whole).step_by(COLUMNS) {
                let mut row = 0;
                while row < self.rows {
                    let left = self.left.add(row * self.left_stride);
                    let out = self.out.add(row * self.out_stride + column);
                    let matrix = self.matrix.add(column);
                    row += match self.rows - row {
                        1 => self.add_tile::<1>(left, matrix, out),
                        2 => self.add_tile::<2>(left, matrix, out),
                        3 => self.add_tile::<3>(left, matrix, out),
                        _ => self.add_tile::<4>(left, matrix, out),
                    };
                }
            }
            for row in 0..self.rows {
                for column in whole..self.columns {
                    let out = self.out.add(row * self.out_stride + column);
                    for k in 0..self.depth {
                        let x = *self.left.add(row * self.left_stride + k);
                        *out = x.mul_add(*self.matrix.add(k * self.stride + column), *out);
                    }
                }
            }
        }
    }

    /// Adds to `ROWS` rows of 16 elements; returns `ROWS`.
    #[inline(always)]
    unsafe fn add_tile<const ROWS: usize>(
        &self,
        left: *const f32,
        matrix: *const f32,
        out: *mut f32,
    ) -> usize {
        // SAFETY: guaranteed by the caller.
        unsafe {
            let place = |i: usize| out.add(i * self.out_stride).cast::<[f32; COLUMNS]>();
            let mut sums = [[0.0f32; COLUMNS]; ROWS];
            for (i, sums) in sums.iter_mut().enumerate() {
                *sums = *place(i);
            }
            for k in 0..self.depth {
                prefetch::<1>(matrix.wrapping_add((k + DEPTH) * self.stride));
                let row = *matrix.add(k * self.stride).cast::<[f32; COLUMNS]>();
                for (i, sums) in sums.iter_mut().enumerate() {
                    let x = *left.add(i * self.left_stride + k);
                    for (sum, y) in sums.iter_mut().zip(row) {
                        *sum = x.mul_add(y, *sum);
                    }
                }
            }
            for (i, sums) in sums.into_iter().enumerate() {
                *place(i) = sums;
            }
        }
        ROWS
    }

    #[inline(always)]
    unsafe fn sum_columns(&self) {
        let pairs = self.columns / 2 * 2;
        // SAFETY: all elements are within the operands and the result.
        unsafe {
            if self.rows == 1 {
                return (0..self.columns).for_each(|column| self.sum_column(column));
            }
            for column in (0..pairs).step_by(2) {
                let mut row = 0;
                while row < self.rows {
                    row += match self.rows - row {
                        1 => self.sum_tile::<1, 2>(row, column),
                        2 | 3 => self.sum_tile::<2, 2>(row, column),
                        _ => self.sum_tile::<4, 2>(row, column),
                    };
                }
            }
            if pairs < self.columns {
                (0..self.rows).for_each(|row| _ = self.sum_tile::<1, 1>(row, pairs));
            }
        }
    }

    /// Computes the element of a column in the only row.
    #[inline(always)]
    unsafe fn sum_column(&self, column: usize) {
        const CHAINS: usize = 8;
        // SAFETY: guaranteed by the caller.
        unsafe {
            let matrix = self.matrix.add(column * self.stride);
            let mut sums = [[0.0f32; LANES]; CHAINS];
            let whole = self.depth / (LANES * CHAINS) * (LANES * CHAINS);
            for start in (0..whole).step_by(LANES * CHAINS) {
                for (i, sums) in sums.iter_mut().enumerate() {
                    let k = start + i * LANES;
                    if i % 2 == 0 {
                        prefetch::<2>(matrix.wrapping_add(k + AHEAD));
                    }
                    let x = *self.left.add(k).cast::<[f32; LANES]>();
                    let y = *matrix.add(k).cast::<[f32; LANES]>();
                    for (sum, (x, y)) in sums.iter_mut().zip(x.into_iter().zip(y)) {
                        *sum = x.mul_add(y, *sum);
                    }
                }
            }
            let mut sum: f32 = sums.into_iter().map(total).sum();
            for k in whole..self.depth {
                sum = (*self.left.add(k)).mul_add(*matrix.add(k), sum);
            }
            *self.out.add(column) = sum;
        }
    }

    /// Computes `ROWS` rows of `COUNT` adjacent elements; returns `ROWS`.
    #[inline(always)]
    unsafe fn sum_tile<const ROWS: usize, const COUNT: usize>(
        &self,
        row: usize,
        column: usize,
    ) -> usize {
        // SAFETY: guaranteed by the caller; addresses that are only prefetched need not exist.
        unsafe {
            let left = self.left.add(row * self.left_stride);
            let matrix = self.matrix.add(column * self.stride);
            let mut sums = [[[0.0f32; LANES]; COUNT]; ROWS];
            let whole = self.depth / LANES * LANES;
            for k in (0..whole).step_by(LANES) {
                for (i, sums) in sums.iter_mut().enumerate() {
                    let x = *left.add(i * self.left_stride + k).cast::<[f32; LANES]>();
                    for (j, sums) in sums.iter_mut().enumerate() {
                        if i == 0 {
                            prefetch::<1>(matrix.wrapping_add((j + COUNT) * self.stride + k));
                        }
                        let y = *matrix.add(j * self.stride + k).cast::<[f32; LANES]>();
                        for (sum, (x, y)) in sums.iter_mut().zip(x.into_iter().zip(y)) {
                            *sum = x.mul_add(y, *sum);
                        }
                    }
                }
            }
            for (i, sums) in sums.into_iter().enumerate() {
                for (j, sums) in sums.into_iter().enumerate() {
                    let mut sum = total(sums);
                    for k in whole..self.depth {
                        let x = *left.add(i * self.left_stride + k);
                        sum = x.mul_add(*matrix.add(j * self.stride + k), sum);
                    }
                    *self.out.add((row + i) * self.out_stride + column + j) = sum;
                }
            }
        }
        ROWS
    }
}

/// Adds the elements in pairs.
#[inline(always)]
fn total(sums: [f32; LANES]) -> f32 {
    let four: [f32; 4] = std::array::from_fn(|i| sums[i] + sums[i + 4]);
    (four[0] + four[2]) + (four[1] + four[3])
}

/// Loads an element into the cache of level 1 or 2. The address may be any.
#[inline(always)]
fn prefetch<const LEVEL: u32>(element: *const f32) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch of an address without memory does nothing.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
        match LEVEL {
            1 => _mm_prefetch::<_MM_HINT_T0>(element.cast()),
            _ => _mm_prefetch::<_MM_HINT_T1>(element.cast()),
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = element;
}
