//! Random inputs, one for each seed, and the memory that reading them takes.
//!
//! `RAMIE_FUZZ_INPUTS=1000000` sets the number of inputs. The peak of memory is that of the process.

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Instant;

/// A random number generator: SplitMix64.
pub struct Generator(u64);

impl Generator {
    /// Returns the next number.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `n`, which must be small.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next_u64() % n as u64) as usize
    }
}

/// The most memory that this process has had, in MB.
fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmPeak:"));
    let kb = line.and_then(|l| l.split_whitespace().next()?.parse::<u64>().ok());
    kb.unwrap_or(0) / 1024
}

/// Reads `usual` damaged inputs, which `damaged` makes from an index and a generator. Returns how
/// many inputs it read.
///
/// Prints how many inputs were readable, which shows that not all fail at their first byte.
///
/// # Panics
/// If reading panics, if all inputs are readable, or if reading takes `most_mb` of memory.
pub fn read_many<I: Debug>(
    name: &str,
    usual: usize,
    most_mb: u64,
    mut damaged: impl FnMut(usize, &mut Generator) -> I,
    mut read: impl FnMut(&I) -> bool,
) -> usize {
    let inputs = std::env::var("RAMIE_FUZZ_INPUTS").ok();
    let inputs: usize = inputs.map_or(usual, |n| n.parse().expect("a number of inputs"));
    let before = peak_mb();
    let (start, mut readable) = (Instant::now(), 0);
    for i in 0..inputs {
        let input = damaged(i, &mut Generator(i as u64));
        let seen = catch_unwind(AssertUnwindSafe(|| read(&input)));
        readable += usize::from(seen.unwrap_or_else(|panic| {
            eprintln!("{name}: input {i} of {inputs} panics: {input:?}");
            resume_unwind(panic)
        }));
    }
    let (more, seconds) = (peak_mb() - before, start.elapsed().as_secs_f64());
    println!(
        "{name}: {inputs} inputs, {readable} of them readable, {seconds:.0} s, {more} MB more"
    );
    assert!(readable < inputs, "{name}: no input was damaged");
    assert!(more < most_mb, "{name}: took {more} MB");
    inputs
}
