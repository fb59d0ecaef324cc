//! The codec of Orbax's files.

#[cfg_attr(target_family = "wasm", path = "portable.rs")]
mod native;

pub(crate) use native::{compress, decompress, first_frame};

/// The maximum size of `n` bytes when compressed.
pub(crate) fn bound(n: usize) -> usize {
    // As the format's own library computes it.
    n + (n >> 8) + (((128 << 10) - n.min(128 << 10)) >> 11)
}

#[cfg(test)]
#[path = "portable.rs"]
mod portable;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_codecs_read_what_either_wrote() {
        let text = b"a text that repeats itself, ".repeat(100);
        for content in [&b""[..], &[7; 200_000], &text] {
            let frames = [compress(content, 1), portable::compress(content, 1)];
            for frame in frames.map(Result::unwrap) {
                assert!(frame.len() <= bound(content.len()));
                let followed = [&frame[..], b"rest"].concat();
                for (decompress, first_frame) in [
                    (
                        decompress as fn(&_, &mut _) -> _,
                        first_frame as fn(&_, _) -> _,
                    ),
                    (portable::decompress, portable::first_frame),
                ] {
                    let mut out = vec![0; content.len()];
                    assert_eq!(decompress(&frame, &mut out).unwrap(), content.len());
                    assert_eq!(out, content);
                    let (whole, rest) = first_frame(&followed, 1 << 20).unwrap();
                    assert_eq!((&whole[..], rest), (content, 4));
                    let (start, _) = first_frame(&frame, 5).unwrap();
                    assert_eq!(start, content[..content.len().min(5)]);
                    assert!(first_frame(&frame[..frame.len() - 1], 1 << 20).is_err());
                }
            }
        }
    }

    #[test]
    fn the_bound_is_that_of_the_library() {
        for n in [0, 1, 1000, 128 << 10, (128 << 10) + 1, 5_000_000] {
            assert_eq!(bound(n), zstd::zstd_safe::compress_bound(n));
        }
    }
}
