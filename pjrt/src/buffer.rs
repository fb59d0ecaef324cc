//! Device buffers.

use crate::client::ClientInner;
use crate::error::{Error, Result, borrowed};
use crate::event::Event;
use crate::sys::{self, RawBuffer};
use crate::under_way::Ticket;
use crate::{AlignedBytes, BufferType, Device, Memory};
use smallvec::SmallVec;
use std::fmt;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// An array on a device. Dropping it frees the device memory, unless it was donated.
///
/// Its contents may still be being computed: [`wait`](Buffer::wait) and reading
/// report the error of the computation or transfer that fills it.
pub struct Buffer {
    raw: NonNull<RawBuffer>,
    ty: BufferType,
    device: Device,
    /// The number of readers that keep it from being donated; or [`DONATED`] and the
    /// ticket of the execution that took it.
    state: AtomicU64,
}

/// The state of a buffer whose contents an execution has taken.
const DONATED: u64 = 1 << 63;

// SAFETY: PJRT buffers may be used and destroyed on any thread.
unsafe impl Send for Buffer {}
// SAFETY: as above; contents do not change while shared, and donation is atomic.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// Takes ownership of a buffer.
    ///
    /// # Safety
    /// `raw` is a live buffer of type `ty` on `device` that nobody else destroys.
    #[inline]
    pub(crate) unsafe fn new(raw: NonNull<RawBuffer>, ty: BufferType, device: Device) -> Buffer {
        Buffer {
            raw,
            ty,
            device,
            state: AtomicU64::new(0),
        }
    }

    /// Element type and dimensions.
    #[inline]
    pub fn buffer_type(&self) -> BufferType {
        self.ty
    }

    /// The device it is on.
    #[inline]
    pub fn device(&self) -> Device {
        self.device
    }

    /// Bytes of its dense row-major host representation.
    pub fn size_bytes(&self) -> usize {
        self.ty.size_bytes()
    }

    /// Whether its contents are gone, because it was donated to an execution.
    #[inline]
    pub fn is_deleted(&self) -> bool {
        self.state.load(Ordering::Acquire) & DONATED != 0
    }

    /// Whether an execution has taken its contents. Nothing but donation deletes a
    /// buffer that is still held, so this is [`is_deleted`](Buffer::is_deleted).
    pub fn is_donated(&self) -> bool {
        self.is_deleted()
    }

    /// Whether its contents are there (or their computation has failed).
    ///
    /// # Errors
    /// When it was donated; else the plugin's error.
    pub fn is_ready(&self) -> Result<bool> {
        self.ready_event("is_ready")?
            .map_or(Ok(true), |event| event.is_ready())
    }

    /// Blocks until its contents are there.
    ///
    /// # Errors
    /// The error of the computation or transfer that fills it; or that it was donated.
    pub fn wait(&self) -> Result<()> {
        self.ready_event("wait")?.map_or(Ok(()), |event| {
            event.wait().map_err(|e| e.during("computing a buffer"))
        })
    }

    /// Blocks until its contents are there or their computation has failed; whether
    /// they are there. An error stays to be reported by [`wait`](Buffer::wait).
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

    /// Copies the contents to host memory, dense and row-major, waiting for them.
    ///
    /// # Errors
    /// [`Error::HostSize`] when `host` has another length than
    /// [`size_bytes`](Buffer::size_bytes); the error of the computation that fills the
    /// buffer; or that it was donated.
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
        // On a CPU the device's memory is the host's: a transfer by the plugin takes 100
        // times as long for a scalar.
        if let Some(view) = self.host_view()? {
            host.copy_from_slice(&view);
            return Ok(());
        }
        // SAFETY: `host` is borrowed exclusively until the event has been waited for.
        let event = unsafe { self.start_copy(host.as_mut_ptr()) }?;
        event.map_or(Ok(()), |event| {
            event.wait().map_err(|e| e.during("reading a buffer"))
        })
    }

    /// Whether its device's memory is the host's.
    pub(crate) fn is_on_cpu(&self) -> bool {
        self.client().is_cpu
    }

    /// Whether the device keeps the last dimension contiguous, and so on outwards.
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
    /// When it was donated; else the plugin's error.
    pub fn to_host_async(&self) -> Result<HostCopy> {
        let mut bytes = AlignedBytes::zeroed(self.size_bytes());
        let event = if bytes.is_empty() {
            self.ready_event("to_host_async")?
        } else {
            // SAFETY: `HostCopy` keeps the bytes, untouched, until the event is done.
            unsafe { self.start_copy(bytes.as_mut_ptr()) }?
        };
        Ok(HostCopy { bytes, event })
    }

    /// Starts a transfer to `host`.
    ///
    /// # Safety
    /// `host` is writable for `size_bytes`, and nothing else uses it until the event
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
        // A device may keep dimensions in another order; below rank 2 there is one order.
        args.host_layout = if rank >= 2 { &layout } else { std::ptr::null() };
        args.dst = host.cast();
        args.dst_size = self.size_bytes();
        let api = self.client().api;
        // SAFETY: the buffer is live, the layout outlives the call, and the caller
        // vouches for `host`.
        unsafe {
            api.call(&mut args)
                .map_err(|e| e.during("reading a buffer"))?;
            Ok(Event::take(api, args.event))
        }
    }

    /// Copies it to another device of the same client, without waiting.
    ///
    /// # Errors
    /// When it was donated; else the plugin's error.
    pub fn copy_to_device(&self, device: Device) -> Result<Buffer> {
        self.check_live("copy_to_device")?;
        let mut args = sys::zeroed::<sys::BufferCopyToDevice>();
        args.buffer = self.raw.as_ptr();
        args.device = device.0.raw.as_ptr();
        // SAFETY: buffer and device are live.
        unsafe { self.client().api.call(&mut args) }?;
        let raw = NonNull::new(args.copy).expect("a copied buffer is not null");
        // SAFETY: a new buffer of the same type on `device`.
        Ok(unsafe { Buffer::new(raw, self.ty, device) })
    }

    /// Copies it to another memory of its device, such as `pinned_host`.
    ///
    /// # Errors
    /// When it was donated; else the plugin's error, also where it is in that memory
    /// already.
    pub fn copy_to_memory(&self, memory: &Memory) -> Result<Buffer> {
        self.check_live("copy_to_memory")?;
        let mut args = sys::zeroed::<sys::BufferCopyToMemory>();
        args.buffer = self.raw.as_ptr();
        args.memory = memory.raw.as_ptr();
        // SAFETY: the buffer is live, and memories live as long as their client.
        unsafe { self.client().api.call(&mut args) }?;
        let raw = NonNull::new(args.copy).expect("a copied buffer is not null");
        // SAFETY: a new buffer of the same type on the same device.
        Ok(unsafe { Buffer::new(raw, self.ty, self.device) })
    }

    /// The address of its memory on the device, for comparing only.
    ///
    /// # Errors
    /// When it was donated; else the plugin's error.
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
        Error::Donated {
            operation,
            ty: self.ty.to_string(),
        }
    }

    fn client(&self) -> &'static ClientInner {
        self.device.0.client
    }

    #[inline]
    pub(crate) fn raw(&self) -> *mut RawBuffer {
        self.raw.as_ptr()
    }

    /// Marks it as donated; false if it is donated already or in use.
    #[inline]
    pub(crate) fn claim(&self) -> bool {
        self.state
            .compare_exchange(0, DONATED, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }

    /// Ends a claim: an execution has taken the contents.
    #[inline]
    pub(crate) fn donate(&self, ticket: Ticket) {
        self.state.store(DONATED | ticket, Ordering::Release);
    }

    /// Ends a claim: the contents are still there.
    pub(crate) fn unclaim(&self) {
        self.state.store(0, Ordering::Release);
    }

    /// Keeps it from being donated until [`end_use`](Buffer::end_use); false if it is
    /// donated already.
    #[inline]
    pub(crate) fn begin_use(&self) -> bool {
        self.state
            .fetch_update(Ordering::AcqRel, Ordering::Relaxed, |state| {
                (state & DONATED == 0).then_some(state + 1)
            })
            .is_ok()
    }

    /// Ends what [`begin_use`](Buffer::begin_use) began.
    #[inline]
    pub(crate) fn end_use(&self) {
        self.state.fetch_sub(1, Ordering::AcqRel);
    }

    /// Asks the plugin whether the contents are gone.
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
            unsafe { client.under_way.push(self.raw, state & !DONATED) };
        } else {
            // SAFETY: as above. Running executions keep the memory for themselves.
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

/// A copy to host memory under way.
#[derive(Debug)]
pub struct HostCopy {
    bytes: AlignedBytes,
    event: Option<Event>,
}

impl HostCopy {
    /// Whether [`wait`](HostCopy::wait) would return at once.
    ///
    /// # Errors
    /// The plugin's error.
    pub fn is_ready(&self) -> Result<bool> {
        self.event
            .as_ref()
            .map_or(Ok(true), |event| event.is_ready())
    }

    /// Blocks until the bytes are there and returns them.
    ///
    /// # Errors
    /// The error of the computation that fills the buffer.
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
