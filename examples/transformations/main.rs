//! Function transformations: gradients, batching, compilation, several devices, and
//! their compositions.
//!
//! `cargo run --release --example transformations`
#![forbid(unsafe_code)]

use clap::Parser;
use ramie::lax::pmean;
use ramie::options::{PmapOptions, RuntimeOptions};
use ramie::{
    Array, DType, Tree, array, configure, devices, grad, hessian, jacfwd, jit, jvp, pmap_with,
    random, stack, tree, value_and_grad, vmap, vmap_with,
};
use ramie_examples::Result;
use ramie_plot::Plot;
use std::path::PathBuf;
use std::process::ExitCode;

/// Introduce function transformations.
#[derive(Parser)]
struct Options {
    /// Steps of gradient descent.
    #[arg(long, default_value_t = 100)]
    steps: usize,
    /// Number of virtual CPU devices.
    #[arg(long, default_value_t = 4)]
    devices: usize,
    /// Output directory.
    #[arg(long, default_value = "out/transformations")]
    out: PathBuf,
    /// Write no picture.
    #[arg(long)]
    no_plots: bool,
}

/// The parameters of a linear model, `inputs · w + b`. Any pytree of arrays can be
/// differentiated, mapped and compiled.
#[derive(Clone, Tree)]
struct Line {
    w: Array,
    b: Array,
}

/// Maps inputs `[.., 3]` to outputs `[..]`.
fn predict(line: Line, inputs: Array) -> Array {
    inputs.matmul(line.w) + line.b
}

fn loss(line: Line, inputs: Array, targets: Array) -> Array {
    (predict(line, inputs) - targets).square().mean()
}

fn main() -> ExitCode {
    ramie_examples::main(run)
}

fn run(options: &Options) -> Result {
    if options.devices == 0 {
        return Err("--devices must be at least 1".into());
    }
    if !options.no_plots {
        ramie_examples::create_folder(&options.out)?;
    }
    configure(RuntimeOptions {
        cpu_devices: Some(options.devices),
        ..Default::default()
    })?;
    let [a, b] = random::key(0).split_into();
    let inputs = random::normal(&a, &[8 * options.devices, 3], DType::F32);
    let truth = Line {
        w: array([1.0, -2.0, 0.5]),
        b: array(3.0),
    };
    let noise = random::normal(&b, &[inputs.shape()[0]], DType::F32) * 0.01;
    let targets = predict(truth.clone(), inputs.clone()) + noise;
    let start = Line {
        w: Array::zeros(&[3], DType::F32),
        b: array(0.0),
    };

    derivatives(options)?;
    batches(&start, &inputs, &targets)?;
    let alone = descend(options.steps, start.clone(), &inputs, &targets);
    println!(
        "after {} steps: w {}, b {}",
        options.steps, alone.w, alone.b
    );
    on_many_devices(options, start, &inputs, &targets, &alone)
}

/// `grad` maps a function to a function, so the result can be differentiated again.
fn derivatives(options: &Options) -> Result {
    println!("== Derivatives");
    let f = |x: Array| x.tanh();
    let x = array(0.5);
    println!("tanh at 0.5: {}", f(x.clone()));
    println!("first derivative: {}", grad(f)(x.clone()));
    println!("second: {}", grad(grad(f))(x.clone()));
    println!("third: {}", grad(grad(grad(f)))(x.clone()));
    let (_, tangent) = jvp(f, x, array(2.0));
    println!("along a tangent of 2: {tangent}");

    let g = |x: Array| x.square().sum() * x.prod();
    let x = array([1.0, 2.0, 3.0]);
    println!(
        "a Jacobian:\n{}",
        jacfwd(|x: Array| x.cumsum(0) * &x)(x.clone())
    );
    println!("a Hessian:\n{}", hessian(g)(x));

    if !options.no_plots {
        let xs = Array::linspace(-3.0, 3.0, 200);
        // `vmap` turns a function of one number into a function of many.
        let points = |ys: Array| xs.to_vec::<f32>().into_iter().zip(ys.to_vec::<f32>());
        let path = options.out.join("tanh.png");
        Plot::new()
            .x_label("x")
            .line("tanh", points(vmap(f)(xs.clone())))
            .line("tanh'", points(vmap(grad(f))(xs.clone())))
            .line("tanh''", points(vmap(grad(grad(f)))(xs.clone())))
            .save(&path)?;
        println!("Wrote {}", path.display());
    }
    Ok(())
}

/// Per-example gradients, batched and compiled, equal those of a loop.
fn batches(line: &Line, inputs: &Array, targets: &Array) -> Result {
    println!("\n== Batches");
    // ANCHOR: batches
    let each = jit(vmap_with(grad(loss), [None, Some(0), Some(0)]));
    let together = each(line.clone(), inputs.clone(), targets.clone());
    let one = |i: usize| grad(loss)(line.clone(), inputs.index(i), targets.index(i));
    let looped: Vec<Array> = (0..inputs.shape()[0]).map(|i| one(i).w).collect();
    let apart = distance(&together.w, &stack(&looped, 0));
    // ANCHOR_END: batches
    println!(
        "gradients of {} examples: at most {apart:.0e} from those of a loop",
        looped.len()
    );
    if apart > 1e-5 {
        return Err("the per-example gradients differ from those of a loop".into());
    }
    Ok(())
}

fn distance(a: &Array, b: &Array) -> f32 {
    (a - b).abs().max().item::<f32>()
}

/// A step of gradient descent, for any pytree of parameters.
fn step_against<T: Tree>(params: &T, grads: &T) -> T {
    tree::map2(params, grads, |p, g| p - g * 0.1)
}

fn descend(steps: usize, mut line: Line, inputs: &Array, targets: &Array) -> Line {
    println!("\n== Gradient descent");
    let step = jit(|line: &mut Line, inputs: Array, targets: Array| {
        let (loss, grads) = value_and_grad(loss)(line.clone(), inputs, targets);
        *line = step_against(line, &grads);
        loss
    });
    for i in 0..steps {
        let loss = step(&mut line, inputs.clone(), targets.clone());
        if i % 20 == 0 {
            println!("step {i}: loss {loss:.5}");
        }
    }
    line
}

/// Each device processes some of the examples, and the gradients are averaged. The parameters
/// equal those of a single device.
fn on_many_devices(
    options: &Options,
    mut line: Line,
    inputs: &Array,
    targets: &Array,
    alone: &Line,
) -> Result {
    println!("\n== {} devices", devices().len());
    let count = options.devices;
    let [rows, columns] = inputs.dims();
    let inputs = inputs.reshape(&[count, rows / count, columns]);
    let targets = targets.reshape(&[count, rows / count]);
    let step = |line: Line, inputs: Array, targets: Array| {
        let grads = grad(loss)(line.clone(), inputs, targets);
        let mean = tree::map(&grads, |g| pmean(g, "devices"));
        step_against(&line, &mean)
    };
    let mapped = PmapOptions {
        in_axes: [None, Some(0), Some(0)].into(),
        out_axes: None.into(),
        axis_name: Some("devices".into()),
        ..Default::default()
    };
    let step = pmap_with(step, mapped);
    for _ in 0..options.steps {
        line = step(line, inputs.clone(), targets.clone());
    }
    let apart = distance(&line.w, &alone.w).max(distance(&line.b, &alone.b));
    println!("parameters: at most {apart:.0e} apart from one device");
    if apart > 1e-4 {
        return Err("the parameters on many devices differ from those on one".into());
    }
    Ok(())
}
