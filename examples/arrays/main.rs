//! Introduces arrays, random numbers, and the programs that functions of arrays record.
//!
//! `cargo run --release --example arrays`
//!
//! Read it from top to bottom, next to its output.
#![forbid(unsafe_code)]

use clap::Parser;
use ramie::{Array, DType, Platform, array, grad, jit, make_jaxpr, random};
use ramie_examples::Result;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Introduce arrays, and how functions of arrays are compiled.
#[derive(Parser)]
struct Options {
    /// Seed of the random numbers.
    #[arg(long, default_value_t = 42)]
    seed: u64,
    /// Number of elements in the timed arrays.
    #[arg(long, default_value_t = 1000)]
    size: usize,
    /// Platform: cpu, cuda, tpu, rocm, oneapi or metal; defaults to the best one available.
    #[arg(long)]
    platform: Option<Platform>,
}

fn main() -> ExitCode {
    ramie_examples::main(run)
}

fn run(options: &Options) -> Result {
    ramie_examples::start(options.platform)?;
    making_arrays();
    computing();
    random_numbers(options.seed);
    programs();
    compiling(options.size);
    Ok(())
}

/// An array has a shape, a dtype and a device.
fn making_arrays() {
    println!("== Arrays");
    let zeros = Array::zeros(&[2, 5], DType::F32);
    println!("zeros:\n{zeros}");
    let b = Array::arange(6);
    println!("arange: {b}, {} on {}", b.aval(), b.devices()[0]);

    // Copy from the device to the host and back, as an `ndarray` or a vector.
    let on_host = b.to_ndarray::<i32>();
    let again = Array::from(&on_host);
    assert_eq!(again.to_vec::<i32>(), [0, 1, 2, 3, 4, 5]);
    // Both can be used in one expression, which the device computes.
    println!("device + host: {}", &b + &on_host);
}

/// Operations are methods and operators. They broadcast as in NumPy and never
/// modify an existing array.
fn computing() {
    println!("\n== Computing");
    let x = array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    println!("x:\n{x}");
    println!(
        "x * 10 + [1, 2, 3]:\n{}",
        &x * 10.0 + array([1.0, 2.0, 3.0])
    );
    println!("mean of each row: {}", x.mean_over(1));
    println!("the last column: {}", x.index((.., -1)));
    println!("x · xᵀ:\n{}", x.matmul(x.t()));

    let b = Array::arange(6);
    let c = b.at(0).set(1);
    println!("b.at(0).set(1) is {c}, b is still {b}");
}

/// A random number is a function of a key: the same key returns the same number.
/// Split a key to get more keys.
fn random_numbers(seed: u64) {
    println!("\n== Random numbers");
    let key = random::key(seed);
    let draw = |key: &random::Key| random::normal(key, &[], DType::F32).item::<f32>();
    println!("normal: {}, and again: {}", draw(&key), draw(&key));
    let [a, b] = key.split_into();
    println!("of two keys made from it: {}, {}", draw(&a), draw(&b));
}

// ANCHOR: programs
fn simple_graph(x: Array) -> Array {
    let x = (x + 2.0).power(2);
    (x + 3.0).mean()
}

/// A function of arrays is an ordinary Rust function. Called with tracers, it
/// records a program, which can be printed, differentiated and compiled.
fn programs() {
    println!("\n== Programs");
    let x = array([0.0, 1.0, 2.0]);
    println!("value: {}", simple_graph(x.clone()));
    println!("program:\n{}", make_jaxpr(simple_graph)(x.clone()));
    println!("gradient: {}", grad(simple_graph)(x.clone()));
    println!("its program:\n{}", make_jaxpr(grad(simple_graph))(x));
}
// ANCHOR_END: programs

/// `jit` compiles the program at the first call, once for each argument type.
fn compiling(size: usize) {
    println!("\n== Compiling");
    // Side effects of Rust code happen while the function is traced: once per
    // compilation, however often the program runs.
    let traces = AtomicUsize::new(0);
    let f = jit(|x: Array| {
        traces.fetch_add(1, Ordering::Relaxed);
        simple_graph(x)
    });
    let x = random::normal(&random::key(0), &[size], DType::F32);
    for _ in 0..5 {
        f(x.clone());
    }
    println!("5 calls, traced {} time", traces.load(Ordering::Relaxed));
    f(random::normal(&random::key(0), &[size + 1], DType::F32));
    println!("another shape, compiled {} times", f.compilations());
    println!("because: {}", f.last_retrace().unwrap_or_default());

    let one_by_one = time(|| simple_graph(x.clone()));
    let compiled = time(|| f(x.clone()));
    println!("operation by operation: {one_by_one:.2?} a call, compiled: {compiled:.2?}");
}

/// Returns the time per call. Calls return before the device is done; waiting for
/// the last result waits for all.
fn time(f: impl Fn() -> Array) -> Duration {
    const CALLS: u32 = 1000;
    f().block_until_ready();
    let start = Instant::now();
    let last = (0..CALLS).map(|_| f()).last();
    last.expect("a call").block_until_ready();
    start.elapsed() / CALLS
}
