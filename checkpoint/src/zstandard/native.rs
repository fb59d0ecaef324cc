//! Zstandard by its C library.

use std::io::{self, Read};

pub(crate) fn compress(content: &[u8], level: i32) -> io::Result<Vec<u8>> {
    zstd::bulk::compress(content, level)
}

/// Decompresses all frames into `out`. Returns the number of decompressed bytes.
pub(crate) fn decompress(frames: &[u8], out: &mut [u8]) -> io::Result<usize> {
    zstd::bulk::Decompressor::new()?.decompress_to_buffer(frames, out)
}

/// Decompresses the first frame, or the first `limit` bytes of its contents. Returns the contents, and
/// the number of bytes that follow the frame.
pub(crate) fn first_frame(frames: &[u8], limit: usize) -> io::Result<(Vec<u8>, usize)> {
    let mut decoder = zstd::stream::read::Decoder::with_buffer(frames)?.single_frame();
    let mut content = Vec::new();
    decoder
        .by_ref()
        .take(limit as u64)
        .read_to_end(&mut content)?;
    Ok((content, decoder.finish().len()))
}
