//! Reader of WAV files, which contain uncompressed audio.
//!
//! ```
//! use ramie_data::readers::wav;
//! // The sizes of the file and of its first chunk, the format (integers, one channel, 8,000
//! // samples and bytes per second, one byte per sample of 8 bits), and three samples.
//! let mut bytes = b"RIFF\x28\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0".to_vec();
//! bytes.extend(b"\x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0data\x03\0\0\0\x80\xc0\x40\0");
//! let sound = wav::parse("sound.wav", &bytes)?;
//! assert_eq!((sound.sample_rate, sound.mono()), (8000, vec![0.0, 0.5, -0.5]));
//! # Ok::<(), ramie_data::Error>(())
//! ```

use super::file::{bad_file, damaged, name_of, read, read_exactly};
use crate::Result;
use ndarray::{Array2, Axis};
use ramie_core::files::Message;
use std::io::Read;
use std::path::Path;

/// The audio of a WAV file.
#[derive(Clone, Debug, PartialEq)]
pub struct Wav {
    /// Number of samples per second and channel.
    pub sample_rate: u32,
    /// The samples, `[length, channels]`. Integers are scaled to numbers from -1 to 1.
    pub samples: Array2<f32>,
}

impl Wav {
    /// Returns the mean of the channels.
    pub fn mono(&self) -> Vec<f32> {
        let mean = self.samples.mean_axis(Axis(1));
        mean.map_or_else(Vec::new, |mean| mean.to_vec())
    }
}

/// Loads a file with integers of 8, 16, 24 or 32 bits or floats of 32 or 64 bits.
///
/// # Errors
/// Returns an error if the file cannot be read, is damaged, or is compressed.
pub fn load(path: impl AsRef<Path>) -> Result<Wav> {
    let path = path.as_ref();
    parse(&name_of(path), &read(path)?)
}

/// Parses the contents of a WAV file. Errors refer to the file by the name `file`.
///
/// # Errors
/// Returns an error if the contents are damaged or compressed.
pub fn parse(file: &str, mut bytes: &[u8]) -> Result<Wav> {
    let reader: &mut dyn Read = &mut bytes;
    let header = read_exactly(reader, 12, file, "the header")?;
    if header[..4] != *b"RIFF" || header[8..] != *b"WAVE" {
        let message = Message::new("is not a WAV file").help(CONVERT);
        return Err(bad_file(file, message));
    }
    let mut format = None;
    loop {
        let header = read_exactly(reader, 8, file, "the header of a chunk")?;
        let size = u32::from_le_bytes([header[4], header[5], header[6], header[7]]) as usize;
        let name = String::from_utf8_lossy(&header[..4]);
        let chunk = read_exactly(reader, size, file, &format!("the chunk `{name}`"))?;
        match &*name {
            "fmt " => format = Some(Format::parse(file, &chunk)?),
            "data" => {
                let Some(format) = format else {
                    return Err(damaged(file, "has no chunk `fmt ` before its samples"));
                };
                return format.decode(file, &chunk);
            }
            _ => {}
        }
        // Chunks begin at even offsets.
        read_exactly(reader, size % 2, file, "the padding of a chunk")?;
    }
}

/// The remedy for a file in an unsupported format.
const CONVERT: &str = "convert it, for example with `ffmpeg -i FILE -c:a pcm_s16le out.wav`";

/// The format of the samples.
struct Format {
    channels: usize,
    sample_rate: u32,
    /// Number of bytes of a sample.
    size: usize,
    /// Converts the bytes of a sample.
    convert: fn(&[u8]) -> f32,
}

impl Format {
    fn parse(file: &str, chunk: &[u8]) -> Result<Format> {
        let short = |at: usize| {
            let bytes = chunk.get(at..at + 2);
            bytes.map_or(0, |b| u16::from_le_bytes([b[0], b[1]]))
        };
        // An extended format has its number in a later field.
        let number = if short(0) == 0xfffe {
            short(24)
        } else {
            short(0)
        };
        let (channels, bits) = (usize::from(short(2)), short(14));
        let convert: fn(&[u8]) -> f32 = match (number, bits) {
            (1, 8) => |b| (f32::from(b[0]) - 128.0) / 128.0,
            (1, 16) => |b| f32::from(i16::from_le_bytes([b[0], b[1]])) / 32768.0,
            (1, 24) => |b| i32::from_le_bytes([0, b[0], b[1], b[2]]) as f32 / 2147483648.0,
            (1, 32) => |b| i32::from_le_bytes([b[0], b[1], b[2], b[3]]) as f32 / 2147483648.0,
            (3, 32) => |b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]),
            (3, 64) => |b| f64::from_le_bytes(std::array::from_fn(|i| b[i])) as f32,
            _ => {
                let message = Message::new(format!(
                    "has samples of format {number} and {bits} bits, expected format 1 \
                (integers) and 8, 16, 24 or 32 bits, or format 3 (floats) and 32 or 64 bits"
                ))
                .help(CONVERT);
                return Err(bad_file(file, message));
            }
        };
        if channels == 0 {
            return Err(damaged(file, "has 0 channels, expected 1 or more"));
        }
        Ok(Format {
            channels,
            sample_rate: u32::from(short(4)) | u32::from(short(6)) << 16,
            size: usize::from(bits / 8),
            convert,
        })
    }

    fn decode(&self, file: &str, data: &[u8]) -> Result<Wav> {
        let frame = self.size * self.channels;
        if !data.len().is_multiple_of(frame) {
            let message = format!(
                "has {} bytes of samples, expected a multiple of {frame}; the file is cut short",
                data.len()
            );
            return Err(damaged(file, message));
        }
        let samples = data.chunks_exact(self.size).map(self.convert).collect();
        let shape = (data.len() / frame, self.channels);
        Ok(Wav {
            sample_rate: self.sample_rate,
            samples: Array2::from_shape_vec(shape, samples).expect("one number per sample"),
        })
    }
}
