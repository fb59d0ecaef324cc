//! `first_step`: the time from the start of a process until its first digits step has finished,
//! with a warm compilation cache.

use crate::report::{Line, Times};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Starts `samples` fresh processes with a warm cache and prints a line.
pub fn measure(samples: usize) -> std::io::Result<()> {
    let cache = tempfile::tempdir()?;
    let program = std::env::current_exe()?;
    let mut times = Vec::new();
    let mut counts = String::new();
    for _ in 0..samples + 2 {
        let start = Instant::now();
        let mut child = Command::new(&program)
            .args(["--inside", "first_step"])
            .env("RAMIE_COMPILATION_CACHE", cache.path())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        let out = child.stdout.take().expect("the pipe");
        BufReader::new(out).read_line(&mut line)?;
        times.push(start.elapsed().as_secs_f64());
        if !child.wait()?.success() {
            std::process::exit(1);
        }
        counts = line.trim().to_string();
    }
    // The first run fills the cache, and the second is discarded.
    let empty_cache = times[0];
    let line = Line::of("first_step")
        .times(&Times::new(times.split_off(2)))
        .seconds("empty_cache_s", empty_cache);
    let counts = ["compiled", "loaded", "loss"]
        .into_iter()
        .zip(counts.split(' '));
    counts
        .fold(line, |line, (name, n)| line.value(name, n))
        .print();
    Ok(())
}

/// Runs a measured process, which prints the number of programs that it compiled, the number that
/// it loaded, and the loss.
pub fn inside() {
    let loss = crate::digits::first_step();
    let stats = ramie::core::compilation_stats();
    println!("{} {} {loss}", stats.compiled, stats.loaded);
}
