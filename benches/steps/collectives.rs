//! `collectives`: products of sharded matrices on a mesh (2, 4) of virtual devices: as sharded by
//! the compiler, with a ring transfer during the multiplication, and with transfers in both
//! directions. Each prints a line with the number of bytes that each device receives.
//!
//! - `product`: `A[X, D/Y] · W[D, F/Y] → [X, F/Y]`
//! - `sums`: `A[X, D/Y] · W[D/Y, F] → [X, F]`
//! - `block`: `In[X, D/Y] · W_in[D, F/Y] → relu → · W_out[F/Y, D] → [X, D/Y]`

use crate::matmul::{
    BOTH_WAYS, ONE_WAY, Way, all_gather_matmul, all_reduce_matmul, all_reduce_matmul_ring, block,
};
use crate::measure::Plan;
use crate::report::{Line, Times};
use crate::traffic::traffic;
use ramie::core::options::{JitOptions, RuntimeOptions, ShardMapOptions};
use ramie::core::{
    Array, DType, Error, NamedSharding, P, Result, configure, device_put, jit_with, make_mesh,
    random, runtime, shard_map, shard_map_with,
};
use std::time::Instant;

const BATCH: usize = 512;
const WIDTH: usize = 1024;
const HIDDEN: usize = 4096;
/// Calls per sample.
const CALLS: usize = 5;

type Program = Box<dyn Fn(Vec<Array>) -> Array + Send + Sync>;

/// Measures every program, checks its result against that of the compiler's program, and prints a
/// line.
pub fn measure(plan: &Plan) -> Result<()> {
    configure(RuntimeOptions {
        cpu_devices: Some(8),
        compilation_cache: Some(false),
        ..Default::default()
    })?;
    let mesh = make_mesh(&[2, 4], &["X", "Y"])?;
    let specs = [P!["X", "Y"], P![None, "Y"], P!["Y", None]];
    let key = random::key(0);
    let draw = |n: u32, shape: [usize; 2]| {
        let x = random::normal(&key.fold_in(n), &shape, DType::F32) / (shape[0] as f64).sqrt();
        device_put(&x, NamedSharding::new(mesh, specs[n as usize].clone()))
    };
    let w = draw(1, [WIDTH, HIDDEN]);
    let by_rows = device_put(&w, NamedSharding::new(mesh, P!["Y", None]));
    let args = vec![
        draw(0, [BATCH, WIDTH]),
        w,
        draw(2, [HIDDEN, WIDTH]),
        by_rows,
    ];

    let product = |ways: &'static [Way]| -> Program {
        let f = move |a: Array, w: Array| all_gather_matmul(&a, &w, ways);
        let f = shard_map(f, mesh, [P!["X", "Y"], P![None, "Y"]], P!["X", "Y"]);
        Box::new(move |v| f(v[0].clone(), v[1].clone()))
    };
    // The types do not show that all devices of a ring have the complete sums, so the check is
    // off.
    let summed = |f: fn(&Array, &Array) -> Array| -> Program {
        let options = ShardMapOptions {
            mesh: Some(mesh),
            check_vma: false,
            ..ShardMapOptions::new([P!["X", "Y"], P!["Y", None]], P!["X"])
        };
        let f = shard_map_with(move |a: Array, w: Array| f(&a, &w), options);
        Box::new(move |v| f(v[0].clone(), v[3].clone()))
    };
    let ring = |ways: &'static [Way]| -> Program {
        let f = move |x: Array, w_in: Array, w_out: Array| block(&x, &w_in, &w_out, ways);
        let f = shard_map(f, mesh, specs.clone(), P!["X", "Y"]);
        Box::new(move |v| f(v[0].clone(), v[1].clone(), v[2].clone()))
    };
    let programs: [(&str, &str, Program); 10] = [
        ("product", "compiler", Box::new(|v| v[0].matmul(&v[1]))),
        ("product", "one way", product(ONE_WAY)),
        ("product", "both ways", product(BOTH_WAYS)),
        ("sums", "compiler", Box::new(|v| v[0].matmul(&v[3]))),
        ("sums", "tiles", summed(|a, w| all_reduce_matmul(a, w, 4))),
        (
            "sums",
            "one way",
            summed(|a, w| all_reduce_matmul_ring(a, w, ONE_WAY)),
        ),
        (
            "sums",
            "both ways",
            summed(|a, w| all_reduce_matmul_ring(a, w, BOTH_WAYS)),
        ),
        (
            "block",
            "compiler",
            Box::new(|v| v[0].matmul(&v[1]).relu().matmul(&v[2])),
        ),
        ("block", "one way", ring(ONE_WAY)),
        ("block", "both ways", ring(BOTH_WAYS)),
    ];
    let mut expected: Vec<f32> = Vec::new();
    for (name, by, program) in programs {
        let out = match name {
            "sums" => P!["X"],
            _ => P!["X", "Y"],
        };
        let options = JitOptions {
            out_shardings: Some(NamedSharding::new(mesh, out).into()),
            ..JitOptions::default()
        };
        let result = measure_one(plan, name, by, program, options, &args)?.to_vec::<f32>();
        if by == "compiler" {
            expected = result;
            continue;
        }
        let each = result.iter().zip(&expected);
        let apart = each.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        if apart > 1e-3 {
            return Err(Error::Configuration(format!(
                "collectives: {name}, {by}: results differ by {apart}"
            )));
        }
    }
    Ok(())
}

fn measure_one(
    plan: &Plan,
    name: &str,
    by: &str,
    program: Program,
    options: JitOptions,
    args: &[Array],
) -> Result<Array> {
    let steps = plan.steps.unwrap_or(CALLS);
    let program = jit_with(program, options).compile((args.to_vec(),))?;
    // All collectives of these programs are along `Y`.
    let moved = traffic(&program.as_text()?, 4).map_err(Error::Configuration)?;
    let run = || program.run((args.to_vec(),));
    let mut out = run()?;
    for _ in 1..plan.warmup.max(1) {
        out = run()?;
    }
    out.block_until_ready();
    let mut times = Vec::new();
    for _ in 0..plan.samples.max(1) {
        let start = Instant::now();
        for _ in 0..steps {
            out = run()?;
        }
        out.block_until_ready();
        times.push(start.elapsed().as_secs_f64() / steps as f64);
    }
    let bytes: usize = moved.iter().map(|t| t.bytes).sum();
    let each: Vec<String> = moved
        .iter()
        .map(|t| format!("\"{}\": {}", t.collective, t.count))
        .collect();
    Line::of("collectives")
        .text("program", name)
        .text("by", by)
        .text("platform", runtime()?.client().platform_name())
        .times(&Times::new(times))
        .value("steps", steps)
        .value("received_bytes", bytes)
        .value("collectives", format_args!("{{{}}}", each.join(", ")))
        .print();
    Ok(out)
}
