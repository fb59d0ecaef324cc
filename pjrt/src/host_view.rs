//! Zero-copy views of buffers in host memory.

use crate::buffer::Buffer;
use crate::error::Result;
use std::fmt;
use std::ops::Deref;

/// A view of the contents of a buffer, dense and row-major, without a copy. The buffer cannot be
/// donated while the view exists.
pub struct HostView<'a> {
    buffer: &'a Buffer,
    bytes: &'a [u8],
}

impl Buffer {
    /// Waits for the contents and returns a view of them. Returns `None` if they are not in host
    /// memory, or if their layout differs from that of [`copy_to_host`](Buffer::copy_to_host).
    ///
    /// # Errors
    /// Returns the error of the computation that produces the buffer, or an error if the buffer
    /// was donated.
    pub fn host_view(&self) -> Result<Option<HostView<'_>>> {
        let ty = self.buffer_type();
        if !self.is_on_cpu() || !ty.element_type().is_whole_bytes() {
            return Ok(None);
        }
        self.wait()?;
        if !self.begin_use() {
            return Err(self.donated("host_view"));
        }
        // From here on, dropping the view ends the use.
        let mut view = HostView {
            buffer: self,
            bytes: &[],
        };
        if ty.rank() >= 2 && !self.is_row_major()? {
            return Ok(None);
        }
        if ty.size_bytes() > 0 {
            let start = std::ptr::with_exposed_provenance(self.address()?);
            // SAFETY: the buffer is computed and contains this many bytes in row-major order.
            // They are neither written nor freed while the view prevents donation, and the view
            // lives no longer than its borrow.
            view.bytes = unsafe { std::slice::from_raw_parts(start, ty.size_bytes()) };
        }
        Ok(Some(view))
    }
}

impl Deref for HostView<'_> {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        self.bytes
    }
}

impl Drop for HostView<'_> {
    fn drop(&mut self) {
        self.buffer.end_use();
    }
}

impl fmt::Debug for HostView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostView({})", self.buffer.buffer_type())
    }
}
