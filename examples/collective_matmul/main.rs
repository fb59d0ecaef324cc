//! Compares matrix products that overlap communication with computation to the
//! compiler's own, on 8 virtual CPU devices.
//!
//! `cargo run --release --example collective_matmul -- --width 2048`
#![forbid(unsafe_code)]

mod matmul;

use clap::Parser;
use matmul::{BOTH_WAYS, ONE_WAY, Way, all_reduce_matmul, all_reduce_matmul_ring, block};
use ramie::options::{JitOptions, RuntimeOptions, ShardMapOptions};
use ramie::sharding::with_sharding_constraint;
use ramie::{
    Array, DType, Mesh, NamedSharding, P, PartitionSpec, configure, device_put, jit_with,
    make_mesh, random, shard_map_with,
};
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// Compare three implementations of a transformer block's sharded products.
#[derive(Parser)]
struct Options {
    /// Rows of the activations; must be a multiple of 4.
    #[arg(long, default_value_t = 256)]
    batch: usize,
    /// Columns of the activations; must be a multiple of 8. The hidden layer has four
    /// times as many.
    #[arg(long, default_value_t = 512)]
    width: usize,
    /// Timed runs per program.
    #[arg(long, default_value_t = 5)]
    repeat: usize,
    /// Directory for a profile of all runs, for Perfetto and XProf.
    #[arg(long)]
    profile: Option<PathBuf>,
}

/// Arguments of the programs.
type Args<'a> = (&'a Array, &'a Array, &'a Array);

type Product = Box<dyn Fn(Array, Array, Array) -> Array + Send + Sync>;

fn main() -> ExitCode {
    ramie_examples::main(run)
}

/// Returns a function of one device's shards, mapped over the mesh.
///
/// The ring leaves all sums on every device, which types cannot express: `check_vma: false`
/// disables the check.
fn over(
    mesh: Mesh,
    in_specs: [PartitionSpec; 3],
    out_spec: PartitionSpec,
    f: impl Fn(Array, Array, Array) -> Array + Send + Sync + 'static,
) -> Product {
    let options = ShardMapOptions {
        mesh: Some(mesh),
        check_vma: false,
        ..ShardMapOptions::new(in_specs, out_spec)
    };
    shard_map_with(f, options)
}

/// Runs programs that should return the same results, prints their times and the differences
/// between the results.
fn compare(
    title: &str,
    programs: Vec<(&str, Product)>,
    repeat: usize,
    (a, b, c): Args<'_>,
) -> Result<(), Box<dyn Error>> {
    println!("{title}");
    let mut expected: Option<Vec<f32>> = None;
    for (name, program) in programs {
        let name_in_profile = Some(name.replace([' ', ','], "_"));
        let program = jit_with(
            program,
            JitOptions {
                name: name_in_profile,
                ..JitOptions::default()
            },
        );
        if ramie_examples::compiled_ahead(name, || {
            program.lower((a.clone(), b.clone(), c.clone()))
        })? {
            continue;
        }
        let mut best = f64::INFINITY;
        let mut out = program(a.clone(), b.clone(), c.clone());
        out.block_until_ready();
        for _ in 0..repeat {
            let start = Instant::now();
            out = program(a.clone(), b.clone(), c.clone());
            out.block_until_ready();
            best = best.min(start.elapsed().as_secs_f64());
        }
        let got = out.to_vec::<f32>();
        let expected = expected.get_or_insert_with(|| got.clone());
        let each = got.iter().zip(expected.iter());
        let apart = each.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        println!(
            "  {name:<16} {:8.3} ms, at most {apart:.1e} apart",
            best * 1e3
        );
        if apart > 1e-3 {
            return Err(format!("{title}, {name}: results differ by {apart}").into());
        }
    }
    Ok(())
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let parts = |n: usize, of: usize| n > 0 && n.is_multiple_of(of);
    if !parts(options.batch, 4) || !parts(options.width, 8) || options.repeat == 0 {
        return Err(
            "--batch must be a multiple of 4, --width a multiple of 8, and --repeat at least 1"
                .into(),
        );
    }
    configure(RuntimeOptions {
        cpu_devices: Some(8),
        ..Default::default()
    })?;
    ramie_examples::profiled(options.profile.as_deref(), || products(options))
}

fn products(options: &Options) -> Result<(), Box<dyn Error>> {
    let mesh = make_mesh(&[2, 4], &["X", "Y"])?;
    let on = |spec| NamedSharding::new(mesh, spec);
    let key = random::key(0);
    let draw = |n: u32, shape: &[usize], sharding: NamedSharding| {
        device_put(
            &random::normal(&key.fold_in(n), shape, DType::F32),
            sharding,
        )
    };
    let (batch, width, hidden) = (options.batch, options.width, 4 * options.width);
    let x = draw(0, &[batch, width], on(P!["X", "Y"]));
    let w_in = draw(1, &[width, hidden], on(P![None, "Y"])) / (width as f64).sqrt();
    let w_out = draw(2, &[hidden, width], on(P!["Y", None])) / (hidden as f64).sqrt();

    compare_blocks(options, mesh, (&x, &w_in, &w_out))?;
    let w = device_put(&w_in, on(P!["Y", None]));
    compare_all_reduce(options, mesh, (&x, &w, &w_out))
}

/// Compares a block of two products, between which the hidden layer is sharded.
fn compare_blocks(options: &Options, mesh: Mesh, args: Args<'_>) -> Result<(), Box<dyn Error>> {
    let specs = || [P!["X", "Y"], P![None, "Y"], P!["Y", None]];
    let ring = |ways: &'static [Way]| {
        let f = move |x: Array, w_in: Array, w_out: Array| block(&x, &w_in, &w_out, ways);
        over(mesh, specs(), P!["X", "Y"], f)
    };
    let spec = NamedSharding::new(mesh, P!["X", "Y"]);
    let plain = Box::new(move |x: Array, w_in: Array, w_out: Array| {
        let hidden = x.matmul(&w_in).relu();
        with_sharding_constraint(&hidden.matmul(&w_out), spec)
    });
    compare(
        "In[X, D/Y] W_in[D, F/Y] W_out[F/Y, D] -> Out[X, D/Y]",
        vec![
            ("compiler", plain),
            ("one way", ring(ONE_WAY)),
            ("both ways", ring(BOTH_WAYS)),
        ],
        options.repeat,
        args,
    )
}

/// Compares a product whose sums are over both devices and columns.
fn compare_all_reduce(options: &Options, mesh: Mesh, args: Args<'_>) -> Result<(), Box<dyn Error>> {
    let specs = || [P!["X", "Y"], P!["Y", None], P!["Y", None]];
    let spec = NamedSharding::new(mesh, P!["X"]);
    let plain =
        Box::new(move |x: Array, w: Array, _: Array| with_sharding_constraint(&x.matmul(&w), spec));
    let tiled = |x: Array, w: Array, _: Array| all_reduce_matmul(&x, &w, 4);
    let ring = |ways: &'static [Way]| {
        let f = move |x: Array, w: Array, _: Array| all_reduce_matmul_ring(&x, &w, ways);
        over(mesh, specs(), P!["X"], f)
    };
    compare(
        "A[X, D/Y] W[D/Y, F] -> Out[X, F]",
        vec![
            ("compiler", plain),
            ("tiles", over(mesh, specs(), P!["X"], tiled)),
            ("ring, one way", ring(ONE_WAY)),
            ("ring, both ways", ring(BOTH_WAYS)),
        ],
        options.repeat,
        args,
    )
}
