//! Products of matrices in batches: `out[b] = lhs[b] · rhs[b]`.
//!
//! The only unsafe code of the crate: the library `gemm` takes pointers.
#![allow(unsafe_code)]

use super::convert::with_bits;
use crate::ElementType::{self, *};
use bytemuck::Pod;
use num_complex::Complex;
use rayon::prelude::*;

/// Multiplications below which plain loops are quicker than `gemm`.
const SMALL: usize = 4096;
/// Multiplications from which threads share a product.
const PARALLEL: usize = 1 << 18;

/// A batch of matrices in memory: the index of the first element and the strides of batch, rows and columns.
#[derive(Clone, Copy, Debug)]
pub struct Matrices<'a> {
    /// The bytes of all elements.
    pub data: &'a [u8],
    /// Index of the first element.
    pub offset: usize,
    /// Strides of batch, rows and columns in elements.
    pub strides: [isize; 3],
}

/// The sizes of a batch of products.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Number of products.
    pub batch: usize,
    /// Rows of the left matrices.
    pub rows: usize,
    /// Columns of the left matrices, rows of the right ones.
    pub inner: usize,
    /// Columns of the right matrices.
    pub columns: usize,
}

/// Returns the type in which products of an element type are computed.
pub fn product_type(element: ElementType) -> ElementType {
    match element {
        Bool => I32,
        F32 | F64 | C64 | C128 => element,
        _ if with_bits!(element, T => std::mem::size_of::<T>() > 0, _ => false) => element,
        _ => F32,
    }
}

/// Computes products in row-major order. The element type is one of [`product_type`].
pub fn product(
    element: ElementType,
    sizes: Sizes,
    lhs: Matrices<'_>,
    rhs: Matrices<'_>,
    out: &mut [u8],
    threads: usize,
) {
    if out.is_empty() {
        return;
    }
    if sizes.inner == 0 {
        return out.fill(0);
    }
    match element {
        F32 => floats::<f32>(sizes, lhs, rhs, out, threads, 1.0),
        F64 => floats::<f64>(sizes, lhs, rhs, out, threads, 1.0),
        C64 => floats::<Complex<f32>>(sizes, lhs, rhs, out, threads, Complex::new(1.0, 0.0)),
        C128 => floats::<Complex<f64>>(sizes, lhs, rhs, out, threads, Complex::new(1.0, 0.0)),
        _ => with_bits!(element, T => {
            batches::<T>(sizes, lhs, rhs, out, threads, |sizes, lhs, rhs, out, _| {
                loops::<T>(sizes, lhs, rhs, out, |sum, a, b| sum.wrapping_add(a.wrapping_mul(b)))
            })
        }, _ => ()),
    }
}

/// The matrices of one product with typed elements.
#[derive(Clone, Copy)]
struct Matrix<'a, T> {
    data: &'a [T],
    offset: usize,
    row: isize,
    column: isize,
}

impl<T: Copy> Matrix<'_, T> {
    fn at(&self, row: usize, column: usize) -> T {
        self.data[(self.offset as isize + row as isize * self.row + column as isize * self.column)
            as usize]
    }

    /// Returns whether all elements of a matrix of these sizes are inside the memory.
    fn inside(&self, rows: usize, columns: usize) -> bool {
        let reach = |n: usize, stride: isize| (n as isize - 1).checked_mul(stride);
        let (Some(down), Some(right)) = (reach(rows, self.row), reach(columns, self.column)) else {
            return false;
        };
        let first = self.offset as isize + down.min(0) + right.min(0);
        let last = self.offset as isize + down.max(0) + right.max(0);
        first >= 0 && (last as usize) < self.data.len()
    }
}

fn batches<T: Pod + Send + Sync>(
    sizes: Sizes,
    lhs: Matrices<'_>,
    rhs: Matrices<'_>,
    out: &mut [u8],
    threads: usize,
    one: impl Fn(Sizes, Matrix<'_, T>, Matrix<'_, T>, &mut [T], usize) + Send + Sync,
) {
    let out: &mut [T] = bytemuck::cast_slice_mut(out);
    let matrix = |m: &Matrices<'_>, batch: usize| {
        let offset = (m.offset as isize + batch as isize * m.strides[0]) as usize;
        (offset, m.strides[1], m.strides[2])
    };
    let run = |(batch, out): (usize, &mut [T]), threads: usize| {
        let (offset, row, column) = matrix(&lhs, batch);
        let left = Matrix {
            data: bytemuck::cast_slice(lhs.data),
            offset,
            row,
            column,
        };
        let (offset, row, column) = matrix(&rhs, batch);
        let right = Matrix {
            data: bytemuck::cast_slice(rhs.data),
            offset,
            row,
            column,
        };
        one(sizes, left, right, out, threads);
    };
    let work = sizes.rows * sizes.columns * sizes.inner;
    let size = sizes.rows * sizes.columns;
    let parallel = threads > 1 && work.saturating_mul(sizes.batch) >= PARALLEL;
    if parallel && sizes.batch >= threads {
        out.par_chunks_mut(size)
            .enumerate()
            .for_each(|piece| run(piece, 1));
    } else {
        let threads = if parallel { threads } else { 1 };
        out.chunks_mut(size)
            .enumerate()
            .for_each(|piece| run(piece, threads));
    }
}

fn floats<T: Pod + Send + Sync + std::ops::Mul<Output = T> + std::ops::Add<Output = T>>(
    sizes: Sizes,
    lhs: Matrices<'_>,
    rhs: Matrices<'_>,
    out: &mut [u8],
    threads: usize,
    unit: T,
) {
    batches::<T>(
        sizes,
        lhs,
        rhs,
        out,
        threads,
        |sizes, lhs, rhs, out, threads| {
            if sizes.rows * sizes.columns * sizes.inner <= SMALL {
                return loops(sizes, lhs, rhs, out, |sum, a, b| sum + a * b);
            }
            call_gemm(sizes, lhs, rhs, out, threads, unit)
        },
    );
}

fn call_gemm<T: Pod>(
    sizes: Sizes,
    lhs: Matrix<'_, T>,
    rhs: Matrix<'_, T>,
    out: &mut [T],
    threads: usize,
    unit: T,
) {
    let Sizes {
        rows,
        inner,
        columns,
        ..
    } = sizes;
    assert!(lhs.inside(rows, inner) && rhs.inside(inner, columns) && out.len() >= rows * columns);
    let parallelism = if threads > 1 {
        gemm::Parallelism::Rayon(threads)
    } else {
        gemm::Parallelism::None
    };
    // SAFETY: the assertion above shows that all elements that the strides reach are inside the slices, and
    // `out` is borrowed for writing. `T` is one of the four types that `gemm` accepts.
    unsafe {
        gemm::gemm(
            rows,
            columns,
            inner,
            out.as_mut_ptr(),
            1,
            columns as isize,
            false,
            lhs.data.as_ptr().add(lhs.offset),
            lhs.column,
            lhs.row,
            rhs.data.as_ptr().add(rhs.offset),
            rhs.column,
            rhs.row,
            unit,
            unit,
            false,
            false,
            false,
            parallelism,
        );
    }
}

fn loops<T: Pod>(
    sizes: Sizes,
    lhs: Matrix<'_, T>,
    rhs: Matrix<'_, T>,
    out: &mut [T],
    add: impl Fn(T, T, T) -> T,
) {
    out.fill(T::zeroed());
    for (row, out) in out.chunks_mut(sizes.columns).enumerate() {
        for inner in 0..sizes.inner {
            let a = lhs.at(row, inner);
            let first = rhs.offset as isize + inner as isize * rhs.row;
            if rhs.column == 1 {
                let right = &rhs.data[first as usize..][..sizes.columns];
                out.iter_mut()
                    .zip(right)
                    .for_each(|(sum, b)| *sum = add(*sum, a, *b));
            } else {
                for (column, sum) in out.iter_mut().enumerate() {
                    *sum = add(*sum, a, rhs.at(inner, column));
                }
            }
        }
    }
}
