//! Products compiled for the vectors of processors.

use super::piece::Piece;
use super::vector::Real;

/// Products of an element type on a processor.
#[derive(Clone, Copy)]
pub struct Processor<T> {
    /// Rows of a tile at most.
    pub rows: usize,
    /// Columns of a tile.
    pub columns: usize,
    /// Computes a piece.
    pub piece: unsafe fn(&Piece<T>),
    /// Computes a piece if it is small. Returns whether it did.
    pub small: unsafe fn(&Piece<T>) -> bool,
    /// Computes few rows whose operands both have the axis that is summed over in neighboring memory.
    pub dots: unsafe fn(&Piece<T>),
}

/// A type of elements with products for each processor.
pub trait Product: Real {
    /// Returns the products for this processor.
    fn processor() -> Processor<Self>;
}

/// Compiles products with tiles of up to `M` rows and two vectors `V`. Small ones have vectors `S`.
macro_rules! processor {
    ($name:ident, $T:ty, $V:ty, $S:ty, $lanes:expr, [$($rows:literal)*] $M:literal $(, $feature:literal)?) => {
        mod $name {
            use super::*;

            /// A function of its own, so that the sums have all registers.
            #[inline(never)]
            $(#[target_feature(enable = $feature)])?
            unsafe fn tile(tile: &Piece<$T>) {
                // SAFETY: guaranteed by the caller.
                unsafe {
                    match tile.rows {
                        1 if tile.columns == 8 * $lanes => tile.tile::<$V, 1, 8>(),
                        2 if tile.columns == 4 * $lanes => tile.tile::<$V, 2, 4>(),
                        3 if tile.columns == 4 * $lanes => tile.tile::<$V, 3, 4>(),
                        $($rows => tile.tile::<$V, $rows, 2>(),)*
                        _ => tile.tile::<$V, $M, 2>(),
                    }
                }
            }

            $(#[target_feature(enable = $feature)])?
            unsafe fn small(piece: &Piece<$T>) -> bool {
                // SAFETY: guaranteed by the caller.
                unsafe { piece.small::<$S>() }
            }

            $(#[target_feature(enable = $feature)])?
            unsafe fn piece(piece: &Piece<$T>) {
                // SAFETY: guaranteed by the caller.
                unsafe {
                    if !small(piece) {
                        piece.compute::<$M, { 2 * $lanes }>(tile);
                    }
                }
            }

            $(#[target_feature(enable = $feature)])?
            unsafe fn dots(piece: &Piece<$T>) {
                // SAFETY: guaranteed by the caller.
                unsafe { piece.dots::<$V>() };
            }

            pub const PROCESSOR: Processor<$T> =
                Processor { rows: $M, columns: 2 * $lanes, piece, small, dots };
        }
    };
}

macro_rules! product {
    ($T:ty, $plain:ident $lanes:literal, $avx2:ident $V2:ident $lanes2:literal, $avx512:ident $V512:ident $lanes512:literal) => {
        // A tile of 6 rows has twelve vectors of sums, as many as hide the latency of multiplications. The other
        // registers have room for the columns of the right operand and an element of the left one.
        processor!($plain, $T, [$T; $lanes], [$T; $lanes], $lanes, [1 2 3 4 5] 6);
        #[cfg(target_arch = "x86_64")]
        processor!($avx2, $T, std::arch::x86_64::$V2, std::arch::x86_64::$V2, $lanes2, [1 2 3 4 5] 6, "avx2,fma");
        // AVX-512 has twice the registers.
        #[cfg(target_arch = "x86_64")]
        processor!($avx512, $T, std::arch::x86_64::$V512, std::arch::x86_64::$V2, $lanes512, [1 2 3 4 5 6 7 8 9 10 11] 12, "avx512f");

        impl Product for $T {
            fn processor() -> Processor<$T> {
                #[cfg(target_arch = "x86_64")]
                {
                    if is_x86_feature_detected!("avx512f") {
                        return $avx512::PROCESSOR;
                    }
                    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                        return $avx2::PROCESSOR;
                    }
                }
                $plain::PROCESSOR
            }
        }
    };
}

product!(f32, plain32 4, avx2_32 __m256 8, avx512_32 __m512 16);
product!(f64, plain64 2, avx2_64 __m256d 4, avx512_64 __m512d 8);

#[cfg(test)]
mod tests {
    use super::super::piece::{Operand, Out, Store};
    use super::*;

    /// The products of all processors that this one can stand for.
    fn processors() -> Vec<Processor<f32>> {
        let mut all = vec![plain32::PROCESSOR];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                all.push(avx2_32::PROCESSOR);
            }
            if is_x86_feature_detected!("avx512f") {
                all.push(avx512_32::PROCESSOR);
            }
        }
        all
    }

    /// Small integers, whose products and sums are exact.
    fn numbers(count: usize, modulus: usize) -> Vec<f32> {
        let number = |i: usize| (i * 7 % modulus) as f32 - (modulus / 2) as f32;
        (0..count).map(number).collect()
    }

    /// An operand of some rows in either order of memory.
    fn operand(data: &[f32], rows: usize, depth: usize, transposed: bool) -> Operand<f32> {
        let (free, inner) = if transposed { (1, rows) } else { (depth, 1) };
        Operand {
            start: data.as_ptr(),
            free: free as isize,
            inner: inner as isize,
        }
    }

    fn at(x: &Operand<f32>, data: &[f32], free: usize, inner: usize) -> f32 {
        data[(free as isize * x.free + inner as isize * x.inner) as usize]
    }

    #[test]
    fn all_processors_multiply_all_sizes_and_orders() {
        let sizes = [1, 2, 3, 5, 6, 7, 16, 31, 70, 130].into_iter();
        let mut cases = 0;
        for (rows, columns) in sizes
            .clone()
            .flat_map(|r| sizes.clone().map(move |c| (r, c)))
        {
            for depth in [1, 3, 8, 70, 257, 600] {
                cases += 1;
                let (a, b) = (numbers(rows * depth, 11), numbers(columns * depth, 5));
                let left = operand(&a, rows, depth, cases % 2 == 0);
                let right = operand(&b, columns, depth, cases % 3 == 0);
                let is_transposed = cases % 5 == 0;
                let store = [Store::Set, Store::Add, Store::Subtract][cases % 3];
                let place = |i: usize, j: usize| {
                    if is_transposed {
                        j * rows + i
                    } else {
                        i * columns + j
                    }
                };
                let mut expected = vec![3.0; rows * columns];
                for (i, j) in (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))) {
                    let product = |k| at(&left, &a, i, k) * at(&right, &b, j, k);
                    let sum: f32 = (0..depth).map(product).sum();
                    expected[place(i, j)] = match store {
                        Store::Set => sum,
                        Store::Add => 3.0 + sum,
                        Store::Subtract => 3.0 - sum,
                    };
                }
                for processor in processors() {
                    let mut out = vec![3.0; rows * columns];
                    let piece = Piece {
                        rows,
                        depth,
                        columns,
                        left,
                        right,
                        out: Out {
                            start: out.as_mut_ptr(),
                            row: place(1, 0) as isize,
                            column: place(0, 1) as isize,
                        },
                        store,
                    };
                    // SAFETY: the operands and the result have memory for all rows and columns.
                    unsafe { (processor.piece)(&piece) };
                    assert_eq!(out, expected, "{rows}×{depth}×{columns}");
                    if left.inner != 1 || right.inner != 1 || depth > 256 {
                        continue;
                    }
                    out.fill(3.0);
                    // SAFETY: as above.
                    unsafe { (processor.dots)(&piece) };
                    assert_eq!(out, expected, "{rows}×{depth}×{columns}, one by one");
                }
            }
        }
    }
}
