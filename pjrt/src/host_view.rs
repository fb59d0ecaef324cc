//! Contents of buffers where they are, on devices whose memory is the host's.

use crate::buffer::Buffer;
use crate::error::Result;
use std::fmt;
use std::ops::Deref;

/// The contents of a buffer, dense and row-major, without a copy. The buffer is not
/// donated while it is held.
pub struct HostView<'a> {
    buffer: &'a Buffer,
    bytes: &'a [u8],
}

impl Buffer {
    /// The contents as they lie in memory, once they are there; `None` where that is
    /// not the host's memory, or they are in another form than
    /// [`copy_to_host`](Buffer::copy_to_host) gives.
    ///
    /// # Errors
    /// The error of the computation that fills the buffer; or that it was donated.
    pub fn host_view(&self) -> Result<Option<HostView<'_>>> {
        let ty = self.buffer_type();
        if !self.is_on_cpu() || !ty.element_type().is_whole_bytes() {
            return Ok(None);
        }
        self.wait()?;
        if !self.begin_use() {
            return Err(self.donated("host_view"));
        }
        // From here on the view's end ends the use.
        let mut view = HostView {
            buffer: self,
            bytes: &[],
        };
        if ty.rank() >= 2 && !self.is_row_major()? {
            return Ok(None);
        }
        if ty.size_bytes() > 0 {
            let start = std::ptr::with_exposed_provenance(self.address()?);
            // SAFETY: the buffer is computed and holds this many bytes in row-major
            // order; they are neither written to nor freed while the view keeps it from
            // being donated, which is no longer than it is borrowed.
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
