//! Measures how long programs take to compile and to run, and prints the bytes that a run needs.
//!
//! ```sh
//! cargo run --release -p ramie-cpu --example time FILE... [--threads N]
//! ```
//!
//! Floats are numbers between -0.5 and 0.5 and other arguments are zeros. The example prints
//! medians and, for runs, the shortest time.

use ramie_cpu::{Buffer, ElementType, Program, TensorType};
use std::time::{Duration, Instant};

/// Returns an argument of a program.
fn argument(ty: &TensorType) -> Result<Buffer, ramie_cpu::Error> {
    let size: usize = ty.shape.iter().product();
    let bytes = match ty.element {
        ElementType::F32 => (0..size)
            .flat_map(|i| ((i * 7919 % 1009) as f32 / 1009.0 - 0.5).to_le_bytes())
            .collect(),
        _ => vec![0; ty.byte_size().unwrap_or(0)],
    };
    Buffer::from_bytes(ty.clone(), &bytes)
}

/// Returns the median and the shortest time of a call in milliseconds, from calls during a second or two.
fn times(mut call: impl FnMut()) -> [f64; 2] {
    let (start, mut times) = (Instant::now(), Vec::new());
    while times.len() < 3 || start.elapsed() < Duration::from_millis(1500) {
        let before = Instant::now();
        call();
        times.push(before.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    [times[times.len() / 2], times[0]]
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (mut files, mut threads) = (Vec::new(), None);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--threads" => threads = Some(arguments.next().ok_or("--threads needs a number")?),
            _ => files.push(argument),
        }
    }
    for file in files {
        let text = std::fs::read_to_string(&file).map_err(|e| format!("{file}: {e}"))?;
        let mut program = Program::compile(&text).map_err(|e| format!("{file}: {e}"))?;
        if let Some(threads) = &threads {
            program = program.with_threads(threads.parse()?);
        }
        let [compile, _] = times(|| drop(Program::compile(&text)));
        let own: Vec<Buffer> = program
            .parameters()
            .iter()
            .map(argument)
            .collect::<Result<_, _>>()?;
        let own: Vec<&Buffer> = own.iter().collect();
        program.run(&own)?;
        let [run, best] = times(|| drop(program.run(&own)));
        let peak = program.peak();
        println!(
            "{file}: compile {compile:.3} ms, run {run:.3} ms, best {best:.3} ms, peak {peak} bytes"
        );
    }
    Ok(())
}
