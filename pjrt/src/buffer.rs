//! Device buffers.

use crate::client::ClientInner;
use crate::error::{Error, Result, borrowed};
use crate::event::Event;
use crate::sys::{self, RawBuffer};
use crate::under_way::{Events, Ticket};
use crate::{AlignedBytes, BufferType, Device, Memory};
use smallvec::SmallVec;
use std::fmt;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// An array on a device. Dropping it frees the device memory, unless the buffer was donated.
///
/// The contents may still be being computed. [`wait`](Buffer::wait) and reads return the error of
/// the computation or transfer that produces them.
pub struct Buffer {
    raw: NonNull<RawBuffer>,
    ty: BufferType,
    device: Device,
    /// The number of users that prevent donation; or [`DONATED`] and the ticket of the execution
    /// that took the contents, or [`DONATED`] and [`FREED`].
    state: AtomicU64,
}

/// The state of a buffer whose contents were taken by an execution.
const DONATED: u64 = 1 << 63;

/// Marks, with [`DONATED`], a buffer whose contents were freed without an execution.
const FREED: u64 = 1 << 62;

// SAFETY: PJRT buffers may be used and destroyed on any thread.
unsafe impl Send for Buffer {}
// SAFETY: as above; contents do not change while shared, and donation is atomic.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// Takes ownership of a buffer.
    ///
    /// # Safety
    /// `raw` must be a live buffer of type `ty` on `device` that nothing else destroys.
    #[inline]
    pub(crate) unsafe fn new(raw: NonNull<RawBuffer>, ty: BufferType, device: Device) -> Buffer {
        Buffer {
            raw,
            ty,
            device,
            state: AtomicU64::new(0),
        }
    }

    /// Returns the element type and the dimensions.
    #[inline]
    pub fn buffer_type(&self) -> BufferType {
        self.ty
    }

    /// Returns the device that the buffer is on.
    #[inline]
    pub fn device(&self) -> Device {
        self.device
    }

    /// Returns the size of the dense row-major host representation in bytes.
    pub fn size_bytes(&self) -> usize {
        self.ty.size_bytes()
    }

    /// Returns `true` if the contents were donated to an execution or freed by
    /// [`delete`](Buffer::delete).
    #[inline]
    pub fn is_deleted(&self) -> bool {
        self.state.load(Ordering::Acquire) & DONATED != 0
    }

    /// Returns `true` if an execution has taken the contents.
    pub fn is_donated(&self) -> bool {
        self.is_deleted() && !self.is_freed()
    }

    /// Returns `true` if [`delete`](Buffer::delete) has freed the contents.
    pub(crate) fn is_freed(&self) -> bool {
        self.state.load(Ordering::Acquire) & FREED != 0
    }

    /// Frees the contents now. Executions that have started keep the memory until they end. A
    /// deleted buffer stays deleted.
    ///
    /// # Errors
    /// Returns [`Error::InUse`] if a launch or a view of the contents is using the buffer, or the
    /// plugin's error.
    pub fn delete(&self) -> Result<()> {
        if !self.claim() {
            if self.is_deleted() {
                return Ok(());
            }
            return Err(Error::InUse {
                operation: "delete",
                ty: self.ty.to_string(),
            });
        }
        let mut args = sys::zeroed::<sys::BufferDelete>();
        args.buffer = self.raw.as_ptr();
        // SAFETY: the buffer is live, and the claim keeps other threads from its contents.
        match unsafe { self.client().api.call(&mut args) } {
            Ok(()) => {
                self.state.store(DONATED | FREED, Ordering::Release);
                Ok(())
            }
            Err(e) => {
                self.unclaim();
                Err(e)
            }
        }
    }

    /// Returns `true` if the contents are available, or if their computation has failed.
    ///
    /// # Errors
    /// Returns an error if the buffer was donated, or the plugin's error.
    pub fn is_ready(&self) -> Result<bool> {
        self.ready_event("is_ready")?
            .map_or(Ok(true), |event| event.is_ready())
    }

    /// Blocks until the contents are available.
    ///
    /// # Errors
    /// Returns the error of the computation or transfer that produces the contents, or an error
    /// if the buffer was donated.
    pub fn wait(&self) -> Result<()> {
        self.ready_event("wait")?.map_or(Ok(()), |event| {
            event.wait().map_err(|e| e.during("computing a buffer"))
        })
    }

    /// Blocks until the computation of the contents ends. Returns `true` if it succeeded. An
    /// error is still reported by a later [`wait`](Buffer::wait).
    pub fn settle(&self) -> bool {
        let event = self.ready_event("settle");
        event.is_ok_and(|event| event.is_none_or(|event| event.settle().is_ok()))
    }

    pub(crate) fn ready_event(&self, operation: &'static str) -> Result<Option<Event>> {
        self.check_live(operation)?;
        let mut args = sys::zeroed::<sys::BufferReadyEvent>();
        args.buffer = self.raw.as_ptr();
        let api = self.client().api;
        // SAFETY: the buffer is live; the event is ours.
        unsafe {
            api.call(&mut args)?;
            Ok(Event::take(api, args.event))
        }
    }

    /// Waits for the contents and copies them to host memory, dense and row-major.
    ///
    /// # Errors
    /// Returns [`Error::HostSize`] if the length of `host` differs from
    /// [`size_bytes`](Buffer::size_bytes), the error of the computation that produces the
    /// contents, or an error if the buffer was donated.
    pub fn copy_to_host(&self, host: &mut [u8]) -> Result<()> {
        if host.len() != self.size_bytes() {
            return Err(Error::HostSize {
                operation: "copy_to_host",
                ty: self.ty.to_string(),
                got: host.len(),
                expected: self.size_bytes(),
            });
        }
        if host.is_empty() {
            return self.wait();
        }
        // The memory of a CPU device is host memory. A transfer by the plugin takes 100 times as
        // long for a scalar.
        if let Some(view) = self.host_view()? {
            host.copy_from_slice(&view);
            return Ok(());
        }
        // SAFETY: `host` is borrowed exclusively until after the event has been waited for.
        let event = unsafe { self.start_copy(host.as_mut_ptr()) }?;
        event.map_or(Ok(()), |event| {
            event.wait().map_err(|e| e.during("reading a buffer"))
        })
    }

    /// Returns `true` if the device's memory is host memory.
    pub(crate) fn is_on_cpu(&self) -> bool {
        self.client().is_cpu
    }

    /// Returns `true` if the device stores the elements in row-major order.
    pub(crate) fn is_row_major(&self) -> Result<bool> {
        let mut args = sys::zeroed::<sys::BufferGetMemoryLayout>();
        args.buffer = self.raw.as_ptr();
        // SAFETY: the buffer is live.
        unsafe { self.client().api.call(&mut args) }?;
        let tiled = &args.layout.tiled;
        if args.layout.kind != 0 || tiled.num_tiles != 0 {
            return Ok(false);
        }
        // SAFETY: the order lives as long as the buffer.
        let order: &[i64] = unsafe { borrowed(tiled.minor_to_major, tiled.minor_to_major_size) };
        Ok(order.iter().rev().copied().eq(0..self.ty.rank() as i64))
    }

    /// Starts copying the contents to host memory, dense and row-major.
    ///
    /// # Errors
    /// Returns an error if the buffer was donated, or the plugin's error.
    pub fn to_host_async(&self) -> Result<HostCopy> {
        let mut bytes = AlignedBytes::zeroed(self.size_bytes());
        let event = if bytes.is_empty() {
            self.ready_event("to_host_async")?
        } else {
            // SAFETY: `HostCopy` owns the bytes and does not access them until the event is done.
            unsafe { self.start_copy(bytes.as_mut_ptr()) }?
        };
        Ok(HostCopy { bytes, event })
    }

    /// Starts a transfer to `host`.
    ///
    /// # Safety
    /// `host` must be writable for `size_bytes`, and nothing else may access it until the event
    /// is done.
    unsafe fn start_copy(&self, host: *mut u8) -> Result<Option<Event>> {
        self.check_live("copy_to_host")?;
        let rank = self.ty.rank() as i64;
        let minor_to_major: SmallVec<[i64; 8]> = (0..rank).rev().collect();
        // SAFETY: pointers and integers; all-zero is valid.
        let mut layout: sys::MemoryLayout = unsafe { std::mem::zeroed() };
        layout.header.struct_size = size_of::<sys::MemoryLayout>();
        layout.tiled.header.struct_size = size_of::<sys::TiledLayout>();
        layout.tiled.minor_to_major = minor_to_major.as_ptr();
        layout.tiled.minor_to_major_size = minor_to_major.len();
        let mut args = sys::zeroed::<sys::BufferToHostBuffer>();
        args.buffer = self.raw.as_ptr();
        // A device may store the dimensions in another order; below rank 2 there is only one.
        args.host_layout = if rank >= 2 { &layout } else { std::ptr::null() };
        args.dst = host.cast();
        args.dst_size = self.size_bytes();
        let api = self.client().api;
        // SAFETY: the buffer is live, the layout outlives the call, and the caller guarantees the
        // validity of `host`.
        unsafe {
            api.call(&mut args)
                .map_err(|e| e.during("reading a buffer"))?;
            Ok(Event::take(api, args.event))
        }
    }

    /// Starts copying the buffer to another device of the same client, without waiting.
    ///
    /// # Errors
    /// Returns an error if the buffer was donated, or the plugin's error.
    pub fn copy_to_device(&self, device: Device) -> Result<Buffer> {
        self.check_live("copy_to_device")?;
        let mut args = sys::zeroed::<sys::BufferCopyToDevice>();
        args.buffer = self.raw.as_ptr();
        args.device = device.0.raw.as_ptr();
        // SAFETY: buffer and device are live.
        unsafe { self.client().api.call(&mut args) }?;
        let raw = NonNull::new(args.copy).expect("a copied buffer is not null");
        // SAFETY: a new buffer of the same type on `device`.
        let copy = unsafe { Buffer::new(raw, self.ty, device) };
        copy.transfer_is_under_way();
        Ok(copy)
    }

    /// Lists the transfer that fills this buffer as unfinished work of the client.
    pub(crate) fn transfer_is_under_way(&self) {
        // Without an event there is nothing to wait for.
        if let Ok(Some(event)) = self.ready_event("transfer") {
            self.client().under_way.begin(Events::from_iter([event]));
        }
    }

    /// Starts copying the buffer to another memory of its device, such as `pinned_host`.
    ///
    /// # Errors
    /// Returns an error if the buffer was donated, or the plugin's error, for example if the
    /// buffer is already in that memory.
    pub fn copy_to_memory(&self, memory: &Memory) -> Result<Buffer> {
        self.check_live("copy_to_memory")?;
        let mut args = sys::zeroed::<sys::BufferCopyToMemory>();
        args.buffer = self.raw.as_ptr();
        args.memory = memory.raw.as_ptr();
        // SAFETY: the buffer is live, and memories live as long as their client.
        unsafe { self.client().api.call(&mut args) }?;
        let raw = NonNull::new(args.copy).expect("a copied buffer is not null");
        // SAFETY: a new buffer of the same type on the same device.
        let copy = unsafe { Buffer::new(raw, self.ty, self.device) };
        copy.transfer_is_under_way();
        Ok(copy)
    }

    /// Returns the address of the buffer's memory on the device, for comparisons only.
    ///
    /// # Errors
    /// Returns an error if the buffer was donated, or the plugin's error.
    pub fn address(&self) -> Result<usize> {
        self.check_live("address")?;
        let mut args = sys::zeroed::<sys::BufferUnsafePointer>();
        args.buffer = self.raw.as_ptr();
        // SAFETY: the buffer is live; the address is not dereferenced.
        unsafe { self.client().api.call(&mut args) }?;
        Ok(args.pointer)
    }

    fn check_live(&self, operation: &'static str) -> Result<()> {
        if self.is_deleted() {
            return Err(self.donated(operation));
        }
        Ok(())
    }

    #[cold]
    pub(crate) fn donated(&self, operation: &'static str) -> Error {
        let ty = self.ty.to_string();
        if self.is_freed() {
            Error::Deleted { operation, ty }
        } else {
            Error::Donated { operation, ty }
        }
    }

    fn client(&self) -> &'static ClientInner {
        self.device.0.client
    }

    #[inline]
    pub(crate) fn raw(&self) -> *mut RawBuffer {
        self.raw.as_ptr()
    }

    /// Marks the buffer as being donated. Returns `false` if it was already donated or is in use.
    #[inline]
    pub(crate) fn claim(&self) -> bool {
        self.state
            .compare_exchange(0, DONATED, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }

    /// Ends a claim after an execution has taken the contents.
    #[inline]
    pub(crate) fn donate(&self, ticket: Ticket) {
        self.state.store(DONATED | ticket, Ordering::Release);
    }

    /// Ends a claim after the contents were not taken.
    pub(crate) fn unclaim(&self) {
        self.state.store(0, Ordering::Release);
    }

    /// Prevents donation until [`end_use`](Buffer::end_use). Returns `false` if the buffer was
    /// already donated.
    #[inline]
    pub(crate) fn begin_use(&self) -> bool {
        self.state
            .fetch_update(Ordering::AcqRel, Ordering::Relaxed, |state| {
                (state & DONATED == 0).then_some(state + 1)
            })
            .is_ok()
    }

    /// Ends the use started by [`begin_use`](Buffer::begin_use).
    #[inline]
    pub(crate) fn end_use(&self) {
        self.state.fetch_sub(1, Ordering::AcqRel);
    }

    /// Queries the plugin for whether the contents were deleted.
    pub(crate) fn is_deleted_by_plugin(&self) -> bool {
        let mut args = sys::zeroed::<sys::BufferIsDeleted>();
        args.buffer = self.raw.as_ptr();
        // SAFETY: the buffer is live.
        unsafe { self.client().api.call(&mut args) }.is_ok() && args.is_deleted
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let client = self.client();
        let state = *self.state.get_mut();
        if state & DONATED != 0 {
            // SAFETY: the handle is ours and not used again.
            unsafe { client.under_way.push(self.raw, state & !(DONATED | FREED)) };
        } else {
            // SAFETY: as above. Running executions keep the memory alive.
            unsafe { crate::under_way::destroy(client.api, self.raw) };
        }
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let donated = if self.is_deleted() { ", donated" } else { "" };
        write!(f, "Buffer({} on {}{donated})", self.ty, self.device)
    }
}

/// A copy to host memory in progress.
#[derive(Debug)]
pub struct HostCopy {
    bytes: AlignedBytes,
    event: Option<Event>,
}

impl HostCopy {
    /// Returns `true` if [`wait`](HostCopy::wait) would not block.
    ///
    /// # Errors
    /// Returns the plugin's error.
    pub fn is_ready(&self) -> Result<bool> {
        self.event
            .as_ref()
            .map_or(Ok(true), |event| event.is_ready())
    }

    /// Blocks until the bytes are available and returns them.
    ///
    /// # Errors
    /// Returns the error of the computation that produces the buffer.
    pub fn wait(mut self) -> Result<AlignedBytes> {
        if let Some(event) = self.event.take() {
            event.wait().map_err(|e| e.during("reading a buffer"))?;
        }
        Ok(std::mem::replace(&mut self.bytes, AlignedBytes::zeroed(0)))
    }
}

impl Drop for HostCopy {
    fn drop(&mut self) {
        // The plugin writes to the bytes until the event is done.
        if let Some(event) = self.event.take() {
            let _ = event.settle();
        }
    }
}
