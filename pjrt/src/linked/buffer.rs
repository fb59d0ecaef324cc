//! Arrays on the virtual devices.

use super::serve::{Failure, list, object, row_major, serve};
use crate::ElementType;
use crate::sys::{RawBuffer, RawDevice};
use ramie_base::lock::lock;
use ramie_cpu::TensorType;
use std::cell::RefCell;
use std::mem::MaybeUninit;
use std::sync::{Mutex, OnceLock};

/// An array on a device, until it is donated or deleted.
pub(super) struct Buffer {
    value: Mutex<Option<ramie_cpu::Buffer>>,
    device: *mut RawDevice,
    rank: i64,
    /// The axes from the fastest to the slowest, for the layout, after the first query.
    order: OnceLock<Vec<i64>>,
}

/// Memory of destroyed buffers that a thread keeps at most.
const KEPT: usize = 1 << 12;

/// Memory of a buffer, whose address is its handle.
type Memory = Box<MaybeUninit<Buffer>>;

thread_local! {
    /// Memory of destroyed buffers: each step of a program creates and destroys as many as its state has arrays.
    static FREE: RefCell<Vec<Memory>> = const { RefCell::new(Vec::new()) };
}

impl Buffer {
    /// Creates a buffer and passes it on.
    pub(super) fn handed_out(value: ramie_cpu::Buffer, device: *mut RawDevice) -> *mut RawBuffer {
        let buffer = Buffer {
            rank: value.ty().shape.len() as i64,
            order: OnceLock::new(),
            value: Mutex::new(Some(value)),
            device,
        };
        // Without the list, at the end of a thread, the memory is new.
        let free = FREE.try_with(|free| free.borrow_mut().pop());
        let memory = free.ok().flatten().unwrap_or_else(Box::new_uninit);
        Box::into_raw(Box::write(memory, buffer)).cast()
    }

    /// Destroys a buffer that [`handed_out`](Buffer::handed_out) passed on. Null is ignored.
    ///
    /// # Safety
    /// `raw` must be null or a buffer of this backend that is not used again.
    unsafe fn destroy(raw: *mut RawBuffer) {
        let raw = raw.cast::<Buffer>();
        if raw.is_null() {
            return;
        }
        // SAFETY: guaranteed by the caller; the memory is that of a box, whose contents are dropped once.
        let memory = unsafe {
            raw.drop_in_place();
            Box::from_raw(raw.cast::<MaybeUninit<Buffer>>())
        };
        let _ = FREE.try_with(|free| {
            let mut free = free.borrow_mut();
            if free.len() < KEPT {
                free.push(memory);
            }
        });
    }

    /// Returns the array.
    pub(super) fn value(&self) -> Result<ramie_cpu::Buffer, Failure> {
        let value = lock(&self.value).clone();
        value.ok_or_else(|| Failure::argument("the buffer has been donated or deleted"))
    }

    /// Returns the axes from the fastest to the slowest.
    fn order(&self) -> &[i64] {
        let axes = || (0..self.rank).rev().collect();
        self.order.get_or_init(axes)
    }

    /// Takes the array of a donated buffer.
    pub(super) fn take(&self) -> Result<ramie_cpu::Buffer, Failure> {
        let value = lock(&self.value).take();
        value.ok_or_else(|| Failure::argument("the buffer has been donated or deleted"))
    }
}

/// Returns a live buffer.
///
/// # Safety
/// `raw` must be a buffer of this backend.
pub(super) unsafe fn buffer<'a>(raw: *mut RawBuffer) -> &'a Buffer {
    // SAFETY: guaranteed by the caller.
    unsafe { object(raw) }
}

/// Returns the type of an array, given by the numbers of the API.
fn tensor_type(code: u32, dims: &[i64]) -> Result<TensorType, Failure> {
    let known = ElementType::from_raw(code).map(ElementType::name);
    let element = known.and_then(ramie_cpu::ElementType::named);
    let element = element.ok_or_else(|| {
        let name = known.map_or_else(|| format!("number {code}"), str::to_owned);
        Failure::unimplemented(format!("the CPU backend has no element type {name}"))
    })?;
    let shape = dims.iter().map(|d| usize::try_from(*d));
    let shape = shape.collect::<Result<_, _>>();
    let shape = shape.map_err(|_| Failure::argument(format!("the shape {dims:?} is invalid")))?;
    Ok(TensorType { shape, element })
}

/// Returns the API's element type of an array.
pub(super) fn element_type(ty: &TensorType) -> ElementType {
    let mut all = ElementType::ALL.iter();
    let found = all.find(|e| e.name() == ty.element.name());
    *found.expect("the API has all element types of the backend")
}

/// Whether strides in bytes are those of row-major order.
fn is_row_major(ty: &TensorType, strides: &[i64]) -> bool {
    let mut expected = ty.element.bytes() as i64;
    let mut pairs = ty.shape.iter().zip(strides).rev();
    strides.is_empty()
        || pairs.all(|(size, stride)| {
            let fits = *size <= 1 || *stride == expected;
            expected = expected.saturating_mul(*size as i64);
            fits
        })
}

serve! {
    ClientBufferFromHostBuffer |args| {
        // SAFETY: lists are readable during the call.
        let (dims, strides) = unsafe {
            (list(args.dims, args.num_dims), list(args.byte_strides, args.num_byte_strides))
        };
        let ty = tensor_type(args.element_type, dims)?;
        if !is_row_major(&ty, strides) {
            return Err(Failure::unimplemented("a host array must be in row-major order"));
        }
        let size = ty.byte_size().ok_or_else(|| Failure::argument("the array is too large"))?;
        // SAFETY: the data has the size of the array.
        let bytes = unsafe { list(args.data.cast::<u8>(), size) };
        let value = ramie_cpu::Buffer::from_bytes(ty, bytes)?;
        args.done_with_host_buffer = std::ptr::null_mut();
        args.buffer = Buffer::handed_out(value, args.device);
    }
    BufferDestroy |args| {
        // SAFETY: a buffer that the caller gives up.
        unsafe { Buffer::destroy(args.buffer) };
    }
    BufferGetMemoryLayout |args| {
        // SAFETY: a live buffer, which the layout borrows.
        row_major(&mut args.layout, unsafe { buffer(args.buffer) }.order());
    }
    BufferDelete |args| {
        // SAFETY: a live buffer. Executions under way share the elements.
        drop(lock(&unsafe { buffer(args.buffer) }.value).take());
    }
    BufferIsDeleted |args| {
        // SAFETY: a live buffer.
        args.is_deleted = lock(&unsafe { buffer(args.buffer) }.value).is_none();
    }
    BufferCopyToDevice |args| {
        // SAFETY: a live buffer.
        let value = unsafe { buffer(args.buffer) }.value()?;
        args.copy = Buffer::handed_out(value, args.device);
    }
    BufferCopyToMemory |args| {
        // SAFETY: a live buffer. All devices have the memory of the process.
        let source = unsafe { buffer(args.buffer) };
        args.copy = Buffer::handed_out(source.value()?, source.device);
    }
    BufferToHostBuffer |args| {
        // SAFETY: a live buffer.
        let value = unsafe { buffer(args.buffer) }.value()?;
        let bytes = value.bytes();
        args.event = std::ptr::null_mut();
        if args.dst.is_null() {
            args.dst_size = bytes.len();
            return Ok(());
        }
        if args.dst_size < bytes.len() {
            return Err(Failure::argument("the destination is smaller than the buffer"));
        }
        // SAFETY: the destination has room for `dst_size` bytes, which nothing else accesses.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), args.dst.cast(), bytes.len()) };
    }
    BufferReadyEvent |args| {
        args.event = std::ptr::null_mut();
    }
    BufferUnsafePointer |args| {
        // SAFETY: a live buffer. Its memory lives as long as the buffer has it.
        args.pointer = unsafe { buffer(args.buffer) }.value()?.bytes().as_ptr() as usize;
    }
}
