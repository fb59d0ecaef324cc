//! Hashing on the hot path: a fast hasher for tables keyed by addresses and
//! small values, and a 128-bit one for signatures.

use std::hash::Hasher;

const K0: u64 = 0x9E37_79B9_7F4A_7C15;
const K1: u64 = 0xD6E8_FEB8_6659_FD93;

fn fold(a: u64, b: u64) -> u64 {
    let wide = u128::from(a) * u128::from(b);
    (wide as u64) ^ ((wide >> 64) as u64)
}

/// Splits bytes into words of eight, the last padded with zeros; also returns the number of bytes
/// in each.
pub fn words(bytes: &[u8]) -> impl Iterator<Item = (u64, usize)> + '_ {
    bytes.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        (u64::from_le_bytes(word), chunk.len())
    })
}

/// A multiply-and-fold hasher for tables in this process.
#[derive(Clone, Copy, Default)]
pub struct FastHasher(u64);

impl Hasher for FastHasher {
    fn write(&mut self, bytes: &[u8]) {
        for (word, count) in words(bytes) {
            self.write_u64(word ^ ((count as u64) << 56));
        }
    }
    fn write_u8(&mut self, v: u8) {
        self.write_u64(v.into());
    }
    fn write_u32(&mut self, v: u32) {
        self.write_u64(v.into());
    }
    fn write_usize(&mut self, v: usize) {
        self.write_u64(v as u64);
    }
    fn write_u64(&mut self, v: u64) {
        self.0 = fold(self.0.rotate_left(23) ^ v ^ K0, K1);
    }
    fn finish(&self) -> u64 {
        self.0
    }
}

/// A table with [`FastHasher`].
pub type FastMap<K, V> = std::collections::HashMap<K, V, std::hash::BuildHasherDefault<FastHasher>>;

/// A hasher with two independent lanes: 128 bits, so that two signatures of a process never
/// collide by chance.
#[derive(Clone, Copy, Debug)]
pub struct WideHasher(u64, u64);

impl Default for WideHasher {
    fn default() -> Self {
        WideHasher(K0, K1)
    }
}

impl WideHasher {
    /// Returns both lanes.
    pub fn finish_wide(&self) -> (u64, u64) {
        (fold(self.0, K1), fold(self.1, K0))
    }
}

impl Hasher for WideHasher {
    fn write(&mut self, bytes: &[u8]) {
        for (word, _) in words(bytes) {
            self.write_u64(word);
        }
        self.write_u64(bytes.len() as u64);
    }
    fn write_u8(&mut self, v: u8) {
        self.write_u64(v.into());
    }
    fn write_u32(&mut self, v: u32) {
        self.write_u64(v.into());
    }
    fn write_usize(&mut self, v: usize) {
        self.write_u64(v as u64);
    }
    fn write_u64(&mut self, v: u64) {
        self.0 = fold(self.0.rotate_left(23) ^ v, K0 | 1);
        self.1 = fold(self.1.rotate_left(29) ^ v ^ K0, K1 | 1).wrapping_add(v);
    }
    fn finish(&self) -> u64 {
        self.0
    }
}

/// The words that a [`WideHasher`] receives, recorded to be passed to another one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words(Vec<u64>);

impl Words {
    /// Passes the words to a hasher.
    pub fn replay(&self, state: &mut impl Hasher) {
        for word in &self.0 {
            state.write_u64(*word);
        }
    }
}

impl Hasher for Words {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend(words(bytes).map(|(word, _)| word));
        self.0.push(bytes.len() as u64);
    }
    fn write_u8(&mut self, v: u8) {
        self.0.push(v.into());
    }
    fn write_u32(&mut self, v: u32) {
        self.0.push(v.into());
    }
    fn write_usize(&mut self, v: usize) {
        self.0.push(v as u64);
    }
    fn write_u64(&mut self, v: u64) {
        self.0.push(v);
    }
    fn finish(&self) -> u64 {
        self.0.len() as u64
    }
}
