//! Products of matrices in batches: `out[b] = lhs[b] · rhs[b]`.
//!
//! A tile of sums stays in registers (`tile`), compiled for the vectors of the processor (`processor`); a
//! piece of a product brings its operands into the order in which tiles read them (`piece`), unless it is small
//! (`small`); and threads share the pieces of a batch (`batch`).
#![allow(unsafe_code)]

mod batch;
mod piece;
mod places;
mod processor;
mod small;
mod tile;
mod vector;

use super::convert::with_bits;
use super::share;
use crate::ElementType::{self, *};
use batch::{complex, real};
use bytemuck::Pod;
pub use places::Places;

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

/// Products of two matrices, moved by two distances for each product.
#[derive(Clone, Copy)]
struct Products<'a> {
    sizes: Sizes,
    lhs: Matrix<'a>,
    rhs: Matrix<'a>,
    moves: &'a [[isize; 2]],
    /// The places of the results, which are one after another in row-major order otherwise.
    places: Option<&'a Places>,
    /// Distances of rows and columns of a result.
    strides: [usize; 2],
    /// Whether products are added to the elements of the result.
    add: bool,
}

impl<'a> Matrix<'a> {
    /// Returns a matrix at another place.
    fn moved(&self, distance: isize) -> Matrix<'a> {
        Matrix {
            offset: (self.offset as isize).wrapping_add(distance) as usize,
            ..*self
        }
    }

    /// Checks that all elements, of some bytes, of a matrix of these sizes are inside the memory.
    fn check(&self, width: usize, rows: usize, columns: usize) {
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
        let count = self.data.len() / width;
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

/// Computes products, each of the given matrices moved by two distances. They are one after another in memory in
/// row-major order, unless real or complex numbers have other places. The element type is one of
/// [`product_type`].
pub fn product(
    element: ElementType,
    sizes: Sizes,
    [lhs, rhs]: [Matrix<'_>; 2],
    moves: &[[isize; 2]],
    (out, places): (&mut [u8], Option<&Places>),
    threads: usize,
) {
    if out.is_empty() {
        return;
    }
    if sizes.inner == 0 {
        return out.fill(0);
    }
    let products = Products {
        sizes,
        lhs,
        rhs,
        moves,
        places,
        strides: places.map_or([sizes.columns, 1], Places::strides),
        add: false,
    };
    products.compute(element, out, threads);
}

/// Computes one product on the calling thread, in rows at a distance, and adds it to the elements there if `add`.
/// The element type is one of [`product_type`], and no size is zero.
pub fn product_into(
    element: ElementType,
    sizes: Sizes,
    [lhs, rhs]: [Matrix<'_>; 2],
    out: &mut [u8],
    row: usize,
    add: bool,
) {
    let products = Products {
        sizes,
        lhs,
        rhs,
        moves: &[[0, 0]],
        places: None,
        strides: [row, 1],
        add,
    };
    products.compute(element, out, 1);
}

impl Products<'_> {
    fn compute(&self, element: ElementType, out: &mut [u8], threads: usize) {
        match element {
            F32 => real::<f32>(self, out, threads),
            F64 => real::<f64>(self, out, threads),
            C64 => complex::<f32>(self, out, threads),
            C128 => complex::<f64>(self, out, threads),
            _ => with_bits!(element, T => {
                self.integers::<T>(out, threads, |sum, a, b| sum.wrapping_add(a.wrapping_mul(b)));
            }, _ => ()),
        }
    }

    /// Computes products of integers.
    fn integers<T: Pod + Send>(
        &self,
        out: &mut [u8],
        threads: usize,
        add: impl Fn(T, T, T) -> T + Sync,
    ) {
        assert!(self.places.is_none(), "integers have no places");
        let Sizes {
            rows,
            inner,
            columns,
        } = self.sizes;
        let all = (rows * columns * inner).saturating_mul(self.moves.len());
        let out: &mut [T] = bytemuck::cast_slice_mut(out);
        let size = out.len() / self.moves.len();
        let mut results: Vec<&mut [T]> = out.chunks_mut(size).collect();
        let threads = if all < PARALLEL { 1 } else { threads };
        share(threads, &mut results, |i, out| {
            let [left, right] = self.moves[i];
            let (lhs, rhs) = (self.lhs.moved(left), self.rhs.moved(right));
            integers(
                self.sizes,
                [lhs, rhs],
                out,
                (self.strides[0], self.add),
                &add,
            );
        });
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
    [lhs, rhs]: [Matrix<'_>; 2],
    out: &mut [T],
    (row, adds): (usize, bool),
    add: impl Fn(T, T, T) -> T,
) {
    let (left, right): (&[T], &[T]) = (
        bytemuck::cast_slice(lhs.data),
        bytemuck::cast_slice(rhs.data),
    );
    let at = |x: &Matrix<'_>, i: usize, j: usize| {
        (x.offset as isize + i as isize * x.strides[0] + j as isize * x.strides[1]) as usize
    };
    for (row, out) in out.chunks_mut(row).take(sizes.rows).enumerate() {
        let out = &mut out[..sizes.columns];
        if !adds {
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
