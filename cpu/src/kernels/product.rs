//! Products of matrices in batches: `out[b] = lhs[b] · rhs[b]`.
//!
//! Unsafe because the library `gemm` takes pointers. Products of complex numbers are four products of real numbers.
#![allow(unsafe_code)]

use super::convert::with_bits;
use crate::ElementType::{self, *};
use bytemuck::Pod;
use gemm_common::Parallelism;
use num_complex::Complex;
use rayon::prelude::*;
use std::ops::{Add, Mul};

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

/// The place of a result in memory.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Distance between the rows of the result in elements.
    pub row: usize,
    /// Whether the product is added to the elements of the result.
    pub add: bool,
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
        F32 => floats::<f32>(sizes, lhs, rhs, out, threads),
        F64 => floats::<f64>(sizes, lhs, rhs, out, threads),
        C64 => floats::<Complex<f32>>(sizes, lhs, rhs, out, threads),
        C128 => floats::<Complex<f64>>(sizes, lhs, rhs, out, threads),
        _ => with_bits!(element, T => {
            batches::<T>(sizes, lhs, rhs, out, threads, |sizes, lhs, rhs, out, _| {
                let target = Target { row: sizes.columns, add: false };
                loops::<T>(sizes, lhs, rhs, out, target, |sum, a, b| sum.wrapping_add(a.wrapping_mul(b)))
            })
        }, _ => ()),
    }
}

/// Computes one product, the first of the batch, on the calling thread. The element type is one of
/// [`product_type`], and no size is zero.
pub fn product_into(
    element: ElementType,
    sizes: Sizes,
    lhs: Matrices<'_>,
    rhs: Matrices<'_>,
    out: &mut [u8],
    target: Target,
) {
    match element {
        F32 => float(sizes, lhs.matrix::<f32>(0), rhs.matrix(0), out, target),
        F64 => float(sizes, lhs.matrix::<f64>(0), rhs.matrix(0), out, target),
        C64 => float::<Complex<f32>>(sizes, lhs.matrix(0), rhs.matrix(0), out, target),
        C128 => float::<Complex<f64>>(sizes, lhs.matrix(0), rhs.matrix(0), out, target),
        _ => with_bits!(element, T => {
            let (lhs, rhs) = (lhs.matrix::<T>(0), rhs.matrix::<T>(0));
            let out = bytemuck::cast_slice_mut(out);
            loops(sizes, lhs, rhs, out, target, |sum, a, b| sum.wrapping_add(a.wrapping_mul(b)))
        }, _ => ()),
    }
}

/// Adds the products of the elements of two lists to a third one. The element type is `f32` or `f64`.
pub fn add_products(element: ElementType, out: &mut [u8], a: &[u8], b: &[u8]) {
    fn add<T: Multiply>(out: &mut [u8], a: &[u8], b: &[u8]) {
        let (a, b): (&[T], &[T]) = (bytemuck::cast_slice(a), bytemuck::cast_slice(b));
        let out: &mut [T] = bytemuck::cast_slice_mut(out);
        for (sum, (a, b)) in out.iter_mut().zip(a.iter().zip(b)) {
            *sum = *sum + *a * *b;
        }
    }
    match element {
        F32 => add::<f32>(out, a, b),
        _ => add::<f64>(out, a, b),
    }
}

fn float<T: Multiply>(
    sizes: Sizes,
    lhs: Matrix<'_, T>,
    rhs: Matrix<'_, T>,
    out: &mut [u8],
    target: Target,
) {
    one(sizes, lhs, rhs, bytemuck::cast_slice_mut(out), target, 1);
}

/// The matrices of one product with typed elements.
#[derive(Clone, Copy)]
struct Matrix<'a, T> {
    data: &'a [T],
    offset: usize,
    row: isize,
    column: isize,
}

impl<'a> Matrices<'a> {
    fn matrix<T: Pod>(&self, batch: usize) -> Matrix<'a, T> {
        Matrix {
            data: bytemuck::cast_slice(self.data),
            offset: (self.offset as isize + batch as isize * self.strides[0]) as usize,
            row: self.strides[1],
            column: self.strides[2],
        }
    }
}

impl<T: Copy> Matrix<'_, T> {
    fn at(&self, row: usize, column: usize) -> T {
        self.data[(self.offset as isize + row as isize * self.row + column as isize * self.column)
            as usize]
    }

    /// Returns the address of the first element.
    ///
    /// # Safety
    /// The offset must be inside the memory.
    unsafe fn start(&self) -> *const T {
        // SAFETY: the caller promises it.
        unsafe { self.data.as_ptr().add(self.offset) }
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
    let run = |(batch, out): (usize, &mut [T]), threads: usize| {
        one(sizes, lhs.matrix(batch), rhs.matrix(batch), out, threads);
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

fn floats<T: Multiply>(
    sizes: Sizes,
    lhs: Matrices<'_>,
    rhs: Matrices<'_>,
    out: &mut [u8],
    threads: usize,
) {
    batches::<T>(
        sizes,
        lhs,
        rhs,
        out,
        threads,
        |sizes, lhs, rhs, out, threads| {
            let target = Target {
                row: sizes.columns,
                add: false,
            };
            one(sizes, lhs, rhs, out, target, threads);
        },
    );
}

/// Computes one product: a small one with plain loops.
fn one<T: Multiply>(
    sizes: Sizes,
    lhs: Matrix<'_, T>,
    rhs: Matrix<'_, T>,
    out: &mut [T],
    target: Target,
    threads: usize,
) {
    let Sizes {
        rows,
        inner,
        columns,
        ..
    } = sizes;
    if rows * columns * inner <= SMALL {
        return loops(sizes, lhs, rhs, out, target, |sum, a, b| sum + a * b);
    }
    assert!(lhs.inside(rows, inner) && rhs.inside(inner, columns));
    assert!(columns <= target.row && out.len() >= (rows - 1) * target.row + columns);
    T::multiply(sizes, lhs, rhs, out, target, threads);
}

/// A type whose matrices a library multiplies.
trait Multiply: Pod + Send + Sync + Add<Output = Self> + Mul<Output = Self> {
    /// Writes a product, whose matrices have been checked to be inside their memory.
    fn multiply(
        sizes: Sizes,
        lhs: Matrix<'_, Self>,
        rhs: Matrix<'_, Self>,
        out: &mut [Self],
        target: Target,
        threads: usize,
    );
}

macro_rules! multiply {
    ($T:ident, $library:ident) => {
        impl Multiply for $T {
            fn multiply(
                sizes: Sizes,
                lhs: Matrix<'_, $T>,
                rhs: Matrix<'_, $T>,
                out: &mut [$T],
                target: Target,
                threads: usize,
            ) {
                let strides = [lhs.row, lhs.column, rhs.row, rhs.column];
                let out = out.as_mut_ptr();
                // SAFETY: the caller has checked that all elements that the strides reach are inside the
                // slices, and `out` is borrowed for writing.
                unsafe {
                    let (a, b) = (lhs.start(), rhs.start());
                    let add = target.add.then_some(1.0);
                    $T::gemm(sizes, a, b, strides, out, [target.row, 1], add, threads);
                }
            }
        }

        impl Multiply for Complex<$T> {
            fn multiply(
                sizes: Sizes,
                lhs: Matrix<'_, Complex<$T>>,
                rhs: Matrix<'_, Complex<$T>>,
                out: &mut [Complex<$T>],
                target: Target,
                threads: usize,
            ) {
                let strides = [lhs.row, lhs.column, rhs.row, rhs.column].map(|s| 2 * s);
                let out = out.as_mut_ptr().cast::<$T>();
                // SAFETY: as above. A complex number is two real numbers, so that the real and the
                // imaginary parts are matrices with twice the strides, from the first and second number.
                unsafe {
                    let (a, b) = (lhs.start().cast::<$T>(), rhs.start().cast::<$T>());
                    let (ai, bi, imaginary) = (a.add(1), b.add(1), out.add(1));
                    let (steps, add) = ([2 * target.row, 2], target.add.then_some(1.0));
                    $T::gemm(sizes, a, b, strides, out, steps, add, threads);
                    $T::gemm(sizes, ai, bi, strides, out, steps, Some(-1.0), threads);
                    $T::gemm(sizes, a, bi, strides, imaginary, steps, add, threads);
                    $T::gemm(sizes, ai, b, strides, imaginary, steps, Some(1.0), threads);
                }
            }
        }

        impl Gemm for $T {
            unsafe fn gemm(
                sizes: Sizes,
                mut lhs: *const $T,
                mut rhs: *const $T,
                [lhs_row, mut lhs_column, mut rhs_row, rhs_column]: [isize; 4],
                out: *mut $T,
                [out_row, out_column]: [usize; 2],
                add: Option<$T>,
                threads: usize,
            ) {
                let Sizes {
                    rows,
                    inner,
                    columns,
                    ..
                } = sizes;
                let last = inner as isize - 1;
                // The library wants a positive stride along the inner axis of the first matrix, here the
                // right one: the transposed product has its columns in neighboring memory.
                if rhs_row < 0 {
                    rhs = rhs.wrapping_offset(last * rhs_row);
                    lhs = lhs.wrapping_offset(last * lhs_column);
                    (rhs_row, lhs_column) = (-rhs_row, -lhs_column);
                }
                let parallelism = match threads {
                    0 | 1 => Parallelism::None,
                    _ => Parallelism::Rayon(threads),
                };
                let (out_column, out_row) = (out_column as isize, out_row as isize);
                let (read, factor) = (add.is_some(), add.unwrap_or(1.0));
                let multiply = $library::gemm::$T::get_gemm_fn();
                // SAFETY: the caller promises that the matrices are inside their memory.
                unsafe {
                    multiply(
                        columns,
                        rows,
                        inner,
                        out,
                        out_row,
                        out_column,
                        read,
                        rhs,
                        rhs_row,
                        rhs_column,
                        lhs,
                        lhs_row,
                        lhs_column,
                        1.0,
                        factor,
                        false,
                        false,
                        false,
                        parallelism,
                    );
                }
            }
        }
    };
}

/// A real type of the library.
trait Gemm: Sized {
    /// Writes a product of matrices with strides of rows and columns, the result's in `steps`. With `add`, the
    /// product times this factor is added to the result.
    ///
    /// # Safety
    /// The strides must not leave the memory of the matrices.
    #[expect(
        clippy::too_many_arguments,
        reason = "three matrices with their strides"
    )]
    unsafe fn gemm(
        sizes: Sizes,
        lhs: *const Self,
        rhs: *const Self,
        strides: [isize; 4],
        out: *mut Self,
        steps: [usize; 2],
        add: Option<Self>,
        threads: usize,
    );
}

multiply!(f32, gemm_f32);
multiply!(f64, gemm_f64);

fn loops<T: Pod>(
    sizes: Sizes,
    lhs: Matrix<'_, T>,
    rhs: Matrix<'_, T>,
    out: &mut [T],
    target: Target,
    add: impl Fn(T, T, T) -> T,
) {
    for (row, out) in out.chunks_mut(target.row).take(sizes.rows).enumerate() {
        let out = &mut out[..sizes.columns];
        if !target.add {
            out.fill(T::zeroed());
        }
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
