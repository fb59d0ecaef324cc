//! Reading of a file at an offset, without its shared cursor.

use std::fs::File;
use std::io::{self, Read};

/// A reader of the bytes of a file from an offset.
pub(super) struct At<'a> {
    pub file: &'a File,
    pub offset: u64,
}

impl Read for At<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let count = std::os::unix::fs::FileExt::read_at(self.file, bytes, self.offset)?;
        #[cfg(windows)]
        let count = std::os::windows::fs::FileExt::seek_read(self.file, bytes, self.offset)?;
        self.offset += count as u64;
        Ok(count)
    }
}
