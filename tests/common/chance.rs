//! Inputs by chance, each of a seed, and what they take.
//!
//! `RAMIE_FUZZ_INPUTS=1000000` gives more of them than a usual run has. The peak of memory
//! is that of the process.

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Instant;

/// Random numbers of a seed: SplitMix64.
pub struct Generator(u64);

impl Generator {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below another, which is small.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

/// The most memory that this process has had, in MB.
fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmPeak:"));
    let kb = line.and_then(|l| l.split_whitespace().next()?.parse::<u64>().ok());
    kb.unwrap_or(0) / 1024
}

/// Makes damaged inputs from numbers of theirs and a generator, and reads each: `usual` of
/// them, with no more memory than `most_mb`. One that panics is told. How many were still
/// sound is told, too, to see that not all fail at their first byte. Returns how many there
/// were.
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
