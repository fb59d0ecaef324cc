//! Runs recorded programs and compares their results with the recording.
//!
//! ```sh
//! cargo run --release -p ramie-cpu --example conformance FOLDER [--threads N] [--only HASH] [--results]
//! ```
//!
//! Each `HASH.mlir` in the folder and its subfolders has its arguments `in.N` and results `out.N` in
//! `HASH.safetensors`. With `--results`, the first result is written to `HASH.results`. The example prints a line
//! for each failure and at the end `N of M programs right`.

use half::{bf16, f16};
use ramie_cpu::{Buffer, ElementType, Program, TensorType};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Bounds for programs with operations of these names, which are separated by spaces. The first bound is
/// in units in the last place of each element, the second in those of the result's largest element.
/// A program has the largest bounds of its operations. Without any of these operations, results must be
/// equal. The recordings are XLA's, which contracts products and sums and approximates functions.
const BOUNDS: &[(&str, f64, f64)] = &[
    (
        "add subtract multiply divide sqrt rsqrt cbrt remainder square",
        4.0,
        2.0,
    ),
    (
        "exponential log sine cosine tanh logistic power atan2 tan",
        8.0,
        1.0,
    ),
    ("exponential_minus_one log_plus_one erf erfc", 16.0, 1.0),
    ("atan acos asin sinh cosh", 16.0, 1.0),
    (
        "asinh acosh atanh erf_inv bessel_i1e lgamma digamma",
        64.0,
        2.0,
    ),
    ("polygamma zeta", 512.0, 2.0),
    ("reduce reduce_window dot_general convolution", 16.0, 8.0),
    ("scatter select_and_scatter", 16.0, 8.0),
    ("while fft cholesky triangular_solve", 128.0, 64.0),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| {
        arguments
            .iter()
            .position(|a| a == name)
            .and_then(|i| arguments.get(i + 1))
    };
    let Some(folder) = arguments.first().filter(|a| !a.starts_with("--")) else {
        eprintln!("usage: conformance FOLDER [--threads N] [--only HASH] [--results]");
        return ExitCode::FAILURE;
    };
    let threads = option("--threads").and_then(|n| n.parse().ok());
    let only = option("--only");
    let writes = arguments.iter().any(|a| a == "--results");
    std::panic::set_hook(Box::new(|_| {}));
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for path in programs(Path::new(folder)) {
        if only.is_some_and(|name| path.file_stem().is_none_or(|stem| stem != name.as_str())) {
            continue;
        }
        let group = path
            .parent()
            .and_then(Path::file_name)
            .map_or(String::new(), |n| n.to_string_lossy().into());
        let count = counts.entry(group).or_default();
        count.1 += 1;
        match catch_unwind(AssertUnwindSafe(|| check(&path, threads, writes))) {
            Ok(Ok(())) => count.0 += 1,
            Ok(Err(reason)) => println!(
                "{}: {}",
                path.display(),
                reason.lines().next().unwrap_or_default()
            ),
            Err(panic) => {
                let message = ramie_base::panic::message(&*panic);
                println!(
                    "{}: PANIC {}",
                    path.display(),
                    message.lines().next().unwrap_or_default()
                );
            }
        }
    }
    for (group, (right, all)) in &counts {
        println!("{group}: {right} of {all}");
    }
    let (right, all) = counts
        .values()
        .fold((0, 0), |sum, count| (sum.0 + count.0, sum.1 + count.1));
    println!("{right} of {all} programs right");
    if right == all {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// Returns the paths of the programs in a folder and its subfolders.
fn programs(folder: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            paths.extend(programs(&path));
        } else if path.extension().is_some_and(|e| e == "mlir") {
            paths.push(path);
        }
    }
    paths.sort();
    paths
}

/// Compiles and runs a program and compares all results.
fn check(path: &Path, threads: Option<usize>, writes: bool) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let mut program = Program::compile(&text).map_err(|e| e.to_string())?;
    if let Some(threads) = threads {
        program = program.with_threads(threads);
    }
    let recorded = std::fs::read(path.with_extension("safetensors")).map_err(|e| e.to_string())?;
    let arrays = arrays(&recorded).ok_or("the recording is damaged")?;
    let array = |name: String| {
        arrays
            .get(&name)
            .copied()
            .ok_or(format!("{name} is not recorded"))
    };
    let mut buffers = Vec::new();
    for (i, ty) in program.parameters().iter().enumerate() {
        let bytes = narrowed(array(format!("in.{i}"))?, ty);
        buffers.push(Buffer::from_bytes(ty.clone(), &bytes).map_err(|e| e.to_string())?);
    }
    let results = program
        .run(&buffers.iter().collect::<Vec<_>>())
        .map_err(|e| e.to_string())?;
    if let Some(first) = results.first().filter(|_| writes) {
        std::fs::write(path.with_extension("results"), first.bytes()).map_err(|e| e.to_string())?;
    }
    let bounds = bounds(&text);
    for (i, result) in results.iter().enumerate() {
        compare(
            result.ty(),
            result.bytes(),
            array(format!("out.{i}"))?,
            bounds,
        )
        .map_err(|reason| format!("result {i} of type {}: {reason}", result.ty()))?;
    }
    Ok(())
}

/// Returns the bytes of an argument. Numbers of Python are recorded with twice the parameter's width.
fn narrowed<'a>(bytes: &'a [u8], ty: &TensorType) -> Cow<'a, [u8]> {
    // A `float0` of JAX has no bytes, and its parameter is a boolean that nothing reads.
    if bytes.is_empty() && ty.element == ElementType::Bool {
        return Cow::Owned(vec![0; ty.byte_size().unwrap_or(0)]);
    }
    if ty.byte_size().and_then(|n| n.checked_mul(2)) != Some(bytes.len()) || bytes.is_empty() {
        return Cow::Borrowed(bytes);
    }
    let chunks = bytes.as_chunks::<8>().0;
    match ty.element {
        ElementType::I32 | ElementType::U32 => {
            chunks.iter().flat_map(|b| b[..4].to_vec()).collect()
        }
        _ => chunks
            .iter()
            .flat_map(|b| (f64::from_le_bytes(*b) as f32).to_le_bytes())
            .collect(),
    }
}

/// Returns the arrays of a `safetensors` file.
fn arrays(file: &[u8]) -> Option<BTreeMap<String, &[u8]>> {
    let (length, rest) = file.split_first_chunk::<8>()?;
    let (header, data) =
        rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    let header: serde_json::Value = serde_json::from_slice(header).ok()?;
    let mut arrays = BTreeMap::new();
    for (name, entry) in header.as_object()? {
        let Some(offsets) = entry.get("data_offsets") else {
            continue;
        };
        let offset = |i: usize| {
            offsets
                .get(i)?
                .as_u64()
                .and_then(|n| usize::try_from(n).ok())
        };
        arrays.insert(name.clone(), data.get(offset(0)?..offset(1)?)?);
    }
    Some(arrays)
}

/// Returns the largest bounds of a program's operations.
fn bounds(text: &str) -> (f64, f64) {
    let names = text
        .split(['.', '"', ' ', '('])
        .collect::<std::collections::HashSet<_>>();
    let rows = BOUNDS
        .iter()
        .filter(|(operations, _, _)| operations.split(' ').any(|o| names.contains(o)));
    rows.fold((0.0, 0.0), |bound, row| {
        (row.1.max(bound.0), row.2.max(bound.1))
    })
}

/// Compares the bytes of a result with the recording.
fn compare(ty: &TensorType, got: &[u8], expected: &[u8], bounds: (f64, f64)) -> Result<(), String> {
    if expected.is_empty() && ty.element == ElementType::Bool {
        return Ok(());
    }
    if got.len() != expected.len() {
        return Err(format!(
            "{} bytes, recorded are {}",
            got.len(),
            expected.len()
        ));
    }
    // The distance of 1 to the next number, the smallest normal number, and the width in bytes.
    let (epsilon, smallest, width) = match ty.element {
        ElementType::Bf16 => (2f64.powi(-7), 2f64.powi(-126), 2),
        ElementType::F16 => (2f64.powi(-10), 2f64.powi(-14), 2),
        ElementType::F32 | ElementType::C64 => (2f64.powi(-23), 2f64.powi(-126), 4),
        ElementType::F64 | ElementType::C128 => (2f64.powi(-52), 2f64.powi(-1022), 8),
        _ => return compare_bits(ty.element, got, expected),
    };
    let read = |b: &[u8]| match ty.element {
        ElementType::Bf16 => f64::from(bf16::from_le_bytes([b[0], b[1]])),
        ElementType::F16 => f64::from(f16::from_le_bytes([b[0], b[1]])),
        _ if width == 4 => f64::from(f32::from_le_bytes(b.try_into().unwrap_or_default())),
        _ => f64::from_le_bytes(b.try_into().unwrap_or_default()),
    };
    let (got, expected) = (
        got.chunks(width).map(read),
        expected.chunks(width).map(read),
    );
    let pairs: Vec<(f64, f64)> = got.zip(expected).collect();
    let finite = pairs.iter().map(|(_, e)| e.abs()).filter(|e| e.is_finite());
    let largest = finite.fold(0.0, f64::max);
    let mut wrong = pairs.iter().enumerate().filter(|(_, (g, e))| {
        let bound = epsilon * (bounds.0 * e.abs() + bounds.1 * largest) + smallest;
        !(g == e || g.is_nan() && e.is_nan() || (g - e).abs() <= bound)
    });
    let Some((i, (g, e))) = wrong.next() else {
        return Ok(());
    };
    let ulps = (g - e).abs() / e.abs().max(smallest) / epsilon;
    let others = wrong.count();
    Err(format!(
        "element {i} is {g:e}, recorded {e:e} ({ulps:.1} ulp; {others} more differ)"
    ))
}

/// Compares elements that must be equal.
fn compare_bits(element: ElementType, got: &[u8], expected: &[u8]) -> Result<(), String> {
    // Elements narrower than a byte are recorded without the sign's repetition.
    let mask = if element.bits() < 8 {
        (1u8 << element.bits()) - 1
    } else {
        255
    };
    let Some(at) = got
        .iter()
        .zip(expected)
        .position(|(g, e)| g & mask != e & mask)
    else {
        return Ok(());
    };
    let first = at / element.bytes() * element.bytes();
    let bytes = |b: &[u8]| format!("{:?}", &b[first..first + element.bytes()]);
    Err(format!(
        "byte {at} differs: {}, recorded {}",
        bytes(got),
        bytes(expected)
    ))
}
