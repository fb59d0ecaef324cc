//! Batches of products of real and complex numbers, whose pieces threads share.

use super::piece::{Operand, Out, Piece, Store};
use super::processor::{Processor, Product};
use super::vector::Real;
use super::{Matrix, PARALLEL, Places, Products};
use crate::kernels::share;

/// Rows of a piece at most, so that those of the left operand stay in the second-level cache.
const ROWS: usize = 288;
/// Rows up to which elements are computed one by one, if both operands have the axis that is summed over in
/// neighboring memory: then neither is rearranged.
const FEW: usize = 3;

/// Length of a part of the axis that is summed over, at least.
const PART: usize = 512;
/// Elements of a result at most for which the axis that is summed over has parts.
const SMALL_RESULT: usize = 1 << 16;

/// The numbers of which an element consists, by the products that compute it: parts of the left operand, the right one
/// and the result.
type Part = ([usize; 3], Store);

/// Computes products of real numbers.
pub fn real<T: Product>(products: &Products<'_>, out: &mut [u8], threads: usize) {
    run::<T>(products, 1, &[([0, 0, 0], products.store())], out, threads);
}

/// Computes products of complex numbers: four products of real numbers. The real and the imaginary parts are
/// matrices with twice the distances, from the first and the second number.
pub fn complex<T: Product>(products: &Products<'_>, out: &mut [u8], threads: usize) {
    let store = products.store();
    let parts = [
        ([0, 0, 0], store),
        ([1, 1, 0], Store::Subtract),
        ([0, 1, 1], store),
        ([1, 0, 1], Store::Add),
    ];
    run::<T>(products, 2, &parts, out, threads);
}

/// Computes products of elements that are `unit` real numbers.
fn run<T: Product>(
    products: &Products<'_>,
    unit: usize,
    parts: &[Part],
    out: &mut [u8],
    threads: usize,
) {
    products.check(unit * size_of::<T>(), out);
    let Products {
        sizes,
        lhs,
        rhs,
        moves,
        places,
        strides,
        ..
    } = *products;
    let out: &mut [T] = bytemuck::cast_slice_mut(out);
    let distance = unit as isize;
    let operand = |x: &Matrix<'_>, part: usize, free: usize| Operand {
        start: bytemuck::cast_slice::<u8, T>(x.data)
            .as_ptr()
            .wrapping_add(unit * x.offset + part),
        free: distance * x.strides[free],
        inner: distance * x.strides[1 - free],
    };
    for &([left, right, part], store) in parts {
        let batch = Batch {
            first: Piece {
                rows: sizes.rows,
                depth: sizes.inner,
                columns: sizes.columns,
                left: operand(&lhs, left, 0),
                right: operand(&rhs, right, 1),
                out: Out {
                    start: out.as_mut_ptr().wrapping_add(part),
                    row: distance * strides[0] as isize,
                    column: distance * strides[1] as isize,
                },
                store,
            },
            moves,
            places,
            unit,
            size: sizes.rows * sizes.columns,
        };
        // SAFETY: all matrices have been checked to be inside their memory, which is borrowed.
        unsafe { batch.run(threads) };
    }
}

impl Products<'_> {
    fn store(&self) -> Store {
        if self.add { Store::Add } else { Store::Set }
    }

    /// Checks that all matrices of elements of some bytes are inside their memory.
    fn check(&self, width: usize, out: &[u8]) {
        let sizes = self.sizes;
        for [left, right] in self.moves {
            let (lhs, rhs) = (self.lhs.moved(*left), self.rhs.moved(*right));
            lhs.check(width, sizes.rows, sizes.inner);
            rhs.check(width, sizes.inner, sizes.columns);
        }
        let (count, size, row) = (
            self.moves.len(),
            sizes.rows * sizes.columns,
            self.strides[0],
        );
        let needed = match self.places {
            Some(_) => count * size,
            None => (count - 1) * size + (sizes.rows - 1) * row + sizes.columns,
        };
        let suits = match self.places {
            Some(places) => places.are_of(count, sizes),
            None => sizes.columns <= row,
        };
        let fits = suits && out.len() / width >= needed;
        assert!(fits, "the product exceeds its memory");
    }
}

/// A batch of products.
struct Batch<'a, T> {
    /// The first product, before it is moved.
    first: Piece<T>,
    /// Distances of the operands of each product.
    moves: &'a [[isize; 2]],
    /// The places of the results, which follow each other otherwise.
    places: Option<&'a Places>,
    /// Numbers of an element, and elements of a result.
    unit: usize,
    size: usize,
}

impl<T: Product> Batch<'_, T> {
    /// # Safety
    /// The matrices of all products must be inside their memory.
    unsafe fn run(&self, threads: usize) {
        let processor = T::processor();
        let mut first = self.first;
        // To decide how to compute it takes as long as a small product.
        // SAFETY: guaranteed by the caller.
        if self.moves.len() == 1 && unsafe { self.is_done_as_small(&processor) } {
            return;
        }
        let is_transposed = is_better_transposed(&first, &processor);
        if is_transposed {
            first = first.transposed();
        }
        let by_dots = is_for_dots(&first, processor.columns);
        let all = (first.rows * first.depth * first.columns).saturating_mul(self.moves.len());
        let threads = if all >= PARALLEL { threads } else { 1 };
        let parts = self.parts();
        let mut sums = vec![T::zeroed(); (parts - 1) * self.size];
        let others = self.moves.len() * parts;
        let wanted = (threads * pieces_of_a_thread(all)).div_ceil(others);
        let even = |pieces: usize| (pieces * others).is_multiple_of(threads);
        let (rows, columns) = piece_sizes(&first, wanted, even, processor.columns);
        let pieces = Pieces {
            first,
            is_transposed,
            sums: sums.as_mut_ptr(),
            parts,
            rows,
            depth: first.depth.div_ceil(parts),
            columns,
        };
        share(
            threads,
            &mut vec![(); self.moves.len() * pieces.of_each()],
            |i, ()| {
                let piece = pieces.piece(i, self);
                // SAFETY: the caller promises it for all rows and columns.
                unsafe {
                    if by_dots {
                        (processor.dots)(&piece);
                    } else {
                        (processor.piece)(&piece);
                    }
                }
            },
        );
        if parts > 1 {
            // SAFETY: the caller promises that the result is in its memory, which no piece writes any more.
            let out = unsafe { std::slice::from_raw_parts_mut(self.first.out.start, self.size) };
            add_all(out, &sums, threads);
        }
    }

    /// Computes the only product if it is small. Returns whether it did.
    ///
    /// # Safety
    /// As for [`run`](Batch::run).
    unsafe fn is_done_as_small(&self, processor: &Processor<T>) -> bool {
        let [left, right] = self.moves[0].map(|d| d * self.unit as isize);
        let mut only = self.first;
        only.left.start = only.left.start.wrapping_offset(left);
        only.right.start = only.right.start.wrapping_offset(right);
        let columns = processor.columns;
        let by_dots = is_for_dots(&only, columns) || is_for_dots(&only.transposed(), columns);
        // SAFETY: guaranteed by the caller.
        !by_dots && unsafe { (processor.small)(&only) }
    }

    /// Returns the number of parts of the axis that is summed over, whose sums are added afterwards. A result
    /// that is small beside its operands has too few rows and columns to share: pieces would rearrange the same
    /// elements. The number depends on sizes only, so that the order of sums does.
    fn parts(&self) -> usize {
        let first = &self.first;
        let is_dense = |p: &Piece<T>| p.out.column == 1 && p.out.row == p.columns as isize;
        let is_one = self.moves.len() == 1 && self.unit == 1 && first.store == Store::Set;
        if is_one && self.size <= SMALL_RESULT && (is_dense(first) || is_dense(&first.transposed()))
        {
            (first.depth / PART).clamp(1, 8)
        } else {
            1
        }
    }
}

/// The pieces of a batch, which threads compute in any order.
struct Pieces<T> {
    /// The first product, before it is moved.
    first: Piece<T>,
    is_transposed: bool,
    /// Memory for the sums of all parts of the axis that is summed over but the first, which the result has.
    sums: *mut T,
    parts: usize,
    /// Sizes of a piece.
    rows: usize,
    depth: usize,
    columns: usize,
}

// SAFETY: each piece writes its own sums.
unsafe impl<T: Send + Sync> Sync for Pieces<T> {}

impl<T: Product> Pieces<T> {
    /// Returns the number of pieces down and to the right.
    fn counts(&self) -> (usize, usize) {
        (
            self.first.rows.div_ceil(self.rows),
            self.first.columns.div_ceil(self.columns),
        )
    }

    /// Returns the number of pieces of a product.
    fn of_each(&self) -> usize {
        let (down, right) = self.counts();
        self.parts * down * right
    }

    /// Returns a piece of a product of the batch.
    fn piece(&self, i: usize, batch: &Batch<'_, T>) -> Piece<T> {
        let (down, right) = self.counts();
        let (number, i) = (i / self.of_each(), i % self.of_each());
        let (part, i) = (i / (down * right), i % (down * right));
        let (row, column) = (i / right * self.rows, i % right * self.columns);
        let mut whole = self.first;
        if part > 0 {
            // Sums of a part have the order of the result.
            whole.out.start = self.sums.wrapping_add((part - 1) * batch.size);
        }
        let height = self.rows.min(whole.rows - row);
        let width = self.columns.min(whole.columns - column);
        let mut piece = whole.part(row, height, column, width);
        let depth = part * self.depth;
        piece.depth = self.depth.min(whole.depth - depth);
        let [mut left, mut right] = batch.moves[number].map(|d| d * batch.unit as isize);
        if self.is_transposed {
            (left, right) = (right, left);
        }
        piece.left.start = piece.left.from(0, depth).start.wrapping_offset(left);
        piece.right.start = piece.right.from(0, depth).start.wrapping_offset(right);
        let place = batch.places.map(|places| places.start(number));
        let distance = place.unwrap_or(number * batch.size) * batch.unit;
        piece.out.start = piece.out.start.wrapping_add(distance);
        piece
    }
}

/// Adds arrays, one after another in memory, to the first one.
fn add_all<T: Product>(out: &mut [T], others: &[T], threads: usize) {
    const CHUNK: usize = 1 << 14;
    let size = out.len();
    let mut chunks: Vec<&mut [T]> = out.chunks_mut(CHUNK).collect();
    share(threads, &mut chunks, |i, chunk| {
        for other in others.chunks(size) {
            let other = &other[i * CHUNK..][..chunk.len()];
            let sums = chunk.iter_mut().zip(other);
            sums.for_each(|(sum, x)| *sum = *sum + *x);
        }
    });
}

/// Returns the pieces of each thread, for a number of multiplications. With two, threads end at about the same
/// time even if another program takes a core for a while; but each piece rearranges its operands.
fn pieces_of_a_thread(work: usize) -> usize {
    1 + usize::from(work >= 1 << 24)
}

/// Returns whether a product has few rows whose elements are computed one by one. A shorter axis than the vectors of
/// an element would be added up without vectors.
fn is_for_dots<T>(product: &Piece<T>, columns: usize) -> bool {
    let is_inner = product.left.inner == 1 && product.right.inner == 1;
    product.rows <= FEW && is_inner && product.depth >= columns
}

/// Returns whether the transposed product takes less time.
fn is_better_transposed<T: Product>(product: &Piece<T>, processor: &Processor<T>) -> bool {
    let transposed = product.transposed();
    let by_dots = is_for_dots(product, processor.columns);
    if is_for_dots(&transposed, processor.columns) && !by_dots {
        return true;
    }
    !by_dots && cost(&transposed, processor) < cost(product, processor)
}

/// Returns the cost of a product in multiplications: 16 take about as long as to move an element to a place
/// far from that of its neighbor, 4 as long as to copy an element with its neighbors.
fn cost<T: Real>(product: &Piece<T>, processor: &Processor<T>) -> usize {
    let Piece {
        rows,
        depth,
        left,
        right,
        out,
        ..
    } = product;
    let order = |stride: isize| if stride == 1 { 4 } else { 16 };
    let width = product.columns.next_multiple_of(processor.columns);
    // One row after another has too few sums at a time.
    let mut cost = rows.max(&4) * depth * width;
    if !product.reads_columns(processor.rows) {
        cost += order(right.free) * depth * product.columns;
    }
    // Rows that are not copied are read from as many lines of memory.
    if left.inner != 1 && *rows > 1 {
        cost += order(left.free) * rows * depth;
    }
    if out.column != 1 {
        cost += 16 * rows * product.columns;
    }
    cost
}

/// Returns the rows and columns of pieces of a product, of which there are `wanted` or more if it is large enough,
/// in a number that is `even` for the threads: those with the fewest elements that pieces rearrange.
fn piece_sizes<T: Product>(
    product: &Piece<T>,
    wanted: usize,
    even: impl Fn(usize) -> bool,
    columns: usize,
) -> (usize, usize) {
    let panels = product.columns.div_ceil(columns);
    let least = product.rows.div_ceil(ROWS);
    let left = usize::from(product.left.inner != 1) * product.rows;
    let (mut best, mut moved) = ((least, 1), usize::MAX);
    for right in 1..=wanted.min(panels) {
        let most = product.rows.div_ceil(12);
        let mut down = least.max(wanted.div_ceil(right).min(most));
        while down < most && !even(down * right) {
            down += 1;
        }
        let enough = down * right >= wanted;
        let elements = right * left + down * product.columns;
        if elements < moved && (enough || right == wanted.min(panels)) {
            (best, moved) = ((down, right), elements);
        }
    }
    let (down, right) = best;
    (
        product.rows.div_ceil(down),
        panels.div_ceil(right) * columns,
    )
}
