//! A custom primitive, used like any other: differentiated, batched, compiled, and
//! applied in a fit that is robust to outliers.
//!
//! `cargo run --release --example custom_primitive`
#![forbid(unsafe_code)]

mod log_cosh;

use clap::Parser;
use log_cosh::log_cosh;
use ramie::{Array, DType, array, grad, jit, make_jaxpr, random, value_and_grad, vmap, where_};
use ramie_examples::Result;
use ramie_plot::Plot;
use std::path::PathBuf;
use std::process::ExitCode;

/// Fit a line with a loss that is a custom primitive.
#[derive(Parser)]
struct Options {
    /// Number of points.
    #[arg(long, default_value_t = 100)]
    points: usize,
    /// Steps of gradient descent.
    #[arg(long, default_value_t = 600)]
    steps: usize,
    /// Output folder.
    #[arg(long, default_value = "out/custom_primitive")]
    out: PathBuf,
    /// Write no picture.
    #[arg(long)]
    no_plots: bool,
}

/// Slope of the line `SLOPE x + 1`, on which all points except the outliers lie.
const SLOPE: f64 = 2.0;

fn main() -> ExitCode {
    ramie_examples::main(run)
}

fn run(options: &Options) -> Result {
    ramie_examples::start(None)?;
    if !options.no_plots {
        ramie_examples::create_folder(&options.out)?;
    }
    as_any_other()?;
    let (x, y) = points(options.points);
    let robust = fit(options.steps, &x, &y, |error: Array| {
        log_cosh(&(error * 10.0))
    })?;
    let squares = fit(options.steps, &x, &y, |error: Array| error.square())?;
    println!(
        "least squares: slope {:.3}, at 0 {:.3}",
        squares.0, squares.1
    );
    println!("log cosh: slope {:.3}, at 0 {:.3}", robust.0, robust.1);
    if !options.no_plots {
        draw(options, &x, &y, squares, robust)?;
    }
    let off = (robust.0 - SLOPE as f32).abs();
    println!("Slope: {:.3}, which is {off:.3} off", robust.0);
    Ok(())
}

/// Composes `log(cosh(x))` of built-in operations.
fn composed(x: &Array) -> Array {
    x.cosh().log()
}

fn as_any_other() -> Result {
    let x = array([-200.0, -1.0, 0.0, 0.5, 200.0]);
    println!("log_cosh: {}", log_cosh(&x));
    println!("composed: {}", composed(&x));
    let f = |x: Array| log_cosh(&x).sum();
    println!("gradient: {}", grad(f)(x.clone()));
    println!(
        "composed: {}",
        grad(|x: Array| composed(&x).sum())(x.clone())
    );
    println!("program:\n{}", make_jaxpr(grad(f))(x.clone()));

    // Second derivatives of each element, compiled.
    let second = jit(vmap(grad(grad(|x: Array| log_cosh(&x)))));
    let expected = 1.0 - x.tanh().square();
    let apart = (second(x) - expected).abs().max().item::<f32>();
    println!("second derivatives: at most {apart:.0e} from 1 - tanh²");
    if apart < 1e-6 {
        Ok(())
    } else {
        Err("the second derivative is wrong".into())
    }
}

/// Returns points near a line. Every tenth is an outlier far above it, more so to the right.
fn points(count: usize) -> (Array, Array) {
    let x = Array::linspace(-1.0, 1.0, count);
    let noise = random::normal(&random::key(0), &[count], DType::F32) * 0.05;
    let wild = (Array::arange(count) % 10).eq(9);
    let y = &x * SLOPE + 1.0 + noise;
    (x.clone(), where_(&wild, &y + (&x + 1.0) * 50.0, &y))
}

/// Fits a line with the smallest loss of its errors; returns its slope and its value at 0.
fn fit(
    steps: usize,
    x: &Array,
    y: &Array,
    loss: impl Fn(Array) -> Array + Copy + Send + Sync,
) -> Result<(f32, f32)> {
    let step = jit(|line: &mut Array, x: Array, y: Array| {
        let objective = |line: Array| {
            let error = &x * line.index(0) + line.index(1) - &y;
            loss(error).mean()
        };
        let (value, slope) = value_and_grad(objective)(line.clone());
        *line -= slope * 0.01;
        value
    });
    let mut line = array([0.0, 0.0]);
    for _ in 0..steps {
        ramie_examples::ahead(|| step.lower_with(&line, (x.clone(), y.clone())))?;
        step(&mut line, x.clone(), y.clone());
    }
    let line = line.to_vec::<f32>();
    Ok((line[0], line[1]))
}

fn draw(
    options: &Options,
    x: &Array,
    y: &Array,
    squares: (f32, f32),
    robust: (f32, f32),
) -> Result {
    let (x, y) = (x.to_vec::<f32>(), y.to_vec::<f32>());
    // Draw only nearby points, so that the lines are visible.
    let near = x.iter().zip(&y).filter(|(_, y)| **y < 10.0);
    let line = |(slope, start): (f32, f32)| [-1.0, 1.0].map(|x| (x, slope * x + start));
    let path = options.out.join("fit.png");
    Plot::new()
        .x_label("x")
        .dots("points", near)
        .line("least squares", line(squares))
        .line("log cosh", line(robust))
        .save(&path)?;
    println!("Wrote {}", path.display());
    Ok(())
}
