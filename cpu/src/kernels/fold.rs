//! Reductions by one operation, in an order that depends on the shape only.

use super::convert::with_integer;
use super::math::real;
use crate::ElementType::{self, *};
use bytemuck::Pod;
use num_complex::Complex;
use rayon::prelude::*;

/// Elements that are combined one after another. Blocks are combined in pairs, so that sums stay accurate.
const BLOCK: usize = 128;
/// Accumulators of a block, which vectorize.
const LANES: usize = 16;
/// Elements of a long row that one thread combines.
const CHUNK: usize = 1 << 16;
/// Elements from which threads share the work.
const PARALLEL: usize = 1 << 17;

/// An array of `before · reduced · after` elements in row-major order, whose middle axis is reduced.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Size before the reduced axis.
    pub before: usize,
    /// Size of the reduced axis.
    pub reduced: usize,
    /// Size after the reduced axis.
    pub after: usize,
}

/// Reduces an array into `before · after` elements. Returns `false` if there is no kernel for the operation.
pub fn fold(name: &str, element: ElementType, extent: Extent, data: &[u8], out: &mut [u8], threads: usize) -> bool {
    macro_rules! with {
        ($T:ty, $f:expr) => {{
            let f = $f;
            fold_with::<$T>(f, extent, bytemuck::cast_slice(data), bytemuck::cast_slice_mut(out), threads);
            true
        }};
    }
    macro_rules! numbers {
        ($T:ty) => {
            match name {
                "stablehlo.add" => with!($T, |a: $T, b: $T| a + b),
                "stablehlo.multiply" => with!($T, |a: $T, b: $T| a * b),
                "stablehlo.maximum" => with!($T, real::maximum::<$T>),
                "stablehlo.minimum" => with!($T, real::minimum::<$T>),
                _ => false,
            }
        };
    }
    macro_rules! complex {
        ($T:ty) => {
            match name {
                "stablehlo.add" => with!($T, |a: $T, b: $T| a + b),
                "stablehlo.multiply" => with!($T, |a: $T, b: $T| a * b),
                _ => false,
            }
        };
    }
    with_integer!(element, T => match name {
        _ if element.bits() < 8 => false,
        "stablehlo.add" => with!(T, T::wrapping_add),
        "stablehlo.multiply" => with!(T, T::wrapping_mul),
        "stablehlo.maximum" => with!(T, Ord::max),
        "stablehlo.minimum" => with!(T, Ord::min),
        "stablehlo.and" => with!(T, |a: T, b: T| a & b),
        "stablehlo.or" => with!(T, |a: T, b: T| a | b),
        "stablehlo.xor" => with!(T, |a: T, b: T| a ^ b),
        _ => false,
    }, _ => match element {
        Bool => match name {
            "stablehlo.add" | "stablehlo.or" | "stablehlo.maximum" => with!(u8, |a: u8, b: u8| a | b),
            "stablehlo.multiply" | "stablehlo.and" | "stablehlo.minimum" => with!(u8, |a: u8, b: u8| a & b),
            "stablehlo.xor" => with!(u8, |a: u8, b: u8| a ^ b),
            _ => false,
        },
        F32 => numbers!(f32),
        F64 => numbers!(f64),
        C64 => complex!(Complex<f32>),
        C128 => complex!(Complex<f64>),
        _ => false,
    })
}

fn fold_with<T: Pod + Send + Sync>(
    f: impl Fn(T, T) -> T + Copy + Send + Sync,
    extent: Extent,
    data: &[T],
    out: &mut [T],
    threads: usize,
) {
    let Extent { before, reduced, after } = extent;
    let parallel = threads > 1 && data.len() >= PARALLEL;
    if after == 1 {
        if parallel && before > 1 {
            out.par_iter_mut().zip(data.par_chunks(reduced)).for_each(|(o, row)| *o = fold_row(f, row));
        } else if parallel {
            let parts: Vec<T> = data.par_chunks(CHUNK).map(|chunk| fold_row(f, chunk)).collect();
            out[0] = fold_pairs(f, parts);
        } else {
            let long = before == 1 && data.len() >= PARALLEL;
            for (o, row) in out.iter_mut().zip(data.chunks(reduced)) {
                *o = if long { fold_pairs(f, row.chunks(CHUNK).map(|c| fold_row(f, c)).collect()) } else { fold_row(f, row) };
            }
        }
        return;
    }
    let slab = |(out, data): (&mut [T], &[T])| fold_rows(f, data, after, out);
    if parallel && before > 1 {
        out.par_chunks_mut(after).zip(data.par_chunks(reduced * after)).for_each(slab);
    } else {
        out.chunks_mut(after).zip(data.chunks(reduced * after)).for_each(slab);
    }
}

/// Combines the elements of a row.
fn fold_row<T: Pod>(f: impl Fn(T, T) -> T + Copy, row: &[T]) -> T {
    if row.len() < 2 * LANES {
        return row[1..].iter().fold(row[0], |a, b| f(a, *b));
    }
    let blocks = row.chunks(BLOCK * LANES);
    fold_pairs(f, blocks.map(|block| fold_block(f, block)).collect())
}

fn fold_block<T: Pod>(f: impl Fn(T, T) -> T + Copy, block: &[T]) -> T {
    if block.len() < LANES {
        return block[1..].iter().fold(block[0], |a, b| f(a, *b));
    }
    let (vectors, rest) = block.as_chunks::<LANES>();
    let mut sums = vectors[0];
    for vector in &vectors[1..] {
        for (sum, x) in sums.iter_mut().zip(vector) {
            *sum = f(*sum, *x);
        }
    }
    for (sum, x) in sums.iter_mut().zip(rest) {
        *sum = f(*sum, *x);
    }
    fold_pairs(f, sums.to_vec())
}

/// Combines neighbors until one element is left.
fn fold_pairs<T: Pod>(f: impl Fn(T, T) -> T, mut parts: Vec<T>) -> T {
    while parts.len() > 1 {
        parts = parts.chunks(2).map(|pair| if let [a, b] = pair { f(*a, *b) } else { pair[0] }).collect();
    }
    parts[0]
}

/// Combines rows of `width` elements: blocks of rows one after another, blocks in pairs.
fn fold_rows<T: Pod>(f: impl Fn(T, T) -> T + Copy, data: &[T], width: usize, out: &mut [T]) {
    let combine = |sum: &mut [T], row: &[T]| {
        for (s, x) in sum.iter_mut().zip(row) {
            *s = f(*s, *x);
        }
    };
    // Sums of 1, 2, 4, … blocks that wait for a partner, as the digits of a binary counter.
    let mut waiting: Vec<(usize, Vec<T>)> = Vec::new();
    for block in data.chunks(BLOCK * width) {
        let mut sum = block[..width].to_vec();
        for row in block[width..].chunks(width) {
            combine(&mut sum, row);
        }
        let mut blocks = 1;
        while let Some((_, mut earlier)) = waiting.pop_if(|(n, _)| *n == blocks) {
            combine(&mut earlier, &sum);
            sum = earlier;
            blocks *= 2;
        }
        waiting.push((blocks, sum));
    }
    let mut total = waiting.pop().map(|(_, sum)| sum).unwrap_or_default();
    while let Some((_, mut earlier)) = waiting.pop() {
        combine(&mut earlier, &total);
        total = earlier;
    }
    out.copy_from_slice(&total);
}
