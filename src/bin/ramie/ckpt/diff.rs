//! The command `ramie ckpt diff`.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

use ramie::{Array, DType, State};

use super::One;
use super::checkpoint::Checkpoint;
use super::parts::{Part, What};
use super::text;

/// Exit code if the checkpoints differ.
const DIFFERENT: u8 = 1;

/// Exit code if a checkpoint cannot be read, as in `diff` and `cmp`.
const TROUBLE: u8 = 2;

pub(crate) fn run(a: &One, b: &One) -> Result<ExitCode, Box<dyn Error>> {
    match compare(a, b) {
        Ok(true) => Ok(ExitCode::SUCCESS),
        Ok(false) => Ok(ExitCode::from(DIFFERENT)),
        Err(error) if error.is::<io::Error>() => Err(error),
        Err(error) => {
            eprintln!("error: {error}");
            Ok(ExitCode::from(TROUBLE))
        }
    }
}

/// Prints the differences between two checkpoints; returns whether they are equal.
fn compare(a: &One, b: &One) -> Result<bool, Box<dyn Error>> {
    let (a, b) = (Checkpoint::find(a)?.0, Checkpoint::find(b)?.0);
    let (parts_a, parts_b) = (a.parts()?, b.parts()?);
    let of_b: BTreeMap<&str, &Part> = parts_b.iter().map(|p| (&*p.path, p)).collect();
    let of_a: BTreeMap<&str, &Part> = parts_a.iter().map(|p| (&*p.path, p)).collect();
    let mut out = io::stdout().lock();
    let (mut differences, mut same) = (0, Vec::new());
    for part in &parts_a {
        let (path, what) = (&part.path, part.what.describe());
        match of_b.get(path.as_str()) {
            None => writeln!(out, "- {path}: {what}, only in A")?,
            Some(other) if is_same(&part.what, &other.what) => {
                if part.is_array() {
                    same.push(path.as_str());
                }
                continue;
            }
            Some(other) => writeln!(out, "~ {path}: {what} in A, {} in B", other.what.describe())?,
        }
        differences += 1;
    }
    for part in parts_b.iter().filter(|p| !of_a.contains_key(&*p.path)) {
        writeln!(out, "+ {}: {}, only in B", part.path, part.what.describe())?;
        differences += 1;
    }
    if !same.is_empty() {
        let (a, b) = (a.state()?, b.state()?);
        for path in &same {
            if let Some(line) = values(path, &a, &b)? {
                writeln!(out, "~ {path}: {line}")?;
                differences += 1;
            }
        }
    }
    match differences {
        0 => writeln!(out, "equal: {}", text::counted(same.len(), "array"))?,
        n => writeln!(out, "{}", text::counted(n, "difference"))?,
    }
    Ok(differences == 0)
}

fn is_same(a: &What, b: &What) -> bool {
    match (a, b) {
        // NaN counts as equal to itself here.
        (What::Number(a), What::Number(b)) => format!("{a:?}") == format!("{b:?}"),
        _ => a == b,
    }
}

/// Describes the differences between two arrays of the same type; `None` if they are equal.
fn values(path: &str, a: &State, b: &State) -> Result<Option<String>, Box<dyn Error>> {
    let (Some(a), Some(b)) = (a.get(path), b.get(path)) else {
        return Err(format!("`{path}` has a shape but no elements").into());
    };
    let (bytes, others) = (a.try_to_bytes()?, b.try_to_bytes()?);
    if bytes == others {
        return Ok(None);
    }
    let of_element = a.dtype().size().max(1);
    let elements = bytes.chunks(of_element).zip(others.chunks(of_element));
    let differ = elements.filter(|(x, y)| x != y).count();
    let total = bytes.len() / of_element;
    // If only one side is NaN, the difference has no size.
    let sizes = numbers(a)?.into_iter().zip(numbers(b)?);
    let sizes = sizes.map(|((x, i), (y, j))| (x - y).hypot(i - j));
    let largest = sizes.filter(|size| !size.is_nan()).fold(0.0, f64::max);
    Ok(Some(format!(
        "max abs difference {largest:e}, {} of {} elements differ",
        text::grouped(differ as u64),
        text::grouped(total as u64)
    )))
}

/// Returns the elements as real and imaginary parts.
fn numbers(array: &Array) -> Result<Vec<(f64, f64)>, Box<dyn Error>> {
    let complex = array.dtype().is_complex();
    let wide = if complex { DType::C128 } else { DType::F64 };
    let bytes = array.astype(wide).try_to_bytes()?;
    let numbers: Vec<f64> = bytes
        .chunks_exact(8)
        .map(|b| f64::from_ne_bytes(b.try_into().unwrap_or_default()))
        .collect();
    Ok(if complex {
        numbers.chunks_exact(2).map(|z| (z[0], z[1])).collect()
    } else {
        numbers.into_iter().map(|x| (x, 0.0)).collect()
    })
}
