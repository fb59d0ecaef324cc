//! Creation of device buffers from host memory.

use crate::buffer::Buffer;
use crate::client::Client;
use crate::error::{Error, ErrorCode, Result};
use crate::event::Event;
use crate::sys::{self, Api, RawError, host_buffer};
use crate::{AlignedBytes, BufferType, Device, ElementType};
use bytemuck::NoUninit;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

/// Host memory that a buffer can own.
///
/// # Safety
/// [`as_bytes`](HostData::as_bytes) must return the same memory every time, even after the value
/// is moved, and that memory must not change while the value is alive and not mutably borrowed.
pub unsafe trait HostData: Send + 'static {
    /// Returns the bytes, dense and row-major.
    fn as_bytes(&self) -> &[u8];
}

// SAFETY: owned heap memory without interior mutability.
unsafe impl HostData for AlignedBytes {
    fn as_bytes(&self) -> &[u8] {
        self
    }
}

// SAFETY: moving the box moves neither the value nor its memory.
unsafe impl HostData for Box<dyn HostData> {
    fn as_bytes(&self) -> &[u8] {
        (**self).as_bytes()
    }
}

// SAFETY: owned heap memory; `NoUninit` forbids padding and interior mutability.
unsafe impl<T: NoUninit + Send> HostData for Vec<T> {
    fn as_bytes(&self) -> &[u8] {
        bytemuck::cast_slice(self)
    }
}

// SAFETY: as for `Vec`.
unsafe impl<T: NoUninit + Send> HostData for Box<[T]> {
    fn as_bytes(&self) -> &[u8] {
        bytemuck::cast_slice(self)
    }
}

// SAFETY: as for `Vec`; shared memory is not writable while this handle is alive.
unsafe impl<T: NoUninit + Send + Sync> HostData for Arc<[T]> {
    fn as_bytes(&self) -> &[u8] {
        bytemuck::cast_slice(self)
    }
}

// SAFETY: the inner value is not writable while this handle is alive.
unsafe impl<T: HostData + Sync> HostData for Arc<T> {
    fn as_bytes(&self) -> &[u8] {
        (**self).as_bytes()
    }
}

/// Unaligned data below this size is copied during the call, because a copy on another thread
/// costs more than it saves.
const COPY_DURING_CALL: usize = 64 << 10;

impl Client {
    /// Creates a buffer from host bytes, which are copied during the call.
    ///
    /// `data` must be dense and row-major, with `ty.size_bytes()` bytes.
    ///
    /// # Errors
    /// Returns [`Error::HostSize`] if the length does not match, or the plugin's error.
    pub fn buffer_from_host(self, data: &[u8], ty: BufferType, device: Device) -> Result<Buffer> {
        check(self, "buffer_from_host", data.len(), ty, device)?;
        // SAFETY: with these semantics, the plugin does not use `data` after it returns.
        let (buffer, done) = unsafe {
            put(
                self.0.api,
                data.as_ptr(),
                ty,
                device,
                host_buffer::IMMUTABLE_ONLY_DURING_CALL,
            )
        }?;
        drop(done);
        Ok(buffer)
    }

    /// Creates a buffer that takes ownership of host memory.
    ///
    /// On a CPU device, memory aligned to 64 bytes (such as [`AlignedBytes`]) becomes the
    /// buffer's own without a copy, and is dropped when the device no longer needs it. Other
    /// memory is copied and then dropped.
    ///
    /// # Errors
    /// Returns [`Error::HostSize`] if the length does not match, or the plugin's error.
    pub fn buffer_from_owned<T: HostData>(
        self,
        data: T,
        ty: BufferType,
        device: Device,
    ) -> Result<Buffer> {
        let len = data.as_bytes().len();
        check(self, "buffer_from_owned", len, ty, device)?;
        let aligned = data
            .as_bytes()
            .as_ptr()
            .addr()
            .is_multiple_of(AlignedBytes::ALIGNMENT);
        let semantics = if aligned && len > 0 {
            host_buffer::IMMUTABLE_ZERO_COPY
        } else if len >= COPY_DURING_CALL {
            host_buffer::IMMUTABLE_UNTIL_TRANSFER_COMPLETES
        } else {
            return self.buffer_from_host(data.as_bytes(), ty, device);
        };
        let api = self.0.api;
        let owner = Box::new(Owner { data, api });
        let bytes = owner.data.as_bytes().as_ptr();
        // SAFETY: the owner is kept until the event is done.
        match unsafe { put(api, bytes, ty, device, semantics) }? {
            (buffer, None) => Ok(buffer),
            (buffer, Some(done)) => {
                let user = Box::into_raw(owner);
                // SAFETY: `release::<T>` may run on any thread because `T: Send`, and nothing
                // else uses `user` from now on.
                unsafe { done.on_ready(release::<T>, user.cast()) }?;
                if semantics == host_buffer::IMMUTABLE_UNTIL_TRANSFER_COMPLETES {
                    buffer.transfer_is_under_way();
                }
                Ok(buffer)
            }
        }
    }
}

/// The data that a shared buffer keeps alive.
struct Owner<T> {
    data: T,
    api: Api,
}

/// Drops the owner when the plugin no longer uses its memory.
///
/// # Safety
/// `user` must be a `Box<Owner<T>>` owned by this call; `error` must be null or owned by it.
unsafe extern "C" fn release<T: HostData>(error: *mut RawError, user: *mut c_void) {
    // SAFETY: guaranteed by the caller.
    let owner = unsafe { Box::from_raw(user.cast::<Owner<T>>()) };
    if !error.is_null() {
        // SAFETY: the error belongs to this call.
        let error = unsafe { owner.api.take_error(error, "transfer to device") };
        tracing::debug!(%error, "transfer to device failed");
    }
    // A panic must not unwind into the plugin.
    if std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(owner))).is_err() {
        tracing::error!("dropping host data that a buffer had shared panicked");
    }
}

fn check(
    client: Client,
    operation: &'static str,
    got: usize,
    ty: BufferType,
    device: Device,
) -> Result<()> {
    if got != ty.size_bytes() {
        return Err(Error::HostSize {
            operation,
            ty: ty.to_string(),
            got,
            expected: ty.size_bytes(),
        });
    }
    if device.client() != client {
        return Err(Error::ExecuteArgument {
            index: 0,
            device: device.id(),
            got: format!("device {device} of another client"),
            expected: format!("a device of this client ({})", client.platform_name()),
        });
    }
    Ok(())
}

/// Returns the error of a transfer, with its probable cause.
fn rejected(error: Error, ty: BufferType, device: Device) -> Error {
    let is_wide = matches!(ty.element_type(), ElementType::F64 | ElementType::C128);
    match error {
        Error::Plugin { code, message, .. } if is_wide && code != ErrorCode::ResourceExhausted => {
            Error::No64BitFloats {
                ty: ty.to_string(),
                platform: device.client().platform_name(),
                code,
                message,
            }
        }
        other => other,
    }
}

/// Starts a transfer. The event signals that the plugin no longer uses `data`.
///
/// # Safety
/// `data` must be readable for the size of `ty`, and stay so as long as `semantics` requires.
unsafe fn put(
    api: Api,
    data: *const u8,
    ty: BufferType,
    device: Device,
    semantics: u32,
) -> Result<(Buffer, Option<Event>)> {
    let mut args = sys::zeroed::<sys::ClientBufferFromHostBuffer>();
    args.client = device.0.client.raw.as_ptr();
    args.data = data.cast();
    args.element_type = ty.element_type() as u32;
    args.dims = ty.dims().as_ptr();
    args.num_dims = ty.rank();
    args.host_buffer_semantics = semantics;
    args.device = device.0.raw.as_ptr();
    // SAFETY: client and device are live, dimensions are interned, and the caller guarantees the
    // validity of `data`.
    unsafe { api.call(&mut args) }.map_err(|e| rejected(e, ty, device))?;
    // SAFETY: the event, if any, is ours.
    let done = unsafe { Event::take(api, args.done_with_host_buffer) };
    let raw = NonNull::new(args.buffer).expect("a created buffer is not null");
    // SAFETY: a new buffer of this type on this device.
    Ok((unsafe { Buffer::new(raw, ty, device) }, done))
}
