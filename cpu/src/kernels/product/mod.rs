//! Products of matrices in batches: `out[b] = lhs[b] · rhs[b]`.
//!
//! A tile of sums stays in registers (`tile`), compiled for the vectors of the processor (`processor`); a
//! piece of a product brings its operands into the order in which tiles read them (`piece`), unless it is small
//! (`small`); and threads share the pieces of a batch (`batch`).
#![allow(unsafe_code)]

mod batch;
mod piece;
mod processor;
mod small;
mod tile;
mod vector;

use super::convert::with_bits;
use super::share;
use crate::ElementType::{self, *};
use batch::{complex, real};
use bytemuck::Pod;

/// Multiplications from which threads share a batch.
const PARALLEL: usize = 1 << 17;

/// A matrix in memory.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a> {
    /// The bytes of all elements.
    pub data: &'a [u8],
    /// Index of the first element.
    pub offset: usize,
    /// Distances of rows and columns in elements.
    pub strides: [isize; 2],
}

/// The sizes of a product.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Rows of the left matrix.
    pub rows: usize,
    /// Columns of the left matrix, rows of the right one.
    pub inner: usize,
    /// Columns of the right matrix.
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

impl<'a> Matrix<'a> {
    /// Returns a matrix at another place.
    fn moved(&self, distance: isize) -> Matrix<'a> {
        Matrix {
            offset: (self.offset as isize).wrapping_add(distance) as usize,
            ..*self
        }
    }

    /// Checks that all elements of a matrix of these sizes are inside the memory.
    fn check<T>(&self, rows: usize, columns: usize) {
        let reach = |n: usize, stride: isize| (n as isize - 1).checked_mul(stride);
        let ends = (
            reach(rows, self.strides[0]),
            reach(columns, self.strides[1]),
        );
        let (Some(down), Some(right)) = ends else {
            panic!("a matrix exceeds the address space");
        };
        let first = self.offset as isize + down.min(0) + right.min(0);
        let last = self.offset as isize + down.max(0) + right.max(0);
        let count = self.data.len() / size_of::<T>();
        assert!(
            first >= 0 && (last as usize) < count,
            "a matrix exceeds its memory"
        );
    }
}

/// Returns the type in which products of an element type are computed.
pub fn product_type(element: ElementType) -> ElementType {
    match element {
        Bool => I32,
        F32 | F64 | C64 | C128 => element,
        _ if with_bits!(element, T => size_of::<T>() > 0, _ => false) => element,
        _ => F32,
    }
}

/// Computes products in row-major order, one after another in memory. Each is of the given matrices moved by two
/// distances. The element type is one of [`product_type`].
pub fn product(
    element: ElementType,
    sizes: Sizes,
    lhs: Matrix<'_>,
    rhs: Matrix<'_>,
    moves: &[[isize; 2]],
    out: &mut [u8],
    threads: usize,
) {
    if out.is_empty() {
        return;
    }
    if sizes.inner == 0 {
        return out.fill(0);
    }
    let target = Target {
        row: sizes.columns,
        add: false,
    };
    match element {
        F32 => real::<f32>(sizes, lhs, rhs, moves, out, target, threads),
        F64 => real::<f64>(sizes, lhs, rhs, moves, out, target, threads),
        C64 => complex::<f32>(sizes, lhs, rhs, moves, out, target, threads),
        C128 => complex::<f64>(sizes, lhs, rhs, moves, out, target, threads),
        _ => with_bits!(element, T => {
            let out: &mut [T] = bytemuck::cast_slice_mut(out);
            let mut products: Vec<&mut [T]> = out.chunks_mut(sizes.rows * sizes.columns).collect();
            let work = sizes.rows * sizes.columns * sizes.inner;
            let large = work.saturating_mul(moves.len()) >= PARALLEL;
            share(if large { threads } else { 1 }, &mut products, |i, out| {
                let [left, right] = moves[i];
                integers::<T>(sizes, lhs.moved(left), rhs.moved(right), out, target, |sum, a, b| {
                    sum.wrapping_add(a.wrapping_mul(b))
                });
            });
        }, _ => ()),
    }
}

/// Computes one product on the calling thread. The element type is one of [`product_type`], and no size is zero.
pub fn product_into(
    element: ElementType,
    sizes: Sizes,
    lhs: Matrix<'_>,
    rhs: Matrix<'_>,
    out: &mut [u8],
    target: Target,
) {
    let once = &[[0, 0]];
    match element {
        F32 => real::<f32>(sizes, lhs, rhs, once, out, target, 1),
        F64 => real::<f64>(sizes, lhs, rhs, once, out, target, 1),
        C64 => complex::<f32>(sizes, lhs, rhs, once, out, target, 1),
        C128 => complex::<f64>(sizes, lhs, rhs, once, out, target, 1),
        _ => with_bits!(element, T => {
            let out = bytemuck::cast_slice_mut(out);
            integers::<T>(sizes, lhs, rhs, out, target, |sum, a, b| {
                sum.wrapping_add(a.wrapping_mul(b))
            });
        }, _ => ()),
    }
}

/// Adds the products of the elements of two lists to a third one. The element type is `f32` or `f64`.
pub fn add_products(element: ElementType, out: &mut [u8], a: &[u8], b: &[u8]) {
    fn add<T: vector::Real + std::ops::Mul<Output = T>>(out: &mut [u8], a: &[u8], b: &[u8]) {
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

/// Multiplies matrices of integers.
fn integers<T: Pod>(
    sizes: Sizes,
    lhs: Matrix<'_>,
    rhs: Matrix<'_>,
    out: &mut [T],
    target: Target,
    add: impl Fn(T, T, T) -> T,
) {
    let (left, right): (&[T], &[T]) = (
        bytemuck::cast_slice(lhs.data),
        bytemuck::cast_slice(rhs.data),
    );
    let at = |x: &Matrix<'_>, i: usize, j: usize| {
        (x.offset as isize + i as isize * x.strides[0] + j as isize * x.strides[1]) as usize
    };
    for (row, out) in out.chunks_mut(target.row).take(sizes.rows).enumerate() {
        let out = &mut out[..sizes.columns];
        if !target.add {
            out.fill(T::zeroed());
        }
        for inner in 0..sizes.inner {
            let a = left[at(&lhs, row, inner)];
            let first = at(&rhs, inner, 0);
            if rhs.strides[1] == 1 {
                let right = &right[first..][..sizes.columns];
                let sums = out.iter_mut().zip(right);
                sums.for_each(|(sum, b)| *sum = add(*sum, a, *b));
            } else {
                for (column, sum) in out.iter_mut().enumerate() {
                    *sum = add(*sum, a, right[at(&rhs, inner, column)]);
                }
            }
        }
    }
}
