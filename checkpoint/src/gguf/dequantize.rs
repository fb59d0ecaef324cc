//! Conversion of quantized blocks to `f32`, with the formulas of llama.cpp's reference functions.

use half::f16;
use ramie_core::files::{self, gguf::TensorType};
use std::fs::File;
use std::io;

/// Converts a block of the type's length in bytes to the type's number of elements.
type Convert = fn(&[u8], &mut [f32]);

/// The conversion of a quantized type.
pub(super) struct Dequantize {
    of: TensorType,
    convert: Convert,
}

/// Number of blocks that are read at once.
const BLOCKS: usize = 1024;

impl Dequantize {
    /// Returns the conversion of a type, or `None` if its elements are plain numbers.
    pub fn of(of: TensorType) -> Option<Dequantize> {
        let convert: Convert = match of.name() {
            "Q4_0" => q4_0,
            "Q4_1" => q4_1,
            "Q5_0" => q5_0,
            "Q5_1" => q5_1,
            "Q8_0" => q8_0,
            "Q4_K" => q4_k,
            "Q5_K" => q5_k,
            "Q6_K" => q6_k,
            _ => return None,
        };
        Some(Dequantize { of, convert })
    }

    /// Reads and converts the blocks from byte `start` of the file, as many as `out` has elements.
    pub fn read(&self, file: &File, mut start: u64, out: &mut [f32]) -> io::Result<()> {
        let (elements, bytes) = (self.of.block_len(), self.of.block_bytes());
        let mut blocks = vec![0; bytes * BLOCKS];
        for out in out.chunks_mut(elements * BLOCKS) {
            let blocks = &mut blocks[..out.len() / elements * bytes];
            files::read_exact_at(file, blocks, start)?;
            start += blocks.len() as u64;
            let pairs = blocks
                .chunks_exact(bytes)
                .zip(out.chunks_exact_mut(elements));
            for (block, out) in pairs {
                (self.convert)(block, out);
            }
        }
        Ok(())
    }
}

/// Returns the half-precision number at an offset.
fn half(block: &[u8], at: usize) -> f32 {
    f16::from_le_bytes([block[at], block[at + 1]]).to_f32()
}

/// Splits a byte into its low and its high four bits.
fn nibbles(byte: u8) -> (u8, u8) {
    (byte & 0x0f, byte >> 4)
}

/// Scale; 32 numbers of 4 bits, of which the low halves of the bytes come first.
fn q4_0(block: &[u8], out: &mut [f32]) {
    let scale = half(block, 0);
    let (first, second) = out.split_at_mut(16);
    for (j, &byte) in block[2..].iter().enumerate() {
        let (low, high) = nibbles(byte);
        first[j] = scale * (f32::from(low) - 8.0);
        second[j] = scale * (f32::from(high) - 8.0);
    }
}

/// Scale, minimum; numbers as in `Q4_0`.
fn q4_1(block: &[u8], out: &mut [f32]) {
    let (scale, minimum) = (half(block, 0), half(block, 2));
    let (first, second) = out.split_at_mut(16);
    for (j, &byte) in block[4..].iter().enumerate() {
        let (low, high) = nibbles(byte);
        first[j] = scale * f32::from(low) + minimum;
        second[j] = scale * f32::from(high) + minimum;
    }
}

/// Calls `put` with the numbers of 5 bits: their fifth bits are in four bytes, their other bits
/// follow as in `Q4_0`.
fn five_bits(bytes: &[u8], mut put: impl FnMut(usize, u8)) {
    let fifth = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    let bit = |i: usize| ((fifth >> i & 1) as u8) << 4;
    for (j, &byte) in bytes[4..].iter().enumerate() {
        let (low, high) = nibbles(byte);
        put(j, low | bit(j));
        put(j + 16, high | bit(j + 16));
    }
}

/// Scale; 32 numbers of 5 bits.
fn q5_0(block: &[u8], out: &mut [f32]) {
    let scale = half(block, 0);
    five_bits(&block[2..], |i, q| out[i] = scale * (f32::from(q) - 16.0));
}

/// Scale, minimum; 32 numbers of 5 bits.
fn q5_1(block: &[u8], out: &mut [f32]) {
    let (scale, minimum) = (half(block, 0), half(block, 2));
    five_bits(&block[4..], |i, q| out[i] = scale * f32::from(q) + minimum);
}

/// Scale; 32 signed bytes.
fn q8_0(block: &[u8], out: &mut [f32]) {
    let scale = half(block, 0);
    for (out, &q) in out.iter_mut().zip(&block[2..]) {
        *out = scale * f32::from(q.cast_signed());
    }
}

/// Returns the scale and the minimum of a group of 32 numbers: two of 8 pairs of 6-bit numbers in
/// 12 bytes. The last four pairs have their upper two bits in the bytes of the first four.
fn scale_and_minimum(packed: &[u8], group: usize) -> (f32, f32) {
    let (scale, minimum) = if group < 4 {
        (packed[group] & 63, packed[group + 4] & 63)
    } else {
        let (low, high) = nibbles(packed[group + 4]);
        (
            low | packed[group - 4] >> 6 << 4,
            high | packed[group] >> 6 << 4,
        )
    };
    (f32::from(scale), f32::from(minimum))
}

/// Converts groups of 32 numbers, each with its scale and minimum. `upper(group, i)` is what the
/// high bits add to the number at index `i` of the group.
fn groups(block: &[u8], numbers: &[u8], out: &mut [f32], upper: impl Fn(usize, usize) -> u8) {
    let (scale, minimum) = (half(block, 0), half(block, 2));
    for (group, out) in out.chunks_exact_mut(32).enumerate() {
        let (s, m) = scale_and_minimum(&block[4..16], group);
        let (s, m) = (scale * s, minimum * m);
        // Two groups share 32 bytes.
        let bytes = &numbers[group / 2 * 32..][..32];
        for (i, (out, &byte)) in out.iter_mut().zip(bytes).enumerate() {
            let (low, high) = nibbles(byte);
            let q = if group % 2 == 0 { low } else { high };
            *out = s * f32::from(q + upper(group, i)) - m;
        }
    }
}

/// Scale, minimum; scales and minima of 8 groups; 256 numbers of 4 bits.
fn q4_k(block: &[u8], out: &mut [f32]) {
    groups(block, &block[16..], out, |_, _| 0);
}

/// As `Q4_K`, with the fifth bits of the numbers in 32 bytes before the others.
fn q5_k(block: &[u8], out: &mut [f32]) {
    let fifth = &block[16..48];
    groups(block, &block[48..], out, |group, i| {
        (fifth[i] >> group & 1) << 4
    });
}

/// 256 numbers of 6 bits: low four bits in 128 bytes, high two bits in 64 bytes; 16 scales in
/// signed bytes, each of 16 numbers; scale.
fn q6_k(block: &[u8], out: &mut [f32]) {
    let (low, rest) = block.split_at(128);
    let (high, rest) = rest.split_at(64);
    let scale = half(rest, 16);
    for (part, out) in out.chunks_exact_mut(128).enumerate() {
        let (low, high) = (&low[64 * part..][..64], &high[32 * part..][..32]);
        for (i, out) in out.iter_mut().enumerate() {
            let (quarter, at) = (i / 32, i % 32);
            let (a, b) = nibbles(low[at + 32 * (quarter % 2)]);
            let lower = if quarter < 2 { a } else { b };
            let q = lower | (high[at] >> (2 * quarter) & 3) << 4;
            let s = f32::from(rest[8 * part + i / 16].cast_signed());
            *out = scale * s * (f32::from(q) - 32.0);
        }
    }
}
