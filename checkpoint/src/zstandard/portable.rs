//! Zstandard in Rust, for systems without a C compiler. It decompresses at a third of the C library's
//! speed, and its compressed files are larger.

use ruzstd::decoding::{FrameDecoder, StreamingDecoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::io::{self, Read};

/// Compresses at the only level that the crate has.
pub(crate) fn compress(content: &[u8], _level: i32) -> io::Result<Vec<u8>> {
    Ok(compress_to_vec(content, CompressionLevel::Fastest))
}

/// Decompresses all frames into `out`. Returns the number of decompressed bytes.
pub(crate) fn decompress(frames: &[u8], out: &mut [u8]) -> io::Result<usize> {
    FrameDecoder::new()
        .decode_all(frames, out)
        .map_err(io::Error::other)
}

/// Decompresses the first frame, or the first `limit` bytes of its contents. Returns the contents, and
/// the number of bytes that follow the frame.
pub(crate) fn first_frame(frames: &[u8], limit: usize) -> io::Result<(Vec<u8>, usize)> {
    let mut decoder = StreamingDecoder::new(frames).map_err(io::Error::other)?;
    let mut content = Vec::new();
    decoder
        .by_ref()
        .take(limit as u64)
        .read_to_end(&mut content)?;
    Ok((content, decoder.into_inner().len()))
}
