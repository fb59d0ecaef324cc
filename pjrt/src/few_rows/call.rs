//! The function that XLA calls for a product.

use super::kernel::{Adjacent, Product};
use super::share::{Task, share};
use crate::ElementType;
use crate::callback::{answer_probe, attribute, buffers, fail};
use crate::sys::ffi::*;
use std::cell::RefCell;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::OnceLock;

/// Bytes of the matrix for which a piece is worth its own thread.
const PIECE: usize = 1 << 17;
/// Number of columns of which a piece has a multiple.
const UNIT: usize = 16;
/// Maximum rank of the matrix.
pub(super) const RANK: usize = 8;

/// Returns the number of threads that a product may use, the caller's included.
fn threads() -> usize {
    static THREADS: OnceLock<usize> = OnceLock::new();
    *THREADS.get_or_init(|| std::thread::available_parallelism().map_or(1, |n| n.get()))
}

/// Computes a product.
///
/// # Safety
/// `frame` must be a call of the plugin, live until this function returns.
pub(super) unsafe extern "C" fn handler(frame: *mut CallFrame) -> *mut FfiError {
    // SAFETY: guaranteed by the caller.
    unsafe {
        let frame = &*frame;
        if answer_probe(frame) || frame.stage != EXECUTE {
            return null_mut();
        }
        match Batch::of(frame) {
            Ok(batch) => {
                SUMS.with_borrow_mut(|sums| {
                    batch.run(sums, |task, data| schedule(frame, task, data))
                });
                null_mut()
            }
            Err(message) => fail(frame, &message),
        }
    }
}

thread_local! {
    /// Memory for [`Batch::sums`].
    static SUMS: RefCell<Vec<f32>> = const { RefCell::new(Vec::new()) };
}

/// A product for each element of the batch axes.
#[derive(Clone, Copy)]
struct Batch {
    first: Product,
    count: usize,
    /// Sizes of the batch axes of the matrix, and the distances of their elements. The rest is 1.
    axes: [(usize, usize); RANK],
    /// Number of pieces of the batch, of the columns, and of the elements that are summed over.
    parts: [usize; 3],
    /// Results of all pieces of the sums but the first, which belong to the result.
    sums: *mut f32,
}

// SAFETY: the pieces write to different elements of the result.
unsafe impl Send for Batch {}
// SAFETY: as above.
unsafe impl Sync for Batch {}

/// Returns the start and the size of part `i` of `count` of an axis, in multiples of `unit`.
fn part(total: usize, count: usize, i: usize, unit: usize) -> (usize, usize) {
    let units = total.div_ceil(unit);
    let at = |i: usize| (units * i / count * unit).min(total);
    (at(i), at(i + 1) - at(i))
}

/// The axes of the matrix in a call.
#[derive(Clone, Copy, Debug)]
struct Axes {
    contracting: usize,
    free: usize,
}

impl Batch {
    /// Reads the operands and the axes of a call.
    ///
    /// # Safety
    /// `frame` must be a call of the plugin in the execution stage. The result must not be used
    /// after its end.
    unsafe fn of(frame: &CallFrame) -> Result<Batch, String> {
        // SAFETY: guaranteed by the caller.
        let (args, results) = unsafe { (buffers(&frame.args)?, buffers(&frame.results)?) };
        let arrays: Vec<(*mut f32, &[i64])> =
            args.chain(results).map(array).collect::<Result<_, _>>()?;
        let &[(left, left_dims), (matrix, dims), (out, out_dims)] = arrays.as_slice() else {
            return Err("a product has two operands and a result".into());
        };
        // SAFETY: guaranteed by the caller.
        let axis = |name| unsafe { attribute(&frame.attributes, name) }.map(|i| i as usize);
        let axes = axis("contracting").zip(axis("free"));
        let axes = axes.map(|(contracting, free)| Axes { contracting, free });
        let Some(axes) = axes.filter(|axes| axes.fit(left_dims, dims, out_dims)) else {
            return Err(format!(
                "a product of {left_dims:?} and {dims:?} is {out_dims:?}, over the axes {axes:?}"
            ));
        };
        let stride = |axis: usize| dims[axis + 1..].iter().product::<i64>() as usize;
        let mut batch_axes = [(1, 0); RANK];
        for (d, axis) in batch_axes.iter_mut().enumerate().take(dims.len()) {
            if d != axes.contracting && d != axes.free {
                *axis = (dims[d] as usize, stride(d));
            }
        }
        let adjacent = match axes.free + 1 == dims.len() {
            true => Adjacent::Columns,
            false => Adjacent::Depth,
        };
        let columns = dims[axes.free] as usize;
        let first = Product {
            rows: left_dims[1] as usize,
            depth: left_dims[2] as usize,
            columns,
            left,
            left_stride: left_dims[2] as usize,
            matrix,
            adjacent,
            stride: stride(axes.contracting).max(stride(axes.free)),
            out,
            out_stride: columns,
        };
        Ok(Batch::divided(first, left_dims[0] as usize, batch_axes))
    }

    /// Divides a product into pieces for several threads.
    ///
    /// A processor reads adjacent elements fastest. If these are rows of the matrix, and the result has
    /// one row, a piece consists of whole rows, and the results of the pieces are added.
    fn divided(first: Product, count: usize, axes: [(usize, usize); RANK]) -> Batch {
        let bytes = size_of::<f32>() * count * first.depth * first.columns;
        let wanted = (bytes / PIECE).clamp(1, 2 * threads());
        let of_batch = wanted.min(count).max(1);
        let pieces = |size: usize| (wanted / of_batch).min(size.div_ceil(UNIT)).max(1);
        let parts = match first.rows == 1 && first.adjacent == Adjacent::Columns {
            true => [of_batch, 1, pieces(first.depth)],
            false => [of_batch, pieces(first.columns), 1],
        };
        Batch {
            first,
            count,
            axes,
            parts,
            sums: null_mut(),
        }
    }

    /// Computes the products with other threads. `schedule` is that of [`share`].
    ///
    /// # Safety
    /// The operands must be readable and the result writable.
    unsafe fn run(mut self, sums: &mut Vec<f32>, schedule: impl FnMut(Task, *mut c_void) -> bool) {
        let size = self.count * self.first.rows * self.first.columns;
        let further = self.parts[2] - 1;
        sums.resize(sums.len().max(further * size), 0.0);
        self.sums = sums.as_mut_ptr();
        // SAFETY: guaranteed by the caller.
        let work = move |piece| unsafe { self.compute(piece) };
        share(self.parts.iter().product(), threads() - 1, schedule, work);
        if further > 0 {
            // SAFETY: guaranteed by the caller. The other threads have finished.
            let out = unsafe { std::slice::from_raw_parts_mut(self.first.out, size) };
            for piece in sums[..further * size].chunks_exact(size) {
                out.iter_mut().zip(piece).for_each(|(sum, x)| *sum += x);
            }
        }
    }

    /// Computes a piece.
    ///
    /// # Safety
    /// The operands must be readable, and this piece of the result writable.
    unsafe fn compute(&self, piece: usize) {
        let [of_batch, of_columns, of_depth] = self.parts;
        let (rest, at_depth) = (piece / of_depth, piece % of_depth);
        let (start, count) = part(self.count, of_batch, rest / of_columns, 1);
        let (column, columns) = part(self.first.columns, of_columns, rest % of_columns, UNIT);
        let (depth, length) = part(self.first.depth, of_depth, at_depth, 1);
        let size = self.first.rows * self.first.columns;
        for i in start..start + count {
            // SAFETY: guaranteed by the caller.
            unsafe {
                let mut product = self.product(i).slice(depth, length);
                if at_depth > 0 {
                    product.out = self.sums.add(((at_depth - 1) * self.count + i) * size);
                }
                product.part(column, columns).compute();
            }
        }
    }

    /// Returns the product of an element of the batch.
    ///
    /// # Safety
    /// The batch must have this element.
    unsafe fn product(&self, i: usize) -> Product {
        let first = self.first;
        let (mut rest, mut offset) = (i, 0);
        for (size, stride) in self.axes.iter().rev() {
            offset += rest % size * stride;
            rest /= size;
        }
        // SAFETY: guaranteed by the caller.
        unsafe {
            Product {
                left: first.left.add(i * first.rows * first.depth),
                matrix: first.matrix.add(offset),
                out: first.out.add(i * first.rows * first.columns),
                ..first
            }
        }
    }
}

impl Axes {
    /// Returns whether these are axes of a matrix `dims` that can be multiplied.
    fn fit(self, left: &[i64], dims: &[i64], out: &[i64]) -> bool {
        let Axes { contracting, free } = self;
        let rank = dims.len();
        if rank > RANK || contracting.max(free) >= rank || contracting == free {
            return false;
        }
        let (depth, columns) = (dims[contracting], dims[free]);
        let is_batch = |d: &usize| *d != contracting && *d != free;
        let count: i64 = (0..rank).filter(is_batch).map(|d| dims[d]).product();
        contracting.max(free) + 1 == rank
            && matches!(left, &[b, _, k] if b == count && k == depth)
            && matches!(out, &[b, m, n] if b == count && m == left[1] && n == columns)
    }
}

/// Returns the elements and the dimensions of an array of `f32`.
fn array(buffer: &FfiBuffer) -> Result<(*mut f32, &[i64]), String> {
    match buffer.layout()? {
        (ElementType::F32, dims, _) => Ok((buffer.data.cast(), dims)),
        (ty, _, _) => Err(format!("a product is of `f32` arrays, not {ty:?}")),
    }
}

/// Passes a task to a thread of the plugin; returns false if there is none.
///
/// # Safety
/// `frame` must be a call of the plugin.
unsafe fn schedule(frame: &CallFrame, task: Task, data: *mut c_void) -> bool {
    let header = || FfiHeader {
        struct_size: size_of::<Schedule>(),
        extension_start: null_mut(),
    };
    // SAFETY: the function table lives as long as the plugin.
    unsafe {
        let api = &*frame.api;
        let reaches = api.header.struct_size >= size_of::<FfiApi>();
        let Some(schedule) = api.schedule.filter(|_| reaches) else {
            return false;
        };
        let error = schedule(&mut Schedule {
            header: header(),
            context: frame.context,
            task,
            data,
        });
        if let Some(destroy) = api.error_destroy.filter(|_| !error.is_null()) {
            destroy(&mut ErrorDestroy {
                header: header(),
                error,
            });
        }
        error.is_null()
    }
}
