//! Reductions by one operation, in an order that depends on the shape only.
#![allow(unsafe_code)]

use super::convert::{with_bits, with_integer};
use super::kernel::vectorized;
use super::math::real;
use super::share;
use crate::ElementType::{self, *};
use num_complex::Complex;
use smallvec::SmallVec;

/// Elements that are combined one after another in each lane. Blocks are combined in pairs, so that sums
/// stay accurate.
const BLOCK: usize = 128;
/// Accumulators of a block, which vectorize.
const LANES: usize = 16;
/// Columns whose sums are in registers while rows are combined.
const COLUMNS: usize = 32;
/// Elements of rows that are combined before the next columns of them.
const ROWS: usize = 8192;
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

/// The kernels of a reduction. The rest is independent of types, which keeps the crate quick to compile.
#[derive(Clone, Copy, Debug)]
pub struct Folder {
    /// Combines rows with their sum, element by element: `sum[i] = f(sum[i], row[i])`.
    combine: Combine,
    /// Combines each line of up to `length` elements into one element.
    lines: fn(out: &mut [u8], data: &[u8], length: usize),
    /// Bytes of an element.
    pub width: usize,
}

vectorized! {
    fn combine<T>(f: impl Fn(T, T) -> T, sum: &mut [u8], rows: &[u8]) {
        let sum: &mut [T] = bytemuck::cast_slice_mut(sum);
        let rows: &[T] = bytemuck::cast_slice(rows);
        let width = sum.len();
        let (blocks, rest) = sum.as_chunks_mut::<COLUMNS>();
        for (block, start) in blocks.iter_mut().zip((0..).step_by(COLUMNS)) {
            // These sums stay in registers.
            let mut sums = *block;
            let mut at = start;
            while let Some(x) = rows.get(at..).and_then(|x| x.first_chunk::<COLUMNS>()) {
                for i in 0..COLUMNS {
                    sums[i] = f(sums[i], x[i]);
                }
                at += width;
            }
            *block = sums;
        }
        let start = width - rest.len();
        for row in rows.chunks(width.max(1)) {
            for (s, x) in rest.iter_mut().zip(&row[start..]) {
                *s = f(*s, *x);
            }
        }
    }
}

vectorized! {
    fn lines<T>(f: impl Fn(T, T) -> T, out: &mut [u8], data: &[u8], length: usize) {
        let data: &[T] = bytemuck::cast_slice(data);
        let out: &mut [T] = bytemuck::cast_slice_mut(out);
        for (out, line) in out.iter_mut().zip(data.chunks(length)) {
            let Some((first, rest)) = line.split_first_chunk::<LANES>() else {
                *out = line[1..].iter().fold(line[0], |sum, x| f(sum, *x));
                continue;
            };
            let (blocks, rest) = rest.as_chunks::<LANES>();
            let mut total = *first;
            for block in blocks {
                for i in 0..LANES {
                    total[i] = f(total[i], block[i]);
                }
            }
            // Only a copy is indexed by variables: the sums of blocks stay in registers.
            let mut sums = total;
            for (i, x) in rest.iter().enumerate() {
                sums[i] = f(sums[i], *x);
            }
            for half in [LANES / 2, LANES / 4, LANES / 8, LANES / 16] {
                for i in 0..half {
                    sums[i] = f(sums[i], sums[i + half]);
                }
            }
            *out = sums[0];
        }
    }
}

macro_rules! folder {
    ($T:ty, $a:ident, $b:ident => $f:expr) => {
        Some(Folder {
            combine: |sum, rows| combine::<$T>(|$a, $b| $f, sum, rows),
            lines: |out, data, length| lines::<$T>(|$a, $b| $f, out, data, length),
            width: std::mem::size_of::<$T>(),
        })
    };
}

macro_rules! sums {
    ($T:ty, $name:expr) => {
        match $name {
            "stablehlo.add" => folder!($T, a, b => a + b),
            "stablehlo.multiply" => folder!($T, a, b => a * b),
            _ => None,
        }
    };
}

macro_rules! extremes {
    ($T:ty, $name:expr, $maximum:path, $minimum:path) => {
        match $name {
            "stablehlo.maximum" => folder!($T, a, b => $maximum(a, b)),
            "stablehlo.minimum" => folder!($T, a, b => $minimum(a, b)),
            _ => None,
        }
    };
}

/// Returns the kernels of an operation on the elements of a type.
pub fn folder(name: &str, element: ElementType) -> Option<Folder> {
    match (element, name) {
        (F32, _) => {
            return sums!(f32, name).or(extremes!(f32, name, real::maximum, real::minimum));
        }
        (F64, _) => {
            return sums!(f64, name).or(extremes!(f64, name, real::maximum, real::minimum));
        }
        (C64, _) => return sums!(Complex<f32>, name),
        (C128, _) => return sums!(Complex<f64>, name),
        (Bool, "stablehlo.add" | "stablehlo.maximum") => return folder("stablehlo.or", U8),
        (Bool, "stablehlo.multiply" | "stablehlo.minimum") => return folder("stablehlo.and", U8),
        (Bool, _) => return folder(name, U8),
        _ if element.bits() < 8 => return None,
        _ => {}
    }
    with_integer!(element, T => extremes!(T, name, Ord::max, Ord::min), _ => None).or(
        with_bits!(element, T => match name {
        "stablehlo.add" => folder!(T, a, b => a.wrapping_add(b)),
        "stablehlo.multiply" => folder!(T, a, b => a.wrapping_mul(b)),
        "stablehlo.and" => folder!(T, a, b => a & b),
        "stablehlo.or" => folder!(T, a, b => a | b),
        "stablehlo.xor" => folder!(T, a, b => a ^ b),
        _ => None,
    }, _ => None),
    )
}

/// Combines rows with their sum, element by element: `sum[i] = f(sum[i], row[i])`.
pub type Combine = fn(sum: &mut [u8], rows: &[u8]);

/// Returns the kernel that combines rows by an operation, if there is one.
pub fn combiner(name: &str, element: ElementType) -> Option<Combine> {
    Some(folder(name, element)?.combine)
}

/// Reduces an array, which is not empty, into `before · after` elements. Returns `false` if there is no
/// kernel for the operation.
pub fn fold(
    name: &str,
    element: ElementType,
    extent: Extent,
    data: &[u8],
    out: &mut [u8],
    threads: usize,
) -> bool {
    let Some(folder) = folder(name, element) else {
        return false;
    };
    let Extent {
        before,
        reduced,
        after,
    } = extent;
    let (row, slab) = (after * folder.width, reduced * after * folder.width);
    let large = before * reduced * after >= PARALLEL;
    // Pieces of whole slabs, each reduced to `row` bytes.
    let each = |threads: usize, out: &mut [u8], row: usize, slab: usize| {
        let count = (CHUNK * folder.width).div_ceil(slab);
        let pieces = out.chunks_mut(count * row).zip(data.chunks(count * slab));
        let mut pieces: Vec<(&mut [u8], &[u8])> = pieces.collect();
        share(threads, &mut pieces, |_, (out, data)| match after {
            1 => folder.lines(data, out, slab / folder.width),
            _ => {
                let slabs = out.chunks_mut(row).zip(data.chunks(slab));
                slabs.for_each(|(out, data)| folder.rows(data, out));
            }
        });
    };
    if large && after == 1 && before == 1 {
        let chunk = CHUNK * folder.width;
        let size = data.len().div_ceil(chunk) * folder.width;
        let mut parts = vec![0u128; size.div_ceil(16)];
        let parts = &mut bytemuck::cast_slice_mut::<_, u8>(&mut parts)[..size];
        each(threads, parts, folder.width, chunk);
        folder.pairs(parts);
        out.copy_from_slice(&parts[..folder.width]);
    } else {
        each(if large { threads } else { 1 }, out, row, slab);
    }
    true
}

impl Folder {
    /// Combines each line of `length` elements into one element.
    pub fn lines(&self, data: &[u8], out: &mut [u8], length: usize) {
        if length <= BLOCK * LANES {
            return (self.lines)(out, data, length);
        }
        let lines = data.chunks(length * self.width);
        for (line, out) in lines.zip(out.chunks_mut(self.width)) {
            let size = line.len().div_ceil(BLOCK * LANES * self.width) * self.width;
            let mut storage = vec![0u128; size.div_ceil(16)];
            let parts = &mut bytemuck::cast_slice_mut::<_, u8>(&mut storage)[..size];
            (self.lines)(parts, line, BLOCK * LANES);
            self.pairs(parts);
            out.copy_from_slice(&parts[..self.width]);
        }
    }

    /// Combines the two halves of a list until one element is left, which becomes the first.
    fn pairs(&self, parts: &mut [u8]) {
        let mut count = parts.len() / self.width;
        while count > 1 {
            let half = count.div_ceil(2);
            let (left, right) = parts[..count * self.width].split_at_mut(half * self.width);
            (self.combine)(&mut left[..right.len()], right);
            count = half;
        }
    }

    /// Combines rows of `out`'s size one after another.
    fn block(&self, data: &[u8], out: &mut [u8]) {
        let (first, rest) = data.split_at(out.len());
        out.copy_from_slice(first);
        // Columns of long rows are far from each other, so that few rows are combined at a time.
        let count = (ROWS * self.width / out.len()).max(4);
        let few = rest.chunks(count * out.len());
        few.for_each(|rows| (self.combine)(out, rows));
    }

    /// Combines rows of `out`'s size: blocks of rows one after another, blocks in pairs.
    pub fn rows(&self, data: &[u8], out: &mut [u8]) {
        let row = out.len();
        let wide = COLUMNS * row;
        if row < COLUMNS * self.width && data.len() >= 2 * wide {
            // Short rows do not fill registers: each number of rows counts as one row first.
            let mut sums: SmallVec<[u128; 64]> = SmallVec::from_elem(0, wide.div_ceil(16));
            let sums = &mut bytemuck::cast_slice_mut(&mut sums)[..wide];
            let (whole, rest) = data.split_at(data.len() / wide * wide);
            self.rows(whole, sums);
            self.block(sums, out);
            return (self.combine)(out, rest);
        }
        if data.len() <= BLOCK * row {
            return self.block(data, out);
        }
        let add = |sum: &mut Vec<u128>, x: &[u8]| {
            (self.combine)(&mut bytemuck::cast_slice_mut::<_, u8>(sum)[..row], x);
        };
        // Sums of 1, 2, 4, … blocks that wait for a partner, as the digits of a binary counter.
        let mut waiting: Vec<(usize, Vec<u128>)> = Vec::new();
        for block in data.chunks(BLOCK * row) {
            let mut sum = vec![0u128; row.div_ceil(16)];
            self.block(block, &mut bytemuck::cast_slice_mut(&mut sum)[..row]);
            let mut blocks = 1;
            while let Some((_, mut earlier)) = waiting.pop_if(|(n, _)| *n == blocks) {
                add(&mut earlier, &bytemuck::cast_slice(&sum)[..row]);
                sum = earlier;
                blocks *= 2;
            }
            waiting.push((blocks, sum));
        }
        let mut total = waiting.pop().map(|(_, sum)| sum).unwrap_or_default();
        while let Some((_, mut earlier)) = waiting.pop() {
            add(&mut earlier, &bytemuck::cast_slice(&total)[..row]);
            total = earlier;
        }
        out.copy_from_slice(&bytemuck::cast_slice(&total)[..row]);
    }
}
